"""The API: questions as URLs or JSON, answers as JSON, CSV or pictures."""

from fastapi import APIRouter, Request, Response
from starlette.exceptions import HTTPException

from iacta.forms.question import Question
from iacta.inputs.checks import quote
from iacta.web.client_gone import run_while_connected
from iacta.web.process_pool import Work
from iacta.web.read_question import list_served_questions
from iacta.web.search_stream import answer_in_lines, wants_lines
from iacta.web.worker import Part, answer_part, write_vega_script

JSON = "application/json"
DARK, LIGHT = ("dark", "true"), ("dark", "false")  # values of the query parameter for dark pictures


def make_router(work: Work) -> APIRouter:
    """Return the routes of the API.

    work: the worker processes that compute answers.
    """
    routes = APIRouter()
    for name, form in list_served_questions().items():
        _add_question(routes, work, name, form)
    _add_vega(routes, work)
    return routes


def _add_question(routes: APIRouter, work: Work, name: str, form: type[Question]) -> None:
    run = work.search if form.is_search else work.run

    def add(address: str, part: Part, kind: str) -> None:
        async def answer_query(request: Request) -> Response:
            pairs = request.query_params.multi_items()
            given = [pair for pair in pairs if part != "svg" or pair not in (DARK, LIGHT)]
            shade: Part = "dark_svg" if part == "svg" and DARK in pairs else part
            is_drawn = part == "svg" and not form.is_search
            answer = (work.draw if is_drawn else run)(answer_part, name, given, shade)
            body = await run_while_connected(request, answer)
            return Response(body, media_type=kind)

        routes.add_api_route(address, answer_query, methods=["GET"], summary=form.summary())

    async def answer_record(request: Request) -> Response:
        body = await read_json_body(request)
        if form.is_search and wants_lines(request):
            return answer_in_lines(work, answer_part, name, body, "record")
        record = await run_while_connected(request, run(answer_part, name, body, "record"))
        return Response(record, media_type=JSON)

    add(f"/api/v1/{name}", "record", JSON)
    routes.add_api_route(f"/api/v1/{name}", answer_record, methods=["POST"], summary=form.summary())
    add(f"/api/v1/{name}.csv", "rows", "text/csv; charset=utf-8")
    add(f"/api/v1/{name}/picture.svg", "svg", "image/svg+xml")
    add(f"/api/v1/{name}/picture.json", "spec", JSON)


def _add_vega(routes: APIRouter, work: Work) -> None:
    script = b""

    async def vega() -> Response:
        nonlocal script
        script = script or await work.run(write_vega_script)
        return Response(script, media_type="text/javascript; charset=utf-8")

    routes.add_api_route("/static/vega.js", vega, methods=["GET"], include_in_schema=False)


async def read_json_body(request: Request) -> bytes:
    """Return the body of a request if its content type is JSON; refuse other content types."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != JSON:
        raise HTTPException(415, f"the body must be {JSON}, got {quote(kind)}")
    return await request.body()
