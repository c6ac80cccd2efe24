"""An iacta that was installed without the compiled core."""

import sys
from collections.abc import Callable

import iacta.plan
from iacta.plan.core import find_core


def hide_core(put: Callable[[object, str, object], None]) -> None:
    """Let no module of plans find the core.

    put: sets an attribute, such as `setattr`.
    """
    for name, module in [*sys.modules.items()]:
        if name.startswith(iacta.plan.__name__) and getattr(module, "find_core", None) is find_core:
            put(module, "find_core", lambda: None)
