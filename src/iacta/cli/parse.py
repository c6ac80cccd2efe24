"""Reads the words of a command line by the description of its command."""

from collections.abc import Iterator, Sequence

from iacta.checks import LONGEST_SHOWN, shown
from iacta.errors import IllegalError, MalformedError
from iacta.questions.form import Form, Parameter, option_name
from iacta.questions.kinds import Flag

__all__ = ["HELP", "VERSION", "argument_name", "check_known", "read_words", "spelt"]

HELP = ("-h", "--help")
VERSION = ("-V", "--version")

Texts = dict[str, str | list[str] | bool]


def argument_name(parameter: Parameter) -> str:
    """Return the name of an argument in help: `ATTACKERS`, `[NAME]`, `DEFENDERS...`."""
    name = parameter.metavar or parameter.name.upper()
    name = f"{name}..." if parameter.kind.is_row else name
    return name if parameter.is_required else f"[{name}]"


def spelt(form: type[Form], name: str) -> str:
    is_argument = any(each.name == name and each.is_argument for each in form.parameters())
    return name if is_argument else option_name(name)


def read_words(parameters: Sequence[Parameter], words: Sequence[str], command: str) -> Texts:
    """Return the text of each parameter that is given, by its name.

    parameters: those of the command.
    words: the command line after the command's name.
    command: the command for messages, such as `iacta battle`.

    A word with one hyphen is an argument, so that a negative number is refused as a number.
    """
    options = {option_name(each.name): each for each in parameters}
    arguments: list[str] = []
    texts: Texts = {}
    rest = iter(words)
    for word in rest:
        if word == "--":
            arguments += rest
        elif word.startswith("--"):
            name, equals, value = word.partition("=")
            check_known("option", name, [*options, HELP[1]], command)
            given = value if equals else rest
            texts[options[name].name] = _value(options[name], name, given, command)
        else:
            arguments.append(word)
    placed = _placed([each for each in parameters if each.is_argument], arguments, texts, command)
    for name, each in options.items():
        if each.is_required and not each.is_argument and each.name not in texts:
            raise MalformedError(f"missing {name}; see {command} --help")
    return texts | placed


def _value(parameter: Parameter, name: str, given: str | Iterator[str], command: str) -> str | bool:
    if isinstance(parameter.kind, Flag):
        if isinstance(given, str):
            raise MalformedError(f"{name} takes no value, got {shown(given)}")
        return True
    value = given if isinstance(given, str) else next(given, None)
    if value is None:
        raise MalformedError(f"{name} needs a value; see {command} --help")
    return value


def _placed(
    parameters: Sequence[Parameter], words: Sequence[str], named: Texts, command: str
) -> Texts:
    texts: Texts = {}
    left = list(words)
    for parameter in parameters:
        if parameter.kind.is_row and left:
            texts[parameter.name], left = left, []
        elif left:
            texts[parameter.name] = left.pop(0)
        elif parameter.is_required and parameter.name not in named:
            name = parameter.metavar or parameter.name.upper()
            raise MalformedError(f"missing {name}; see {command} --help")
        if parameter.name in texts and parameter.name in named:
            raise IllegalError(
                f"{parameter.name} is given twice: {shown(texts[parameter.name])} and "
                f"{option_name(parameter.name)} {shown(named[parameter.name])}"
            )
    if left:
        raise IllegalError(f"unexpected argument {shown(left[0])}; see {command} --help")
    return texts


def check_known(what: str, name: str, known: Sequence[str], command: str) -> None:
    """Refuse an unknown option or command, and suggest the nearest known one."""
    if name in known:
        return
    from difflib import get_close_matches  # slow to import, and only needed here

    bare_names = {each.lstrip("-"): each for each in known}
    near = get_close_matches(name.lstrip("-"), bare_names, n=1)
    hint = f"did you mean {bare_names[near[0]]}?" if near else f"see {command} --help"
    bare = " ".join(repr(name)[1:-1].split())[:LONGEST_SHOWN]
    raise IllegalError(f"unknown {what} {bare}; {hint}")
