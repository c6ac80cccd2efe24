"""Question and answer: what iacta can be asked, and the one object that it answers with."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from types import ModuleType
from typing import Any, ClassVar, TypeVar

from iacta.answers.form import Example, Form
from iacta.answers.sections import Section

__all__ = ["Answer", "Question", "Topic", "Watch", "find_question", "question", "questions"]

Watch = Callable[[str, float | None], None]
"""Is told while an answer is computed what is being done, and which part of it is done."""


class Question(Form):
    """What iacta can be asked: a form that has an answer."""

    topic: ClassVar["Topic"]

    def answer(self, watch: Watch | None = None) -> "Answer":
        """Return the answer.

        watch: is told how far the work has come, where it may take long.
        """
        raise NotImplementedError

    def check_chart(self) -> None:
        """Refuse, before anything is computed, what has no picture."""


class Topic(Enum):
    """What a question is about, for people who look for one."""

    ATTACK = "Before an attack"
    DEFENCE = "On defence"
    BOARD = "On the board"
    STUDY = "To study"


@dataclass(frozen=True)
class Answer:
    """What iacta answers: plain data, which a face shows and does not work out.

    question: what was asked.
    is_whole: whether all is there; what an interruption has left out is not.
    """

    question: Question
    is_whole: bool = field(default=True, kw_only=True)

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

    def chart(self) -> Any:
        """Return the picture, an Altair chart; this needs the extra `plot`.

        Charts are drawn of answers, and stand above them: so they are looked up when asked for.
        """
        return self.draw(import_module("iacta.charts"))

    def draw(self, charts: ModuleType) -> Any:
        """Return the picture.

        charts: the module `iacta.charts`.
        """
        raise NotImplementedError


_QUESTIONS: dict[str, type[Question]] = {}
Asked = TypeVar("Asked", bound=type[Question])


def question(name: str, topic: Topic, *examples: Example) -> Callable[[Asked], Asked]:
    """Register a question, a class in the file of `iacta.answers` that is called as it is.

    name: how it is asked for.
    topic: what it is about.
    examples: command lines, without `iacta`, and what they ask.
    """

    def register(asked: Asked) -> Asked:
        asked.name, asked.topic, asked.examples = name, topic, examples
        _QUESTIONS[name] = asked
        return asked

    return register


def find_question(name: str) -> type[Question] | None:
    """Return the question of a name, `None` if there is none; no other question is loaded.

    >>> find_question("battle").summary().split(",")[0]
    'Tell the odds of one battle'
    """
    if name not in _QUESTIONS and name.isidentifier():
        try:
            import_module(f"iacta.answers.{name}")
        except ModuleNotFoundError as error:
            if error.name != f"iacta.answers.{name}":
                raise
    return _QUESTIONS.get(name)


def questions() -> list[type[Question]]:
    """Return all questions, by topic and name."""
    for module in iter_modules([str(Path(__file__).parent)]):
        import_module(f"iacta.answers.{module.name}")
    topics = list(Topic)
    return sorted(_QUESTIONS.values(), key=lambda each: (topics.index(each.topic), each.name))
