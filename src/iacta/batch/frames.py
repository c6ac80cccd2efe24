"""Answers a question for each row of a Polars, pandas or Arrow frame, in additional columns."""

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from concurrent.futures import Executor
from threading import TIMEOUT_MAX
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa

from iacta.batch.rows import BatchQuestion, answer_rows, format_json, read_question
from iacta.inputs.checks import quote
from iacta.inputs.errors import IllegalError, MalformedError
from iacta.inputs.tabular import read_column

FRAME_TYPES = "a Polars or pandas frame, an Arrow table or a mapping of arrays"


def answer(
    frame: Any,
    question: str = "battle",
    *,
    columns: Sequence[str] | None = None,
    executor: Executor | None = None,
    **given: Any,
) -> Any:
    """Answer a question for each row of a frame; return the frame with additional columns.

    frame: a Polars or pandas frame, an Arrow table, or a mapping of arrays. Columns named after a
        parameter, in upper or lower case, supply its values. Null and empty strings mean the
        default value. Other columns are ignored.
    question: `battle`, `campaign`, `need`, `roll`, `decide`, `defend`, `plan`, `win`, `goals` or
        `threats`.
    columns: the keys of the answer that become columns; `None` for the default columns. Values
        other than numbers and strings are written as JSON.
    executor: an executor to compute parts of the frame, such as Dask's `Client.get_executor()`;
        `None` to compute in this process.
    given: the parameters that are the same for all rows.

    Rows keep their order. An invalid row has a message in the column `error` and nulls in the other
    added columns. Repeated rows are computed once. Battles are looked up in tables, with a relative
    error of at most 1e-12 up to 256 armies on each side and 5e-12 up to 1,024. Other questions are
    answered as by `ask`.

    Unknown questions, columns or parameters, and missing required parameters, raise `IactaError`.

    >>> found = answer({"attackers": [12, 5, 0], "defenders": [10, 4, 1]}, rules="capital")
    >>> found["win_probability"].round(4)
    array([0.2375, 0.308 ,    nan])
    >>> found["error"][2]
    'attackers must be a whole number of at least 1, got 0'
    """
    single = {}
    if isinstance(frame, Mapping):
        single = {name: each for name, each in frame.items() if _is_single(each)}
    if both := sorted({*single} & {*given}):
        raise IllegalError(f"{both[0]} is given twice, in the frame and as an argument")
    asked = read_question(question, columns, {**single, **given})
    return answer_frame(frame, asked, {*single}, executor)


def answer_frame(
    frame: Any,
    asked: BatchQuestion,
    single: AbstractSet[str] = frozenset(),
    executor: Executor | None = None,
) -> Any:
    """Answer a parsed question for each row of a frame, as `answer` does.

    single: the keys of a mapping that are single values rather than columns.
    """
    names = [str(name) for name in _list_names(frame) if name not in single]
    height = len(frame[names[0]]) if isinstance(frame, Mapping) else len(frame)
    parameters = asked.check_columns(names)
    rows = pl.DataFrame([_convert_column(frame, name) for name in parameters], height=height)
    if executor is None:
        found = answer_rows(rows, asked)
    else:
        slices = rows.iter_slices(asked.part_rows)
        parts = [executor.submit(answer_rows, part, asked) for part in slices]
        found = pl.concat([asked.empty_frame, *(part.result(TIMEOUT_MAX) for part in parts)])
    return _add_columns(frame, found)


def _is_single(value: object) -> bool:
    columns = Sequence | pl.Series | pa.Array | pa.ChunkedArray
    if isinstance(value, str | bytes | Mapping):
        return True
    return not (isinstance(value, columns) or getattr(value, "shape", None))


def _list_names(frame: Any) -> list[str]:
    if isinstance(frame, Mapping):
        lengths = {len(each) for each in frame.values() if not _is_single(each)}
        if len(lengths) != 1:
            got = " and ".join(map(str, sorted(lengths))) or "none"
            raise IllegalError(f"a mapping must have columns of the same length, got {got}")
        return [*frame]
    if isinstance(frame, pa.Table | pa.RecordBatch):
        return list(frame.schema.names)
    # The module's name is compared to avoid importing pandas.
    is_pandas = type(frame).__module__.partition(".")[0] == "pandas" and hasattr(frame, "assign")
    if isinstance(frame, pl.DataFrame) or is_pandas:
        return [*frame.columns]
    raise MalformedError(f"a frame must be {FRAME_TYPES}, got {quote(frame)}")


def _convert_column(frame: Any, name: str) -> pl.Series:
    values = frame[name]
    if isinstance(values, pl.Series):
        return values.alias(name)
    if isinstance(values, np.ndarray) and values.ndim > 1:
        values = values.tolist()
    try:
        if not isinstance(values, pa.Array | pa.ChunkedArray):
            values = pa.array(values, from_pandas=True)
        return pl.Series(name, read_column(name, values))
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError, OverflowError):
        return pl.Series(name, [*map(_format_text, values)], pl.String)


def _format_text(value: object) -> str | None:
    if value is None or value != value:  # NaN
        return None
    return format_json(value) if isinstance(value, list | tuple | dict) else str(value)


def _add_columns(frame: Any, found: pl.DataFrame) -> Any:
    if isinstance(frame, pl.DataFrame):
        return frame.hstack(found)
    if isinstance(frame, pa.Table | pa.RecordBatch):
        table = found.to_arrow(compat_level=pl.CompatLevel.oldest())
        for name, column in zip(found.columns, table.columns, strict=True):
            plain = column.cast(pa.string()) if found.schema[name] == pl.String else column
            is_batch = isinstance(frame, pa.RecordBatch)
            frame = frame.append_column(name, plain.combine_chunks() if is_batch else plain)
        return frame
    if isinstance(frame, Mapping):
        return {**frame, **{name: _convert_to_numpy(found[name]) for name in found.columns}}
    kinds: dict[Any, str] = {pl.Int64: "Int64", pl.Boolean: "boolean"}
    series = {
        name: type(frame[frame.columns[0]])(
            _convert_to_numpy(found[name]) if kind == pl.Float64 else found[name].to_list(),
            index=frame.index,
            dtype=kinds.get(kind),
        )
        for name, kind in found.schema.items()
    }
    return frame.assign(**series)


def _convert_to_numpy(column: pl.Series) -> npt.NDArray[Any]:
    """Convert a column to an array, with NaN or `None` for null."""
    if column.dtype == pl.String or (column.dtype == pl.Boolean and column.has_nulls()):
        return np.array([*column, None], dtype=object)[:-1]
    return column.to_numpy()
