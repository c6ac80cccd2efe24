"""Forms: the input of a command or question, declared once for all interfaces.

A form is a frozen dataclass. Each field is declared with `parameter`: the kind of its value, and
its meaning in one line. Command-line options, help, web pages, schemas and columns are derived from
`Form.parameters`. `Form.parse` creates a form from strings, and the constructor creates a form from
values. Both validate their input.
"""

import ast
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

DOCSTRING_QUOTES = '"' * 3
MAX_UNQUOTED = 200  # longer strings are quoted and shortened in messages
REQUIRED: Any = object()  # marks a parameter that has no default
Texts = Mapping[str, str | Sequence[str] | bool]


@dataclass(frozen=True)
class Parameter:
    """A parameter of a form: the kind of its value, and its meaning.

    kind: the kind of the value.
    help: the meaning of the parameter, in one line.
    is_argument: whether the parameter is a positional argument of the command line.
    usual: a description of the default for players, if `default` is `None`.
    metavar: the name of the value in the help; empty for the name of the kind.
    needs: other parameters, such as `take or eliminate`. This parameter needs at least one.
    excludes: parameters with which the parameter cannot be combined, such as `reinforce or cards
        and then`. Parameters joined by `and` are excluded only in combination.
    label: the name of the parameter on a web page, in lower case; empty for `name`.
    page: the parameter whose help page explains this parameter, or empty. The help of a command
        omits parameters that are explained on another page.
    default: the value if the parameter is not given; `REQUIRED` if it must be given.
    name: the name of the field, set by `Form.parameters`.
    """

    kind: Kind
    help: str
    is_argument: bool = False
    usual: str = ""
    metavar: str = ""
    needs: str = ""
    excludes: str = ""
    label: str = ""
    page: str = ""
    default: Any = REQUIRED
    name: str = ""

    @property
    def is_required(self) -> bool:
        return self.default is REQUIRED

    @property
    def value_name(self) -> str:
        """The name of the value in help, such as `ATTACKERS` or `FILE`."""
        return self.metavar or (self.name.upper() if self.is_argument else self.kind.metavar)

    @property
    def default_text(self) -> str:
        """The default in words for players; empty if there is no default."""
        if self.default in (REQUIRED, None) or isinstance(self.kind, Flag):
            return self.usual
        return self.kind.format(self.default)

    def schema(self) -> Schema:
        schema = {**self.kind.schema(), "description": self.help}
        if self.default not in (REQUIRED, None):
            schema["default"] = self.kind.to_json(self.default)
        return schema

    def read(self, value: Any, *, is_text: bool = False) -> Any:
        """Validate a value, and convert it to the type that the form stores.

        value: a Python or JSON value, or, if `is_text` is true, a string to parse.

        The attribute `parameter` of exceptions is the name of this parameter.
        """
        try:
            if not is_text or isinstance(value, bool):
                return self.kind.check(value, self.name)
            if isinstance(value, str) or not self.kind.is_list:
                return self.kind.parse(value, self.name)
            return self.kind.check(value, self.name)
        except IactaError as error:
            error.parameter = self.name
            raise


def parameter(
    kind: Kind,
    help: str,  # noqa: A002 # as in argparse and typer
    *,
    default: Any = REQUIRED,
    is_argument: bool = False,
    usual: str = "",
    metavar: str = "",
    needs: str = "",
    excludes: str = "",
    label: str = "",
    page: str = "",
) -> Any:
    """Declare a field of a form; the arguments are the fields of `Parameter`."""
    described = Parameter(
        kind, help, is_argument, usual, metavar, needs, excludes, label, page, default
    )
    return field(
        default=MISSING if default is REQUIRED else default, metadata={"parameter": described}
    )


def format_option(name: str) -> str:
    """Return the command-line option for a parameter.

    >>> format_option("max_rolls"), format_option("from_")  # `from` is a keyword of Python
    ('--max-rolls', '--from')
    """
    return f"--{name.rstrip('_').replace('_', '-')}"


def _join_names(names: Sequence[str]) -> str:
    """Return names as fields of a format string for `ClashError`: `{take} or {eliminate}`."""
    *most, last = (f"{{{name}}}" for name in names)
    return f"{', '.join(most)} or {last}" if most else last


class Topic(Enum):
    """A heading in the help, under which forms are listed."""

    ATTACK = "Before an attack"
    DEFENCE = "On defence"
    BOARD = "On the board"
    STUDY = "To study"
    TOOLS = "Tools"


@dataclass(frozen=True)
class Example:
    """An example of a command.

    line: the command line without `iacta`.
    words: the question that the command asks.
    """

    line: str
    words: str = ""


@dataclass_transform(frozen_default=True, field_specifiers=(parameter,))
@dataclass(frozen=True)
class Form:
    """The input of a command: subclasses are frozen dataclasses whose fields are parameters.

    A `Register` sets the name, the topic and the examples of each form.
    """

    name: ClassVar[str]
    topic: ClassVar[Topic]
    examples: ClassVar[tuple[Example, ...]] = ()
    # Each string, such as "file or log", names parameters of which the user must give exactly one.
    one_of: ClassVar[tuple[str, ...]] = ()
    # A hint about one number more than the command has arguments: a format string with the number
    # and with all arguments, such as "did you mean --prize {0}?"; empty for no hint.
    surplus: ClassVar[str] = ""
    # Additional sections of the help. A section has a title and lines, each with its meaning.
    help_sections: ClassVar[Mapping[str, Sequence[tuple[str, str]]]] = {}

    def __init_subclass__(cls, *, kw_only: bool = False) -> None:
        dataclass(frozen=True, kw_only=kw_only)(cls)

    def __post_init__(self) -> None:
        for parameter in self.parameters():
            value = getattr(self, parameter.name)
            if value is not None or parameter.default is not None:
                set_field(self, parameter.name, parameter.read(value))
        self.complete()
        self._check_combinations()

    def complete(self) -> None:
        """Set parameters whose values follow from other parameters."""

    def has(self, name: str) -> bool:
        value = getattr(self, name)
        return value is not None and value is not False

    def _check_combinations(self) -> None:
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
        """Return the parameters: arguments, the form's own options, and then inherited options."""
        given = {
            field.name: replace(field.metadata["parameter"], name=field.name)
            for field in fields(cls)
        }
        names = [name for level in cls.__mro__ for name in get_annotations(level) if name in given]
        ordered = [given[name] for name in dict.fromkeys(names)]
        return tuple(sorted(ordered, key=lambda parameter: not parameter.is_argument))

    @classmethod
    def parse(cls, texts: Texts) -> Self:
        """Parse a form from strings.

        texts: a mapping from names of parameters to strings, lists of strings, or bools for flags.
            Unknown names are ignored.
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
        """Return the text that the user typed for a parameter, or else the parameter's value."""
        return getattr(self, "_texts", {}).get(name, getattr(self, name))

    @classmethod
    def find_faulty_parameter(cls, error: IactaError) -> str | None:
        """Return the name of the parameter that caused an error, or `None`."""
        return (
            error.parameter
            if error.parameter in {parameter.name for parameter in cls.parameters()}
            else None
        )

    @classmethod
    def summary(cls) -> str:
        """Return the purpose of the form: the first sentence of its docstring."""
        return " ".join((cls.__doc__ or "").partition("\n\n")[0].split())


def make_form(
    bases: tuple[type["Form"], ...], parameters: Mapping[str, Any], **members: object
) -> Any:
    """Create a form class.

    bases: the base classes, whose parameters the form inherits.
    parameters: a mapping from names to further parameters, each declared with `parameter`.
    members: methods of the class, and its docstring.
    """
    types = dict.fromkeys(parameters, Any)
    return new_class(
        bases[0].__name__,
        bases,
        {"kw_only": True},
        lambda body: body.update(__annotations__=types, **parameters, **members),
    )


class Outline(NamedTuple):
    """A short description of a form, read from the form's file without importing the file.

    Subcommands such as `chart delta` have no outline.

    name, topic: the name of the form, and the heading under which the help lists it.
    example: the first example.
    summary: the purpose of the form, in one sentence.
    """

    name: str
    topic: Topic
    example: Example
    summary: str


F = TypeVar("F", bound=Form)
Added = TypeVar("Added", bound=Form)


class Register(Generic[F]):
    """The registry of the forms in a package.

    package: the name of the package.
    decorator: the name under which the modules of the package import the decorator `add`.

    A decorator registers each form. The module of a form is named after the first word of the
    form's name. Therefore only one module has to be imported to find a form.
    """

    def __init__(self, package: str, decorator: str) -> None:
        self._package, self._decorator = package, decorator
        self._forms: dict[str, type[F]] = {}

    def add(
        self, name: str, topic: Topic, *examples: Example
    ) -> Callable[[type[Added]], type[Added]]:
        """Return a decorator that registers a form.

        name: the name of the command; two words for a subcommand such as `chart delta`.
        topic: the heading under which the help lists the form.
        examples: command lines that use the form.
        """

        def register(form: type[Added]) -> type[Added]:
            form.name, form.topic, form.examples = name, topic, examples
            self._forms[name] = form  # type: ignore[assignment] # forms of one package share a class
            return form

        return register

    def find(self, word: str) -> list[type[F]]:
        """Import only the module for a word, and return the forms whose names start with it."""
        if word.isidentifier():
            module = f"{self._package}.{word}"
            try:
                import_module(module)
            except ModuleNotFoundError as error:
                if error.name != module:
                    raise
        return [form for name, form in sorted(self._forms.items()) if name.split()[0] == word]

    def read_outlines(self) -> list[Outline]:
        """Return the outlines of all forms, sorted by name; the forms are not imported."""
        found = iter_modules(import_module(self._package).__path__)
        files = (f"{each.name}{'/question' if each.ispkg else ''}.py" for each in found)
        texts = (read_package_file(self._package, file) for file in files)
        start = f"@{self._decorator}("
        outlines = (
            _parse_outline(f"{start}{part}")
            for text in texts
            for part in f"\n{text}".split(f"\n{start}")[1:]
        )
        return sorted(outline for outline in outlines if " " not in outline.name)

    def load_all(self) -> list[type[F]]:
        """Import all forms of the package, and return them sorted by name."""
        for name in self._list_modules():
            import_module(f"{self._package}.{name}")
        return [form for _, form in sorted(self._forms.items())]

    def _list_modules(self) -> Iterator[str]:
        return (each.name for each in iter_modules(import_module(self._package).__path__))


def _parse_outline(source: str) -> Outline:
    """Return the outline of a form.

    source: Python code that starts with the decorator of the form. Only the code up to the end of
        the class's docstring is parsed, because parsing whole files would delay the help.
    """
    head, quotes, body = source.partition(DOCSTRING_QUOTES)
    docstring = body.partition(DOCSTRING_QUOTES)[0]
    (form,) = ast.parse(f"{head}{quotes}{docstring}{quotes}").body
    assert isinstance(form, ast.ClassDef)  # noqa: S101 # a form is a class
    (call,) = form.decorator_list
    assert isinstance(call, ast.Call)  # noqa: S101 # see `Register.add`
    name, topic, first, *_ = call.args
    assert isinstance(topic, ast.Attribute) and isinstance(first, ast.Call)  # noqa: S101, PT018
    example = Example(*map(ast.literal_eval, first.args))
    summary = (ast.get_docstring(form) or "").partition("\n\n")[0]
    return Outline(ast.literal_eval(name), Topic[topic.attr], example, " ".join(summary.split()))


class ClashError(IllegalError):
    """Parameters that are missing, or that cannot be combined.

    sentence: a format string for the message, in which `{seed}` stands for the name of a parameter,
        and `{0}` and `{1}` stand for `values`.
    on_page: the message for web pages, which do not show names of parameters; empty to use
        `sentence`.
    """

    def __init__(self, sentence: str, *values: object, on_page: str = "") -> None:
        super().__init__(_QuotingFormatter().vformat(sentence, values, _SpelledNames(str)))
        self.sentence, self.values, self.on_page = sentence, values, on_page


class _QuotingFormatter(Formatter):
    """A formatter that quotes and shortens long or unprintable values."""

    def convert_field(self, value: Any, conversion: str | None) -> Any:
        is_plain = not isinstance(value, str) or (value.isprintable() and len(value) < MAX_UNQUOTED)
        return value if conversion != "r" and is_plain else quote(value)


class _SpelledNames(dict[str, str]):
    """A mapping from names of parameters to their spellings in an interface."""

    def __init__(self, spell: Callable[[str], str]) -> None:
        super().__init__()
        self.spell = spell

    def __missing__(self, name: str) -> str:
        return self.spell(name)


def format_error(error: IactaError, form: type[Form], spell: Callable[[str], str]) -> str:
    """Return the message of an error, with names of parameters as an interface spells them.

    error: the error. Its message may start with the name of a parameter, such as "chance must ..."
        or "missing chance".
    form: the form that has the parameter.
    spell: a function that returns the spelling of a name, such as `--max-rolls` for `max_rolls`.

    >>> from iacta.questions.need import NeedQuestion
    >>> error = IllegalError("chance must be ...", parameter="chance")
    >>> format_error(error, NeedQuestion, lambda name: f"--{name}")
    '--chance must be ...'
    """
    if isinstance(error, ClashError):
        return _QuotingFormatter().vformat(error.sentence, error.values, _SpelledNames(spell))
    name = form.find_faulty_parameter(error)
    if name is None:
        return str(error)
    return re.sub(
        rf"^(missing )?{name}\b", lambda match: (match[1] or "") + spell(name), str(error)
    )
