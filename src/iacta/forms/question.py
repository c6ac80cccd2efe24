"""The base classes of questions and of their answers.

A question is a form that has an answer. An answer is data that the command line, the pages, the API
and notebooks display.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from types import ModuleType
from typing import Any, ClassVar, Protocol, TypeAlias, dataclass_transform, get_args, get_type_hints

from iacta.forms.form import Form, Parameter, Register
from iacta.forms.record import Key, KeyedRecord, list_keys
from iacta.forms.sections import Section
from iacta.inputs.checks import quote
from iacta.inputs.errors import IllegalError
from iacta.inputs.reprs import DisplayMixin, import_upper_module

MAX_NAMED_QUESTIONS = 2  # if there are more questions, messages name only the first
MIN_PARAMETER_SIMILARITY = 0.7  # the similarity, from 0 to 1, above which a message suggests a name
Charts: TypeAlias = ModuleType  # the module `iacta.charts`


class Recordable(Protocol):
    """An object that has a record, such as an answer."""

    def record(self) -> object: ...


class Watch(Protocol):
    """A callback that receives the progress of the computation of an answer."""

    def __call__(
        self,
        doing: str,
        part: float | None,
        *,
        keeps: bool = False,
        so_far: "Recordable | None" = None,
    ) -> None:
        """Report progress.

        doing: a phrase for the current work.
        part: the fraction of the work done, from 0 to 1; `None` if it is unknown.
        keeps: whether the best result so far is kept if the user interrupts the work.
        so_far: the incomplete answer, for interfaces that can show it.
        """


class Question(Form):
    """A form that has an answer."""

    is_search: ClassVar[bool] = False  # whether more time improves the answer
    # The question in a player's words, for the menu of the pages; empty to leave it out.
    headline: ClassVar[str] = ""
    # The texts of the fields with which the page opens; empty for the first example.
    first_texts: ClassVar[Mapping[str, str]] = {}
    has_page: ClassVar[bool] = True  # whether the server has a page with the form of the question
    is_live: ClassVar[bool] = True  # whether the page answers while the user types

    def answer(self, watch: Watch | None = None) -> "Answer":
        """Compute the answer.

        watch: a callback for the progress of long work, or `None`.
        """
        raise NotImplementedError

    def get_repeated(self, name: str) -> Any:
        """Return the value of a key of the answer that repeats part of the question.

        name: the name of the key.
        """
        return getattr(self, name)

    def check_chart(self) -> None:
        """Raise `IllegalError` if the answer will have no chart, without computing the answer."""

    @classmethod
    @cache
    def records(cls) -> tuple[type, ...]:
        """Return the record classes of the answers, according to the annotation of `answer`."""
        answers = get_type_hints(cls.answer)["return"]
        kinds = get_args(answers) or (answers,)
        return tuple(get_type_hints(kind.data.fget)["return"] for kind in kinds)

    @classmethod
    def columns(cls) -> tuple[Key, ...]:
        """Return the keys that can be columns of a batch; default columns come first."""
        keys: dict[str, Key] = {}
        for record in cls.records():
            for key in list_keys(record):
                keys.setdefault(key.name, key)
        own = (key for key in keys.values() if not key.is_repeated)
        return tuple(sorted(own, key=lambda key: not key.is_column))

    @classmethod
    def usual_columns(cls) -> tuple[str, ...]:
        """Return the default columns of a batch; empty if batches cannot ask the question."""
        return tuple(key.name for key in cls.columns() if key.is_column)


@dataclass_transform(frozen_default=True)
@dataclass(frozen=True, repr=False)
class Answer(DisplayMixin):
    """The answer to a question: plain data that interfaces display without further computation.

    Subclasses are frozen dataclasses.

    question: the question that is answered.
    is_complete: whether the answer is complete; false after an interruption.
    """

    question: Question
    is_complete: bool = field(default=True, kw_only=True)

    def __init_subclass__(cls) -> None:
        dataclass(frozen=True, repr=False)(cls)

    def _summary(self) -> str:
        return self.sentence

    @property
    def sentence(self) -> str:
        return str(next(iter(self.sections())).parts[0])

    def sections(self) -> Iterator[Section]:
        """Yield the sections of the answer; the first section starts with the main sentence."""
        raise NotImplementedError

    @property
    def data(self) -> KeyedRecord:
        """The answer as a record, for use by programs."""
        raise NotImplementedError

    def record(self) -> dict[str, Any]:
        return self.data.to_json()

    def rows(self) -> Iterator[Sequence[object]]:
        """Yield the rows of the CSV output, beginning with the heading.

        All computations must be finished before the first row.
        """
        raise NotImplementedError

    def plot(self, *context: Any) -> Any:
        # This module cannot import `iacta.charts`, which imports answers.
        return self.draw(import_upper_module("charts"))

    def draw(self, charts: Charts) -> Any:
        """Return the chart of the answer."""
        raise IllegalError(f"{type(self).__name__} has no chart")


QUESTIONS: Register[Question] = Register("iacta.questions", "question")
question = QUESTIONS.add


def describe_questions_with_parameter(
    parameter_name: str, spell: Callable[[str], str] = str
) -> str:
    """Return a clause that names the questions with a parameter; empty for no questions.

    parameter_name: the name of the parameter.
    spell: a function that returns the spelling of a question in an interface, such as `iacta
        decide` for `decide`.

    >>> describe_questions_with_parameter("prize"), describe_questions_with_parameter("prices")
    ('decide has it', '')
    >>> describe_questions_with_parameter("chance", "iacta {}".format)
    'iacta defend and iacta need have it'
    """
    names = [
        spell(form.name)
        for form in QUESTIONS.load_all()
        if any(parameter.name.rstrip("_") == parameter_name for parameter in form.parameters())
    ]
    if len(names) > MAX_NAMED_QUESTIONS:
        return f"{names[0]} and {len(names) - 1} others have it"
    return f"{' and '.join(names)} {'has' if len(names) == 1 else 'have'} it" if names else ""


def explain_unknown_parameter(form: type[Question], name: str, known: Sequence[Parameter]) -> str:
    """Return the error message for a parameter that a question does not have.

    form: the question.
    name: the unknown name.
    known: the parameters that are available in the interface.

    >>> need = find_question("need")
    >>> explain_unknown_parameter(need, "defenders", need.parameters())
    "unknown parameter 'defenders' of need; did you mean 'territories'?"
    """
    value_names = {
        parameter.value_name.lower(): parameter.name for parameter in known if parameter.is_argument
    }
    names = [parameter.name for parameter in known]
    hint = f"expected some of {', '.join(names)}"
    if near := value_names.get(name) or find_similar_name(name, names):
        hint = f"did you mean {near!r}?"
    elif not any(parameter.name == name for parameter in form.parameters()):
        hint = describe_questions_with_parameter(name) or hint
    return f"unknown parameter {quote(name)} of {form.name}; {hint}"


def find_similar_name(name: str, known: Iterable[str]) -> str:
    """Return the most similar known name, or "" if no known name is similar enough.

    >>> find_similar_name("batle", ["battle", "table"]), find_similar_name("chance", ["charge"])
    ('battle', '')
    """
    from difflib import get_close_matches  # a slow import

    return next(
        iter(get_close_matches(name, list(known), n=1, cutoff=MIN_PARAMETER_SIMILARITY)), ""
    )


def find_question(name: str) -> type[Question] | None:
    """Return the question with a given name, or `None`. Other questions are not imported.

    >>> find_question("battle").summary().split(",")[0]
    'Give the odds of one battle'
    """
    return next(iter(QUESTIONS.find(name)), None)
