"""Configuration of all tests. Random tests draw the same examples on every machine."""

import gc
import signal
from collections.abc import Iterator

import pytest
from hypothesis import settings

from tests.compiled import HAS_CORE, skip

settings.register_profile("iacta", deadline=None, derandomize=True)
settings.load_profile("iacta")

# Shells make background jobs ignore Ctrl-C, and child processes inherit this setting.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Without the compiled core, tests and doctests of plans and whole games are skipped.
if not HAS_CORE:
    pytest.MonkeyPatch().setattr("iacta.native.core_library.find_library", skip)


# These tests need a browser, a server, pictures or long plans, or run every command on the pages.
SLOW = ("web", "core", "plan", "charts", "literature", "batch")
FIRST = {"web": 0, "test_docs.py": 1, "test_frozen.py": 2}
SLOW_FILES = ("test_docs.py", "test_notebooks.py", "test_fuzz.py", "test_readme.py")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark slow tests, which `make test-fast` skips, and sort the tests.

    The longest tests run first, which keeps all processors busy until the end. Tests of pages and
    of recorded answers share plans, so they run in the same process.
    """
    items.sort(key=lambda item: min(FIRST.get(part, len(FIRST)) for part in item.path.parts))
    for item in items:
        parts = item.path.relative_to(item.config.rootpath).parts
        is_plan = parts[-1] == "test_frozen.py" and "plan" in item.name
        if parts[0] in ("README.md", "docs") or parts[1] in SLOW + SLOW_FILES or is_plan:
            item.add_marker(pytest.mark.slow)


def pytest_collection_finish() -> None:
    """Exclude the collected tests from garbage collection to save time."""
    gc.freeze()


@pytest.fixture(scope="session")
def core() -> None:
    """Skip a test of the compiled core if the core is not compiled."""
    if not HAS_CORE:
        skip()


@pytest.fixture(autouse=True, scope="session")
def _no_word_of_waiting() -> Iterator[None]:
    """Turn off messages about waiting, which depend on the speed of the machine."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("iacta.cli.terminal.SILENT_DELAY", 1e6)
        yield


@pytest.fixture(autouse=True, scope="session")
def _no_usual_rules() -> Iterator[None]:
    """Remove the developer's default rules from the environment."""
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("IACTA_RULES", raising=False)
        yield
