"""The OpenAPI schema of the API, generated from the descriptions of the questions."""

from fractions import Fraction
from functools import cache
from types import UnionType
from typing import Annotated, Any, Literal, NotRequired, Union, get_args, get_origin

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from pydantic import Field, TypeAdapter
from pydantic.json_schema import GenerateJsonSchema
from typing_extensions import TypedDict  # pydantic does not support Python 3.11's version

from iacta.forms.form import Parameter
from iacta.forms.question import Question
from iacta.forms.record import format_key, is_record, list_keys
from iacta.web.map_answers import MAP_ANSWERS
from iacta.web.problems import PROBLEM
from iacta.web.read_question import list_parameters, list_served_questions

Schema = dict[str, Any]
COMPONENTS = "#/components/schemas/"
DESCRIPTION = (
    "The exact odds of battles and campaigns in the board game Risk. Ask a question by its "
    "address, or in JSON if it has a board, a position or house rules. Answers are the records "
    "that the command prints with `--json`. If there is no answer, a problem document (RFC 9457) "
    "says why in one sentence."
)
PROBLEM_SCHEMA: Schema = {
    "type": "object",
    "properties": {
        "type": {"type": "string"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string", "description": "The problem in one sentence."},
        "parameter": {"type": "string", "description": "The parameter that is wrong."},
    },
    "required": ["type", "title", "status", "detail"],
}
PROBLEMS = {
    "400": "The request is not valid HTTP.",
    "413": "The body is too large.",
    "414": "The query is too long.",
    "415": "The body is not JSON, or is compressed.",
    "421": "The host in the request is not this server.",
    "422": "There is no answer to this question; the sentence says why.",
    "500": "A bug in iacta.",
    "503": "The server is busy; Retry-After says when to try again.",
    "504": "The answer takes too long.",
}
ANSWER = "The answer."
UNCHANGED = "The answer still has the ETag in If-None-Match."
DARK: Schema = {
    "name": "dark",
    "in": "query",
    "description": "Draw on a dark background.",
    "schema": {"type": "boolean", "default": False},
}


class _RecordSchema(GenerateJsonSchema):
    """Generates the schema of a record without titles, which would only repeat the keys."""

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False


@cache
def _make_typed_dict(record: type) -> Any:
    """Return a record as a typed dictionary, whose keys pydantic describes in a schema."""
    keys: dict[str, Any] = {}
    for key in list_keys(record):
        held: Any = Annotated[_convert_records(key.holds), Field(description=key.meaning)]
        keys[format_key(key.name)] = NotRequired[held] if key.may_be_omitted else held
    make: Any = TypedDict  # mypy expects literal names and keys
    made = make(record.__name__, keys)
    made.__module__, made.__pydantic_config__ = record.__module__, {"extra": "forbid"}
    return made


def _convert_records(annotation: Any) -> Any:
    """Return a type in which typed dictionaries stand for records, and floats for fractions."""
    if annotation is Fraction:
        return float
    if is_record(annotation):
        return _make_typed_dict(annotation)
    origin, parts = get_origin(annotation), get_args(annotation)
    if origin in (None, Literal):
        return annotation
    if origin is Annotated:
        return Annotated[_convert_records(parts[0]), *parts[1:]]
    made = tuple(map(_convert_records, parts))
    return Union[made] if origin in (Union, UnionType) else origin[made]  # noqa: UP007 # dynamic


@cache
def make_answer_schemas() -> tuple[dict[str, Schema], dict[str, Schema]]:
    """Return the schemas of all answers, and the schemas of the records in these answers.

    The key of an answer is the name of its question, or its route on the board page.
    """
    answers: dict[str, Any] = {
        name: Union[tuple(_make_typed_dict(record) for record in form.records())]  # noqa: UP007 # a dynamic union
        for name, form in list_served_questions().items()
    }
    answers |= MAP_ANSWERS
    kinds: list[tuple[str, Any, TypeAdapter[Any]]] = [
        (name, "validation", TypeAdapter(answer)) for name, answer in answers.items()
    ]
    schemas, parts = TypeAdapter.json_schemas(
        kinds, ref_template=f"{COMPONENTS}{{model}}", schema_generator=_RecordSchema
    )
    return {name: schema for (name, _), schema in schemas.items()}, parts["$defs"]


def add_schema(app: FastAPI) -> None:
    """Add the schema of all questions to an application, as the result of `app.openapi`."""

    def schema() -> Schema:
        if app.openapi_schema is None:
            document = get_openapi(
                title=app.title, version=app.version, description=DESCRIPTION, routes=app.routes
            )
            answers, records = make_answer_schemas()
            schemas = {"Problem": PROBLEM_SCHEMA, **records}
            document.setdefault("components", {})["schemas"] = schemas
            for address in MAP_ANSWERS:
                for operation in document["paths"][address].values():
                    answer = {"application/json": {"schema": answers[address]}}
                    operation["responses"]["200"] = {"description": ANSWER, "content": answer}
            for name, form in list_served_questions().items():
                for address, operations in document["paths"].items():
                    own = (f"/api/v1/{name}", f"/api/v1/{name}.csv")
                    if address in own or address.startswith(f"/api/v1/{name}/picture."):
                        _describe_question(operations, address, form)
            for operations in document["paths"].values():
                for method, operation in operations.items():
                    if method == "get":
                        operation["responses"]["304"] = {"description": UNCHANGED}
                    _add_problems(operation)
            app.openapi_schema = document
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
                "content": {"application/json": {"schema": _describe_body(form)}},
            }
        else:
            # A query cannot contain a board or a position.
            operation["parameters"] = [
                _describe_query(parameter)
                for parameter in list_parameters(form)
                if parameter.name not in ("position", "board")
            ]
            if last == "picture.svg":
                operation["parameters"].append(DARK)
        operation["responses"] = {
            "200": {"description": ANSWER, "content": _describe_content(last)}
        }


def _describe_content(last: str) -> Schema:
    """Return the content type of an answer, with its schema, for the last part of its path."""
    if last.endswith(".csv"):
        return {"text/csv": {"schema": {"type": "string"}}}
    if last == "picture.svg":
        return {"image/svg+xml": {"schema": {"type": "string"}}}
    if last == "picture.json":
        return {"application/json": {"schema": {"type": "object"}}}
    return {"application/json": {"schema": make_answer_schemas()[0][last]}}


def _describe_query(parameter: Parameter) -> Schema:
    schema = parameter.schema()
    description = schema.pop("description")
    simple = schema.get("type") in ("integer", "boolean", "string") or parameter.kind.is_list
    if not simple and "object" in str(schema):
        schema = {"type": "string"}
    elif schema.get("type") == "array" and not parameter.kind.is_list:
        schema = {"type": "string", "description": "Values, separated by commas."}
    if parameter.usual:
        description = f"{description} Usually: {parameter.usual}."
    return {
        "name": parameter.name,
        "in": "query",
        "required": parameter.is_required,
        "description": description,
        "schema": schema,
    }


def _describe_body(form: type[Question]) -> Schema:
    known = list_parameters(form)
    return {
        "type": "object",
        "properties": {parameter.name: _describe_value(parameter) for parameter in known},
        "required": [parameter.name for parameter in known if parameter.is_required],
        "additionalProperties": False,
    }


def _describe_value(parameter: Parameter) -> Schema:
    schema = parameter.schema()
    description = schema.pop("description")
    if parameter.name == "position":
        schema = {"anyOf": [{"type": "object"}, {"type": "string", "pattern": "^1;"}]}
    elif parameter.name == "board":
        schema = {"anyOf": [{"type": "string", "enum": ["classic"]}, {"type": "object"}]}
    if parameter.default is None:
        schema = {"anyOf": [schema, {"type": "null"}]}
    return {**schema, "description": description}


def _add_problems(operation: Schema) -> None:
    content = {PROBLEM: {"schema": {"$ref": f"{COMPONENTS}Problem"}}}
    for status, description in PROBLEMS.items():
        operation["responses"][status] = {"description": description, "content": content}
