"""Workers: pieces of work that are spread over an executor, and come back in their order."""

from collections import deque
from collections.abc import Callable, Generator, Iterable
from typing import TYPE_CHECKING, TypeVar

from iacta.checks import shown
from iacta.errors import IllegalError, MalformedError

if TYPE_CHECKING:
    from concurrent.futures import Executor, Future

__all__ = ["check_executor", "spread"]

Piece = TypeVar("Piece")
Result = TypeVar("Result")

MOST_PENDING = 1000


def check_executor(executor: object) -> None:
    """Refuse what is no executor.

    executor: any `concurrent.futures.Executor`, or `None`.

    >>> check_executor("many hands")
    Traceback (most recent call last):
        ...
    iacta.errors.MalformedError: executor must be a concurrent.futures.Executor, got 'many hands'
    """
    submits = callable(getattr(executor, "submit", None)) and not isinstance(executor, type)
    if executor is not None and not submits:
        raise MalformedError(
            f"executor must be a concurrent.futures.Executor, got {shown(executor)}"
        )


def spread(
    work: Callable[[Piece], Result], pieces: Iterable[Piece], executor: "Executor | None"
) -> Generator[Result, None, None]:
    """Yield the results of pieces of work in their order; when closed, call off what is not begun.

    work: is done for each piece.
    pieces: what it is done for.
    executor: does the work; `None` to do it here.

    An executor that takes on no work, or returns no futures, is refused.

    >>> list(spread(abs, [-1, 2], None))
    [1, 2]
    """
    if executor is None:
        yield from map(work, pieces)
        return
    pending: deque[Future[Result]] = deque()
    try:
        for piece in pieces:
            pending.append(_submitted(work, piece, executor))
            if len(pending) >= MOST_PENDING:
                yield pending.popleft().result()
        while pending:
            yield pending.popleft().result()
    finally:
        for future in pending:
            future.cancel()


def _submitted(
    work: Callable[[Piece], Result], piece: Piece, executor: "Executor"
) -> "Future[Result]":
    try:
        future = executor.submit(work, piece)
    except RuntimeError as error:  # as when it has been shut down
        raise IllegalError(f"executor must take on work, got {shown(executor)}: {error}") from None
    if not callable(getattr(future, "result", None)):
        raise MalformedError(f"executor must return futures, got {shown(future)}")
    return future
