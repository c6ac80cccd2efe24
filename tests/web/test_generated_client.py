"""Clients generated from the API's schema read every answer as its own type."""

import importlib
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from iacta.game import Turn
from iacta.web.map_answers import MAP_ANSWERS
from iacta.web.turns import describe_setup
from tests.cases import for_each
from tests.web.server import Server
from tests.web.test_api import QUESTIONS, questions, values

CODE = "1;classic;red;Peru:red:9,Brazil:blue:2,Argentina:blue:1"
STEP = {"do": "attack", "from": 10, "to": 11, "left": 8, "their_left": 0}
PLACE = "1;classic;red;Peru:red:3,Brazil:blue:1;place;place=2"
ASKED: list[tuple[str, dict[str, Any]]] = [
    ("board/read", {"text": '{"name": "A", "territories": {"A": ["B"], "B": []}}'}),
    ("board/read", {"text": CODE}),
    ("board/read", {"text": PLACE}),
    ("board/labels", {"players": ["red", "Ann"], "goals": ["continent.1.0", "all.0", "none.0"]}),
    ("board/deal", {"players": 3, "territories": 42, "armies": 30}),
    ("position/victory", {"setup": describe_setup(Turn.from_code(CODE))}),
    ("game/deal", {"players": ["red", "blue"], "seats": ["person", "usual"]}),
    ("position/write", {"setup": describe_setup(Turn.from_code(CODE))}),
    ("turn/log", {"code": CODE, "steps": [{"after": 0, **STEP}], "line": [1]}),
    ("turn/step", {"code": CODE, "step": STEP}),
    ("turn/play", {"code": CODE, "ai": "usual"}),
    ("turn/replay", {"code": CODE, "steps": [{"after": 0, **STEP}, {"after": 0, "do": "next"}]}),
    ("turn/replay", {"code": CODE, "steps": [{"after": 0, "do": "advance"}]}),
]
QUESTIONED = [
    *((each.name, values(each)) for each in questions()),
    ("plan", {"position": CODE, "take": "Brazil"}),
    ("steps", {"code": CODE, "steps": [{"after": 0, **STEP}], "take": "Brazil"}),
    ("plan", {"position": CODE, "take": "Brazil, Argentina"}),
    ("plan", {"position": CODE, "take": "Brazil", "hold": True}),
    ("plan", {"position": CODE, "worth": True}),
    ("plan", {"position": CODE, "take": "Peru"}),
    ("plan", {"position": PLACE, "take": "Brazil"}),
]
SETTINGS = {"post_hooks": [], "content_type_overrides": {"image/svg+xml": "text/html"}}


@pytest.fixture(scope="module")
def client(
    server: Server, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[ModuleType, Any]]:
    """Return a generated package and its client for the server."""
    folder = tmp_path_factory.mktemp("generated")
    (folder / "settings.json").write_text(json.dumps(SETTINGS))
    (folder / "openapi.json").write_bytes(server.ask("/openapi.json").body)
    command = [sys.executable, "-m", "openapi_python_client", "generate", "--meta", "none"]
    files = ["--path", "openapi.json", "--config", "settings.json", "--output-path", "made"]
    made = subprocess.run(  # noqa: S603 # a development dependency
        [*command, *files], cwd=folder, capture_output=True, text=True, check=True
    )
    assert "WARNING" not in made.stdout + made.stderr, made.stdout
    sys.path.insert(0, str(folder))
    try:
        package = importlib.import_module("made")
        with package.Client(base_url=server.address, timeout=300) as found:
            yield package, found
    finally:
        sys.path.remove(str(folder))


def call(client: tuple[ModuleType, Any], name: str, body: dict[str, Any] | None = None) -> Any:
    """Return the answer of a generated function, after comparing it with the JSON."""
    package, asked = client
    folder = Path(str(package.__file__)).parent / "api"
    (file,) = folder.glob(f"*/{name}.py")
    module = importlib.import_module(f"made.api.{file.parent.name}.{name}")
    if body is None:
        reply = module.sync_detailed(client=asked)
    else:
        kind: Any = module.sync_detailed.__annotations__["body"]
        kind = kind if isinstance(kind, type) else kind.__args__[0]
        reply = module.sync_detailed(client=asked, body=kind.from_dict(body))
    assert reply.status_code == 200, reply.content
    said = json.loads(reply.content)
    assert reply.parsed is not None
    assert reply.parsed.to_dict() == said
    return reply.parsed


def test_every_question_is_tested() -> None:
    assert {name for name, _ in QUESTIONED} == {*QUESTIONS}


@for_each(("name", "body"), QUESTIONED)
def test_every_question_is_answered_by_its_own_type(
    server: Server, client: tuple[ModuleType, Any], name: str, body: dict[str, Any]
) -> None:
    server.wait()
    found = call(client, f"post_{name}_{name}", body)
    assert type(found).__name__ in [record.__name__ for record in QUESTIONS[name].records()]


@for_each(("path", "body"), ASKED)
def test_every_answer_of_the_map_has_its_own_type(
    server: Server, client: tuple[ModuleType, Any], path: str, body: dict[str, Any]
) -> None:
    server.wait()
    found = call(client, f"post_{path.replace('/', '_')}", body)
    assert type(found).__name__ == MAP_ANSWERS[f"/api/v1/{path}"].__name__


def test_the_classic_board_has_its_type(client: tuple[ModuleType, Any]) -> None:
    board = call(client, "get_board")
    assert len(board.territories) == len(board.scene.badges) == 42
