"""Skips tests of the compiled core if the core has not been compiled."""

from pathlib import Path
from typing import NoReturn

import pytest

import iacta

NATIVE = Path(iacta.__file__).parent / "native" / "library"
HAS_CORE = any(each.suffix in (".so", ".dylib", ".dll") for each in NATIVE.glob("core.*"))
NEEDS_CORE = "needs the compiled core, which `make core` builds where there is a C++ compiler"


def skip(*_: object, **__: object) -> NoReturn:
    """Skip the test instead of loading the core."""
    pytest.skip(NEEDS_CORE, allow_module_level=True)
