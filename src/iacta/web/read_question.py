"""Reads questions from URLs and JSON, and writes questions as URLs.

The server reads no files for clients: it offers no parameters that name a file, and boards and
positions arrive as JSON. `iacta.web.no_files` also stops worker processes from opening files.
"""

from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import urlencode

from iacta.board import Board
from iacta.board.board import read_name
from iacta.board.files import read_board
from iacta.forms.form import Form, Parameter
from iacta.forms.parameter_kinds import Flag
from iacta.forms.question import QUESTIONS, Question, explain_unknown_parameter
from iacta.inputs.checks import quote, read_list, split_words
from iacta.inputs.errors import IllegalError, MalformedError


def list_served_questions() -> dict[str, type[Question]]:
    """Return the questions that the server answers, by name."""
    return {form.name: form for form in QUESTIONS.load_all() if form.name != "board"}


def list_pages() -> dict[str, type[Question]]:
    """Return the questions that have a page with a form, by name."""
    return {name: form for name, form in list_served_questions().items() if form.has_page}


def list_parameters(form: type[Form]) -> tuple[Parameter, ...]:
    """Return the parameters of a question, except parameters that name a file."""
    return tuple(parameter for parameter in form.parameters() if not parameter.kind.names_file)


def read_address(form: type[Question], pairs: Iterable[tuple[str, str]]) -> Question:
    """Read a question from the query of a URL.

    form: the class of the question.
    pairs: pairs of a name and a text. Empty texts are ignored; the name of a list may be repeated.

    An unknown or repeated name raises `IllegalError`.
    """
    known = {parameter.name: parameter for parameter in list_parameters(form)}
    texts: dict[str, Any] = {}
    for name, text in pairs:
        if name not in known:
            raise IllegalError(explain_unknown_parameter(form, name, list_parameters(form)))
        if not text.strip():
            continue
        if known[name].kind.is_list:
            texts.setdefault(name, []).extend(split_words(text))
        elif name in texts:
            twice = f"{name} appears twice, the second time as {quote(text)}"
            raise IllegalError(twice, parameter=name)
        else:
            texts[name] = text
    return form.parse(texts)


def read_record(form: type[Question], record: Mapping[str, Any]) -> Question:
    """Read a question from a JSON object.

    form: the class of the question.
    record: the value of each parameter, by name.

    An unknown name raises `IllegalError`.
    """
    known = {parameter.name: parameter for parameter in list_parameters(form)}
    for name in record:
        if name not in known:
            raise IllegalError(explain_unknown_parameter(form, name, list_parameters(form)))
    missing = [
        parameter
        for parameter in known.values()
        if parameter.is_required and parameter.name not in record
    ]
    if missing:
        raise IllegalError(f"missing {missing[0].name}", parameter=missing[0].name)
    return form(**record)


def write_query(question: Question) -> str:
    """Write a question as the query of a URL, without default values."""
    pairs: list[tuple[str, str]] = []
    for parameter in list_parameters(type(question)):
        value = getattr(question, parameter.name)
        if value == parameter.default or value is None:
            continue
        text = parameter.kind.format(value) if not isinstance(parameter.kind, Flag) else "true"
        pairs.append((parameter.name, text))
    return urlencode(pairs)


def read_sent_board(body: Mapping[str, Any]) -> Board | None:
    """Read the `board` of a request; return `None` for the classic board."""
    given = body.get("board")
    if given is None or given == "classic":
        return None
    if isinstance(given, Mapping):
        return read_board(given)
    raise MalformedError(f"board must be 'classic' or an object, got {quote(given)}")


def read_text(body: Mapping[str, Any], name: str, default: str | None = None) -> str:
    """Read a text in a request."""
    value = body.get(name, default)
    if not isinstance(value, str):
        raise MalformedError(f"{name} must be text, got {quote(value)}")
    return value


def read_sent_players(body: Mapping[str, Any], name: str = "players") -> list[str]:
    """Read names of players in a request.

    name: the key of the names; `"players"` for all owners, whose numbers are their places.
    """
    players = read_list(body.get(name, []), name, "names")
    return [read_name(player, "player") for player in players]
