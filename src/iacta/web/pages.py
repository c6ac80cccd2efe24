"""The pages: their routes. Worker processes read the requests and write the pages."""

from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import FileResponse, HTMLResponse, JSONResponse, Response

from iacta.charts.saving import FIT
from iacta.charts.theme import SIZES, make_config
from iacta.forms.question import Question
from iacta.inputs.errors import IactaError
from iacta.web.about import write_about
from iacta.web.api import read_json_body
from iacta.web.client_gone import run_while_connected
from iacta.web.process_pool import Work
from iacta.web.question_page import write_page, write_page_as_json, write_problem
from iacta.web.read_question import list_pages
from iacta.web.search_stream import answer_in_lines, wants_lines
from iacta.web.start import write_game, write_start
from iacta.web.templates import render_template
from iacta.web.worker import Given


def make_problem_page(path: str, status: int, title: str, sentence: str) -> HTMLResponse:
    """Return the error page for a problem.

    path: the requested path, which determines the relative links to the root.
    status: the HTTP status.
    title: the problem in a few words.
    sentence: the problem in one sentence.
    """
    up = "../" * (path.count("/") - 1)
    return HTMLResponse(
        render_template("problem.html", title=title, sentence=sentence, path="", up=up), status
    )


def make_router(work: Work) -> APIRouter:
    """Return the routes of the pages.

    work: the worker processes that compute answers.
    """
    routes = APIRouter(include_in_schema=False)

    drawn = told = b""

    async def home(request: Request) -> HTMLResponse:
        return HTMLResponse(await run_while_connected(request, work.run(write_start)))

    async def game(request: Request) -> Response:
        nonlocal drawn
        drawn = drawn or await work.search(write_game)
        return Response(drawn, media_type="image/svg+xml")

    async def about() -> HTMLResponse:
        nonlocal told
        told = told or await work.run(write_about)
        return HTMLResponse(told)

    async def theme() -> JSONResponse:
        return JSONResponse(
            {"light": make_config(dark=False), "dark": make_config(dark=True), **SIZES}
        )

    async def fit() -> FileResponse:
        return FileResponse(FIT, media_type="text/javascript; charset=utf-8")

    routes.add_api_route("/", home)
    routes.add_api_route("/game.svg", game)
    routes.add_api_route("/about", about)
    routes.add_api_route("/theme.json", theme)
    routes.add_api_route("/static/fit.js", fit)
    for name, form in list_pages().items():
        has_log = "log" in (parameter.name for parameter in form.parameters())
        methods = ["GET", "POST"] if has_log else ["GET"]  # a log may be too long for a URL
        routes.add_api_route(f"/{name}", _make_page(work, form), methods=methods)
    return routes


def _make_page(work: Work, form: type[Question]) -> Any:
    name, run = form.name, work.search if form.is_search else work.run

    async def page(request: Request) -> Response:
        given: Given = request.query_params.multi_items()
        if request.method == "POST":
            given = await read_json_body(request)
            if wants_lines(request):
                return answer_in_lines(work, write_page_as_json, name, given)
        try:
            written = await run_while_connected(request, run(write_page, name, given))
        except IactaError as error:  # the work was stopped, or the page is too large
            written = await work.run(write_problem, name, given, error)
        return HTMLResponse(written.body, written.status)

    return page
