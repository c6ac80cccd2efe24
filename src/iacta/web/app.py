"""The application: addresses, and what stands behind each of them."""

from fastapi import FastAPI, Request, Response
from fastapi.responses import JSONResponse

from iacta.answers.question import Question
from iacta.errors import IactaError
from iacta.web.asked import asked_questions, read_address, read_record
from iacta.web.work import Work

__all__ = ["create_app"]


def create_app() -> FastAPI:
    """Return the application."""
    app = FastAPI(title="iacta", docs_url=None, redoc_url=None)
    work = Work()
    for name, form in asked_questions().items():
        _add_question(app, work, name, form)
    return app


def _add_question(app: FastAPI, work: Work, name: str, form: type[Question]) -> None:
    async def by_address(request: Request) -> Response:
        try:
            question = read_address(form, request.query_params.multi_items())
            parts = await work.answer(question, ("record",))
        except IactaError as error:
            return JSONResponse({"detail": str(error)}, 422)
        return Response(parts["record"], media_type="application/json")

    async def by_record(request: Request) -> Response:
        try:
            question = read_record(form, await request.json())
            parts = await work.answer(question, ("record",))
        except IactaError as error:
            return JSONResponse({"detail": str(error)}, 422)
        return Response(parts["record"], media_type="application/json")

    app.add_api_route(f"/api/{name}", by_address, methods=["GET"], summary=form.summary())
    app.add_api_route(f"/api/{name}", by_record, methods=["POST"], summary=form.summary())
