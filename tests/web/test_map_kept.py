"""Games on the board page are never lost: the address, Your games, files, and several tabs."""

import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

from playwright.sync_api import Page, expect

from iacta import deal
from iacta.board.built_in import classic_board
from iacta.game.step_text import format_step_text
from iacta.war.game import Game
from tests.web.board_page import (
    TINY,
    attack,
    downloaded,
    dropped,
    link,
    open_more,
    reopen,
    says,
    spot,
)
from tests.web.conftest import Visit, barriers
from tests.web.test_map_game import make_long_game, press, tap

NAMES = ["red", "blue", "green", "yellow", "purple", "orange"]


MAX_LOOKS = 20_000  # the number of times that a test looks at the turn on the page


class Recorded(NamedTuple):
    """A game of six players: its steps as texts, and the codes of its turns before and after."""

    fragment: str  # the link to the start, without steps
    texts: list[str]
    codes: list[str]


@cache
def record_game(seed: int = 0) -> Recorded:
    """Return a game of more than 40 turns with cards, as six persons play it.

    seed: the seed of the dice; all games begin with the same turn.
    """
    start = deal(classic_board(), NAMES, seed=0)
    game = Game(start, dict.fromkeys(NAMES, "simple"), seed=seed).play()
    own = ".".join(
        f"{'abcdef'[NAMES.index(owner)]}{count}"
        for owner, count in zip(start.owners, start.armies, strict=True)
    )
    players = "&".join(f"p={name}" for name in NAMES)
    seats = ".".join(["person"] * 6)
    return Recorded(
        f"v=3&{players}&h={own}&f={start.place}&c=cards%3D&y={seats}&go=1",
        [format_step_text(step.step, start.board, NAMES) for step in game.steps],
        [
            start.to_code(),
            *(step.after.seen_by(step.after.player).to_code() for step in game.steps),
        ],
    )


def shows_turn(page: Page, code: str) -> None:
    """Wait until a page shows a turn."""
    expect(page.locator("#now")).not_to_be_empty()
    for _ in range(MAX_LOOKS):
        found = page.evaluate("localStorage.getItem('iacta-turn')")
        if found == code:
            return
    assert found == code


def write_steps(texts: list[str]) -> str:
    """Return steps as in a link without check letters."""
    return ".".join(f"{k}{text}" for k, text in enumerate(texts))


def test_a_game_of_more_than_40_turns_is_resumed_at_ten_points(visit: Visit) -> None:
    fragment, texts, codes = record_game()
    assert texts.count("n") > 40
    page = visit("/map")
    steps = f"&x={write_steps(texts)}".replace("v=3&", "")
    whole = f"{fragment.replace('v=3&', '')}{steps}"
    points = [len(texts) * k // 10 for k in range(10)]
    assert any(re.search(r"cards=[^;]*\d\.\d", codes[k]) for k in points)  # hands are resumed too
    for at in points:
        reopen(page, f"/map#{whole}&i={at}")
        shows_turn(page, codes[at])
        expect(page.locator("#wrong")).to_be_empty()


def make_move(page: Page) -> None:
    """Place the new armies of red on A in the long game."""
    spot(page, "A").click(click_count=3)
    tap(page, "Confirm")
    expect(page.locator("#attack-help")).to_be_visible()


def test_a_long_address_is_compressed_and_a_longer_game_is_kept_by_the_browser(
    visit: Visit,
) -> None:
    page = visit(make_long_game(101, seats="person.simple"))
    expect(page.locator("#placing-said")).to_be_visible()
    make_move(page)
    # The address has the present turn until the steps are compressed.
    whole = page.wait_for_function("location.hash.includes('&d=') && location.hash").json_value()
    assert len(whole) < 2_000
    expect(page.locator("#holder")).to_have_text(
        "The address has the whole game. Your games in this browser has it too."
    )
    page.reload()
    says(page, "A", "red, 156")
    expect(page.locator("#attack-help")).to_be_visible()
    # A damaged link keeps its first steps.
    cut = whole.partition("&e=1")[0][:-40]
    reopen(page, f"/map{cut}")
    expect(page.locator("#wrong")).to_contain_text("missing")


def record_tree() -> Recorded:
    """Return four games from the same start, in one tree of steps that is too long for a link."""
    steps, codes = list[str](), list[str]()
    for seed in range(4):
        offset, game = len(steps), record_game(seed)
        steps += [f"{k + offset if k else 0}{text}" for k, text in enumerate(game.texts)]
        codes += game.codes[1:] if codes else game.codes
    return Recorded(record_game().fragment.replace("v=3&", ""), steps, codes)


def read_saved(page: Page) -> str:
    """Return the whole state of the game on a page: its file, without the id of the game."""
    return re.sub("&j=[^&]*", "", downloaded(page, "Save the game"))


def test_a_game_that_is_too_long_for_an_address_is_closed_and_resumed_at_ten_points(
    visit: Visit,
) -> None:
    fragment, steps, codes = record_tree()
    page = visit("/map")
    site = page.url.partition("/map")[0]
    points = [len(steps) * k // 10 for k in range(1, 11)]
    for at in points:
        whole = f"{fragment}&x={'.'.join(steps)}&i={at}"
        page.evaluate("whole => { location.hash = whole }", whole)  # keeps the loaded turns
        page.wait_for_url(re.compile("&code="))
        shows_turn(page, codes[at])
        address, saved = page.url, read_saved(page)
        assert len(address.partition("#")[2]) <= 8_000
        assert f"&n={len(steps)}&" in saved
        assert f"&i={at}&" in saved
        context = page.context
        page.close()
        page = context.new_page()
        page.goto(address)
        shows_turn(page, codes[at])
        assert read_saved(page) == saved
        expect(page.locator("#wrong")).to_be_empty()
    # From Your games.
    page.goto("about:blank")
    page.goto(f"{site}/map#new")
    expect(page.locator("#placing-said")).to_be_visible()
    open_more(page)
    page.get_by_text("Your games", exact=True).click()
    page.get_by_role("button", name="Continue").first.click()
    shows_turn(page, codes[points[-1]])
    assert read_saved(page) == saved
    # From the file, in a browser without the game.
    page.evaluate("localStorage.clear()")
    reopen(page, "/map")
    dropped(page, saved, "risk-game.txt")
    shows_turn(page, codes[points[-1]])
    assert read_saved(page) == saved


def test_a_game_that_is_too_long_for_an_address_goes_on_after_a_reload(visit: Visit) -> None:
    _, texts, codes = record_game()
    size = len(texts)
    fragment, all_steps, _ = record_tree()
    page = visit("/about")
    whole = f"{fragment}&x={'.'.join(all_steps)}&i={size - 3}"
    reopen_from = page.url.partition("/about")[0]
    page.goto(f"{reopen_from}/map#{whole}")
    shows_turn(page, codes[size - 3])
    page.get_by_role("button", name="Step back").click()
    page.wait_for_url(re.compile("&code="))
    shows_turn(page, codes[size - 4])
    assert len(page.url.partition("#")[2]) < 8_000
    expect(page.locator("#holder")).to_have_text(
        "The game is too long for an address, which has only the present turn. "
        "Your games in this browser has the whole game."
    )
    page.reload()
    shows_turn(page, codes[size - 4])
    page.get_by_role("button", name="Step forward").click()
    shows_turn(page, codes[size - 3])
    # Another browser gets the present turn.
    address = page.url
    page.evaluate("localStorage.clear()")
    reopen(page, f"/map{address.partition('/map')[2]}")
    expect(page.locator("#wrong")).to_contain_text("The address has only the present turn")
    shows_turn(page, codes[size - 3])


def test_games_continue_from_the_list_and_from_a_file(visit: Visit, tmp_path: Path) -> None:
    page = visit(make_long_game(11, seats="person.simple"))
    expect(page.locator("#placing-said")).to_be_visible()
    make_move(page)
    text = downloaded(page, "Save the game")
    open_more(page)
    page.get_by_role("button", name="New game").click()
    expect(page.locator("#placing-said")).to_contain_text("new armies")
    open_more(page)
    page.get_by_text("Your games", exact=True).click()
    rows = page.locator("#games-list li")
    expect(rows).to_have_count(2)
    expect(rows.nth(0)).to_contain_text("on the page")
    assert barriers(page) == []
    expect(rows.nth(1)).to_contain_text("Round 7: red moves. red (you), blue (easy); tiny")
    rows.nth(1).get_by_role("button", name="Continue").click()
    says(page, "A", "red, 21")
    expect(page.locator("#attack-help")).to_be_visible()
    expect(rows.nth(0)).to_contain_text("Round 7: red moves.")
    expect(rows.nth(0)).to_contain_text("on the page")
    open_more(page)
    rows.nth(1).get_by_role("button", name="Remove").click()
    expect(rows).to_have_count(1)
    page.evaluate("localStorage.clear()")
    reopen(page, "/map")
    dropped(page, text, "risk-game.txt")
    says(page, "A", "red, 21")
    expect(page.locator("#attack-help")).to_be_visible()


def test_two_tabs_of_one_game_keep_both_games(visit: Visit) -> None:
    page = visit(link(TINY, "p=red&p=blue&h=a9.b3.b2.b1&f=2&y=person.simple&go=1"))
    spot(page, "A").click(click_count=2)
    tap(page, "Confirm")
    expect(page.locator("#attack-help")).to_be_visible()
    other = page.context.new_page()
    other.goto(page.evaluate("location.href"))
    other.get_by_role("button", name="Stop attacking").click()
    expect(other.locator("#now h3")).to_contain_text("blue plays")
    expect(other.locator("#now .primary")).to_be_enabled()
    spot(page, "A").click()
    spot(page, "B").click()
    tap(page, "Roll once")
    expect(page.locator("#rolled p")).to_be_visible()
    expect(page.locator("#holder")).to_contain_text("Your games has both.")
    open_more(page)
    page.get_by_text("Your games", exact=True).click()
    expect(page.locator("#games-list li")).to_have_count(2)
    says(other, "B", "blue, 3")
    # A take-back replaces the game; the browser's way back does not.
    page.get_by_role("button", name="Undo").click()
    expect(page.locator("#rolled p")).to_have_count(0)
    expect(page.locator("#games-list li")).to_have_count(2)
    tap(page, "Stop attacking")
    expect(page.locator("#now .primary")).to_be_enabled()
    page.go_back()
    expect(page.locator("#holder")).to_contain_text("Your games has a later state of this game.")
    attack(page, "A", "B")
    press(page, "Roll once")
    expect(page.locator("#games-list li")).to_have_count(3)


def test_a_browser_that_stores_nothing_keeps_the_whole_game_in_the_address(visit: Visit) -> None:
    page = visit("/about")
    page.add_init_script("Storage.prototype.setItem = () => { throw new Error('full'); }")
    page.goto(page.url.partition("/about")[0] + make_long_game(101, seats="person.simple"))
    expect(page.locator("#placing-said")).to_be_visible()
    make_move(page)
    page.wait_for_url(re.compile("&d="))
    expect(page.locator("#holder")).to_have_text(
        "The address has the whole game. This browser does not keep games: save the game as a file."
    )
    page.reload()
    says(page, "A", "red, 156")
