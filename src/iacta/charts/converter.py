"""Turns a Vega-Lite specification into a picture, in this process or in one of its own.

Loading vl-convert takes most of a second, during which Python can do nothing else. A process of its
own loads it while the answer is still being computed. That process runs this very file, which
therefore imports nothing of iacta.
"""

import json
import os
import subprocess
import sys
from base64 import b64decode, b64encode
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any

__all__ = ["CONVERTED", "Converter", "Drawer", "PictureError", "convert", "raster"]

CONVERTED = ("svg", "png", "pdf", "html")
SCALE = 2  # for screens with two pixels where others have one
KILLED = "its process was ended; it may need more memory than there is"
# As small as can be: what takes long is to start, and larger pictures warm up no more than this.
FIRST = {
    "$schema": "https://vega.github.io/schema/vega-lite/v6.json",
    "data": {"values": [{"x": 1}]},
    "mark": "bar",
    "encoding": {"x": {"field": "x", "type": "quantitative"}},
}


def convert(spec: str, kind: str) -> bytes:
    """Return a picture, or the script that draws the charts of a page.

    spec: the Vega-Lite specification as JSON; not used for `"html"`.
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


def raster(svg: bytes) -> bytes:
    """Return an SVG that `convert` made as a PNG."""
    import vl_convert  # slow to import

    return vl_convert.svg_to_png(svg.decode(), scale=SCALE)


def _script(vl_convert: Any) -> str:
    """Return Vega and what belongs to it as one script, from a cache: bundling takes seconds.

    The cached file's name holds its hash, so that no damaged or foreign file is used.
    """
    cache = os.environ.get("XDG_CACHE_HOME") or ""
    cache = cache if os.path.isabs(cache) else os.path.expanduser("~/.cache")
    if not os.path.isabs(cache):  # the user has no home
        return str(vl_convert.javascript_bundle())
    folder = Path(cache) / "iacta"
    stem = f"vega-{vl_convert.__version__}"
    with suppress(OSError):
        for known in folder.glob(f"{stem}-*.js"):
            content = known.read_bytes()
            if known.name == f"{stem}-{sha256(content).hexdigest()}.js":
                return content.decode()
    script: str = vl_convert.javascript_bundle()
    with suppress(OSError):  # then it takes as long the next time
        folder.mkdir(parents=True, exist_ok=True)
        part = folder / f".{os.urandom(8).hex()}"
        with part.open("xb") as opened:  # fails where there is anything, be it a link
            opened.write(script.encode())
        part.replace(folder / f"{stem}-{sha256(script.encode()).hexdigest()}.js")
    return script


class PictureError(Exception):
    """A picture that could not be made, for a reason in one line."""


class Converter:
    """vl-convert in a process of its own, which is ready by the time the chart is.

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
        if self._process.returncode < 0 or not made:
            raise PictureError(KILLED)
        if self._process.returncode:
            raise PictureError(complaint.decode(errors="replace").strip().splitlines()[-1])
        return made

    def close(self) -> None:
        """End the process of a picture that is not drawn after all."""
        _end(self._process)


class Drawer:
    """vl-convert in a process of its own that draws one picture after another.

    Ctrl-C does not reach it. It ends when it is closed, or when the process that started it ends.
    """

    def __init__(self) -> None:
        self._process = subprocess.Popen(  # noqa: S603 # this file
            [sys.executable, "-P", __file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )

    def draw(self, spec: str, has_png: bool) -> tuple[bytes, bytes]:
        """Return a picture as an SVG and, if asked, as a PNG, which is empty otherwise.

        spec: the Vega-Lite specification as JSON.
        has_png: whether a PNG is asked for.
        """
        asked, answered = self._process.stdin, self._process.stdout
        if asked is None or answered is None:
            raise PictureError("its process has no pipes")
        try:
            asked.write(json.dumps([spec, has_png]).encode() + b"\n")
            asked.flush()
            line = answered.readline()
        except OSError:
            line = b""
        if not line:
            raise PictureError(KILLED)
        svg, png = json.loads(line)
        return b64decode(svg), b64decode(png)

    def close(self) -> None:
        """End the process, even while it draws."""
        _end(self._process)


def _end(process: "subprocess.Popen[bytes]") -> None:
    process.kill()
    process.wait()
    for pipe in (process.stdin, process.stdout, process.stderr):
        if pipe is not None:
            with suppress(OSError):  # nobody reads what was still to be written
                pipe.close()


def _draw_all() -> None:
    """Draw what each line of the input asks for."""
    for line in sys.stdin.buffer:
        spec, has_png = json.loads(line)
        svg = convert(spec, "svg")
        made = svg, raster(svg) if has_png else b""
        sys.stdout.buffer.write(json.dumps([b64encode(each).decode() for each in made]).encode())
        sys.stdout.buffer.write(b"\n")
        sys.stdout.buffer.flush()


def _draw_one(kind: str) -> None:
    """Load vl-convert, then read a specification and write its picture."""
    if kind != "html":
        convert(json.dumps(FIRST), "svg")
    sys.stdout.buffer.write(convert(sys.stdin.buffer.read().decode(), kind))


if __name__ == "__main__":
    _draw_one(sys.argv[1]) if sys.argv[1:] else _draw_all()
