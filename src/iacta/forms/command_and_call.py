"""Questions written out as commands and in Python, for who has asked them on a page."""

import shlex
import tomllib
from collections.abc import Iterator
from typing import Any

from iacta.board.board import Board
from iacta.board.files import classic_board
from iacta.forms.form import Parameter, option_name
from iacta.forms.parameter_kinds import Flag, Number
from iacta.forms.question import Question
from iacta.game import Turn
from iacta.inputs.errors import IllegalError
from iacta.rules.files import rules_toml
from iacta.rules.rules import Rules

END = "END"  # of the lines that a shell hands to a command


def as_command(question: Question) -> str:
    """Return the command that asks a question.

    question: the question. A position follows as the command's input, as do house rules.

    What would take two files is refused.

    >>> from iacta.questions.battle import BattleQuestion
    >>> as_command(BattleQuestion(20, 15, rules="zombie attacker", hold_back=5))
    "iacta battle 20 15 --rules 'zombie attacker' --hold-back 5"
    """
    words, handed = ["iacta", question.name], []
    for parameter, value in _given(question):
        option = option_name(parameter.name)
        if isinstance(value, Turn) and value.board == classic_board():
            words.append(value.to_code())
        elif isinstance(value, Turn):
            handed.append(value.to_toml())
            words.append("-")
        elif isinstance(value, Rules):
            handed.append(rules_toml(value))
            words += ["--rules-file", "-"]
        elif isinstance(value, Board):
            raise IllegalError("a board cannot be part of a command; put it into a position")
        elif isinstance(parameter.kind, Flag):
            words.append(option)
        else:
            words += [] if parameter.is_argument else [option]
            words += (
                parameter.kind.json(value)
                if parameter.kind.is_row
                else [parameter.kind.text(value)]
            )
    if len(handed) > 1:
        raise IllegalError("a command reads one input, not both a position and house rules")
    input_ = "".join(f" <<'{END}'\n{text.rstrip()}\n{END}" for text in handed)
    return shlex.join(words) + input_


def as_python(question: Question) -> str:
    """Return the Python call that asks a question; it takes `import iacta`.

    question: the question.

    >>> from iacta.questions.need import NeedQuestion
    >>> as_python(NeedQuestion(("8", "2"), chance="90%"))
    "iacta.ask('need', territories=[8, 2], chance='90%')"
    """
    given = (
        f"{parameter.name}={_json(parameter, value)!r}" for parameter, value in _given(question)
    )
    return f"iacta.ask({', '.join([repr(question.name), *given])})"


def _given(question: Question) -> Iterator[tuple[Parameter, Any]]:
    for parameter in question.parameters():
        value = getattr(question, parameter.name)
        if value != parameter.default:
            yield parameter, value


def _json(parameter: Parameter, value: Any) -> Any:
    if isinstance(value, Turn) and value.board == classic_board():
        return value.to_code()
    if isinstance(value, Turn | Board):
        return tomllib.loads(value.to_toml())
    if isinstance(parameter.kind, Number) and value.denominator == 1:
        return int(value)
    written = parameter.kind.json(value)
    if parameter.kind.is_row:
        return [int(entry) if entry.isascii() and entry.isdigit() else entry for entry in written]
    return written
