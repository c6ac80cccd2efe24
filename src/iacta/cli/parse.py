"""A parser for command lines that is driven by the parameters of the command."""

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from itertools import pairwise, takewhile

from iacta.forms.form import Form, Parameter, format_option
from iacta.forms.parameter_kinds import Flag, Name, Pairs, Whole
from iacta.forms.question import describe_questions_with_parameter, find_similar_name
from iacta.inputs.checks import MAX_VALUE_LENGTH, quote
from iacta.inputs.errors import IactaError, IllegalError, MalformedError

HELP = ("-h", "--help")
VERSION = ("-V", "--version")
WIN_PAGE = "win-by"  # help page on the options of `VictoryForm`
WIN_BY = "--win-by"
DASHES = "-\u2013\u2014"  # word processors replace hyphens with dashes
OPTION = rf"--|[{DASHES}]+[^\W\d]"  # the start of an option
VERSUS = r"([0-9][0-9,_]*) ?vs?\.? ?(?=[0-9])"  # "12 vs " before a number
NUMBERS = r"[1-9][0-9]*([-,:/xX\u2013][1-9][0-9]*)+"  # numbers without spaces, as in 12-10
NUMBER_WITH_RULES = r"([1-9][0-9]*):(\D.*)"  # as in 7:capital
NAME_WORD = r"[^\W\d][^./\\;]*"  # a word of a name, and not a path or a code

Texts = dict[str, str | list[str] | bool]


def format_argument(parameter: Parameter) -> str:
    """Return an argument as the help shows it: `ATTACKERS`, `[NAME]` or `DEFENDERS...`."""
    name = f"{parameter.value_name}..." if parameter.kind.is_list else parameter.value_name
    return name if parameter.is_required else f"[{name}]"


def spell_parameter(form: type[Form], name: str) -> str:
    is_argument = any(
        parameter.name == name and parameter.is_argument for parameter in form.parameters()
    )
    return name.replace("_", " ") if is_argument else format_option(name)


def read_words(
    parameters: Sequence[Parameter], words: Sequence[str], command: str, surplus: str = ""
) -> Texts:
    """Return the text for each parameter on a command line, by name of the parameter.

    parameters: the parameters of the command.
    words: the words after the name of the command.
    command: the command in messages, such as `iacta battle`.
    surplus: the hint about a number too many, as in `Form.surplus`.

    A positional argument can also be given as an option with the name of the parameter or the name
    in the help. A hyphen in front of a digit is a minus sign, so `-5` is a number and not an
    option.
    """
    options = {
        format_option(parameter.value_name.lower()): parameter
        for parameter in parameters
        if parameter.is_argument
    }
    options |= {format_option(parameter.name): parameter for parameter in parameters}
    arguments: list[str] = []
    after = list[tuple[str, list[str]]]()  # the options with the words from their values on
    texts: Texts = {}
    rest = iter(words)
    for word in rest:
        if word == "--":
            arguments += rest
        elif re.match(OPTION, word):
            name, equals, value = word.partition("=")
            check_known(
                "option", name, [*options, HELP[1]], command, partial(_suggest_other, parameters)
            )
            parameter = options[name]
            text = _read_value(parameter, name, value if equals else rest, command)
            after.append((name, [str(text)]))
            if isinstance(parameter.kind, Pairs) and parameter.name in texts:
                text = f"{texts[parameter.name]}{parameter.kind.between}{text}"
            texts[parameter.name] = str(text).split() if parameter.kind.is_list else text
        else:
            arguments.append(word)
            if after:
                after[-1][1].append(word)
    placed, left = _assign_arguments(parameters, arguments, texts, command)
    paths = [
        str(placed[parameter.name])
        for parameter in parameters
        if parameter.name in placed and parameter.kind.is_path(placed[parameter.name])
    ]
    _refuse_names_without_quotes(after, [*left, *paths], options)
    if left:
        check_positional_arguments(
            parameters, placed
        )  # in `12 to 10`, complain about `to` rather than `10`
        if "--log" in options and arguments[0][:1].isdigit():
            log = quote(" ".join(arguments))
            raise IllegalError(f"dice are not a file name; use the option --log {log}")
        if surplus and left[0].isdigit():
            hint = surplus.format(left[0], " ".join(arguments))
            raise IllegalError(f"unexpected argument {quote(left[0])}; {hint}")
        raise IllegalError(_explain_unexpected(left[0], words, options, command))
    for name, parameter in options.items():
        if parameter.is_required and not parameter.is_argument and parameter.name not in texts:
            raise MalformedError(f"missing {name}; see {command} --help")
    return texts | placed


def _refuse_names_without_quotes(
    after: Sequence[tuple[str, Sequence[str]]],
    loose: Sequence[str],
    options: Mapping[str, Parameter],
) -> None:
    """Raise an error with quotes around a name of several words, as in `--take South America`.

    after: pairs of an option and the words from its value on, up to the next option.
    loose: the words that are no option values, and are unexpected or taken for a path.
    """
    for name, (value, *following) in after:
        tail = [*takewhile(partial(re.fullmatch, NAME_WORD), following)]
        kind = options[name].kind
        if not tail or isinstance(kind, Flag) or tail[0] not in loose or os.path.exists(tail[0]):
            continue
        whole = " ".join([value, *tail])
        if _is_readable(options[name], whole):
            shown = whole[:MAX_VALUE_LENGTH]
            raise IllegalError(f'text with spaces needs quotes: {name} "{shown}"')


def _read_value(
    parameter: Parameter, name: str, given: str | Iterator[str], command: str
) -> str | bool:
    if isinstance(parameter.kind, Flag):
        if isinstance(given, str):
            raise MalformedError(f"{name} takes no value, got {quote(given)}")
        return True
    value = given if isinstance(given, str) else next(given, None)
    if value is None:
        raise MalformedError(f"{name} needs a value; see {command} --help")
    return value


def _assign_arguments(
    parameters: Sequence[Parameter], words: Sequence[str], named: Texts, command: str
) -> tuple[Texts, list[str]]:
    """Assign words to positional arguments; return the assignment and the unassigned words.

    named: the parameters that were given as options.
    """
    texts: Texts = {}
    left = list(words)
    arguments = [parameter for parameter in parameters if parameter.is_argument]
    for parameter in arguments:
        if isinstance(parameter.kind, Whole) and parameter is not arguments[-1]:
            left = _drop_versus(left)
        if parameter.kind.is_list and left:
            texts[parameter.name], left = left, []
        elif left:
            texts[parameter.name] = left.pop(0)
        elif parameter.is_required and parameter.name not in named:
            check_positional_arguments(
                parameters, texts
            )  # in `12,10`, the word is wrong; nothing is missing
            raise MalformedError(f"missing {parameter.value_name}; see {command} --help")
        if parameter.name in texts and parameter.name in named:
            raise IllegalError(
                f"{parameter.name} is given twice: {_quote_text(texts[parameter.name])} and "
                f"{format_option(parameter.name)} {_quote_text(named[parameter.name])}"
            )
    return texts, left


def _quote_text(text: str | list[str] | bool) -> str:
    return quote(" ".join(_list_texts(text)))


def _drop_versus(words: list[str]) -> list[str]:
    """Remove the word between two leading numbers, as in `12 vs 10`."""
    text = " ".join(words[:3])
    match = re.match(VERSUS, text, re.IGNORECASE)
    return [match[1], *text[match.end() :].split(), *words[3:]] if match else words


def check_positional_arguments(parameters: Sequence[Parameter], texts: Texts) -> None:
    """Raise an error for an invalid positional argument, with a suggestion if there is one.

    parameters: the parameters of the command.
    texts: the text of each parameter, by name.
    """
    for parameter in parameters:
        if not parameter.is_argument or parameter.name not in texts:
            continue
        text = texts[parameter.name]
        try:
            parameter.read(text, is_text=True)
        except IactaError as error:
            hints = (_suggest_correction(parameter, parameters, word) for word in _list_texts(text))
            hint = next(filter(None, hints), "")
            if hint and ";" not in str(error):
                error.args = (f"{error}; {hint}",)
            raise


def _list_texts(text: str | list[str] | bool) -> list[str]:
    return text if isinstance(text, list) else [str(text)]


def _suggest_correction(refused: Parameter, parameters: Sequence[Parameter], word: str) -> str:
    """Return a suggestion for an invalid word, or an empty text."""
    if _is_readable(refused, word):
        return ""
    if any(word.startswith(f"{parameter.name}=") for parameter in parameters):
        return f"did you mean {format_option(word)}?"
    if re.fullmatch(NUMBERS, word):
        return f"separate numbers by spaces: {re.sub('[^0-9]', ' ', word)[:MAX_VALUE_LENGTH]}"
    rules = next((each for each in parameters if each.name == "rules"), None)
    if (match := re.fullmatch(NUMBER_WITH_RULES, word)) and rules is not None:
        number, name = match.groups()
        if _is_readable(refused, number) and _is_readable(rules, name):
            return f"did you mean {number} --rules {name}?"
    return _suggest_option(parameters, word)


def _suggest_option(parameters: Iterable[Parameter], word: str) -> str:
    """Suggest the option that would accept a word as its value, if there is exactly one."""
    fitting = [parameter for parameter in parameters if _accepts_word(parameter, word)]
    is_one = len(fitting) == 1 and len(word) <= MAX_VALUE_LENGTH
    return f"did you mean {format_option(fitting[0].name)} {word}?" if is_one else ""


def _accepts_word(parameter: Parameter, word: str) -> bool:
    kind = parameter.kind
    if parameter.is_argument or isinstance(kind, Flag | Name) or kind.is_path(word):
        return False  # flags take no value; names and paths accept any text
    return not word.isdigit() and _is_readable(parameter, word)


def _is_readable(parameter: Parameter, text: str) -> bool:
    with suppress(IactaError):
        parameter.read(text, is_text=True)
        return not isinstance(parameter.kind, Flag)
    return False


def _explain_unexpected(
    word: str, words: Sequence[str], options: Mapping[str, Parameter], command: str
) -> str:
    for value, following in pairwise(words):
        if following == word and value in options and isinstance(options[value].kind, Flag):
            needed = format_option(options[value].needs.partition(" ")[0])
            hint = f"; did you mean {needed} {word} {value}?" if needed in options else ""
            return f"{value} takes no value, got {quote(word)}{hint}"
    if WIN_BY in options:
        from iacta.game.victory import VICTORIES  # a slow import

        if word.partition("=")[0] in VICTORIES:
            return f"unexpected argument {quote(word)}; did you mean {WIN_BY} {word}?"
    hint = _suggest_option(dict.fromkeys(options.values()), word) or f"see {command} --help"
    return f"unexpected argument {quote(word)}; {hint}"


def _suggest_other(parameters: Sequence[Parameter], option: str) -> str:
    """Suggest another option, or a question that has the unknown option."""
    name = option.lstrip(DASHES)
    return _suggest_option(parameters, name) or describe_questions_with_parameter(
        name.replace("-", "_"), "iacta {}".format
    )


def check_known(
    noun: str,
    name: str,
    known: Sequence[str],
    command: str,
    suggest: Callable[[str], str] = lambda name: "",
) -> None:
    """Raise an error for an unknown option or command, suggesting the most similar known name.

    noun: the noun in the message, such as `option`.
    known: all valid names.
    command: the command in messages.
    suggest: a function that returns a suggestion (or an empty text) if no known name is similar.
    """
    if name in known:
        return
    bare_names = {name.lstrip("-"): name for name in known}
    near = find_similar_name(name.lstrip(DASHES), bare_names)
    hint = f"did you mean {bare_names[near]}?" if near else suggest(name)
    bare = " ".join(repr(name)[1:-1].split())[:MAX_VALUE_LENGTH]
    raise IllegalError(f"unknown {noun} {bare}; {hint or f'see {command} --help'}")
