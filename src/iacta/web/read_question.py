"""Questions as a server reads them, from addresses and JSON, and writes them, as addresses.

A server reads no files for its clients: it offers no parameter that names a file, and takes
boards and positions as JSON. The processes that answer open no other file: see
`iacta.web.no_files`.
"""

from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import urlencode

from iacta.forms.form import Form, Parameter
from iacta.forms.parameter_kinds import Flag
from iacta.forms.question import QUESTIONS, Question, explain_unknown_parameter
from iacta.inputs.checks import quote, split_words
from iacta.inputs.errors import IllegalError


def served_questions() -> dict[str, type[Question]]:
    """Return the questions that a server answers, by name."""
    return {form.name: form for form in QUESTIONS.load_all() if form.name != "board"}


def list_parameters(form: type[Form]) -> tuple[Parameter, ...]:
    """Return the parameters that a server accepts: no files."""
    return tuple(parameter for parameter in form.parameters() if not parameter.kind.names_file)


def read_address(form: type[Question], pairs: Iterable[tuple[str, str]]) -> Question:
    """Return the question in the query of an address.

    form: the question.
    pairs: names and texts; an empty text counts as none, and a row may repeat its name.

    Unknown and repeated names are refused.
    """
    known = {parameter.name: parameter for parameter in list_parameters(form)}
    texts: dict[str, Any] = {}
    for name, text in pairs:
        if name not in known:
            raise IllegalError(explain_unknown_parameter(form, name, list_parameters(form)))
        if not text.strip():
            continue
        if known[name].kind.is_row:
            texts.setdefault(name, []).extend(split_words(text))
        elif name in texts:
            twice = f"{name} appears twice, the second time as {quote(text)}"
            raise IllegalError(twice, parameter=name)
        else:
            texts[name] = text
    return form.parse(texts)


def read_record(form: type[Question], record: Mapping[str, Any]) -> Question:
    """Return the question in a JSON object.

    form: the question.
    record: values by the names of parameters; unknown names are refused.
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


def address(question: Question) -> str:
    """Return the query of a question's address: all that differs from the defaults."""
    pairs: list[tuple[str, str]] = []
    for parameter in list_parameters(type(question)):
        value = getattr(question, parameter.name)
        if value == parameter.default or value is None:
            continue
        text = parameter.kind.text(value) if not isinstance(parameter.kind, Flag) else "true"
        pairs.append((parameter.name, text))
    return urlencode(pairs)
