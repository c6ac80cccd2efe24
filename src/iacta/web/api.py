"""The API: questions in addresses or in JSON, and answers as `--json` prints them."""

from functools import partial
from typing import Any

from fastapi import APIRouter, Request, Response
from starlette.exceptions import HTTPException

from iacta.forms.question import Question
from iacta.inputs.checks import shown
from iacta.inputs.errors import IactaError, MalformedError
from iacta.inputs.json_and_toml import parse_json
from iacta.web.client_gone import while_there
from iacta.web.process_pool import Work
from iacta.web.read_question import SEARCHED, served_questions
from iacta.web.search_stream import answer_in_lines, wants_lines
from iacta.web.worker import Part, found, part_of, vega_script

JSON = "application/json"
MOST_EXACT = 2**53  # of floats
DARK, LIGHT = ("dark", "true"), ("dark", "false")  # of a picture, in its address


def router(work: Work) -> APIRouter:
    """Return the addresses of the API.

    work: what computes the answers.
    """
    routes = APIRouter()
    for name, form in served_questions().items():
        _add_question(routes, work, name, form)
    _add_vega(routes, work)
    return routes


def _add_question(routes: APIRouter, work: Work, name: str, form: type[Question]) -> None:
    run = work.search if name in SEARCHED else work.run

    def add(address: str, part: Part, kind: str) -> None:
        async def by_address(request: Request) -> Response:
            pairs = request.query_params.multi_items()
            given = [pair for pair in pairs if part != "svg" or pair not in (DARK, LIGHT)]
            shade: Part = "dark_svg" if part == "svg" and DARK in pairs else part
            text = await while_there(request, run(part_of, name, given, shade))
            return Response(text, media_type=kind)

        routes.add_api_route(address, by_address, methods=["GET"], summary=form.summary())

    async def by_record(request: Request) -> Response:
        record = await read_body(request)
        if name in SEARCHED and wants_lines(request):
            return answer_in_lines(work, partial(found, name), record)
        text = await while_there(request, run(part_of, name, record, "record"))
        return Response(text, media_type=JSON)

    add(f"/api/v1/{name}", "record", JSON)
    routes.add_api_route(f"/api/v1/{name}", by_record, methods=["POST"], summary=form.summary())
    add(f"/api/v1/{name}.csv", "rows", "text/csv; charset=utf-8")
    add(f"/api/v1/{name}/picture.svg", "svg", "image/svg+xml")
    add(f"/api/v1/{name}/picture.json", "spec", JSON)


def _add_vega(routes: APIRouter, work: Work) -> None:
    script = b""

    async def vega() -> Response:
        nonlocal script
        script = script or await work.run(vega_script)
        return Response(script, media_type="text/javascript; charset=utf-8")

    routes.add_api_route("/static/vega.js", vega, methods=["GET"], include_in_schema=False)


async def read_body(request: Request) -> dict[str, Any]:
    """Return the JSON object in the body of a request."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != JSON:
        raise HTTPException(415, f"the body must be {JSON}, got {shown(kind)}")
    return parsed(await request.body())


def parsed(body: bytes) -> dict[str, Any]:
    try:
        record = parse_json(body.decode())
    except UnicodeDecodeError:
        raise MalformedError("the body is not UTF-8") from None
    except IactaError as error:
        raise MalformedError(f"the body: {error}") from None
    if not isinstance(record, dict):
        raise MalformedError(f"the body must be an object, got {shown(record)}")
    return {name: _whole(value) for name, value in record.items()}


def _whole(value: Any) -> Any:
    """Return a value with 3 for each 3.0, which are the same in JSON."""
    if isinstance(value, dict):
        return {name: _whole(part) for name, part in value.items()}
    if isinstance(value, list):
        return [_whole(part) for part in value]
    is_whole = isinstance(value, float) and value.is_integer() and abs(value) < MOST_EXACT
    return int(value) if is_whole else value
