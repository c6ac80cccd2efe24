"""The board page asks about the same turn as the command line."""

import json
import re

import numpy as np
import pytest
from playwright.sync_api import Request, expect

from iacta.board import Position
from iacta.board.built_in import classic_board
from iacta.game import Share, Turn, codes
from iacta.game.moment import parse_moment
from iacta.web.map import read_board_text
from iacta.web.turns import describe_setup, read_setup, write_position_file
from tests.cases import choose_seeds
from tests.web.board_page import EXAMPLES, SLOWEST
from tests.web.conftest import Visit

PLAYERS = ("red", "blue", "green", "Ann B", "a:b")
OPTIONS = ("fortify=adjacent", "fortify=none", "win=share:30", "whole=1", "sets=fixed", "")
PHASES = ("attack", "place;place=4", "fortify", "over")


def draw_code(seed: int) -> str:
    """Return the code of a random turn on the classic board, with an order and neutral armies."""
    rng = np.random.default_rng(seed)
    order = [PLAYERS[k] for k in rng.permutation(len(PLAYERS))[: rng.integers(2, 5)]]
    owners = [*order, *(["grey"] if rng.random() < 0.4 else [])]
    held = {
        name: (owners[t % len(owners)], int(rng.integers(1, 9)))
        for t, name in enumerate(rng.permutation(classic_board().territories))
    }
    turn = Turn(Position(classic_board(), order[0], held), players=order)
    phase, option = rng.choice(PHASES), rng.choice(OPTIONS)
    fields = turn.to_code().split(";")
    return ";".join(filter(None, (*fields[:4], phase, *fields[5:], option)))


def test_the_page_reads_every_code_as_the_same_turn() -> None:
    for seed in choose_seeds(range(100)):
        code = draw_code(seed)
        read = read_board_text({"text": code})
        assert read_setup(read["setup"], classic_board()) == Turn.from_code(code), code


def test_the_page_sets_up_a_turn_and_saves_its_file_without_a_code(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("a code was made")

    turn = Turn.from_code(draw_code(1)).with_options(victory=Share("70%"), fortify="none")
    for name in ("write_code", "read_code"):
        monkeypatch.setattr(codes, name, refuse)
    setup = describe_setup(turn)
    assert setup["fields"] == {"fortify": "none", "win": "share:7/10"} | setup["fields"]
    assert read_setup(setup, classic_board()) == turn
    assert parse_moment(write_position_file({"setup": setup})["text"]) == turn


@pytest.mark.parametrize("seed", choose_seeds(range(6), 3))
def test_the_page_asks_about_the_turn_of_a_code(visit: Visit, seed: int) -> None:
    compare_questions(visit, draw_code(seed))


@pytest.mark.parametrize("name", ["asia.toml", "eliminate-blue.json", "break-off.json"])
def test_the_page_asks_about_the_turn_of_an_example(visit: Visit, name: str) -> None:
    compare_questions(visit, (EXAMPLES / name).read_text(encoding="utf-8"))


def compare_questions(visit: Visit, text: str) -> None:
    """Check that the page asks for goals, threats and chances to win of the turn in a text."""
    turn, asked = parse_moment(text), dict[str, dict[str, object]]()
    page = visit("/map#setup")

    def record(request: Request) -> None:
        question = request.url.rpartition("/")[2]
        body = json.loads(request.post_data or "{}")
        for part in body.get("parts", [question] if question == "win" else []):
            asked.setdefault(part, body)

    page.on("request", record)
    page.get_by_text("Deal, open or paste").click()
    page.fill("#pasted", text)
    page.get_by_role("button", name="Use it").click()
    mover = re.compile(f"^{re.escape(turn.player)} moves")
    expect(page.locator("#turn")).to_have_text(mover)
    expect(page.locator("#board-name")).to_have_text(turn.board.name)
    page.get_by_role("button", name="Analyse", exact=True).click()
    page.get_by_role("button", name=re.compile("^Threats")).click()
    wanted = {"threats"} if "" in turn.owners else {"threats", "win"}
    for _ in range(SLOWEST // 200):
        if wanted <= {*asked}:
            break
        page.wait_for_timeout(200)
    assert wanted <= {*asked}
    for question, body in asked.items():
        assert Turn.from_code(str(body["code"]), turn.board) == turn, question
    choices = page.locator("#kind option").all_text_contents()
    opponents = {owner for owner in turn.owners if owner in turn.players} - {turn.player}
    assert {words for words in choices if words.startswith("Eliminate")} == {
        f"Eliminate {owner}" for owner in opponents
    }
