"""Turns a Vega-Lite specification into a picture, in this process or in one of its own.

Loading vl-convert takes most of a second, during which Python can do nothing else. A process of its
own loads it while the answer is still being computed. That process runs this very file, which
therefore imports nothing of iacta.
"""

import json
import os
import subprocess
import sys
import traceback
from base64 import b64decode, b64encode
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any

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
    kind: one of `CONVERTED`; or `"raster"` for the PNG of an SVG, given instead of a specification.
    """
    import vl_convert  # slow to import

    if kind == "svg":
        return vl_convert.vegalite_to_svg(spec).encode()
    if kind == "png":
        return vl_convert.vegalite_to_png(spec, scale=SCALE)
    if kind == "pdf":
        return vl_convert.vegalite_to_pdf(spec)
    if kind == "raster":
        return vl_convert.svg_to_png(spec, scale=SCALE)
    return _script(vl_convert).encode()


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

    first: what is drawn first, one of `CONVERTED`.

    It draws one picture after another. Ctrl-C does not reach it. It ends when it is closed, or when
    the process that started it ends.
    """

    def __init__(self, first: str) -> None:
        self._process = subprocess.Popen(  # noqa: S603 # this file
            [sys.executable, "-P", __file__, first],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )

    def __call__(self, spec: str, kind: str) -> bytes:
        """Return a picture, as `convert` does."""
        requests, answers = self._process.stdin, self._process.stdout
        if requests is None or answers is None:
            raise PictureError("its process has no pipes")
        try:
            requests.write(json.dumps([spec, kind]).encode() + b"\n")
            requests.flush()
            line = answers.readline()
        except OSError:
            line = b""
        if not line:
            raise PictureError(KILLED)
        made, complaint = json.loads(line)
        if complaint:
            raise PictureError(complaint)
        return b64decode(made)

    def close(self) -> None:
        """End the process, even while it draws."""
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with suppress(OSError):  # nobody reads what was still to be written
                    pipe.close()


def _answer(line: bytes) -> tuple[str, str]:
    """Return the picture that a line asks for, or why there is none."""
    try:
        return b64encode(convert(*json.loads(line))).decode(), ""
    except Exception:
        return "", traceback.format_exc().strip().splitlines()[-1]


if __name__ == "__main__":
    if sys.argv[1] != "html":
        convert(json.dumps(FIRST), "svg")
    for request in sys.stdin.buffer:
        sys.stdout.buffer.write(json.dumps(_answer(request)).encode() + b"\n")
        sys.stdout.buffer.flush()
