"""Checks of charts: whether the specification is valid, and whether the picture shows anything."""

import json
import struct
import zlib
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import vl_convert
from altair.vegalite.v6.schema.core import Root
from jsonschema import Draft7Validator

from iacta.charts import Chart

SCALE = 0.25
SCHEMA = Draft7Validator(Root._rootschema)


def find_flaw(spec: Mapping[str, Any]) -> str:
    """Return the place and the reason of the first violation of the Vega-Lite schema, or "".

    If alternatives of the schema fail, the deepest error is the most specific one.
    """
    errors = [
        leaf for each in SCHEMA.iter_errors({**spec, "datasets": {}}) for leaf in leaves(each)
    ]
    if not errors:
        return ""
    worst = max(
        errors,
        key=lambda error: (
            len(error.absolute_path),
            error.validator in ("additionalProperties", "enum"),
            -len(error.message),
        ),
    )
    return f"{'.'.join(map(str, worst.absolute_path))}: {worst.message}"


def leaves(error: Any) -> Iterator[Any]:
    """Yield the errors of each alternative, except alternatives for other types of marks."""
    for each in error.context:
        yield from leaves(each)
    if not error.context and error.validator != "const":
        yield error


def is_drawn(chart: Chart) -> bool:
    """Return whether a chart is valid and a small picture of it is not blank."""
    spec = chart.to_dict()
    assert [find_flaw(spec), find_flaw({**spec, **spec["usermeta"]["narrow"]})] == ["", ""]
    found = read_pixels(vl_convert.vegalite_to_png(json.dumps(spec), scale=SCALE))
    paper = (found == found[0, 0]).all(axis=2).mean()
    colours = len(np.unique(found.reshape(-1, found.shape[2]), axis=0))
    return bool(0.05 < paper < 0.995 and colours > 20)


def get_only_table(chart: Chart) -> list[dict[str, Any]]:
    """Return the rows of a chart's only table."""
    (rows,) = chart.tables.values()
    return [dict(row) for row in rows]


def read_pixels(png: bytes) -> npt.NDArray[np.uint8]:
    """Decode a PNG with 8 bits for each of 4 channels, as an array of height, width and channel."""
    width, height = struct.unpack(">II", png[16:24])
    assert png[24:26] == b"\x08\x06"
    data, place = b"", 8
    while place < len(png):
        (length,) = struct.unpack(">I", png[place : place + 4])
        if png[place + 4 : place + 8] == b"IDAT":
            data += png[place + 8 : place + 8 + length]
        place += 12 + length
    lines = np.frombuffer(zlib.decompress(data), dtype=np.uint8).reshape(height, 1 + 4 * width)
    image = np.zeros((height, width, 4), dtype=np.uint8)
    above = np.zeros((width, 4), dtype=np.int64)
    for number, line in enumerate(lines):
        above = _undo_filter(int(line[0]), line[1:].reshape(width, 4).astype(np.int64), above)
        image[number] = above
    return image


def _undo_filter(
    kind: int, line: npt.NDArray[np.int64], above: npt.NDArray[np.int64]
) -> npt.NDArray[np.int64]:
    """Undo the filter of one line of a PNG."""
    if kind in (0, 2):
        return (line + above * (kind == 2)) % 256
    if kind == 1:
        return np.cumsum(line, axis=0) % 256
    done = np.zeros_like(line)
    left = corner = np.zeros(4, dtype=np.int64)
    for x, (raw, up) in enumerate(zip(line, above, strict=True)):
        left = (raw + (_paeth(left, up, corner) if kind == 4 else (left + up) // 2)) % 256
        done[x], corner = left, up
    return done


def _paeth(
    left: npt.NDArray[np.int64], up: npt.NDArray[np.int64], corner: npt.NDArray[np.int64]
) -> npt.NDArray[np.int64]:
    guess = left + up - corner
    near = np.abs(guess - np.stack([left, up, corner])).argmin(axis=0)
    nearest: npt.NDArray[np.int64] = np.choose(near, [left, up, corner])
    return nearest
