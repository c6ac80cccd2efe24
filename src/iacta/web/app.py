"""The FastAPI application with its routes and middleware."""

from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from importlib.metadata import version
from pathlib import Path

from fastapi import FastAPI
from fastapi.staticfiles import StaticFiles
from fastapi.telemetry import TelemetryConfig
from starlette.middleware.gzip import GZipMiddleware

from iacta.web import api, api_docs, pages
from iacta.web.delivery import Delivery, EntityTags
from iacta.web.guard import HEADERS, CrossOrigin, Guard
from iacta.web.limits import GZIP_LEVEL, LARGE_BYTES
from iacta.web.map import make_router as make_map_router
from iacta.web.openapi import add_schema
from iacta.web.problems import add_problems
from iacta.web.process_pool import Work
from iacta.web.search_stream import LINES

# Environment variables must not switch telemetry on.
SILENT: TelemetryConfig = {
    "tracing": False,
    "metrics": False,
    "logs": False,
    "operation_spans": False,
    "auto_configure": False,
}
STATIC = Path(__file__).parent / "static"


def create_app(
    work: Work | None = None,
    host: str = "127.0.0.1",
    names: Iterable[str] = (),
    origins: Sequence[str] = (),
    public_url: str = "",
) -> FastAPI:
    """Create the application.

    work: the worker processes that compute answers; `None` to create them.
    host: the address that the server listens on.
    names: additional host names of this machine.
    origins: the sites whose pages may call the API; `*` for all sites.
    public_url: the URL at which other devices can open the pages; empty if unknown.
    """
    working = work or Work()

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        working.start()
        yield
        working.close()

    app = FastAPI(
        title="iacta",
        version=version("iacta"),
        docs_url=None,
        openapi_url=None,  # `iacta.web.api_docs` serves the schema instead
        redoc_url=None,
        lifespan=lifespan,
        telemetry=SILENT,
    )
    if origins:
        app.add_middleware(CrossOrigin, origins=origins)
    app.add_middleware(Guard, host=host, names=names)
    # The last middleware is the outermost; the guard's refusals are delivered too.
    app.add_middleware(EntityTags)
    app.add_middleware(
        GZipMiddleware,
        minimum_size=LARGE_BYTES,
        compresslevel=GZIP_LEVEL,
        exclude_content_types=(LINES,),
    )
    app.add_middleware(Delivery)
    add_problems(app, pages.make_problem_page, HEADERS)
    app.include_router(api.make_router(working))
    app.include_router(pages.make_router(working))
    app.include_router(api_docs.make_router())
    app.include_router(make_map_router(working, public_url))
    add_schema(app)
    app.mount("/static", StaticFiles(directory=STATIC), name="static")
    return app
