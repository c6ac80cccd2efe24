"""The library that Python loads is built from the source beside it."""

import ctypes
import hashlib
from pathlib import Path

SOURCE = Path(__file__).parents[2] / "src"


def test_the_core_knows_from_which_source_it_was_built() -> None:
    (built,) = (SOURCE / "iacta" / "plan" / "native").glob("core.*[!6]")
    core = ctypes.CDLL(str(built))
    core.iacta_source.restype = ctypes.c_char_p
    files = sorted((SOURCE / "core").iterdir())
    content = b"".join(file.name.encode() + file.read_bytes() for file in files)
    assert core.iacta_source().decode() == hashlib.sha256(content).hexdigest()[:16]
