"""Problem documents: what went wrong, as RFC 9457 has it, in the sentence used everywhere."""

import json
import logging
from collections.abc import Callable, Mapping
from http import HTTPStatus
from types import MappingProxyType
from typing import Any, NamedTuple

from fastapi import FastAPI, Request, Response
from starlette.exceptions import HTTPException

from iacta.errors import IactaError
from iacta.web.work import BusyError, FailedError, LateError

__all__ = ["PROBLEM", "GoneError", "Problem", "add_problems", "problem_of"]

PROBLEM = "application/problem+json"
MISTAKE = "this is a mistake in iacta; its report is in the log of the server"
TITLES = {
    404: "There is nothing here",
    405: "This is not done here",
    413: "This is too large",
    422: "This cannot be answered",
    503: "The server is busy",
    504: "The answer takes too long",
}
DETAILS = {
    404: "the address must be one of this server, got another",
    405: "the method must be one that the address takes, got another",
}


class GoneError(Exception):
    """The client has gone away; nobody reads what is answered."""


LOG = logging.getLogger("uvicorn.error")


class Problem(NamedTuple):
    """What went wrong.

    status: of HTTP.
    sentence: what was wrong.
    parameter: the parameter that it is about, `None` if there is none.
    headers: more of the response.
    """

    status: int
    sentence: str
    parameter: str | None = None
    headers: Mapping[str, str] = MappingProxyType({})

    def record(self) -> dict[str, Any]:
        """Return the problem document."""
        found = {
            "type": "about:blank",
            "title": TITLES.get(self.status) or HTTPStatus(self.status).phrase,
            "status": self.status,
            "detail": self.sentence,
        }
        return found if self.parameter is None else {**found, "parameter": self.parameter}

    def response(self) -> Response:
        """Return the problem document as a response."""
        text = json.dumps(self.record())
        return Response(text, self.status, dict(self.headers), media_type=PROBLEM)


def problem_of(error: Exception) -> Problem:
    """Return the problem that an error is."""
    if isinstance(error, IactaError):
        return Problem(422, str(error), error.parameter)
    if isinstance(error, BusyError):
        return Problem(503, str(error), headers={"Retry-After": str(error.seconds)})
    if isinstance(error, LateError):
        return Problem(504, str(error))
    if isinstance(error, GoneError):
        return Problem(400, str(error))
    if isinstance(error, HTTPException):
        sentence = DETAILS.get(error.status_code, error.detail)
        return Problem(error.status_code, sentence, headers=error.headers or {})
    if isinstance(error, FailedError):
        LOG.error("%s", error)
    return Problem(500, MISTAKE)


def add_problems(app: FastAPI, page: Callable[[int, str, str], Response]) -> None:
    """Let an application answer with problem documents where something is wrong.

    app: the application.
    page: makes a page of a status, a title and a sentence, for browsers outside of the API.
    """

    async def answer(request: Request, error: Exception) -> Response:
        found = problem_of(error)
        is_page = "text/html" in request.headers.get("accept", "")
        if not is_page or request.url.path.startswith("/api/"):
            return found.response()
        sentence = f"{found.sentence[:1].upper()}{found.sentence[1:]}."
        response = page(found.status, found.record()["title"], sentence)
        response.headers.update(found.headers)
        return response

    # What is not foreseen is told too, and then raised on, for the log.
    for kind in (
        IactaError,
        BusyError,
        LateError,
        GoneError,
        FailedError,
        HTTPException,
        Exception,
    ):
        app.add_exception_handler(kind, answer)
