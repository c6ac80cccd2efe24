"""Parts: the pure function that every engine runs, from a table of Arrow to another.

It reads the rows of a part as its file has them, answers them, and returns them with the answers:
as columns, or for a text format as the text that is to be written. So all that takes long is done
where the part is answered.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.ipc

from iacta.answers.kinds import Whole
from iacta.batch.files import TEXT, Format
from iacta.batch.rows import ERROR, WHOLE, Asked, answers, column_of
from iacta.checks import shown
from iacta.errors import IactaError, IllegalError, MalformedError
from iacta.files import parse_json

__all__ = [
    "HEAD",
    "Job",
    "answer_part",
    "answer_sent",
    "answers_sent",
    "arrow",
    "head_types",
    "part_errors",
    "sent",
]

HEAD = 1_000  # lines of JSON that say which columns there are, and their types
ERRORS = b"iacta.errors"  # the key under which a part says how many of its rows have an error
SIMPLE = 4_000  # bytes of a line that needs no guard
MOST_DEPTH = 32
FORMULA = r"(?s)^[=+\-@\t\r\n]."
KINDS: dict[str, Any] = {"whole": pl.Int64, "number": pl.Float64, "bool": pl.Boolean}


@dataclass(frozen=True)
class Job:
    """What is done with every part of a file.

    asked: what is asked of each row.
    source, target: the formats of the files.
    types: for JSON lines that become columns, the kind of each: `whole`, `number`, `bool` or
        `text`.
    """

    asked: Asked
    source: Format
    target: Format
    types: tuple[tuple[str, str], ...] = ()

    def header(self, schema: pa.Schema) -> bytes:
        """Return what stands before the rows in a text format.

        schema: that of the file that is read.
        """
        if self.target.name != "csv":
            return b""
        names = [name for name, _ in self.types] or schema.names
        heading = pl.DataFrame(schema=[*names, *self.asked.schema])
        return heading.write_csv().encode()


def answer_part(part: pa.Table, job: Job) -> pa.Table:
    """Return a part with its answers.

    part: some rows of a file, as `Source.parts` yields them.
    job: what is done with them.

    How many rows have an error stands in the metadata of its schema; see `part_errors`.
    """
    asked = job.asked
    if job.source.name == "jsonl":
        rows, found = _answered_lines(part.column(TEXT).to_pylist(), job)
    else:
        rows = _frame(part)
        found = answers(rows, asked)
        if job.source.name == "csv" and job.target.name != "csv":
            text = pl.col(pl.String)
            numbers = [
                pl.col(name).str.replace(WHOLE, "$1").cast(pl.Int64, strict=False)
                for name, parameter in asked.parameters(rows.columns).items()
                if isinstance(parameter.kind, Whole)
            ]
            rows = rows.with_columns(pl.when(text != "").then(text).name.keep())
            rows = rows.with_columns(numbers)
    errors = found[ERROR].len() - found[ERROR].null_count()
    if job.target.name == "jsonl" and job.source.name == "jsonl":
        content = "".join(_spliced(rows[TEXT], found))
    elif job.target.name == "jsonl":
        content = rows.hstack(found).write_ndjson()
    elif job.target.name == "csv":
        content = _csv(rows, found, is_guarded=job.source.name != "csv")
    else:
        table = arrow(found)
        if job.source.name in ("csv", "jsonl"):
            part = arrow(rows)
        for name, column in zip(table.column_names, table.columns, strict=True):
            part = part.append_column(name, column)
        return part.replace_schema_metadata({ERRORS: str(errors)})
    table = pa.table({TEXT: pa.array([content], pa.large_string())})
    return table.replace_schema_metadata({ERRORS: str(errors)})


def sent(part: pa.Table) -> bytes:
    """Return a part as the bytes that go to another process.

    A slice of a table takes the whole of it along where it is pickled, and some engines take two
    slices of one table for the same; of bytes they see what they are.
    """
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, part.schema) as writer:
        writer.write_table(part)
    content: bytes = sink.getvalue().to_pybytes()
    return content


def answer_sent(content: bytes, job: Job) -> pa.Table:
    """Return a part that was sent, with its answers.

    content: what `sent` has made of it.
    job: what is done with its rows.
    """
    return answer_part(pa.ipc.open_stream(content).read_all(), job)


def answers_sent(content: bytes, asked: Asked) -> pl.DataFrame:
    """Return the answers alone to the rows of a part that was sent.

    content: what `sent` has made of it.
    asked: what is asked of each row.
    """
    return answers(_frame(pa.ipc.open_stream(content).read_all()), asked)


def part_errors(part: pa.Table) -> int:
    """Return how many rows of an answered part have an error."""
    return int(part.schema.metadata[ERRORS])


def arrow(found: pl.DataFrame) -> pa.Table:
    """Return a frame as a table with the texts that every library reads."""
    table = found.to_arrow(compat_level=pl.CompatLevel.oldest())
    texts = [pa.string() if kind == pa.large_string() else kind for kind in table.schema.types]
    return table.cast(pa.schema([*zip(table.schema.names, texts, strict=True)]))


def _frame(part: pa.Table) -> pl.DataFrame:
    found = pl.from_arrow(part)
    if not isinstance(found, pl.DataFrame):  # for type checkers
        raise MalformedError(f"a part must be a table, got {shown(part)}")
    return found


# JSON lines.


def _answered_lines(lines: Sequence[str], job: Job) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return the columns of lines, or the lines themselves, and their answers."""
    asked = job.asked
    given = {name for name, _ in asked.given}
    records: list[dict[str, Any]] = []
    errors: list[str | None] = []
    objects = []
    for line in lines:
        try:
            record, error = _record(line), None
            if both := [name for name in record if name in given or name in asked.schema]:
                what = "a column or one value" if both[0] in given else "another name"
                raise IllegalError(f"{both[0]} must be {what}, got both")
            objects.append(line)
        except IactaError as refused:
            record, error = {}, str(refused)
            objects.append(json.dumps({"line": line}))
        records.append(record)
        errors.append(error)
    columns = {
        column_of(each): _column([record.get(column_of(each)) for record in records])
        for each in asked.form.parameters()
        if each.name not in given
    }
    found = answers(pl.DataFrame(columns, height=len(lines)), asked)
    rows = pl.DataFrame({TEXT: objects}, schema={TEXT: pl.String})
    if job.types:
        rows, unfit = _typed(records, dict(job.types), [*columns])
        errors = [first or second for first, second in zip(errors, unfit, strict=True)]
    if any(errors):
        sentence = pl.Series(errors, dtype=pl.String)
        values = [pl.when(sentence.is_null()).then(name).alias(name) for name in asked.schema]
        found = found.with_columns(*values[:-1], sentence.fill_null(found[ERROR]).alias(ERROR))
    return rows, found


def _record(line: str) -> dict[str, Any]:
    """Return the object of a line; what could take far more memory than its bytes is refused."""
    is_simple = len(line) < SIMPLE and line.count("[") + line.count("{") <= MOST_DEPTH
    try:
        record = json.loads(line, parse_constant=_refuse) if is_simple else parse_json(line)
    except IactaError as error:
        sentence = str(error).removeprefix("line 1: ").replace("the text", "the line", 1)
        raise MalformedError(sentence) from None
    except json.JSONDecodeError as error:
        raise MalformedError(f"the line must be JSON, got: {error.msg}") from None
    except ValueError:
        raise MalformedError("the line must be plain JSON, got a number too long or NaN") from None
    if not isinstance(record, dict):
        raise MalformedError(f"the line must be an object of JSON, got {shown(record)}")
    return record


def _refuse(text: str) -> None:
    raise ValueError(text)


def _column(values: list[Any]) -> pl.Series:
    """Return values of JSON as a column, as texts where they are not all numbers of one kind."""
    kinds = {type(each) for each in values if each is not None}
    if kinds <= {int} and all(each is None or abs(each) < 2**62 for each in values):
        return pl.Series(values, dtype=pl.Int64)
    if kinds == {float}:
        return pl.Series(values, dtype=pl.Float64)
    return pl.Series([_text(each) for each in values], dtype=pl.String)


def _text(value: Any) -> str | None:
    return value if value is None or isinstance(value, str) else json.dumps(value, default=str)


def head_types(lines: Iterable[str]) -> dict[str, str]:
    """Return the columns that lines of JSON have, and what each holds.

    lines: the first of a file; those that are no objects do not matter.
    """
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
    """Return records as columns, and what is wrong with each.

    asked: the columns that the question reads; it says itself what is wrong there.
    """
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
                if name not in asked:
                    errors[row] = (
                        f"{name} must be a {kind} as in the first lines, got {shown(value)}"
                    )
                value = None
            values.append(value)
        columns[name] = pl.Series(values, dtype=KINDS.get(kind, pl.String), strict=False)
    for row, record in enumerate(records):
        if new := [name for name in record if name not in types]:
            errors[row] = f"keys must be among those of the first lines, got {shown(new[0])}"
    return pl.DataFrame(columns, height=len(records)), errors


def _spliced(lines: Iterable[str], found: pl.DataFrame) -> Iterable[str]:
    """Yield lines with the answers added to their objects."""
    added = found.write_ndjson().splitlines()
    for line, answer in zip(lines, added, strict=True):
        body = line[1:-1].strip()
        yield f"{{{body}{',' if body else ''}{answer[1:]}\n"


# CSV.


def _csv(rows: pl.DataFrame, found: pl.DataFrame, *, is_guarded: bool) -> str:
    """Return rows as CSV without their heading.

    is_guarded: whether texts that a spreadsheet would compute get an apostrophe in front; texts
        that come from CSV stay as they are.
    """
    nested = {name for name, kind in rows.schema.items() if kind.is_nested()}
    columns = [
        pl.Series(each.name, [*map(_text, each.to_list())], pl.String)
        if each.name in nested
        else each
        for each in rows
    ]
    text = pl.col(pl.String)
    if is_guarded:
        is_formula = text.str.contains(FORMULA) & text.cast(pl.Float64, strict=False).is_null()
        plain = pl.when(is_formula).then(pl.lit("'") + text).otherwise(text)
    else:
        plain = pl.when(text != "").then(text)  # what was empty is not written as ""
    shown_rows = pl.DataFrame(columns, height=rows.height).with_columns(plain.name.keep())
    return shown_rows.hstack(found).write_csv(include_header=False)
