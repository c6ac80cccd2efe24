"""Turns a Vega-Lite specification into a picture, here or in a process of its own.

Loading vl-convert takes most of a second and holds Python up meanwhile. As a process of its own it
loads while the answer is still being computed; that process runs this very file, which therefore
imports nothing of iacta.
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

__all__ = ["CONVERTED", "Converter", "convert"]

CONVERTED = ("svg", "png", "pdf", "html")
SCALE = 2  # for screens with two pixels where others have one
EMPTY = {"$schema": "https://vega.github.io/schema/vega-lite/v6.json", "mark": "rect"}


def convert(spec: str, kind: str) -> bytes:
    """Return a picture; of a page, the script that draws it.

    spec: the Vega-Lite specification, as JSON; of no matter for `"html"`.
    kind: one of `CONVERTED`.
    """
    import vl_convert  # slow to import

    if kind == "svg":
        return vl_convert.vegalite_to_svg(spec).encode()
    if kind == "png":
        return vl_convert.vegalite_to_png(spec, scale=SCALE)
    if kind == "pdf":
        return vl_convert.vegalite_to_pdf(spec)
    return _script(vl_convert).encode()


def _script(vl_convert: Any) -> str:
    """Return Vega and its kin as one script; to bundle them takes seconds, so it is remembered."""
    folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "iacta"
    known = folder / f"vega-{vl_convert.__version__}.js"
    try:
        return known.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        script: str = vl_convert.javascript_bundle()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        part = known.with_suffix(f".{os.getpid()}")
        part.write_text(script, encoding="utf-8")
        part.replace(known)
    except OSError:
        pass  # then the next time takes as long
    return script


class Converter:
    """vl-convert in a process of its own, which is ready when the chart is.

    kind: one of `CONVERTED`.
    """

    def __init__(self, kind: str) -> None:
        self._process = subprocess.Popen(  # noqa: S603 # this file
            [sys.executable, "-P", __file__, kind],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    def __call__(self, spec: str, kind: str) -> bytes:
        """Return a picture, as `convert` does."""
        made, complaint = self._process.communicate(spec.encode())
        if self._process.returncode:
            lines = complaint.decode(errors="replace").strip().splitlines()
            raise OSError(0, lines[-1] if lines else f"no {kind} was made")
        return made


def _serve(kind: str) -> None:
    """Get ready, read a specification, and write its picture."""
    if kind != "html":
        convert(json.dumps(EMPTY), "svg")
    sys.stdout.buffer.write(convert(sys.stdin.buffer.read().decode(), kind))


if __name__ == "__main__":
    _serve(sys.argv[1])
