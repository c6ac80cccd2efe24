"""What is asked of a server: questions read from addresses and JSON, and written as addresses.

A server reads no file for anybody: parameters that name files are not offered, and boards and
positions come whole, in JSON.
"""

from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import urlencode

from iacta.answers.form import Form, Parameter
from iacta.answers.kinds import Flag
from iacta.answers.question import QUESTIONS, Question
from iacta.checks import shown
from iacta.errors import IllegalError

__all__ = ["address", "asked_questions", "offered", "read_address", "read_record"]


def asked_questions() -> dict[str, type[Question]]:
    """Return the questions that a server answers, by name."""
    return {form.name: form for form in QUESTIONS.all() if form.name != "board"}


def offered(form: type[Form]) -> tuple[Parameter, ...]:
    """Return the parameters of a question that a server takes: those that name no file."""
    return tuple(each for each in form.parameters() if not each.kind.names_file)


def read_address(form: type[Question], pairs: Iterable[tuple[str, str]]) -> Question:
    """Return the question that the query of an address asks.

    form: the question.
    pairs: names and texts; an empty text is as none, a name stands several times for a row.

    Unknown and repeated names are refused.
    """
    known = {each.name: each for each in offered(form)}
    texts: dict[str, Any] = {}
    for name, text in pairs:
        if name not in known:
            raise IllegalError(f"parameters must be {', '.join(known)}, got {shown(name)}")
        if not text.strip():
            continue
        if known[name].kind.is_row:
            texts.setdefault(name, []).extend(text.replace(",", " ").split())
        elif name in texts:
            raise IllegalError(f"{name} must be given once, got it again as {shown(text)}")
        else:
            texts[name] = text
    return form.parse(texts)


def read_record(form: type[Question], record: Mapping[str, Any]) -> Question:
    """Return the question that a JSON object asks.

    form: the question.
    record: values by the names of parameters; unknown names are refused.
    """
    known = {each.name: each for each in offered(form)}
    for name in record:
        if name not in known:
            raise IllegalError(f"parameters must be {', '.join(known)}, got {shown(name)}")
    missing = [each for each in known.values() if each.is_required and each.name not in record]
    if missing:
        raise IllegalError(f"{missing[0].name} must be given, got none")
    return form(**record)


def address(question: Question) -> str:
    """Return the query of the address that asks a question: what differs from the defaults."""
    pairs: list[tuple[str, str]] = []
    for each in offered(type(question)):
        value = getattr(question, each.name)
        if value == each.default or value is None:
            continue
        text = each.kind.text(value) if not isinstance(each.kind, Flag) else "true"
        pairs.append((each.name, text))
    return urlencode(pairs)
