"""Problem details (RFC 9457) in the words of iacta's error messages."""

import json
import logging
from collections.abc import Callable, Iterable, Mapping
from http import HTTPMethod, HTTPStatus
from types import MappingProxyType
from typing import Any, NamedTuple

from fastapi import FastAPI, Request, Response
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.routing import Match, Mount

from iacta.forms.sentences import capitalise
from iacta.inputs.errors import IactaError
from iacta.web.client_gone import GoneError
from iacta.web.limits import RETRY_SECONDS
from iacta.web.log_limit import lacks_descriptors
from iacta.web.process_pool import BusyError, LateError
from iacta.web.worker import FailedError

PROBLEM = "application/problem+json"
MISTAKE = "this is a bug in iacta; the log of the server has its report"
GONE = "the client closed the connection before the answer"
TITLES = {
    404: "Not found",
    405: "Method not allowed",
    413: "Too large",
    422: "No answer to this",
    500: "A bug in iacta",
    503: "The server is busy",
    504: "The answer takes too long",
}
DETAILS = {
    404: "there is nothing at this address",
    405: "this address does not accept this method; see the header Allow",
}
LOG = logging.getLogger("uvicorn.error")


class ProblemDetails(NamedTuple):
    """An error response.

    status: the HTTP status.
    sentence: the problem in one sentence.
    parameter: the invalid parameter; `None` if the problem is not about a single parameter.
    headers: additional response headers.
    """

    status: int
    sentence: str
    parameter: str | None = None
    headers: Mapping[str, str] = MappingProxyType({})

    def record(self) -> dict[str, Any]:
        record = {
            "type": "about:blank",
            "title": TITLES.get(self.status) or HTTPStatus(self.status).phrase,
            "status": self.status,
            "detail": self.sentence,
        }
        return record if self.parameter is None else {**record, "parameter": self.parameter}

    def response(self) -> Response:
        text = json.dumps(self.record())
        return Response(text, self.status, dict(self.headers), media_type=PROBLEM)


def describe_problem(error: Exception) -> ProblemDetails:
    if isinstance(error, IactaError):
        return ProblemDetails(422, str(error), error.parameter)
    if isinstance(error, BusyError):
        return ProblemDetails(503, str(error), headers={"Retry-After": str(RETRY_SECONDS)})
    if isinstance(error, LateError):
        return ProblemDetails(504, str(error))
    if isinstance(error, GoneError | ClientDisconnect):
        return ProblemDetails(400, GONE)
    if isinstance(error, HTTPException):
        sentence = DETAILS.get(error.status_code, error.detail)
        return ProblemDetails(error.status_code, sentence, headers=error.headers or {})
    if isinstance(error, FailedError):
        LOG.error("%s", error)
    return ProblemDetails(500, MISTAKE)


def add_problems(
    app: FastAPI,
    page: Callable[[str, int, str, str], Response],
    guarding: Iterable[tuple[bytes, bytes]] = (),
) -> None:
    """Add exception handlers to an application that respond with problem details.

    app: the application.
    page: a function from a path, a status, a title and a sentence to an error page for browsers.
    guarding: the security headers for unexpected errors, because their responses bypass the guard.
    """

    async def answer(request: Request, error: Exception) -> Response:
        problem = describe_problem(error)
        if problem.status == 405:
            problem = problem._replace(headers={"Allow": _list_methods(app, request)})
        is_page = "text/html" in request.headers.get("accept", "")
        path = request.scope["path"].removeprefix(request.scope.get("root_path", ""))
        if not is_page or path.startswith("/api/"):
            return problem.response()
        sentence = f"{capitalise(problem.sentence)}."
        response = page(path, problem.status, problem.record()["title"], sentence)
        response.headers.update(problem.headers)
        return response

    async def answer_unforeseen(request: Request, error: Exception) -> Response:
        response = await answer(request, error)
        response.raw_headers += guarding  # this response bypasses the guard
        return response

    for kind in (
        IactaError,
        BusyError,
        LateError,
        GoneError,
        ClientDisconnect,
        FailedError,
        HTTPException,
    ):
        app.add_exception_handler(kind, answer)

    async def answer_os_error(request: Request, error: Exception) -> Response:
        if not lacks_descriptors(error):
            raise error
        LOG.error("no answer", exc_info=error)
        return await answer(
            request, BusyError("the server has too many connections; try again soon")
        )

    app.add_exception_handler(OSError, answer_os_error)
    # Starlette sends the response, then raises the error again so that uvicorn logs it.
    app.add_exception_handler(Exception, answer_unforeseen)


def _list_methods(app: FastAPI, request: Request) -> str:
    scope = {**request.scope, "root_path": request.scope.get("app_root_path", "")}
    taken = [
        method.value
        for method in HTTPMethod
        for route in app.routes
        if route.matches({**scope, "method": method.value})[0] is Match.FULL
        and (method == HTTPMethod.GET or not isinstance(route, Mount))  # static files
    ]
    return ", ".join(sorted({*taken, "HEAD"} if "GET" in taken else {*taken}))
