"""The documentation page of the API, generated from its OpenAPI schema."""

from collections.abc import Iterator
from typing import Any, NamedTuple

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, JSONResponse

from iacta.web.read_question import list_served_questions
from iacta.web.templates import render_template

Schema = dict[str, Any]
WORDS = {
    "integer": "whole number",
    "number": "number",
    "string": "text",
    "boolean": "true or false",
    "null": "null",
    "object": "object",
}


class ReferenceRow(NamedTuple):
    """A parameter, or a key of an answer, as a row of the documentation.

    name: the name; nested keys are joined by dots, as in `outcomes[].probability`.
    holds: the type of the value, in words.
    meaning: the help text.
    is_required: whether the parameter is required, or whether the key is always present.
    """

    name: str
    holds: str
    meaning: str
    is_required: bool


class Endpoint(NamedTuple):
    """An endpoint of the API.

    method, path: the HTTP method and the path.
    summary: the purpose of the endpoint in a sentence.
    parameters: its parameters.
    keys: the keys of its answer.
    """

    method: str
    path: str
    summary: str
    parameters: list[ReferenceRow]
    keys: list[ReferenceRow]


def make_router() -> APIRouter:
    """Return the routes of the documentation page and of the schema."""
    routes = APIRouter(include_in_schema=False)

    # FastAPI runs these functions in threads, because they are not `async`. Generating the schema
    # is slow.
    @routes.get("/openapi.json")
    def document(request: Request) -> JSONResponse:
        root = request.scope.get("root_path", "")
        servers = {"servers": [{"url": root}]} if root else {}
        return JSONResponse({**request.app.openapi(), **servers})

    @routes.get("/docs")
    def page(request: Request) -> HTMLResponse:
        schema = request.app.openapi()
        addresses = list(_list_endpoints(schema))
        about = schema["info"]["description"]
        return HTMLResponse(
            render_template("docs.html", path="docs", about=about, addresses=addresses)
        )

    return routes


def _list_endpoints(schema: Schema) -> Iterator[Endpoint]:
    questions = list_served_questions()
    for path, operations in schema["paths"].items():
        name = path.split("/")[-1]
        for method, operation in operations.items():
            if (method == "get") != (name in questions):
                continue  # rows, pictures and JSON take the same parameters
            body = operation.get("requestBody", {}).get("content", {}).get("application/json", {})
            taken = operation.get("parameters", [])
            parameters = [
                ReferenceRow(
                    parameter["name"],
                    _name_type(parameter["schema"]),
                    parameter["description"],
                    parameter.get("required", False),
                )
                for parameter in taken
                if name in questions
            ]
            parameters += _list_keys(schema, body.get("schema", {}), "")
            answer = operation["responses"]["200"].get("content", {}).get("application/json", {})
            keys = (
                list(_list_keys(schema, answer.get("schema", {}), "")) if name in questions else []
            )
            yield Endpoint(method.upper(), path, operation["summary"], parameters, keys)


def _list_keys(schema: Schema, part: Schema, prefix: str) -> Iterator[ReferenceRow]:
    """Yield the keys of an object, including the keys of nested objects."""
    seen, variants = set(), list(_list_variants(schema, part))
    for variant in variants:
        for name, value in variant.get("properties", {}).items():
            if name in seen:
                continue
            seen.add(name)
            is_required = all(name in other.get("required", ()) for other in variants)
            yield ReferenceRow(
                f"{prefix}{name}", _name_type(value), value.get("description", ""), is_required
            )
            for inner in _list_variants(schema, value):
                is_list = inner.get("type") == "array"
                inside = inner["items"] if is_list else inner
                yield from _list_keys(schema, inside, f"{prefix}{name}{'[]' if is_list else ''}.")


def _list_variants(schema: Schema, part: Schema) -> Iterator[Schema]:
    """Yield the alternative schemas of a value except null, and resolve references."""
    if "$ref" in part:
        part = schema["components"]["schemas"][part["$ref"].rpartition("/")[2]]
    if "anyOf" in part:
        for choice in part["anyOf"]:
            yield from _list_variants(schema, choice)
    elif "$ref" in part:
        yield from _list_variants(schema, part)
    elif part.get("type") != "null":
        yield part


def _name_type(schema: Schema) -> str:
    """Return the type of a value in words.

    >>> _name_type({"type": "integer", "minimum": 1}), _name_type({"enum": ["rolls", "battles"]})
    ('whole number from 1', 'rolls or battles')
    """
    if "enum" in schema:
        return " or ".join(schema["enum"])
    if "anyOf" in schema:
        return " or ".join(map(_name_type, schema["anyOf"]))
    kind = schema.get("type", "object")
    if isinstance(kind, list):
        return " or ".join(WORDS[name] for name in kind)
    if kind == "array":
        return f"list of: {_name_type(schema['items'])}"
    least, most = schema.get("minimum"), schema.get("maximum")
    bounds = f" from {least}" * (least is not None) + f" to {most}" * (most is not None)
    return WORDS[kind] + bounds
