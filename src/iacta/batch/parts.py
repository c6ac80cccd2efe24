"""Parts: the pure function that every executor runs, from one Arrow table to another.

It reads the rows of a part as its file has them, answers them, and returns them with the answers:
as columns, or for a text format as the text to write. So all slow work happens where the part is
answered.
"""

import io
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.ipc

from iacta.batch.files import TEXT, FileFormat, arrow
from iacta.batch.rows import ERROR, WHOLE, Asked, answers, column_of
from iacta.checks import shown
from iacta.csv_formulas import FORMULA
from iacta.errors import IactaError, IllegalError, MalformedError
from iacta.json_and_toml import MOST_DEPTH, parse_json
from iacta.questions.parameter_kinds import Whole
from iacta.tabular import cells, column_name

HEAD = 1_000  # lines of JSON that decide the columns and their types
ERRORS = b"iacta.errors"  # the key under which a part says how many of its rows have an error
SIMPLE = 4_000  # bytes of a line that needs no guard
NOUNS = {"whole": "whole number", "number": "number", "bool": "truth value"}
KINDS: dict[str, Any] = {"whole": pl.Int64, "number": pl.Float64, "bool": pl.Boolean}


@dataclass(frozen=True)
class BatchJob:
    """The work to do on every part of a file.

    asked: what is asked of each row.
    source, target: the formats of the files.
    types: for text that becomes columns, the kind of each: `whole`, `number`, `bool` or `text`.
    """

    asked: Asked
    source: FileFormat
    target: FileFormat
    types: tuple[tuple[str, str], ...] = ()

    def header(self, schema: pa.Schema) -> bytes:
        """Return what comes before the rows in a text format."""
        if self.target.name != "csv":
            return b""
        names = [name for name, _ in self.types] or schema.names
        heading = pl.DataFrame(schema=[*names, *self.asked.schema])
        return heading.write_csv(separator=self.target.mark).encode()


def answer_part(part: pa.Table, job: BatchJob) -> pa.Table:
    asked = job.asked
    if job.source.name == "jsonl":
        rows, found = _answered_lines(part.column(TEXT).to_pylist(), job)
    elif job.source.name == "csv":
        names = [name for name, _ in job.types]
        rows, unfit = read_cells(part.column(TEXT).to_pylist(), names, job.source.mark)
        found = _with_errors(answers(rows, asked), unfit)
        if job.target.name != "csv":
            text = pl.col(pl.String)
            numbers = [
                pl.col(name).str.replace(WHOLE, "$1").cast(pl.Int64, strict=False)
                for name, parameter in asked.parameters(rows.columns).items()
                if isinstance(parameter.kind, Whole)
            ]
            rows = rows.with_columns(pl.when(text != "").then(text).name.keep())
            rows = rows.with_columns(numbers)
    else:
        rows = _frame(part)
        found = answers(rows, asked)
    errors = found[ERROR].len() - found[ERROR].null_count()
    if job.target.name == "jsonl" and job.source.name == "jsonl":
        content = "".join(_spliced(rows[TEXT], found))
    elif job.target.name == "jsonl":
        content = rows.hstack(found).write_ndjson()
    elif job.target.name == "csv":
        is_guarded = job.source.name != "csv"
        content = _csv(rows, found, job.target.mark, is_guarded=is_guarded)
    else:
        table = arrow(found)
        if job.source.is_text or job.target.name == "excel":
            part = arrow(_flat(rows) if job.target.name == "excel" else rows)
        for name, column in zip(table.column_names, table.columns, strict=True):
            part = part.append_column(name, column)
        return part.replace_schema_metadata({ERRORS: str(errors)})
    table = pa.table({TEXT: pa.array([content], pa.large_string())})
    return table.replace_schema_metadata({ERRORS: str(errors)})


def sent(part: pa.Table) -> bytes:
    """Return a part as the bytes that go to another process.

    A pickled slice carries its whole table along, and some executors take two slices of one table
    for the same; bytes are unambiguous.
    """
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, part.schema) as writer:
        writer.write_table(part)
    content: bytes = sink.getvalue().to_pybytes()
    return content


def answer_sent(content: bytes, job: BatchJob) -> pa.Table:
    """Return `answer_part` of a part that was sent."""
    return answer_part(pa.ipc.open_stream(content).read_all(), job)


def answers_sent(content: bytes, asked: Asked) -> pl.DataFrame:
    return answers(_frame(pa.ipc.open_stream(content).read_all()), asked)


def part_errors(part: pa.Table) -> int:
    return int(part.schema.metadata[ERRORS])


def _frame(part: pa.Table) -> pl.DataFrame:
    found = pl.from_arrow(part)
    if not isinstance(found, pl.DataFrame):  # for type checkers
        raise MalformedError(f"a part must be a table, got {shown(part)}")
    return found


# JSON lines.


def _answered_lines(lines: Sequence[str], job: BatchJob) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return lines of JSON, as columns if the target has columns, and their answers."""
    asked = job.asked
    given = {name for name, _ in asked.given}
    wanted = {column_of(each) for each in asked.form.parameters() if each.name not in given}
    columns: dict[str, list[Any]] = {name: [None] * len(lines) for name in wanted}
    records: list[dict[str, Any]] = []
    errors: list[str | None] = []
    objects = []
    for row, line in enumerate(lines):
        try:
            record, error = _record(line), None
            plain = {name: column_name(name) for name in record}
            for name, known in plain.items():
                if known in given:
                    raise IllegalError(f"{known} is given for all rows, and again in this one")
                if name in asked.schema:
                    raise IllegalError(f"{name} is the name of an added column")
            for name, known in plain.items():
                if known in columns:
                    columns[known][row] = record[name]
            objects.append(line)
        except IactaError as refused:
            record, error = {}, str(refused)
            objects.append(json.dumps({"line": line}))
        records.append(record)
        errors.append(error)
    keys = {name: _column(values) for name, values in columns.items()}
    found = answers(pl.DataFrame(keys, height=len(lines)), asked)
    rows = pl.DataFrame({TEXT: objects}, schema={TEXT: pl.String})
    if job.types:
        rows, unfit = _typed(records, dict(job.types), [*columns])
        errors = [first or second for first, second in zip(errors, unfit, strict=True)]
    return rows, _with_errors(found, errors)


def _with_errors(found: pl.DataFrame, errors: Sequence[str | None]) -> pl.DataFrame:
    if not any(errors):
        return found
    sentence = pl.Series(errors, dtype=pl.String)
    values = [pl.when(sentence.is_null()).then(name).alias(name) for name in found.columns]
    return found.with_columns(*values[:-1], sentence.fill_null(found[ERROR]).alias(ERROR))


def _record(line: str) -> dict[str, Any]:
    """Return the object of a line, guarded where it could take far more memory than its bytes."""
    is_simple = len(line) < SIMPLE and line.count("[") + line.count("{") <= MOST_DEPTH
    try:
        record = json.loads(line, parse_constant=_refuse) if is_simple else parse_json(line)
    except IactaError as error:
        raise MalformedError(str(error).removeprefix("line 1: ")) from None
    except json.JSONDecodeError as error:
        raise MalformedError(f"invalid JSON: {error.msg}") from None
    except ValueError:
        raise MalformedError("invalid JSON: NaN, or a number that is too long") from None
    if not isinstance(record, dict):
        raise MalformedError(f"the line must be an object of JSON, got {shown(record)}")
    return record


def _refuse(text: str) -> None:
    raise ValueError(text)


def _column(values: list[Any]) -> pl.Series:
    """Return values as a column: texts, unless all are numbers of one kind."""
    kinds = {type(each) for each in values if each is not None}
    if kinds <= {int} and all(each is None or abs(each) < 2**62 for each in values):
        return pl.Series(values, dtype=pl.Int64)
    if kinds == {float}:
        return pl.Series(values, dtype=pl.Float64)
    return pl.Series([_text(each) for each in values], dtype=pl.String)


def _text(value: Any) -> str | None:
    return value if value is None or isinstance(value, str) else json.dumps(value, default=str)


def head_types(lines: Iterable[str]) -> dict[str, str]:
    """Return the columns of lines of JSON, and what each holds; lines with errors do not count."""
    kinds: dict[str, set[type]] = {}
    for line in lines:
        try:
            record = _record(line)
        except IactaError:
            continue
        for name, value in record.items():
            kinds.setdefault(name, set()).update({type(value)} - {type(None)})
    names = {frozenset({int}): "whole", frozenset({bool}): "bool", frozenset({float}): "number"}
    names[frozenset({int, float})] = "number"
    return {name: names.get(frozenset(each), "text") for name, each in kinds.items()}


def _typed(
    records: Sequence[Mapping[str, Any]], types: Mapping[str, str], asked: Sequence[str]
) -> tuple[pl.DataFrame, list[str | None]]:
    errors: list[str | None] = [None] * len(records)
    columns = {}
    for name, kind in types.items():
        fitting = {"whole": int, "number": int | float, "bool": bool}.get(kind)
        values: list[Any] = []
        for row, record in enumerate(records):
            value = record.get(name)
            if fitting is None:
                value = _text(value)
            elif value is not None and (
                not isinstance(value, fitting)
                or (isinstance(value, bool) and kind != "bool")
                or (kind == "whole" and abs(value) >= 2**63)
            ):
                if column_name(name) not in asked:
                    errors[row] = (
                        f"{name} must be a {NOUNS[kind]}, as in the first lines, got {shown(value)}"
                    )
                value = None
            values.append(value)
        columns[name] = pl.Series(values, dtype=KINDS.get(kind, pl.String), strict=False)
    for row, record in enumerate(records):
        if new := [name for name in record if name not in types]:
            errors[row] = f"the key {shown(new[0])} is not in the first lines"
    return pl.DataFrame(columns, height=len(records)), errors


def _spliced(lines: Iterable[str], found: pl.DataFrame) -> Iterable[str]:
    added = found.write_ndjson().splitlines()
    for line, answer in zip(lines, added, strict=True):
        body = line[1:-1].strip()
        yield f"{{{body}{',' if body else ''}{answer[1:]}\n"


# CSV.


def read_cells(
    lines: Sequence[str], names: Sequence[str], mark: str
) -> tuple[pl.DataFrame, list[str | None]]:
    """Return rows of CSV as columns of texts, and what is wrong with each row.

    A short row is padded with empty cells; the last cell of a long one holds the rest.
    """
    if not any('"' in line or "\r" in line for line in lines):
        quick = _quick_cells(lines, names, mark)
        if quick is not None:
            return quick, [None] * len(lines)
    rows: list[list[str]] = []
    errors: list[str | None] = []
    for line in lines:
        error, row = None, [line]
        try:
            row = cells(line, mark)
            if len(row) != len(names):
                count = f"{len(names)} cell{'s' if len(names) > 1 else ''}"
                error = f"expected {count}, as in the heading, got {len(row)}"
        except IactaError as refused:
            error = str(refused)
        if len(row) > len(names):
            row = [*row[: len(names) - 1], mark.join(row[len(names) - 1 :])]
        rows.append([*row, *[""] * (len(names) - len(row))])
        errors.append(error)
    columns = zip(*rows, strict=True) if rows else [()] * len(names)
    return pl.DataFrame(
        [pl.Series(*each, dtype=pl.String) for each in zip(names, columns, strict=True)]
    ), errors


def _quick_cells(lines: Sequence[str], names: Sequence[str], mark: str) -> pl.DataFrame | None:
    """Return rows without quotes as columns, `None` if they differ in their number of cells."""
    try:
        table = pyarrow.csv.read_csv(
            io.BytesIO("\n".join(lines).encode()),
            pyarrow.csv.ReadOptions(use_threads=False, column_names=names),
            pyarrow.csv.ParseOptions(delimiter=mark, quote_char=False),
            pyarrow.csv.ConvertOptions(
                column_types=dict.fromkeys(names, pa.string()), strings_can_be_null=False
            ),
        )
    except pa.ArrowInvalid:
        return None
    return _frame(table) if table.num_rows == len(lines) else None


def _flat(rows: pl.DataFrame) -> pl.DataFrame:
    """Return rows with nested values as JSON."""
    columns = [
        pl.Series(each.name, [*map(_text, each.to_list())], pl.String)
        if each.dtype.is_nested()
        else each
        for each in rows
    ]
    return pl.DataFrame(columns, height=rows.height)


def _csv(rows: pl.DataFrame, found: pl.DataFrame, mark: str, *, is_guarded: bool) -> str:
    text = pl.col(pl.String)
    if is_guarded:  # against formulas; texts that come from CSV stay as they are
        begins = text.str.head(1).is_in(FORMULA) & (text.str.len_chars() > 1)
        is_formula = begins & text.cast(pl.Float64, strict=False).is_null()
        plain = pl.when(is_formula).then(pl.lit("'") + text).otherwise(text)
    else:
        plain = pl.when(text != "").then(text)  # an empty text is not written as ""
    written = _flat(rows).with_columns(plain.name.keep()).hstack(found)
    return written.write_csv(include_header=False, separator=mark)
