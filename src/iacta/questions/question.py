"""Question and answer: what iacta can be asked, and the one object that it answers with."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from types import ModuleType
from typing import Any, ClassVar, Protocol

from iacta.display import Displayed
from iacta.errors import IllegalError
from iacta.questions.form import Form, Register
from iacta.questions.sections import Section

__all__ = ["QUESTIONS", "Answer", "Question", "Watch", "find_question", "question"]


class Watch(Protocol):
    """Receives progress while an answer is computed."""

    def __call__(self, doing: str, part: float | None, *, keeps: bool = False) -> None:
        """Report progress.

        doing: what is being done.
        part: which part of it is done, from 0 to 1; `None` if that is not known.
        keeps: whether an interruption would keep what has been found so far.
        """


class Question(Form):
    """What iacta can be asked: a form that has an answer.

    columns: the keys of the record that are columns where many are asked at once, and their types.
    more_columns: keys that are columns too if they are named; lists are written as JSON.
    """

    columns: ClassVar[Mapping[str, type]] = {}
    more_columns: ClassVar[Mapping[str, type]] = {}

    def answer(self, watch: Watch | None = None) -> "Answer":
        """Return the answer.

        watch: receives progress where the work may take long.
        """
        raise NotImplementedError

    def check_chart(self) -> None:
        """Refuse, before anything is computed, what has no picture."""


@dataclass(frozen=True, repr=False)
class Answer(Displayed):
    """What iacta answers: plain data, which a face shows and does not work out.

    question: what was asked.
    is_whole: whether all is there; what an interruption has left out is not.
    """

    question: Question
    is_whole: bool = field(default=True, kw_only=True)

    def _summary(self) -> str:
        return self.sentence

    @property
    def sentence(self) -> str:
        """The answer for a player."""
        return str(next(iter(self.sections())).parts[0])

    def sections(self) -> Iterator[Section]:
        """Yield all that people are shown; the first part of the first is the sentence."""
        raise NotImplementedError

    def record(self) -> dict[str, Any]:
        """Return the answer as JSON has it."""
        raise NotImplementedError

    def rows(self) -> Iterator[Sequence[object]]:
        """Yield the answer as CSV has it, heading first; all is computed before the heading."""
        raise NotImplementedError

    def plot(self, *context: Any) -> Any:
        return self.chart()

    def chart(self) -> Any:
        """Return the picture, an Altair chart; this needs the extra `plot`.

        Charts import answers, so they are looked up only when asked for.
        """
        return self.draw(import_module("iacta.charts"))

    def draw(self, charts: ModuleType) -> Any:
        """Return the picture.

        charts: the module `iacta.charts`.
        """
        raise IllegalError(f"there is no picture of {type(self).__name__}")


QUESTIONS: Register[Question] = Register("iacta.questions")
question = QUESTIONS.add


def find_question(name: str) -> type[Question] | None:
    """Return the question of a name, `None` if there is none; no other question is loaded.

    >>> find_question("battle").summary().split(",")[0]
    'Give the odds of one battle'
    """
    return next(iter(QUESTIONS.find(name)), None)
