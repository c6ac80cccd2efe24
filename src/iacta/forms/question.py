"""Question and answer: what iacta can be asked, and the one object that it answers with."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from types import ModuleType
from typing import Any, ClassVar, Protocol, TypeAlias, dataclass_transform, get_args, get_type_hints

from iacta.forms.form import Form, Parameter, Register
from iacta.forms.record import Key, KeyedRecord
from iacta.forms.sections import Section
from iacta.inputs.checks import quote
from iacta.inputs.errors import IllegalError
from iacta.inputs.reprs import DisplayMixin, import_upper_module

MOST_NAMED = 2  # questions, in a message
LEAST_ALIKE = 0.7  # from 0 to 1, of a name and what may have been meant
Charts: TypeAlias = ModuleType  # that is `iacta.charts`


class Recorded(Protocol):
    """What has a record, such as an answer."""

    def record(self) -> dict[str, Any]: ...


class Watch(Protocol):
    """Receives progress while an answer is computed."""

    def __call__(
        self,
        doing: str,
        part: float | None,
        *,
        keeps: bool = False,
        so_far: "Recorded | None" = None,
    ) -> None:
        """Report progress.

        doing: what is being done.
        part: which part of it is done, from 0 to 1; `None` if that is not known.
        keeps: whether an interruption would keep what has been found so far.
        so_far: what has been found so far, of an answer that fills in.
        """


class Question(Form):
    """What iacta can be asked: a form that has an answer."""

    is_search: ClassVar[bool] = False  # whether the answer improves while the search goes on

    def answer(self, watch: Watch | None = None) -> "Answer":
        """Return the answer.

        watch: receives progress where the work may take long.
        """
        raise NotImplementedError

    def get_repeated(self, name: str) -> Any:
        """Return a value that the answer repeats, by its name there."""
        return getattr(self, name)

    def check_chart(self) -> None:
        """Refuse, before anything is computed, what has no picture."""

    @classmethod
    @cache
    def records(cls) -> tuple[type[KeyedRecord], ...]:
        """Return what its answers hold, as their types say."""
        answers = get_type_hints(cls.answer)["return"]
        kinds = get_args(answers) or (answers,)
        return tuple(get_type_hints(kind.data.fget)["return"] for kind in kinds)

    @classmethod
    def columns(cls) -> tuple[Key, ...]:
        """Return the keys that can be columns of a batch, the usual ones first."""
        keys: dict[str, Key] = {}
        for record in cls.records():
            for key in record.all_keys():
                keys.setdefault(key.name, key)
        known = (key for key in keys.values() if not key.is_repeated)
        return tuple(sorted(known, key=lambda key: not key.is_column))

    @classmethod
    def usual_columns(cls) -> tuple[str, ...]:
        """Return the columns if none are named; a question without any is asked alone."""
        return tuple(key.name for key in cls.columns() if key.is_column)


@dataclass_transform(frozen_default=True)
@dataclass(frozen=True, repr=False)
class Answer(DisplayMixin):
    """What iacta answers: plain data, which a face shows and does not work out.

    Subclasses are frozen dataclasses.

    question: what was asked.
    is_whole: whether all is there; what an interruption has left out is not.
    """

    question: Question
    is_whole: bool = field(default=True, kw_only=True)

    def __init_subclass__(cls) -> None:
        dataclass(frozen=True, repr=False)(cls)

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
        return self.draw(import_upper_module("charts"))

    def draw(self, charts: Charts) -> Any:
        """Return the picture."""
        raise IllegalError(f"there is no picture of {type(self).__name__}")


QUESTIONS: Register[Question] = Register("iacta.questions")
question = QUESTIONS.add


def list_questions(name: str, spell: Callable[[str], str] = str) -> str:
    """Return a part of a sentence: the questions that have a parameter; empty if none has.

    name: the parameter.
    spell: the face's name of a question, such as `iacta decide` for `decide`.

    >>> list_questions("prize"), list_questions("prices")
    ('decide has it', '')
    >>> list_questions("chance", "iacta {}".format)
    'iacta defend and iacta need have it'
    """
    names = [
        spell(form.name)
        for form in QUESTIONS.all()
        if any(parameter.name.rstrip("_") == name for parameter in form.parameters())
    ]
    if len(names) > MOST_NAMED:
        return f"{names[0]} and {len(names) - 1} others have it"
    return f"{' and '.join(names)} {'has' if len(names) == 1 else 'have'} it" if names else ""


def unknown_parameter(form: type[Question], name: str, known: Sequence[Parameter]) -> str:
    """Return what is wrong with the name of a parameter that a question does not have.

    form: the question.
    name: what was given.
    known: the parameters that it has.

    >>> unknown_parameter(find_question("need"), "defenders", find_question("need").parameters())
    "unknown parameter 'defenders' of need; did you mean 'territories'?"
    """
    called = {
        parameter.value_name.lower(): parameter.name for parameter in known if parameter.is_argument
    }
    names = [parameter.name for parameter in known]
    hint = f"expected some of {', '.join(names)}"
    if near := called.get(name) or nearest(name, names):
        hint = f"did you mean {near!r}?"
    elif not any(parameter.name == name for parameter in form.parameters()):
        hint = list_questions(name) or hint
    return f"unknown parameter {quote(name)} of {form.name}; {hint}"


def nearest(name: str, known: Iterable[str]) -> str:
    """Return the known name that may have been meant, empty if none is near.

    >>> nearest("batle", ["battle", "table"]), nearest("chance", ["charge"])
    ('battle', '')
    """
    from difflib import get_close_matches  # slow to import, and only needed here

    return next(iter(get_close_matches(name, list(known), n=1, cutoff=LEAST_ALIKE)), "")


def find_question(name: str) -> type[Question] | None:
    """Return the question of a name, `None` if there is none; no other question is loaded.

    >>> find_question("battle").summary().split(",")[0]
    'Give the odds of one battle'
    """
    return next(iter(QUESTIONS.find(name)), None)
