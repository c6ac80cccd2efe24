"""Converts Vega-Lite specifications to images, in this process or in a child process.

Importing vl-convert blocks Python for most of a second, so a child process imports it while iacta
computes the chart. The child process runs this file as a script; therefore this file must not
import iacta.
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
SCALE = 2  # pixel density, for sharp pictures on high-resolution screens
KILLED = "the converter was killed; the picture may need more memory than this machine has"
# Converting a minimal chart initialises the converter, so that the first real chart is fast.
WARM_UP_SPEC = {
    "$schema": "https://vega.github.io/schema/vega-lite/v6.json",
    "data": {"values": [{"x": 1}]},
    "mark": "bar",
    "encoding": {"x": {"field": "x", "type": "quantitative"}},
}


def convert(spec: str, kind: str) -> bytes:
    """Convert a specification to an image, or return the script of HTML pages.

    spec: the Vega-Lite specification as JSON; for `"raster"` and `"page"`, an SVG picture; ignored
        for `"html"`.
    kind: one of `CONVERTED`, or `"raster"` or `"page"` to convert an SVG to PNG or PDF.
    """
    import vl_convert  # slow to import

    if kind == "svg":
        return vl_convert.vegalite_to_svg(spec).encode()
    if kind == "png":
        return vl_convert.vegalite_to_png(spec, scale=SCALE)
    if kind == "pdf":
        return vl_convert.vegalite_to_pdf(spec)
    if kind == "page":
        return vl_convert.svg_to_pdf(spec)
    if kind == "raster":
        return vl_convert.svg_to_png(spec, scale=SCALE)
    return _load_script(vl_convert).encode()


def _load_script(vl_convert: Any) -> str:
    """Return a script with Vega and its dependencies, from a cache file if possible.

    The name of the cache file contains a hash of its content, so a damaged or foreign file is not
    used.
    """
    cache = os.environ.get("XDG_CACHE_HOME") or ""
    cache = cache if os.path.isabs(cache) else os.path.expanduser("~/.cache")
    if not os.path.isabs(cache):  # no home directory
        return str(vl_convert.javascript_bundle())
    folder = Path(cache) / "iacta"
    stem = f"vega-{vl_convert.__version__}"
    with suppress(OSError):
        for file in folder.glob(f"{stem}-*.js"):
            content = file.read_bytes()
            if file.name == f"{stem}-{sha256(content).hexdigest()}.js":
                return content.decode()
    script: str = vl_convert.javascript_bundle()
    with suppress(OSError):  # without a cache, the next call bundles the script again
        folder.mkdir(parents=True, exist_ok=True)
        part = folder / f".{os.urandom(8).hex()}"
        with part.open("xb") as opened:  # fails if the file exists, even as a link
            opened.write(script.encode())
        part.replace(folder / f"{stem}-{sha256(script.encode()).hexdigest()}.js")
    return script


class PictureError(Exception):
    """A picture could not be converted. The message gives the reason on one line."""


class Converter:
    """A child process with vl-convert that converts one picture at a time.

    first: the kind of the first picture, one of `CONVERTED`.

    Ctrl-C does not reach the child process. It ends on `close` or when its parent ends.
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
        """Convert a specification as `convert` does."""
        requests, answers = self._process.stdin, self._process.stdout
        if requests is None or answers is None:
            raise PictureError("the converter has no pipes")
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
        """Kill the child process, even during a conversion."""
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with suppress(OSError):  # closing tries to send buffered data to a dead process
                    pipe.close()


def _handle_request(line: bytes) -> tuple[str, str]:
    """Convert a picture; return it with an empty reason, or an empty picture with a reason."""
    try:
        return b64encode(convert(*json.loads(line))).decode(), ""
    except Exception:
        return "", traceback.format_exc().strip().splitlines()[-1]


if __name__ == "__main__":
    if sys.argv[1] != "html":
        convert(json.dumps(WARM_UP_SPEC), "svg")
    for request in sys.stdin.buffer:
        sys.stdout.buffer.write(json.dumps(_handle_request(request)).encode() + b"\n")
        sys.stdout.buffer.flush()
