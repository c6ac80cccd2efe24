"""Form: the one description of what can be asked, from which every face is made.

A form is a frozen dataclass. Each field is declared by `parameter`, which says once what kind of
value it holds and, in one line, what it means; the name is the field's. Options and
their help, pages, schemas and columns all come from `parameters`. `parse` makes a form from texts,
the constructor from values, and both refuse what does not fit.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields, replace
from enum import Enum
from functools import cache
from importlib import import_module
from inspect import get_annotations
from pkgutil import iter_modules
from string import Formatter
from types import new_class
from typing import Any, ClassVar, Generic, NamedTuple, Self, TypeVar, dataclass_transform

from iacta.forms.parameter_kinds import Flag, Kind, Schema
from iacta.inputs.checks import quote, set_field
from iacta.inputs.errors import IactaError, IllegalError, MalformedError
from iacta.inputs.files import read_package_file

MOST_PLAIN = 200  # letters of a text that a message shows as it is
# How a form begins in its file: its decorator, with the name, the topic and an example, its class
# and what that is for.
BEGINNING = (
    r'^@(?:question|command)\(\s*"([\w-]+)",\s*Topic\.(\w+),'
    r'\s*Example\(\s*"([^"]*)"(?:,\s*"([^"]*)")?.*?^class .*?"""(.*?)(?:\n\n|""")'
)
REQUIRED: Any = object()  # the default of a parameter that has none
Texts = Mapping[str, str | Sequence[str] | bool]


@dataclass(frozen=True)
class Parameter:
    """What a field of a question may hold, and what it means.

    kind: its kind.
    help: one line for people.
    is_argument: whether the command line takes it by its place.
    usual: what is used if it is not given, where the default is `None`.
    metavar: how its value is called in help; empty for the kind's word.
    needs: the parameters of which one must be given beside it, as in `take or eliminate`.
    excludes: those that may not be given beside it, as in `reinforce or cards and then`; of those
        joined by `and` not all may be given.
    label: what a page calls it, in lower case; empty for its name.
    default: its value if none is given; without one it is required.
    name: that of the field, filled in by `Form.parameters`.
    """

    kind: Kind
    help: str
    is_argument: bool = False
    usual: str = ""
    metavar: str = ""
    needs: str = ""
    excludes: str = ""
    label: str = ""
    default: Any = REQUIRED
    name: str = ""

    @property
    def is_required(self) -> bool:
        return self.default is REQUIRED

    @property
    def value_name(self) -> str:
        """What help calls its value: `ATTACKERS`, `FILE`."""
        return self.metavar or (self.name.upper() if self.is_argument else self.kind.metavar)

    @property
    def default_text(self) -> str:
        """The default for people, empty if there is none."""
        if self.default in (REQUIRED, None) or isinstance(self.kind, Flag):
            return self.usual
        return self.kind.text(self.default)

    def schema(self) -> Schema:
        schema = {**self.kind.schema(), "description": self.help}
        if self.default not in (REQUIRED, None):
            schema["default"] = self.kind.json(self.default)
        return schema

    def read(self, value: Any, *, is_text: bool = False) -> Any:
        """Return a value, or the value of a text; a refusal is marked as this parameter's."""
        try:
            if not is_text or isinstance(value, bool):
                return self.kind.check(value, self.name)
            if isinstance(value, str) or not self.kind.is_row:
                return self.kind.parse(value, self.name)
            return self.kind.check(value, self.name)
        except IactaError as error:
            error.parameter = self.name
            raise


def parameter(
    kind: Kind,
    help: str,  # noqa: A002 # the word of argparse and typer
    *,
    default: Any = REQUIRED,
    is_argument: bool = False,
    usual: str = "",
    metavar: str = "",
    needs: str = "",
    excludes: str = "",
    label: str = "",
) -> Any:
    """Declare a field of a form; the arguments are those of `Parameter`."""
    described = Parameter(kind, help, is_argument, usual, metavar, needs, excludes, label, default)
    return field(
        default=MISSING if default is REQUIRED else default, metadata={"parameter": described}
    )


def option_name(name: str) -> str:
    """Return the option of a parameter.

    >>> option_name("max_rolls"), option_name("from_")  # `from` is a word of Python's
    ('--max-rolls', '--from')
    """
    return f"--{name.rstrip('_').replace('_', '-')}"


def _join_names(names: Sequence[str]) -> str:
    """Return parameters as a part of the sentence of a `ClashError`."""
    *most, last = (f"{{{name}}}" for name in names)
    return f"{', '.join(most)} or {last}" if most else last


class Topic(Enum):
    """What a form is about, for people who look for one."""

    ATTACK = "Before an attack"
    DEFENCE = "On defence"
    BOARD = "On the board"
    STUDY = "To study"
    TOOLS = "Tools"


@dataclass(frozen=True)
class Example:
    """A command line, without `iacta`, and what it asks in words."""

    line: str
    words: str = ""


@dataclass_transform(frozen_default=True, field_specifiers=(parameter,))
@dataclass(frozen=True)
class Form:
    """What is asked of a command: subclasses are frozen dataclasses whose fields are parameters.

    A `Register` gives it its name, its topic and its examples.
    """

    name: ClassVar[str]
    topic: ClassVar[Topic]
    examples: ClassVar[tuple[Example, ...]] = ()
    one_of: ClassVar[tuple[str, ...]] = ()  # of each of these, exactly one parameter is given
    # Further sections of the help: by title, pairs of a line and its meaning.
    help_sections: ClassVar[Mapping[str, Sequence[tuple[str, str]]]] = {}

    def __init_subclass__(cls, *, kw_only: bool = False) -> None:
        dataclass(frozen=True, kw_only=kw_only)(cls)

    def __post_init__(self) -> None:
        for parameter in self.parameters():
            value = getattr(self, parameter.name)
            if value is not None or parameter.default is not None:
                set_field(self, parameter.name, parameter.read(value))
        self.complete()
        self._check_together()

    def complete(self) -> None:
        """Fill in what one parameter says of others."""

    def has(self, name: str) -> bool:
        value = getattr(self, name)
        return value is not None and value is not False

    def _check_together(self) -> None:
        for phrase in self.one_of:
            names = phrase.split(" or ")
            given = [name for name in names if self.has(name)]
            if not given:
                raise ClashError(f"missing {_join_names(names)}")
            if len(given) > 1:
                raise ClashError(f"{{{given[0]}}} cannot be combined with {{{given[1]}}}")
        for parameter in filter(lambda parameter: self.has(parameter.name), self.parameters()):
            if parameter.needs and not any(map(self.has, parameter.needs.split(" or "))):
                needed = _join_names(parameter.needs.split(" or "))
                raise ClashError(f"{{{parameter.name}}} also needs {needed}")
            for others in filter(None, parameter.excludes.split(" or ")):
                if all(map(self.has, others.split(" and "))):
                    listed = " and ".join(f"{{{name}}}" for name in others.split(" and "))
                    raise ClashError(f"{{{parameter.name}}} cannot be combined with {listed}")

    @classmethod
    @cache
    def parameters(cls) -> tuple[Parameter, ...]:
        """Return what can be said: arguments, then the form's own options, then shared ones."""
        given = {
            field.name: replace(field.metadata["parameter"], name=field.name)
            for field in fields(cls)
        }
        names = [name for level in cls.__mro__ for name in get_annotations(level) if name in given]
        ordered = [given[name] for name in dict.fromkeys(names)]
        return tuple(sorted(ordered, key=lambda parameter: not parameter.is_argument))

    @classmethod
    def parse(cls, texts: Texts) -> Self:
        """Return the question that texts ask, by the names of the parameters.

        texts: a text for each parameter, several where it is a row, or a bool for a flag; others
            are left alone.
        """
        values = {}
        for parameter in cls.parameters():
            if parameter.name in texts:
                values[parameter.name] = parameter.read(texts[parameter.name], is_text=True)
            elif parameter.is_required:
                raise MalformedError(f"missing {parameter.name}", parameter=parameter.name)
        form = cls(**values)
        set_field(form, "_texts", texts)
        return form

    def get_text(self, name: str) -> Any:
        """Return what was given for a parameter: the text that was typed, if it was a text."""
        return getattr(self, "_texts", {}).get(name, getattr(self, name))

    @classmethod
    def about(cls, error: IactaError) -> str | None:
        """Return the parameter that an error is about; `None` where it is about none of these."""
        return (
            error.parameter
            if error.parameter in {parameter.name for parameter in cls.parameters()}
            else None
        )

    @classmethod
    def summary(cls) -> str:
        """Return what it does, in one sentence."""
        return " ".join((cls.__doc__ or "").partition("\n\n")[0].split())


def made_form(bases: tuple[type["Form"], ...], own: Mapping[str, Any], **members: object) -> Any:
    """Return a form that is made from data.

    bases: the forms whose parameters it has, too.
    own: its own parameters, each declared by `parameter`.
    members: its methods and its docstring.
    """
    types = dict.fromkeys(own, Any)
    return new_class(
        bases[0].__name__,
        bases,
        {"kw_only": True},
        lambda body: body.update(__annotations__=types, **own, **members),
    )


class Outline(NamedTuple):
    """What a file says of a form, which is not loaded; those of a group are left out.

    name, topic: those of the form.
    example: the first of its examples.
    summary: what it does, in one sentence.
    """

    name: str
    topic: Topic
    example: Example
    summary: str


F = TypeVar("F", bound=Form)
Added = TypeVar("Added", bound=Form)


class Register(Generic[F]):
    """The forms of a package, each in the file that has the first word of its name.

    A form is registered where it is defined, and nowhere else; a file is loaded when one of its
    forms is looked for.

    package: the name of the package.
    """

    def __init__(self, package: str) -> None:
        self._package = package
        self._forms: dict[str, type[F]] = {}

    def add(
        self, name: str, topic: Topic, *examples: Example
    ) -> Callable[[type[Added]], type[Added]]:
        """Return a decorator that registers a form.

        name: how it is asked for; of two words if it is one of a group.
        topic: what it is about.
        examples: some uses of it.
        """

        def register(form: type[Added]) -> type[Added]:
            form.name, form.topic, form.examples = name, topic, examples
            self._forms[name] = form  # type: ignore[assignment] # the package's forms are of its kind
            return form

        return register

    def find(self, word: str) -> list[type[F]]:
        """Return the forms whose names begin with a word, by name; no other file is loaded."""
        if word.isidentifier():
            module = f"{self._package}.{word}"
            try:
                import_module(module)
            except ModuleNotFoundError as error:
                if error.name != module:
                    raise
        return [form for name, form in sorted(self._forms.items()) if name.split()[0] == word]

    def outlines(self) -> list[Outline]:
        """Return what the files say of their forms, by name; none is loaded, which takes longer."""
        found = iter_modules(import_module(self._package).__path__)
        files = (f"{each.name}{'/question' if each.ispkg else ''}.py" for each in found)
        texts = (read_package_file(self._package, file) for file in files)
        return sorted(
            Outline(name, Topic[topic], Example(line, words), " ".join(summary.split()))
            for text in texts
            for name, topic, line, words, summary in re.findall(
                BEGINNING, text, re.MULTILINE | re.DOTALL
            )
        )

    def all(self) -> list[type[F]]:
        """Return all forms of the package, by name."""
        for name in self._modules():
            import_module(f"{self._package}.{name}")
        return [form for _, form in sorted(self._forms.items())]

    def _modules(self) -> Iterator[str]:
        return (each.name for each in iter_modules(import_module(self._package).__path__))


class ClashError(IllegalError):
    """Parameters that do not go together.

    sentence: a format in which a name in braces is a parameter's, as `{seed}`, and `{0}`, `{1}`
        are the values.
    """

    def __init__(self, sentence: str, *values: object) -> None:
        super().__init__(_Bounded().vformat(sentence, values, _Spelt(str)))
        self.sentence, self.values = sentence, values


class _Bounded(Formatter):
    """Shows values as messages do."""

    def convert_field(self, value: Any, conversion: str | None) -> Any:
        is_plain = not isinstance(value, str) or (value.isprintable() and len(value) < MOST_PLAIN)
        return value if conversion != "r" and is_plain else quote(value)


class _Spelt(dict[str, str]):
    """Every name, spelt as a face does."""

    def __init__(self, spell: Callable[[str], str]) -> None:
        super().__init__()
        self.spell = spell

    def __missing__(self, name: str) -> str:
        return self.spell(name)


def format_error(error: IactaError, form: type[Form], spell: Callable[[str], str]) -> str:
    """Return the sentence of an error, with the parameters spelt as a face does.

    error: the error, with the parameter that it is about; its sentence may begin with that name,
        as in "chance must ..." or "missing chance".
    form: what was asked.
    spell: the face's name of a parameter, such as `--max-rolls` for `max_rolls`.

    >>> from iacta.questions.need import NeedQuestion
    >>> error = IllegalError("chance must be ...", parameter="chance")
    >>> format_error(error, NeedQuestion, lambda name: f"--{name}")
    '--chance must be ...'
    """
    if isinstance(error, ClashError):
        return _Bounded().vformat(error.sentence, error.values, _Spelt(spell))
    name = form.about(error)
    if name is None:
        return str(error)
    return re.sub(
        rf"^(missing )?{name}\b", lambda match: (match[1] or "") + spell(name), str(error)
    )
