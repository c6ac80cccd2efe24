"""Charts as files: pictures, pages, specifications and the numbers behind them."""

import csv
import io
import json
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from iacta.charts.converter import CONVERTED, PictureError, convert
from iacta.charts.page import page
from iacta.charts.theme import AnyChart, Row, config
from iacta.checks import shown
from iacta.errors import IllegalError, MalformedError, MissingError, TooLargeError

__all__ = [
    "ENDINGS",
    "chart_csv",
    "chart_frame",
    "chart_tables",
    "ending",
    "part_name",
    "save",
    "specification",
    "write",
]

ENDINGS = (*CONVERTED, "json", "csv")


def save(
    chart: AnyChart,
    file: str | Path,
    *,
    dark: bool = False,
    make: Callable[[str, str], bytes] = convert,
) -> None:
    """Write a chart to a file, whose ending tells how.

    chart: any chart of `iacta.charts`.
    file: where to; it must end in .svg, .png, .pdf, .html for a page that needs no network, .json
        for the Vega-Lite specification, or .csv for the numbers.
    dark: whether a picture is to stand on a dark page; a page follows its reader.
    make: what turns a specification into a picture.

    The file is whole or not there at all. Refused are other endings, and places that cannot be
    written.
    """
    kind = ending(file)
    if kind == "csv":
        content = chart_csv(chart).encode()
    else:
        spec = specification(chart, dark=dark)
        try:
            content = _encoded(spec, kind, make)
        except PictureError as error:
            raise TooLargeError(f"the picture cannot be drawn: {error}") from None
    write(Path(file), content)


def _encoded(spec: dict[str, Any], kind: str, make: Callable[[str, str], bytes]) -> bytes:
    if kind == "json":
        return json.dumps(spec, indent=1).encode() + b"\n"
    if kind == "html":
        return page(spec, make("", kind).decode()).encode()
    return make(json.dumps(spec), kind)


def write(file: Path, content: bytes, what: str = "the picture's place") -> None:
    """Write a file beside its place, and then put it there.

    file: where to; behind a link, and with the rights that a file there has.
    content: what.
    what: what the place is called where it is refused.
    """
    try:
        place = file.resolve()
        if place.exists() and not place.is_file():
            place.write_bytes(content)  # a pipe or a device; a folder refuses it
        else:
            _put(place, content)
    except OSError as error:
        raise IllegalError(
            f"{what} must be one that can be written, got {shown(str(file))}: {error.strerror}"
        ) from None


def _put(place: Path, content: bytes) -> None:
    part = place.with_name(part_name(place.name))
    try:
        part.write_bytes(content)
        if place.exists():
            part.chmod(place.stat().st_mode)
        part.replace(place)
    finally:
        part.unlink(missing_ok=True)


def part_name(name: str) -> str:
    """Return the name of a file while this process writes it.

    name: the name that it will have.
    """
    return f".{name[:200]}.{os.getpid()}.iacta-part"


def ending(file: str | Path) -> str:
    """Return the ending of a file's name, one of `ENDINGS`, or refuse it.

    file: the name.

    >>> ending("odds.PNG")
    'png'
    >>> ending("odds.gif")
    Traceback (most recent call last):
        ...
    iacta.errors.IllegalError: a picture's name must end in .svg, .png, .pdf, .html, .json or \
.csv, got 'odds.gif'
    """
    found = Path(file).suffix.lower().removeprefix(".")
    if found not in ENDINGS:
        *most, last = (f".{each}" for each in ENDINGS)
        raise IllegalError(
            f"a picture's name must end in {', '.join(most)} or {last}, got {shown(str(file))}"
        )
    return found


def specification(chart: AnyChart, *, dark: bool = False) -> dict[str, Any]:
    """Return the Vega-Lite specification of a chart, data and theme included.

    chart: any chart of `iacta.charts`.
    dark: whether it is to stand on a dark page.
    """
    chart_tables(chart)  # refuses what is none of ours
    bare = chart.copy(deep=False)
    # The rows are put in at the end: Altair would look at each value.
    tables, bare.datasets = bare.datasets, _undefined()
    spec: dict[str, Any] = bare.to_dict(validate=False)
    return {**spec, "datasets": tables, "config": config(dark=dark)}


def _undefined() -> Any:
    """Return what Altair takes for nothing."""
    from altair import Undefined

    return Undefined


def chart_tables(chart: AnyChart) -> dict[str, list[Row]]:
    """Return the rows behind a chart, table by table, the one that matters first.

    chart: any chart of `iacta.charts`.
    """
    if not isinstance(getattr(chart, "datasets", None), dict):
        raise MalformedError(f"chart must be one of iacta.charts, got {shown(chart)}")
    return dict(chart.datasets)


def chart_csv(chart: AnyChart) -> str:
    """Return the numbers of a chart as CSV; with several tables, the first column names them.

    chart: any chart of `iacta.charts`.
    """
    rows = _rows(chart)
    columns = list(dict.fromkeys(key for row in rows for key in row))
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def chart_frame(chart: AnyChart) -> Any:
    """Return the numbers of a chart as a pandas frame, as `chart_csv` does.

    chart: any chart of `iacta.charts`.
    """
    try:
        import pandas
    except ImportError:
        raise MissingError(
            "a frame needs pandas, which is not installed: pip install 'iacta[plot]'"
        ) from None
    return pandas.DataFrame(_rows(chart))


def _rows(chart: AnyChart) -> Sequence[Row]:
    tables = chart_tables(chart)
    if len(tables) == 1:
        return next(iter(tables.values()))
    return [{"table": name, **row} for name, rows in tables.items() for row in rows]
