"""The API: each question by its address or in JSON, and its answer as `--json` prints it."""

import asyncio
import hashlib
import json
from collections.abc import Awaitable, Mapping
from typing import Any, TypeVar

from fastapi import APIRouter, Request, Response
from starlette.exceptions import HTTPException

from iacta.answers.question import Question
from iacta.checks import shown
from iacta.errors import IactaError, MalformedError
from iacta.files import parse_json
from iacta.web.asked import asked_questions
from iacta.web.problems import GoneError
from iacta.web.work import QUICK_SECONDS, Work
from iacta.web.worker import Part, Parts, asked_by_address, asked_by_record, vega_script

__all__ = ["key_of", "parsed", "read_body", "router", "while_there"]

T = TypeVar("T")

MOST_EXACT = 2**53
LONG = ("plan",)  # questions that do not begin in the quick lane


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
    async def ask(request: Request, part: Part) -> str:
        """Return a part of the answer to what the query of a request asks."""
        pairs = request.query_params.multi_items()
        key = key_of({"": sorted(pairs)}) if name in LONG else None
        job = work.run(asked_by_address, name, pairs, (part,), key=key, is_long=name in LONG)
        parts: Parts = await while_there(request, job)
        return str(parts[part])

    async def by_address(request: Request) -> Response:
        return Response(await ask(request, "record"), media_type="application/json")

    async def by_record(request: Request) -> Response:
        record = await read_body(request)
        key = key_of(record) if name in LONG else None
        job = work.run(asked_by_record, name, record, ("record",), key=key, is_long=name in LONG)
        parts: Parts = await while_there(request, job)
        return Response(parts["record"], media_type="application/json")

    async def rows(request: Request) -> Response:
        return Response(await ask(request, "rows"), media_type="text/csv; charset=utf-8")

    async def spec(request: Request) -> Response:
        return Response(await ask(request, "spec"), media_type="application/json")

    async def picture(request: Request) -> Response:
        pairs = request.query_params.multi_items()
        is_dark = ("dark", "true") in pairs
        asked = [each for each in pairs if each[0] != "dark"]
        part: Part = "dark_svg" if is_dark else "svg"
        job = work.run(asked_by_address, name, asked, (part,), is_long=name in LONG)
        parts: Parts = await while_there(request, job)
        return Response(parts[part], media_type="image/svg+xml")

    summary = form.summary()
    found.add_api_route(f"/api/{name}", by_address, methods=["GET"], summary=summary)
    found.add_api_route(f"/api/{name}", by_record, methods=["POST"], summary=summary)
    found.add_api_route(f"/api/{name}.csv", rows, methods=["GET"], summary=summary)
    found.add_api_route(f"/api/{name}/picture.svg", picture, methods=["GET"], summary=summary)
    found.add_api_route(f"/api/{name}/picture.json", spec, methods=["GET"], summary=summary)


def _add_vega(found: APIRouter, work: Work) -> None:
    script, tag = b"", ""

    async def vega(request: Request) -> Response:
        nonlocal script, tag
        if not script:
            script = await work.run(vega_script)
            tag = f'"{hashlib.sha256(script).hexdigest()[:32]}"'
        headers = {"ETag": tag, "Cache-Control": "no-cache"}
        if request.headers.get("if-none-match") == tag:
            return Response(status_code=304, headers=headers)
        return Response(script, headers=headers, media_type="text/javascript; charset=utf-8")

    found.add_api_route("/static/vega.js", vega, methods=["GET"], include_in_schema=False)


async def read_body(request: Request) -> dict[str, Any]:
    """Return the JSON object that a request holds."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise HTTPException(415, f"the body must be application/json, got {shown(kind)}")
    return parsed(await request.body())


def parsed(body: bytes) -> dict[str, Any]:
    """Return the JSON object that a text writes."""
    try:
        record = parse_json(body.decode())
    except UnicodeDecodeError:
        raise MalformedError("the body must be in UTF-8, got other bytes") from None
    except IactaError as error:
        raise MalformedError(f"the body: {error}") from None
    if not isinstance(record, dict):
        raise MalformedError(f"the body must be an object, got {shown(record)}")
    return {name: _whole(value) for name, value in record.items()}


def _whole(value: Any) -> Any:
    """Return a value with 3 for each 3.0: JSON does not tell them apart."""
    if isinstance(value, dict):
        return {name: _whole(each) for name, each in value.items()}
    if isinstance(value, list):
        return [_whole(each) for each in value]
    is_whole = isinstance(value, float) and value.is_integer() and abs(value) < MOST_EXACT
    return int(value) if is_whole else value


def key_of(record: Mapping[str, Any]) -> str:
    """Return what is the same for all that ask the same, as a short text."""
    text = json.dumps(record, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


async def while_there(request: Request, job: Awaitable[T]) -> T:
    """Return what a job returns; it is cancelled if the client goes away.

    request: of the client, whose body has been read.
    job: such as `Work.run` returns.

    A quick one is not: who types goes away at each key, and its process would end with it.
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
        raise GoneError("the client must wait for the answer, got a closed connection")
    finally:
        gone.cancel()
        done.cancel()


async def _gone(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
