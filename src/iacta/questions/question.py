"""Question and answer: what iacta can be asked, and the one object that it answers with."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from types import ModuleType
from typing import Any, Protocol, get_args, get_type_hints

from iacta.display import Displayed, above
from iacta.errors import IllegalError
from iacta.questions.form import Form, Register
from iacta.questions.record import Key, KeyedRecord
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
    """What iacta can be asked: a form that has an answer."""

    def answer(self, watch: Watch | None = None) -> "Answer":
        """Return the answer.

        watch: receives progress where the work may take long.
        """
        raise NotImplementedError

    def check_chart(self) -> None:
        """Refuse, before anything is computed, what has no picture."""

    @classmethod
    @cache
    def records(cls) -> tuple[type[KeyedRecord], ...]:
        """Return what its answers hold, as their types say."""
        answers = get_type_hints(cls.answer)["return"]
        kinds = get_args(answers) or (answers,)
        return tuple(get_type_hints(each.data.fget)["return"] for each in kinds)

    @classmethod
    def columns(cls) -> tuple[Key, ...]:
        """Return the keys that can be columns of a batch, the usual ones first."""
        keys: dict[str, Key] = {}
        for record in cls.records():
            for key in record.all_keys():
                keys.setdefault(key.name, key)
        known = (key for key in keys.values() if not key.is_asked)
        return tuple(sorted(known, key=lambda key: not key.is_column))

    @classmethod
    def usual_columns(cls) -> tuple[str, ...]:
        """Return the columns if none are named; a question without any is asked alone."""
        return tuple(key.name for key in cls.columns() if key.is_column)


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
        return str(next(iter(self.sections())).parts[0])

    def sections(self) -> Iterator[Section]:
        """Yield all that people are shown; the first part of the first is the sentence."""
        raise NotImplementedError

    @property
    def data(self) -> KeyedRecord:
        """What the answer holds, for programs."""
        raise NotImplementedError

    def record(self) -> dict[str, Any]:
        return self.data.to_json()

    def rows(self) -> Iterator[Sequence[object]]:
        """Yield the answer as CSV has it, heading first; all is computed before the heading."""
        raise NotImplementedError

    def plot(self, *context: Any) -> Any:
        # Charts import answers, so they are looked up only when asked for.
        return self.draw(above("charts"))

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
