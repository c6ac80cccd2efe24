"""The OpenAPI schema of the API, made from the descriptions of the questions."""

from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from iacta.answers.form import Parameter
from iacta.answers.question import Question
from iacta.web.asked import asked_questions, offered
from iacta.web.problems import PROBLEM
from iacta.web.records import RECORDS

__all__ = ["describe"]

Schema = dict[str, Any]
DESCRIPTION = (
    "The exact odds of battles and campaigns in the board game Risk. Each question is asked by an "
    "address, or in JSON where it has a board, a position or house rules. Answers are the records "
    "that the command prints with `--json`. What cannot be answered is told in one sentence, in a "
    "problem document of RFC 9457."
)
PROBLEM_SCHEMA: Schema = {
    "type": "object",
    "properties": {
        "type": {"type": "string"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string", "description": "What was wrong, in one sentence."},
        "parameter": {"type": "string", "description": "The parameter that it is about."},
    },
    "required": ["type", "title", "status", "detail"],
}
PROBLEMS = {
    "413": "The body is too large.",
    "422": "It cannot be answered; the sentence says why.",
    "503": "The server is busy; Retry-After says when to ask again.",
    "504": "The answer takes too long.",
    "4XX": "Another problem of what was sent.",
}
DARK: Schema = {
    "name": "dark",
    "in": "query",
    "description": "Draw on a dark background.",
    "schema": {"type": "boolean", "default": False},
}


def describe(app: FastAPI) -> None:
    """Let an application tell its OpenAPI schema, at `/openapi.json`."""

    def schema() -> Schema:
        if app.openapi_schema is None:
            found = get_openapi(
                title=app.title, version=app.version, description=DESCRIPTION, routes=app.routes
            )
            found.setdefault("components", {})["schemas"] = {"Problem": PROBLEM_SCHEMA}
            for name, form in asked_questions().items():
                found["components"]["schemas"][name] = RECORDS.get(name, {"type": "object"})
                for address, operations in found["paths"].items():
                    own = (f"/api/{name}", f"/api/{name}.csv")
                    if address in own or address.startswith(f"/api/{name}/picture."):
                        _describe_question(operations, address, form)
            for operations in found["paths"].values():
                for operation in operations.values():
                    _add_problems(operation)
            app.openapi_schema = found
        return app.openapi_schema

    app.openapi = schema  # type: ignore[method-assign] # as FastAPI's documentation does


def _describe_question(operations: Schema, address: str, form: type[Question]) -> None:
    last = address.split("/")[-1]
    for method, operation in operations.items():
        operation["operationId"] = f"{method}_{form.name}_{last.replace('.', '_')}"
        operation["tags"] = [form.topic.value]
        if method == "post":
            operation["requestBody"] = {
                "required": True,
                "content": {"application/json": {"schema": _body(form)}},
            }
        else:
            operation["parameters"] = [_query(each) for each in offered(form) if _is_text(each)]
            if last == "picture.svg":
                operation["parameters"].append(DARK)
        operation["responses"] = {"200": {"description": "The answer.", "content": _content(last)}}


def _content(last: str) -> Schema:
    """Return what an address answers with, by its last part."""
    if last.endswith(".csv"):
        return {"text/csv": {"schema": {"type": "string"}}}
    if last == "picture.svg":
        return {"image/svg+xml": {"schema": {"type": "string"}}}
    if last == "picture.json":
        return {"application/json": {"schema": {"type": "object"}}}
    return {"application/json": {"schema": {"$ref": f"#/components/schemas/{last}"}}}


def _is_text(parameter: Parameter) -> bool:
    """Tell whether a parameter can be written in an address: boards and positions cannot."""
    return parameter.name not in ("position", "board")


def _query(parameter: Parameter) -> Schema:
    """Return how a parameter stands in an address."""
    schema = parameter.schema()
    description = schema.pop("description")
    simple = schema.get("type") in ("integer", "boolean", "string") or parameter.kind.is_row
    if not simple and "object" in str(schema):
        schema = {"type": "string"}
    elif schema.get("type") == "array" and not parameter.kind.is_row:
        schema = {"type": "string", "description": "Values with commas between them."}
    if parameter.usual:
        description = f"{description} Usually: {parameter.usual}."
    return {
        "name": parameter.name,
        "in": "query",
        "required": parameter.is_required,
        "description": description,
        "schema": schema,
    }


def _body(form: type[Question]) -> Schema:
    """Return the schema of a question in JSON."""
    known = offered(form)
    return {
        "type": "object",
        "properties": {each.name: _value(each) for each in known},
        "required": [each.name for each in known if each.is_required],
        "additionalProperties": False,
    }


def _value(parameter: Parameter) -> Schema:
    schema = parameter.schema()
    if parameter.name == "position":
        schema["type"] = "object"
    elif parameter.name == "board":
        del schema["type"]
        schema["anyOf"] = [{"type": "string", "enum": ["classic"]}, {"type": "object"}]
    return schema


def _add_problems(operation: Schema) -> None:
    content = {PROBLEM: {"schema": {"$ref": "#/components/schemas/Problem"}}}
    for status, description in PROBLEMS.items():
        operation["responses"][status] = {"description": description, "content": content}
