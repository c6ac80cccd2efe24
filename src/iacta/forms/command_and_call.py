"""Format a question as the command line, or as the Python call, that asks the question."""

import shlex
import tomllib
from collections.abc import Iterator
from typing import Any

from iacta.board.board import Board
from iacta.board.built_in import classic_board
from iacta.forms.form import Parameter, format_option
from iacta.forms.parameter_kinds import Flag, Number
from iacta.forms.question import Question
from iacta.game import Turn
from iacta.inputs.errors import IllegalError
from iacta.rules.files import rules_toml
from iacta.rules.rules import Rules

END = "END"  # the delimiter of a here-document


def format_command(question: Question) -> str:
    """Return the command line that asks a question.

    A position or house rules follow the command line as a here-document. Raises `IllegalError` for
    a question with both.

    >>> from iacta.questions.battle import BattleQuestion
    >>> format_command(BattleQuestion(20, 15, rules="zombie attacker", hold_back=5))
    "iacta battle 20 15 --rules 'zombie attacker' --hold-back 5"
    """
    words, inputs = ["iacta", question.name], []
    for parameter, value in _list_given_parameters(question):
        option = format_option(parameter.name)
        if isinstance(value, Turn) and value.board == classic_board():
            words.append(value.to_code())
        elif isinstance(value, Turn):
            inputs.append(value.to_toml())
            words.append("-")
        elif isinstance(value, Rules):
            inputs.append(rules_toml(value))
            words += ["--rules-file", "-"]
        elif isinstance(value, Board):
            raise IllegalError("a board cannot be part of a command; put it into a position")
        elif isinstance(parameter.kind, Flag):
            words.append(option)
        else:
            words += [] if parameter.is_argument else [option]
            words += (
                parameter.kind.to_json(value)
                if parameter.kind.is_list
                else [parameter.kind.format(value)]
            )
    if len(inputs) > 1:
        raise IllegalError(
            "a command can read either a position or house rules from standard input"
        )
    input_ = "".join(f" <<'{END}'\n{text.rstrip()}\n{END}" for text in inputs)
    return shlex.join(words) + input_


def format_python_call(question: Question) -> str:
    """Return the Python call that asks a question. It requires `import iacta`.

    >>> from iacta.questions.need import NeedQuestion
    >>> format_python_call(NeedQuestion(("8", "2"), chance="90%"))
    "iacta.ask('need', territories=[8, 2], chance='90%')"
    """
    given = (
        f"{parameter.name}={_make_json(parameter, value)!r}"
        for parameter, value in _list_given_parameters(question)
    )
    return f"iacta.ask({', '.join([repr(question.name), *given])})"


def _list_given_parameters(question: Question) -> Iterator[tuple[Parameter, Any]]:
    for parameter in question.parameters():
        value = getattr(question, parameter.name)
        if value != parameter.default:
            yield parameter, value


def _make_json(parameter: Parameter, value: Any) -> Any:
    if isinstance(value, Turn) and value.board == classic_board():
        return value.to_code()
    if isinstance(value, Turn | Board):
        return tomllib.loads(value.to_toml())
    if isinstance(parameter.kind, Number) and value.denominator == 1:
        return int(value)
    written = parameter.kind.to_json(value)
    if parameter.kind.is_list:
        return [int(entry) if entry.isascii() and entry.isdigit() else entry for entry in written]
    return written
