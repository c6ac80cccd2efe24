"""Computes a table of answers from a table of parameters, one question per row.

Columns supply the parameters that vary; all others are the same for every row. Repeated rows are
computed once. Most battles are looked up in tables, and other questions are answered as on the
command line. An invalid row gets an error message.

`answer_rows` is a pure function, so a batch can be split among processes and machines.
"""

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from hashlib import sha256
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from iacta.batch.tables import (
    CAMPAIGN_COLUMNS,
    COLUMNS,
    Armies,
    TableAnswers,
    compute_campaigns,
    look_up_battles,
)
from iacta.forms.form import Parameter, format_error
from iacta.forms.parameter_kinds import Whole
from iacta.forms.question import QUESTIONS, Question, find_question
from iacta.forms.record import OMITTED, json_value
from iacta.inputs.checks import quote
from iacta.inputs.errors import IactaError, IllegalError, MalformedError
from iacta.inputs.files import STREAM
from iacta.inputs.json_and_toml import parse_json, parse_toml
from iacta.inputs.reprs import format_literal
from iacta.inputs.tabular import normalise_column
from iacta.questions.battle import BattleQuestion
from iacta.questions.campaign import CampaignQuestion

ERROR = "error"  # name of the column for error messages
WHOLE = r"^\s*(-?[0-9]+)\.0+\s*$"  # a whole number written as a decimal
SHORT_NUMBER = "^[1-9][0-9]{0,3}$"
# The text 8,200 must not match, because it may be a single number.
SHORT_CAMPAIGN = r"^[1-9][0-9]{0,2}( [1-9][0-9]{0,2}|,[1-9][0-9]?){0,49}$"
SHORT_LIST = r"^\[[1-9][0-9]{0,2}(, ?[1-9][0-9]{0,2}){0,49}\]$"
MAX_INT = 2**63 - 1
MAX_LOOKUP_ARMIES = 10_000  # larger battles are never looked up
PART_ROWS = {"battle": 2**16, "roll": 2**16, "campaign": 2_000, "plan": 4}
DEFAULT_PART_ROWS = 1_000
CACHE_SIZE = 20_000  # maximum number of answers in the cache
TYPES: dict[type, Any] = {float: pl.Float64, int: pl.Int64, bool: pl.Boolean, str: pl.String}


@dataclass(frozen=True, eq=False)
class BatchQuestion:
    """A question to answer for every row of a batch.

    question: the name of the question.
    columns: the keys of the answer that become columns.
    given: the parameters that are the same for all rows, by name.
    """

    question: str
    columns: tuple[str, ...]
    given: tuple[tuple[str, Any], ...] = ()

    @cached_property
    def form(self) -> type[Question]:
        form = find_question(self.question)
        if form is None:
            raise MalformedError(f"unknown question {quote(self.question)}")
        return form

    @cached_property
    def schema(self) -> dict[str, Any]:
        """The names and types of the added columns.

        A key with the name of a parameter, such as `territories` of a campaign, gets the prefix
        `answer_`.
        """
        kinds = {key.name: key.kind for key in self.form.columns()}
        asked = {get_column_name(parameter) for parameter in self.form.parameters()}
        return {
            **{
                f"answer_{name}" if name in asked else name: TYPES.get(kinds[name], pl.String)
                for name in self.columns
            },
            ERROR: pl.String,
        }

    @property
    def empty_frame(self) -> pl.DataFrame:
        return pl.DataFrame(schema=self.schema)

    @property
    def part_rows(self) -> int:
        """The number of rows in a part, which is computed in a few seconds at most."""
        return PART_ROWS.get(self.question, DEFAULT_PART_ROWS)

    @cached_property
    def key(self) -> str:
        given = [f"{name}={format_literal(value)}" for name, value in self.given]
        return sha256(repr((self.question, self.columns, given)).encode()).hexdigest()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, BatchQuestion) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)

    def select_parameters(self, names: Sequence[str]) -> dict[str, Parameter]:
        """Return the parameters that have a column, by the name of the column."""
        parameters = {get_column_name(parameter): parameter for parameter in self.form.parameters()}
        return {
            name: parameters[plain]
            for name in names
            if (plain := normalise_column(name)) in parameters
        }

    def check_columns(self, names: Sequence[str]) -> dict[str, Parameter]:
        """Check the columns; return the parameters that have a column, by the name of the column.

        A required parameter must either have a column or be given for all rows; no parameter may
        have both. Names of columns must be unique, and must differ from the names of the added
        columns.
        """
        if twice := [name for name, many in Counter(names).items() if many > 1]:
            raise IllegalError(f"the column {quote(twice[0])} appears twice")
        given, found = dict(self.given), self.select_parameters(names)
        counts = Counter(get_column_name(each) for each in found.values())
        for parameter in self.form.parameters():
            name = get_column_name(parameter)
            if counts[name] and parameter.name in given:
                raise IllegalError(f"{name} is given both as a column and for all rows")
            if counts[name] > 1:
                raise IllegalError(f"the column {quote(name)} appears twice")
            if parameter.is_required and not counts[name] and parameter.name not in given:
                got = ", ".join(map(quote, names[:10])) or "none"
                if names and all(re.fullmatch(r"[\d.]+", column) for column in names):
                    raise IllegalError(f"the first row must name the columns, got {got}")
                raise IllegalError(f"missing column {name}; the columns are: {got}")
        if both := [name for name in self.schema if name in names]:
            raise IllegalError(f"column {quote(both[0])} clashes with a column that iacta adds")
        return found


def get_column_name(parameter: Parameter) -> str:
    return parameter.name.rstrip("_")


def read_question(
    question: str, columns: Sequence[str] | None = None, given: Mapping[str, Any] | None = None
) -> BatchQuestion:
    """Read the question to answer for every row. Strings are read as on the command line.

    question, columns, given: see `answer`.

    >>> read_question("battle").columns[:2]
    ('win_probability', 'expected_attackers_left')
    >>> read_question("battle", ["chance"])
    Traceback (most recent call last):
        ...
    iacta.IllegalError: columns must be some of win_probability, expected_attackers_left, \
expected_defenders_left, expected_attackers_left_if_won, method, win_probability_exact, \
stop_probability, stop_probability_exact, leave_probability, most_likely, expected_rolls, rolls, \
outcomes, got 'chance'
    """
    form = find_question(question) if isinstance(question, str) else None
    if form is None or not form.usual_columns():
        names = ", ".join(each.name for each in QUESTIONS.load_all() if each.usual_columns())
        raise IllegalError(
            f"question must be one of {names}, got {quote(question)}", parameter="question"
        )
    available = [key.name for key in form.columns()]
    if isinstance(columns, str) or not isinstance(columns, Iterable | None):
        raise MalformedError(
            f"columns must be a list of names, got {quote(columns)}", parameter="columns"
        )
    chosen = form.usual_columns() if columns is None else tuple(columns)
    if not chosen:
        raise IllegalError(
            "columns must contain at least one name, got no name", parameter="columns"
        )
    if unknown := [name for name in chosen if name not in available]:
        names = ", ".join(available)
        raise IllegalError(
            f"columns must be some of {names}, got {quote(unknown[0])}", parameter="columns"
        )
    if len({*chosen}) < len(chosen):
        raise IllegalError(f"columns must differ, got {quote(list(chosen))}", parameter="columns")
    parameters = {get_column_name(each): each for each in form.parameters()}
    values = {}
    for name, value in (given or {}).items():
        parameter = parameters.get(name.rstrip("_"))
        if parameter is None:
            raise IllegalError(
                f"parameters must be some of {', '.join(parameters)}, got {quote(name)}"
            )
        if value is not None:
            values[parameter.name] = _read_value(parameter, value)
    return BatchQuestion(form.name, chosen, tuple(sorted(values.items())))


def answer_rows(rows: pl.DataFrame, asked: BatchQuestion) -> pl.DataFrame:
    """Return the requested columns and the column `error`.

    rows: the parameters as columns; other columns are ignored.

    If a row has an error, its other columns are null.

    >>> rows = pl.DataFrame({"attackers": [12, -3], "defenders": [10, 10]})
    >>> found = answer_rows(rows, read_question("battle", ["win_probability"]))
    >>> found["win_probability"].round(4).to_list(), found["error"][1]
    ([0.6538, None], 'attackers must be a whole number of at least 1, got -3')
    """
    parameters = asked.check_columns(rows.columns)
    keys = rows.select(
        _normalise_values(rows[name], parameter).alias(get_column_name(parameter))
        for name, parameter in parameters.items()
    )
    if not parameters:
        keys = pl.DataFrame({"": np.zeros(rows.height, np.int8)})
    quick = _answer_from_tables(keys, asked)
    if quick is None:
        return _answer_individually(keys, asked)
    is_known, found = quick
    if is_known.all():
        return found
    others = _answer_individually(keys.filter(~is_known), asked)
    order = np.where(is_known, np.arange(len(is_known)), 0)
    order[~is_known] = len(is_known) + np.arange(others.height)
    return pl.concat([found, others])[order]


def _normalise_values(column: pl.Series, parameter: Parameter) -> pl.Series:
    kind = column.dtype
    if isinstance(kind, pl.List | pl.Array) and not kind.inner.is_nested():
        text = pl.element().fill_null("null")
        text = text.str.replace(WHOLE, "$1") if kind.inner.is_float() else text
        texts = column.cast(pl.List(pl.String)).list.eval(text)
        return texts.list.join(" " if parameter.kind.is_list else ",")
    if kind.is_nested():
        records = [
            None if each is None else json.dumps(_drop_nulls(each)) for each in column.to_list()
        ]
        return pl.Series(column.name, records, pl.String)
    if kind.is_float():
        wide = column.cast(pl.Float64).fill_nan(None)
        is_whole = (wide == wide.round()) & (wide.abs() < 2.0**53)
        return wide.cast(pl.Int64) if isinstance(parameter.kind, Whole) and is_whole.all() else wide
    if isinstance(parameter.kind, Whole) and (kind == pl.String or kind.is_decimal()):
        return column.cast(pl.String).str.replace(WHOLE, "$1")
    if kind.is_integer() or kind in (pl.Boolean, pl.String):
        return column
    if isinstance(kind, pl.Object):
        raise MalformedError(
            f"{column.name} must be a column of numbers, strings or lists, got objects"
        )
    return column.cast(pl.String)


def _drop_nulls(value: Any) -> Any:
    """Remove nulls from nested objects; Polars adds them for keys that only other rows have."""
    if isinstance(value, dict):
        return {key: _drop_nulls(each) for key, each in value.items() if each is not None}
    return [_drop_nulls(each) for each in value] if isinstance(value, list) else value


def format_json(value: Any) -> str | None:
    """Format a value as JSON; strings and null stay as they are."""
    return value if value is None or isinstance(value, str) else json.dumps(value, default=str)


def _answer_from_tables(
    keys: pl.DataFrame, asked: BatchQuestion
) -> tuple[npt.NDArray[np.bool_], pl.DataFrame] | None:
    """Answer rows from tables.

    Return a mask of the answered rows, and the answers; `None` if the question has no tables.
    """
    given, shape = dict(asked.given), keys.height
    chosen, look, others = {*asked.columns}, {}, [*keys.columns]
    usual: dict[str, Any]
    if asked.question == BattleQuestion.name and chosen <= {*COLUMNS}:
        names, usual = ("attackers", "defenders"), {"attackers": 1, "defenders": 1}
    elif asked.question == CampaignQuestion.name and chosen <= {*CAMPAIGN_COLUMNS}:
        names, usual = ("attackers", "territories"), {"attackers": 1, "territories": "1"}
    else:
        return None
    for name in names:
        column = keys[name] if name in others else pl.repeat(given[name], shape, eager=True)
        if name == "territories" and column.dtype != pl.String:
            return None
        look[name] = _parse_campaigns(column) if name == "territories" else _parse_armies(column)
    others = [name for name in others if name not in look]
    groups = keys.select(others).unique(maintain_order=True) if others else pl.DataFrame([[0]])
    is_known = np.zeros(shape, bool)
    columns = {name: np.full(shape, np.nan) for name in asked.columns}
    for row in groups.iter_rows():
        values = dict(zip(others, row, strict=True)) if others else {}
        try:
            question: Any = _make_question(asked, {**values, **usual})
        except IactaError:
            continue  # each row of the group will report the error
        here = slice(None) if not others else _match_rows(keys, values)
        find: Any = look_up_battles if asked.question == BattleQuestion.name else compute_campaigns
        found: TableAnswers = find(*(look[name][here] for name in names), question)
        is_known[here] = found.is_known
        for name in asked.columns:
            columns[name][here] = found.columns[name]
    frame = pl.DataFrame(columns).with_columns(pl.all().fill_nan(None))
    return is_known, frame.with_columns(pl.lit(None, pl.String).alias(ERROR))


def _parse_campaigns(column: pl.Series) -> Armies:
    """Parse lists of plain numbers into rows padded with zeros. Anything else becomes zeros."""
    way = pl.col("way")
    is_plain = way.str.contains(SHORT_CAMPAIGN) | way.str.contains(SHORT_LIST)
    numbers = pl.when(is_plain).then(way).str.extract_all("[0-9]+").cast(pl.List(pl.Int64))
    ways = column.to_frame("way").select(numbers).to_series()
    longest = max([1, *ways.list.len().drop_nulls()])
    steps = [ways.list.get(step, null_on_oob=True).fill_null(0) for step in range(longest)]
    return np.stack([step.to_numpy() for step in steps], axis=1)


def _parse_armies(column: pl.Series) -> Armies:
    """Parse whole numbers that fit into the tables; any other value becomes 0."""
    armies = pl.col("armies")
    if column.dtype == pl.String:
        number = pl.when(armies.str.contains(SHORT_NUMBER)).then(armies).cast(pl.Int64)
    elif column.dtype.is_integer():
        number = pl.when(armies.is_between(1, MAX_LOOKUP_ARMIES)).then(armies).cast(pl.Int64)
    else:  # booleans, for example, are not numbers here
        return np.zeros(len(column), np.int64)
    found = column.to_frame("armies").with_columns(number.fill_null(0))
    return found.to_series().to_numpy()


def _match_rows(keys: pl.DataFrame, values: Mapping[str, Any]) -> Any:
    same = pl.all_horizontal(pl.col(name).eq_missing(pl.lit(v)) for name, v in values.items())
    return keys.select(same).to_series().to_numpy()


def _answer_individually(keys: pl.DataFrame, asked: BatchQuestion) -> pl.DataFrame:
    different = keys.unique(maintain_order=True)
    names = tuple(keys.columns)
    records = [_answer_row(asked, names, repr(row), row) for row in different.iter_rows()]
    found = pl.DataFrame(records, schema=asked.schema, orient="row")
    if different.height == keys.height:
        return found
    numbered = different.with_row_index("\0number")
    order = keys.join(
        numbered, on=keys.columns, how="left", nulls_equal=True, maintain_order="left"
    )
    return found[order["\0number"]]


@lru_cache(maxsize=CACHE_SIZE)
def _answer_row(
    asked: BatchQuestion, names: tuple[str, ...], key: str, row: tuple[Any, ...]
) -> tuple[Any, ...]:
    nulls = (None,) * len(asked.columns)
    try:
        found = _make_question(asked, dict(zip(names, row, strict=True))).answer()
        if not found.is_complete:  # the computation was interrupted
            raise KeyboardInterrupt
        data = found.data
    except IactaError as error:
        return *nulls, format_error(error, asked.form, lambda name: name.rstrip("_"))
    except MemoryError:
        return *nulls, "these numbers need more memory than this machine has"
    kinds = [*asked.schema.values()][:-1]
    held = (getattr(data, name, None) for name in asked.columns)
    values = tuple(map(_format_cell, held, kinds))
    for name, value in zip(asked.columns, values, strict=True):
        if isinstance(value, int) and abs(value) > MAX_INT:
            return *nulls, f"{name} is too large for a column: {quote(value)}"
    return *values, None


def _format_cell(value: Any, kind: Any) -> Any:
    if value is None or value is OMITTED:
        return None
    if kind == pl.String and not isinstance(value, str):
        return json.dumps(json_value(value))
    return float(value) if kind == pl.Float64 else value


def _make_question(asked: BatchQuestion, values: Mapping[str, Any]) -> Question:
    texts = dict(asked.given)
    for parameter in asked.form.parameters():
        value = values.get(get_column_name(parameter))
        if value is not None and value != "":
            texts[parameter.name] = _read_value(parameter, value)
        elif parameter.is_required and parameter.name not in texts:
            raise MalformedError(f"missing {parameter.name}")
    return asked.form(**texts)


def _read_value(parameter: Parameter, value: Any) -> Any:
    if isinstance(value, str):
        if value == STREAM:
            raise IllegalError(f"{parameter.name} cannot be read from standard input in a batch")
        if value.lstrip()[:1] in ("{", "["):
            return parameter.read(parse_json(value))
        if "\n" in value.strip() and "object" in parameter.kind.schema().get("type", ()):
            return parameter.read(parse_toml(value))
        return parameter.read(value, is_text=True)
    is_whole = parameter.kind.is_list or isinstance(parameter.kind, Whole)
    if isinstance(value, float) and is_whole and value.is_integer():
        value = int(value)
    if parameter.kind.is_list and isinstance(value, int) and not isinstance(value, bool):
        value = [value]
    return parameter.read(value)
