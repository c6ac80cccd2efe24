"""Reads the words of a command line by the description of its command."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial

from iacta.forms.form import Form, Parameter, option_name
from iacta.forms.parameter_kinds import Flag, Name, Whole
from iacta.forms.question import list_questions, nearest
from iacta.inputs.checks import MAX_VALUE_LENGTH, quote
from iacta.inputs.errors import IactaError, IllegalError, MalformedError

HELP = ("-h", "--help")
VERSION = ("-V", "--version")
DASHES = "-\u2013\u2014"  # word processors make them of hyphens
OPTION = rf"--|[{DASHES}]+[^\W\d]"  # how an option begins
VERSUS = r"([0-9][0-9,_]*) ?vs?\.? ?(?=[0-9])"  # a number, and what is between it and the next
NUMBERS = r"[1-9][0-9]*(,[1-9][0-9]*)+"

Texts = dict[str, str | list[str] | bool]


def argument_name(parameter: Parameter) -> str:
    """Return the name of an argument in help: `ATTACKERS`, `[NAME]`, `DEFENDERS...`."""
    name = f"{parameter.value_name}..." if parameter.kind.is_row else parameter.value_name
    return name if parameter.is_required else f"[{name}]"


def spelt(form: type[Form], name: str) -> str:
    is_argument = any(
        parameter.name == name and parameter.is_argument for parameter in form.parameters()
    )
    return name if is_argument else option_name(name)


def read_words(parameters: Sequence[Parameter], words: Sequence[str], command: str) -> Texts:
    """Return the text of each parameter that is given, by its name.

    parameters: those of the command.
    words: the command line after the command's name.
    command: the command for messages, such as `iacta battle`.

    An argument can be given by name, too: by its own or by that in help. A hyphen before a digit is
    a minus, so that a negative number is refused as a number.
    """
    options = {
        option_name(parameter.value_name.lower()): parameter
        for parameter in parameters
        if parameter.is_argument
    }
    options |= {option_name(parameter.name): parameter for parameter in parameters}
    arguments: list[str] = []
    texts: Texts = {}
    rest = iter(words)
    for word in rest:
        if word == "--":
            arguments += rest
        elif re.match(OPTION, word):
            name, equals, value = word.partition("=")
            check_known("option", name, [*options, HELP[1]], command, partial(_other, parameters))
            parameter = options[name]
            text = _value(parameter, name, value if equals else rest, command)
            texts[parameter.name] = str(text).split() if parameter.kind.is_row else text
        else:
            arguments.append(word)
    placed, left = _placed(parameters, arguments, texts, command)
    if left:
        check_arguments(parameters, placed)  # of `12 to 10`, `to` is what is wrong
        raise IllegalError(_unexpected(left[0], words, options, command))
    for name, parameter in options.items():
        if parameter.is_required and not parameter.is_argument and parameter.name not in texts:
            raise MalformedError(f"missing {name}; see {command} --help")
    return texts | placed


def _value(parameter: Parameter, name: str, given: str | Iterator[str], command: str) -> str | bool:
    if isinstance(parameter.kind, Flag):
        if isinstance(given, str):
            raise MalformedError(f"{name} takes no value, got {quote(given)}")
        return True
    value = given if isinstance(given, str) else next(given, None)
    if value is None:
        raise MalformedError(f"{name} needs a value; see {command} --help")
    return value


def _placed(
    parameters: Sequence[Parameter], words: Sequence[str], named: Texts, command: str
) -> tuple[Texts, list[str]]:
    """Return the texts of the arguments that have no name, and the words that are left."""
    texts: Texts = {}
    left = list(words)
    arguments = [parameter for parameter in parameters if parameter.is_argument]
    for parameter in arguments:
        if isinstance(parameter.kind, Whole) and parameter is not arguments[-1]:
            left = _without_versus(left)
        if parameter.kind.is_row and left:
            texts[parameter.name], left = left, []
        elif left:
            texts[parameter.name] = left.pop(0)
        elif parameter.is_required and parameter.name not in named:
            check_arguments(parameters, texts)  # 12,10 is no number, rather than one too few
            raise MalformedError(f"missing {parameter.value_name}; see {command} --help")
        if parameter.name in texts and parameter.name in named:
            raise IllegalError(
                f"{parameter.name} is given twice: {_shown(texts[parameter.name])} and "
                f"{option_name(parameter.name)} {_shown(named[parameter.name])}"
            )
    return texts, left


def _shown(text: str | list[str] | bool) -> str:
    return quote(" ".join(_words(text)))


def _without_versus(words: list[str]) -> list[str]:
    """Return words without what is between two numbers at their beginning, as in `12 vs 10`."""
    text = " ".join(words[:3])
    match = re.match(VERSUS, text, re.IGNORECASE)
    return [match[1], *text[match.end() :].split(), *words[3:]] if match else words


# What is refused, and what may have been meant.


def check_arguments(parameters: Sequence[Parameter], texts: Texts) -> None:
    """Refuse arguments that do not fit, and suggest what may have been meant.

    parameters: those of the command.
    texts: what is given.
    """
    for parameter in parameters:
        if not parameter.is_argument or parameter.name not in texts:
            continue
        text = texts[parameter.name]
        try:
            parameter.read(text, is_text=True)
        except IactaError as error:
            hints = (_meant(parameter, parameters, word) for word in _words(text))
            hint = next(filter(None, hints), "")
            if hint and ";" not in str(error):
                error.args = (f"{error}; {hint}",)
            raise


def _words(text: str | list[str] | bool) -> list[str]:
    return text if isinstance(text, list) else [str(text)]


def _meant(refused: Parameter, parameters: Sequence[Parameter], word: str) -> str:
    """Return how a word of an argument may have been meant, empty if nobody can say."""
    if _reads(refused, word):
        return ""
    if any(word.startswith(f"{parameter.name}=") for parameter in parameters):
        return f"did you mean {option_name(word)}?"
    if re.fullmatch(NUMBERS, word):
        return f"separate numbers by spaces: {word.replace(',', ' ')[:MAX_VALUE_LENGTH]}"
    return _as_option(parameters, word)


def _as_option(parameters: Iterable[Parameter], word: str) -> str:
    """Return a question that names the option whose value a word is, if only one can have it."""
    fitting = [parameter for parameter in parameters if _fits(parameter, word)]
    is_one = len(fitting) == 1 and len(word) <= MAX_VALUE_LENGTH
    return f"did you mean {option_name(fitting[0].name)} {word}?" if is_one else ""


def _fits(parameter: Parameter, word: str) -> bool:
    kind = parameter.kind
    if parameter.is_argument or isinstance(kind, Flag | Name) or kind.is_path(word):
        return False  # these read anything
    return not word.isdigit() and _reads(parameter, word)


def _reads(parameter: Parameter, text: str) -> bool:
    with suppress(IactaError):
        parameter.read(text, is_text=True)
        return not isinstance(parameter.kind, Flag)
    return False


def _unexpected(
    word: str, words: Sequence[str], options: Mapping[str, Parameter], command: str
) -> str:
    for name, value, following in zip(["", *words], words, words[1:], strict=False):
        if following == word and value in options and isinstance(options[value].kind, Flag):
            return f"{value} takes no value, got {quote(word)}"
        whole = f"{value} {word}"
        if following == word and name in options and _reads(options[name], whole):
            return f'text with spaces needs quotes: {name} "{whole[:MAX_VALUE_LENGTH]}"'
    hint = _as_option(dict.fromkeys(options.values()), word) or f"see {command} --help"
    return f"unexpected argument {quote(word)}; {hint}"


def _other(parameters: Sequence[Parameter], option: str) -> str:
    """Return what an unknown option may be: the value of one, or an option of other questions."""
    name = option.lstrip(DASHES)
    return _as_option(parameters, name) or list_questions(name.replace("-", "_"), "iacta {}".format)


def check_known(
    what: str,
    name: str,
    known: Sequence[str],
    command: str,
    meant: Callable[[str], str] = lambda name: "",
) -> None:
    """Refuse an unknown option or command, and suggest the nearest known one.

    what: what it is.
    name: its name.
    known: the names of all of its kind.
    command: the command for messages.
    meant: returns what else may have been meant, empty if nobody can say.
    """
    if name in known:
        return
    bare_names = {name.lstrip("-"): name for name in known}
    near = nearest(name.lstrip(DASHES), bare_names)
    hint = f"did you mean {bare_names[near]}?" if near else meant(name)
    bare = " ".join(repr(name)[1:-1].split())[:MAX_VALUE_LENGTH]
    raise IllegalError(f"unknown {what} {bare}; {hint or f'see {command} --help'}")
