"""What all tests share: random tests that draw the same on every machine, however slow."""

import gc
import signal
from collections.abc import Iterator

import pytest
from hypothesis import settings

from tests.compiled import HAS_CORE, skip

settings.register_profile("iacta", deadline=None, derandomize=True)
settings.load_profile("iacta")

# A shell has Ctrl-C ignored in what it runs in the background, and commands inherit that.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Tests of plans and whole games, doctests too, are skipped where nothing has compiled the core.
if not HAS_CORE:
    pytest.MonkeyPatch().setattr("iacta.native.core_library.find_library", skip)


# These need a browser, a server or pictures, or plan much; or they run every command of the pages.
SLOW = ("web", "core", "plan", "charts", "literature", "batch")
FIRST = {"web": 0, "test_docs.py": 1, "test_frozen.py": 2}
SLOW_FILES = ("test_docs.py", "test_notebooks.py", "test_fuzz.py", "test_readme.py")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what `make test-fast` leaves out, besides tests that are marked themselves.

    The longest tests begin, so that no processor waits for another one in the end. The tests of the
    pages and of the recorded answers share plans, so the same process runs both.
    """
    items.sort(key=lambda item: min(FIRST.get(part, len(FIRST)) for part in item.path.parts))
    for item in items:
        parts = item.path.relative_to(item.config.rootpath).parts
        is_plan = parts[-1] == "test_frozen.py" and "plan" in item.name
        if parts[0] in ("README.md", "docs") or parts[1] in SLOW + SLOW_FILES or is_plan:
            item.add_marker(pytest.mark.slow)


def pytest_collection_finish() -> None:
    """Spare the collector of garbage from looking through thousands of tests again and again."""
    gc.freeze()


@pytest.fixture(scope="session")
def core() -> None:
    """Skip a test that looks at the compiled core itself."""
    if not HAS_CORE:
        skip()


@pytest.fixture(autouse=True, scope="session")
def _no_word_of_waiting() -> Iterator[None]:
    """Let no test depend on how long a command takes here."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("iacta.cli.terminal.SILENT_DELAY", 1e6)
        yield


@pytest.fixture(autouse=True, scope="session")
def _no_usual_rules() -> Iterator[None]:
    """Keep the usual rules of who runs the tests out of them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("IACTA_RULES", raising=False)
        yield
