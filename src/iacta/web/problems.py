"""Problem documents: what went wrong, as RFC 9457 has it, in the sentence used everywhere."""

import json
import logging
from http import HTTPStatus

from fastapi import FastAPI, Request, Response
from starlette.exceptions import HTTPException

from iacta.errors import IactaError
from iacta.web.work import BusyError, FailedError, LateError

__all__ = ["PROBLEM", "add_problems", "problem"]

PROBLEM = "application/problem+json"
MISTAKE = "this is a mistake in iacta; its report is in the log of the server"
TITLES = {
    413: "This is too large",
    422: "This cannot be answered",
    503: "The server is busy",
    504: "The answer takes too long",
}
DETAILS = {
    404: "the address must be one of this server, got another",
    405: "the method must be one that the address takes, got another",
}
LOG = logging.getLogger("uvicorn.error")


def problem(
    status: int, sentence: str, parameter: str | None = None, headers: dict[str, str] | None = None
) -> Response:
    """Return a problem document.

    status: of HTTP.
    sentence: what was wrong.
    parameter: the parameter that it is about, `None` if there is none.
    headers: more of the response.
    """
    found = {
        "type": "about:blank",
        "title": TITLES.get(status, HTTPStatus(status).phrase),
        "status": status,
        "detail": sentence,
    }
    if parameter is not None:
        found["parameter"] = parameter
    return Response(json.dumps(found), status, headers, media_type=PROBLEM)


def add_problems(app: FastAPI) -> None:
    """Let an application answer with problem documents where something is wrong."""

    @app.exception_handler(IactaError)
    async def refused(_: Request, error: IactaError) -> Response:
        return problem(422, str(error), error.parameter)

    @app.exception_handler(BusyError)
    async def busy(_: Request, error: BusyError) -> Response:
        return problem(503, str(error), headers={"Retry-After": str(error.seconds)})

    @app.exception_handler(LateError)
    async def late(_: Request, error: LateError) -> Response:
        return problem(504, str(error))

    @app.exception_handler(FailedError)
    async def failed(_: Request, error: FailedError) -> Response:
        LOG.error("%s", error)
        return problem(500, MISTAKE)

    @app.exception_handler(HTTPException)
    async def other(_: Request, error: HTTPException) -> Response:
        sentence = DETAILS.get(error.status_code, error.detail)
        return problem(error.status_code, sentence, headers=dict(error.headers or {}))

    @app.exception_handler(Exception)
    async def unforeseen(_: Request, __: Exception) -> Response:
        return problem(500, MISTAKE)  # which is also raised on, for the log
