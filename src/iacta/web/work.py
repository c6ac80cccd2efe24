"""Where answers are computed: away from the loop that serves, so that no question holds up another."""

import asyncio
from collections.abc import Sequence

from iacta.answers.question import Question, Watch
from iacta.web.worker import Part, Parts, answered

__all__ = ["Work"]


class Work:
    """Computes answers."""

    async def answer(
        self, question: Question, parts: Sequence[Part], watch: Watch | None = None
    ) -> Parts:
        """Return parts of an answer.

        question: the question.
        parts: which parts, as for `answered`.
        watch: receives progress.

        An error of iacta is raised as it is.
        """
        return await asyncio.to_thread(answered, question, parts, watch)
