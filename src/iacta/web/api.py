"""The API: questions in addresses or in JSON, and answers as `--json` prints them."""

import asyncio
import hashlib
import json
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Any, TypeVar

from fastapi import APIRouter, Request, Response
from starlette.exceptions import HTTPException

from iacta.checks import shown
from iacta.errors import IactaError, IllegalError, MalformedError
from iacta.files import parse_json
from iacta.questions.question import Question
from iacta.web.asked import asked_questions
from iacta.web.limits import QUICK_SECONDS
from iacta.web.problems import GoneError
from iacta.web.work import Work
from iacta.web.worker import (
    Part,
    Parts,
    asked_by_address,
    asked_by_record,
    drawn,
    vega_script,
)

__all__ = ["key_of", "parsed", "read_body", "router", "while_there"]

T = TypeVar("T")

MOST_EXACT = 2**53
DARK, LIGHT = ("dark", "true"), ("dark", "false")  # of a picture, in its address


def router(work: Work) -> APIRouter:
    """Return the addresses of the API.

    work: what computes the answers.
    """
    found = APIRouter()
    for name, form in asked_questions().items():
        _add_question(found, work, name, form)
    _add_vega(found, work)
    return found


def _add_question(found: APIRouter, work: Work, name: str, form: type[Question]) -> None:
    async def ask(request: Request, part: Part, *left_out: tuple[str, str]) -> str:
        """Return a part of the answer to the question in a request's query."""
        pairs = [each for each in request.query_params.multi_items() if each not in left_out]
        if name == "plan" and [key for key, _ in pairs] == ["plan"]:
            texts = work.plans.find(pairs[0][1])
            if part in texts:
                return texts[part]
            if "spec" not in texts:
                raise IllegalError("this plan has no picture, as its board is too large")
            return str(await while_there(request, work.run(drawn, texts["spec"], part)))
        parts = await found_by({"": sorted(pairs)}, request, asked_by_address, pairs, (part,))
        return str(parts[part])

    async def found_by(
        asked: Mapping[str, Any], request: Request, function: Callable[..., Parts], *args: Any
    ) -> Parts:
        """Return what a function finds, in the process that has answered the same before."""
        is_plan = name == "plan"
        run = partial(work.search, key=key_of(asked)) if is_plan else work.run
        found: Parts = await while_there(request, run(function, name, *args))
        return found

    async def by_address(request: Request) -> Response:
        return Response(await ask(request, "record"), media_type="application/json")

    async def by_record(request: Request) -> Response:
        record = await read_body(request)
        parts = await found_by(record, request, asked_by_record, record, ("record",))
        return Response(parts["record"], media_type="application/json")

    async def rows(request: Request) -> Response:
        return Response(await ask(request, "rows"), media_type="text/csv; charset=utf-8")

    async def spec(request: Request) -> Response:
        return Response(await ask(request, "spec"), media_type="application/json")

    async def picture(request: Request) -> Response:
        pairs = request.query_params.multi_items()
        part: Part = "dark_svg" if DARK in pairs else "svg"
        return Response(await ask(request, part, DARK, LIGHT), media_type="image/svg+xml")

    summary = form.summary()
    found.add_api_route(f"/api/{name}", by_address, methods=["GET"], summary=summary)
    found.add_api_route(f"/api/{name}", by_record, methods=["POST"], summary=summary)
    found.add_api_route(f"/api/{name}.csv", rows, methods=["GET"], summary=summary)
    found.add_api_route(f"/api/{name}/picture.svg", picture, methods=["GET"], summary=summary)
    found.add_api_route(f"/api/{name}/picture.json", spec, methods=["GET"], summary=summary)


def _add_vega(found: APIRouter, work: Work) -> None:
    script = b""

    async def vega() -> Response:
        nonlocal script
        script = script or await work.run(vega_script)
        return Response(script, media_type="text/javascript; charset=utf-8")

    found.add_api_route("/static/vega.js", vega, methods=["GET"], include_in_schema=False)


async def read_body(request: Request) -> dict[str, Any]:
    """Return the JSON object in the body of a request."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise HTTPException(415, f"the body must be application/json, got {shown(kind)}")
    return parsed(await request.body())


def parsed(body: bytes) -> dict[str, Any]:
    """Return the JSON object in a text."""
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
        return {name: _whole(each) for name, each in value.items()}
    if isinstance(value, list):
        return [_whole(each) for each in value]
    is_whole = isinstance(value, float) and value.is_integer() and abs(value) < MOST_EXACT
    return int(value) if is_whole else value


def key_of(record: Mapping[str, Any]) -> str:
    """Return a short text that is the same for equal questions."""
    text = json.dumps(record, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


async def while_there(request: Request, job: Awaitable[T]) -> T:
    """Return what a job returns; cancel it if the client goes away.

    request: of the client, whose body has been read.
    job: such as `Work.run` returns.

    A quick one is not: while somebody types, each key closes a request, and would end a process.
    """
    done = asyncio.ensure_future(job)
    await asyncio.wait((done,), timeout=QUICK_SECONDS)
    if done.done():
        return done.result()
    gone = asyncio.ensure_future(_gone(request))
    try:
        await asyncio.wait((done, gone), return_when=asyncio.FIRST_COMPLETED)
        if done.done():
            return done.result()
        raise GoneError
    finally:
        gone.cancel()
        done.cancel()


async def _gone(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
