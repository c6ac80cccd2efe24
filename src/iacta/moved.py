"""Files that had other names before: importing them so works in this version, with a warning."""

import warnings
from collections.abc import Callable, Sequence
from importlib import import_module
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from importlib.abc import Loader  # slow to import

__all__ = ["MOVED", "Moved", "names_of"]

MOVED = {
    "iacta.answers": "iacta.questions",
    **{
        f"iacta.questions.{name}": f"iacta.odds.{name}"
        for name in ("arrays", "decisions", "needed", "search", "simulated", "spread")
    },
    **{
        f"iacta.questions.audit_{name}": f"iacta.fairness.{name}"
        for name in ("log", "luck", "recording", "trials")
    },
    "iacta.questions.audit_evidence": "iacta.fairness.e_values",
    "iacta.questions.audit_fair": "iacta.fairness.p_values",
}


class Moved:
    """Finds under its old name a file that has another one now."""

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        return ModuleSpec(name, cast("Loader", self)) if _new_name(name) else None

    def create_module(self, spec: ModuleSpec) -> None:
        """Leave it to Python to make the module."""

    def exec_module(self, module: ModuleType) -> None:
        new = _new_name(module.__name__)
        _warn(module.__name__, new)
        names = {key: each for key, each in vars(import_module(new)).items() if key[:2] != "__"}
        vars(module).update(names, __path__=[])


def names_of(new: str) -> Callable[[str], Any]:
    """Return the `__getattr__` of a file whose public names are now in another one."""

    def find(name: str) -> Any:
        if name not in import_module(new).__all__:
            raise AttributeError(name)
        _warn(name, f"{new}.{name}")
        return getattr(import_module(new), name)

    return find


def _new_name(old: str) -> str:
    """Return what a file is called now, nothing if it never had the old name."""
    package, _, rest = old.partition("iacta.answers.")
    return MOVED.get(old) or (f"iacta.questions.{rest}" if rest and not package else "")


def _warn(old: str, new: str) -> None:
    warnings.warn(f"{old} is now {new}", DeprecationWarning, stacklevel=3)
