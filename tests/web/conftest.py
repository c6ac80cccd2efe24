"""A shared server and browser for tests of pages, and checks that apply to every page."""

import asyncio
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeAlias

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, BrowserContext, Page, Route, expect, sync_playwright

from tests.browser import BROWSER
from tests.web.server import Server, start_shared_server

Visit: TypeAlias = Callable[..., Page]
RunScript: TypeAlias = Callable[..., Any]
AXE = Axe()

PATIENCE = 300_000  # milliseconds; pages are slow while many tests run
# Other hosts cannot be reached, and a test checks that no page requests one.
ARGUMENTS = ["--no-sandbox", "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"]


@pytest.fixture(scope="session")
def server() -> Server:
    """Return the server that all tests share, whose answers may take long beside other tests."""
    return start_shared_server("--time-limit", str(PATIENCE // 1000))


@pytest.fixture
def own_server() -> Iterator[Server]:
    """Return a server that a test may stop."""
    found = Server()
    yield found
    found.end()


@pytest.fixture(scope="session")
def address(server: Server) -> str:
    """Return the URL of a server that is ready for long work."""
    server.wait()  # until then, a slow machine would reject long work
    return server.address


class Driver:
    """A browser whose event loop runs in this thread only during tests of pages."""

    def __init__(self) -> None:
        expect.set_options(timeout=PATIENCE)
        self._playwright = sync_playwright().start()
        self._loop = asyncio.get_running_loop()
        with self.driving():
            self.browser: Browser = self._playwright.chromium.launch(
                executable_path=BROWSER, args=ARGUMENTS
            )

    @contextmanager
    def driving(self) -> Iterator[None]:
        """Run the browser's event loop. Outside this context, tests can run their own loops."""
        asyncio._set_running_loop(self._loop)
        try:
            yield
        finally:
            asyncio._set_running_loop(None)

    def close(self) -> None:
        """Close the browser."""
        with self.driving():
            self.browser.close()
            self._playwright.stop()


@pytest.fixture(scope="session")
def driver() -> Iterator[Driver]:
    """Return a browser."""
    if BROWSER is None:
        pytest.skip("needs a browser")
    found = Driver()
    yield found
    found.close()


def play_few_games(route: Route) -> None:
    """Reduce the number of games that the board page requests for the chances to win."""
    asked = json.loads(route.request.post_data or "{}")
    route.continue_(post_data=json.dumps({**asked, "games": 4}))


# In each test, a page rolls dice with the seeds 0, 1, 2 ...
SEEDS = """
  let seed = 0;
  crypto.getRandomValues = array => array.map(() => seed++);
"""


@pytest.fixture
def visit(driver: Driver, address: str) -> Iterator[Visit]:
    """Return a function that opens the page at a path in a new window.

    With `plays_games`, the board plays as many games as for a user. Otherwise it plays four games,
    which are too few to show. Options are those of `Browser.new_context`. If a page contacts
    another host, or violates its own rules or scripts, the test fails.
    """
    contexts: list[BrowserContext] = []
    strangers: list[str] = []
    complaints: list[str] = []

    def look_at(page: Page) -> None:
        page.on("request", lambda request: strangers.append(request.url))
        page.on("pageerror", lambda error: complaints.append(error.stack or str(error)))
        page.on("console", lambda message: complaints.append(message.text))

    def visit(path: str, *, plays_games: bool = False, **options: Any) -> Page:
        context = driver.browser.new_context(**{"reduced_motion": "reduce", **options})
        context.add_init_script(SEEDS)
        if not plays_games:
            context.route("**/api/v1/win", play_few_games)
        context.set_default_timeout(PATIENCE)
        contexts.append(context)
        context.on("page", look_at)
        page = context.new_page()
        page.goto(f"{address}{path}")
        return page

    with driver.driving():
        yield visit
        for context in contexts:
            for page in context.pages:
                page.unroute_all(behavior="ignoreErrors")  # a handler may still wait
            context.unroute_all(behavior="ignoreErrors")
            context.close()
    ours = (f"{address}/", "data:", "blob:")
    assert [each for each in strangers if not each.startswith(ours)] == []
    # Browsers also report a rejected request in their console.
    refusals = ("status of 4", "status of 503")
    assert [each for each in complaints if not any(map(each.__contains__, refusals))] == []


@pytest.fixture(scope="session")
def run_script(driver: Driver, address: str) -> Iterator[RunScript]:
    """Return a function that runs a script with an argument on a page, and returns the result."""
    with driver.driving():
        page = driver.browser.new_page()
        page.goto(f"{address}/about")

    def run(script: str, argument: object = None) -> Any:
        with driver.driving():
            return page.evaluate(script, argument)

    yield run
    with driver.driving():
        page.close()


def barriers(page: Page, *rules: str) -> list[Any]:
    """Return a page's violations of the given axe rules, or of all accessibility rules."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE.axe_script)
    options = {"resultTypes": ["violations"], **({"runOnly": rules} if rules else {})}
    found: list[Any] = page.evaluate(f"axe.run({json.dumps(options)})")["violations"]
    return found


def late(route: Route) -> None:
    """Delay a request."""
    route.request.frame.page.wait_for_timeout(400)
    route.continue_()
