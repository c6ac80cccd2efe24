"""Links of the board page: the URL contains the whole state."""

import re
from typing import Any

from playwright.sync_api import expect

from iacta.board.files import read_board
from iacta.game.step_text import parse_step_text
from iacta.web.labels import describe_goal
from tests.tables import table
from tests.web.board_page import SLOWEST, TINY, TINY_LINK, open_more, play, reopen, says, spot
from tests.web.conftest import RunScript, Visit


def test_the_link_is_that_of_the_page_however_fast_it_changes(visit: Visit) -> None:
    page = visit(TINY_LINK, permissions=["clipboard-read", "clipboard-write"])
    spot(page, "A").focus()
    page.keyboard.type("+" * 150)
    says(page, "A", "red, 159")
    open_more(page)
    page.get_by_text("Share it").click()
    page.get_by_role("button", name="Copy the link").click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    copied = page.evaluate("navigator.clipboard.readText()")
    says(visit(copied.partition("/map")[1] + copied.partition("/map")[2]), "A", "red, 159")


def test_a_comment_is_in_the_link(visit: Visit) -> None:
    page = visit(f"{TINY_LINK}&go=1&x=0a0-1-8-0&i=1")
    page.once("dialog", lambda dialog: dialog.accept("too & risky"))
    open_more(page)
    page.get_by_role("button", name="Comment").click()
    expect(page.locator("#steps .note")).to_have_text("too & risky")
    page.reload()
    expect(page.locator("#steps .note")).to_have_text("too & risky")


def test_the_back_button_and_reload_keep_the_state(visit: Visit) -> None:
    page = visit(f"{TINY_LINK}&go=1")
    page.get_by_role("button", name="Goal: Take East").click()
    page.get_by_label("Goal", exact=True).select_option("any.0")
    pick = page.locator("#pick")
    expect(pick).to_have_text("Done")
    expect(pick).to_have_attribute("aria-pressed", "true")
    spot(page, "D").click()
    says(page, "D", "blue, 1, goal")
    page.keyboard.press("ArrowLeft")
    says(page, "B", "blue, 1")
    page.keyboard.press("Enter")
    says(page, "B", "blue, 1, goal")
    page.get_by_role("button", name="Set up", exact=True).click()
    page.get_by_label("Rules").select_option("capital")
    page.reload()
    says(page, "D", "blue, 1, goal")
    assert page.get_by_label("Rules").input_value() == "capital"
    play(page)
    page.go_back()
    expect(page.locator("#play")).to_be_hidden()
    page.go_forward()
    expect(page.locator("#figure")).not_to_be_empty(timeout=SLOWEST)


def test_large_numbers_of_armies_are_kept_or_refused_but_never_reduced(visit: Visit) -> None:
    page = visit(f"{TINY_LINK}&f=5000")
    fresh = page.get_by_label("New armies")
    expect(fresh).to_have_value("5000")
    fresh.fill("6000")
    page.keyboard.press("Tab")
    page.reload()
    expect(fresh).to_have_value("6000")
    spot(page, "A").click()
    for label, most in (("New armies", 10**6), ("Armies on A", 10**9)):
        page.get_by_label(label, exact=True).fill("2000000000")
        page.keyboard.press("Tab")
        expect(page.get_by_text(f"There may be at most {most} armies here.")).to_be_visible()
        assert "2000000000" not in page.url
    page = visit(f"{TINY_LINK.replace('a9', 'a2000000000')}&go=1")
    says(page, "A", "red, 2000000000")
    expect(page.get_by_text("to 1000000000, got 2000000000")).to_be_visible()


def test_an_unreadable_link_shows_a_message_and_no_position(visit: Visit) -> None:
    page, position = visit("/map"), "Cannot read the position in the address"
    for broken, sentence in (
        ("p=red&h=a1&g=all&go=1&x=0a0-1-8-0&i=1", position),
        ("v=2&n=1&p=red&h=a1&g=all&go=1&i=1&x=0a0-1-8-0p&e=1", position),
        ("%%%", position),
        ("x=1&s=broken", position),
        ("b=zzz&p=red&h=a1", "Cannot read the board in the address"),
    ):
        reopen(page, f"/map#{broken}")
        expect(page.get_by_text(sentence)).to_be_visible()
        says(page, "Alaska", "nobody")
        assert page.locator(".badge.empty").count() == 42


def test_a_cut_link_shows_the_steps_before_the_cut(visit: Visit) -> None:
    page = visit(TINY_LINK)
    old = "Cannot read all steps of the link; the end of the link may be missing."
    for version, steps, sentence, count in (
        ("v=2&n=3&", "i=2&x=0a0-1-8-0p.1m", "2 steps are missing at the end of the link.", 1),
        ("v=2&n=3&", "i=2&x=0a0-1-8-0p.1m7f.2", "One step is missing at the end of the link.", 2),
        ("v=2&n=3&", "x=0a0-1-8-0q.1m7f.2sb&e=1", "3 steps are missing: the link is damaged.", 0),
        ("v=2&n=3&", "i=1&x=0a0-1-8-0p.1m7f.2sb&z=1-a%20co", "The end of the link is missing.", 3),
        ("", "x=0q1&i=7", old, 0),
        ("", "i=2&x=0a0-1-8-0", old, 1),
    ):
        reopen(page, f"{TINY_LINK.replace('#', f'#{version}')}&go=1&{steps}")
        expect(page.locator("#wrong")).to_have_text(sentence)
        expect(page.locator("#steps li")).to_have_count(count + 1 if count else 0)


CUT_EVERYWHERE = """async ([board, fragment]) => {
  const { readLink, writeLink } = await import("/static/map_link.js");
  const look = { names: ["red", "blue"], steps: 500 };
  const { state } = readLink(fragment, board, look);
  const link = writeLink(state);
  const last = link.indexOf("&e=") + "&e".length;
  const cuts = [];
  for (let size = 1; size <= link.length; size++) {
    const { state: read, problem } = readLink(link.slice(0, size), board, look);
    const isPrefix = read.steps.every(({ note, ...step }, k) => {
      const { note: whole = "", ...expected } = state.steps[k];
      return JSON.stringify(step) === JSON.stringify(expected) && whole.startsWith(note ?? "");
    });
    cuts.push({ steps: read.steps.length, problem, isPrefix, isCut: size < last });
  }
  return cuts;
}"""
BOARD = {**TINY, "territories": ["A", "B", "C", "D"], "continents": []}


def test_a_link_that_is_cut_anywhere_says_how_many_steps_are_missing(run_script: RunScript) -> None:
    steps = "x=0a0-1-8-0.1m7.2a1-2-6-0-3-1.3m12.2g4.5p0-1-1-3.0s.7f0-1-5.8c2-0-0-3-2-5"
    fragment = f"p=red&p=blue&h=a19.b1.b2.b1&go=1&i=9&{steps}&z=2-a%20comment&z=9-%E2%82%AC5"
    cuts = run_script(CUT_EVERYWHERE, [BOARD, fragment])
    assert [cut["steps"] for cut in cuts] == sorted(cut["steps"] for cut in cuts)
    assert {cut["steps"] for cut in cuts} == set(range(10))
    assert all(cut["isPrefix"] for cut in cuts)
    for cut in cuts:
        missing = 9 - cut["steps"]
        if not cut["isCut"]:
            assert cut["problem"] == ""
        elif cut["problem"].endswith(" missing at the end of the link."):
            assert cut["problem"].startswith("One " if missing == 1 else f"{missing} ")
        elif cut["problem"] == "The end of the link is missing.":
            assert missing == 0
        else:  # the cut is before the end of the position
            assert cut["problem"].startswith("Cannot read the position")
            assert cut["steps"] == 0


READ_ALL = """async ([board, fragments]) => {
  const { readLink, writeLink } = await import("/static/map_link.js");
  const look = { names: ["red", "blue"], steps: 500 };
  return fragments.map((fragment) => {
    const read = readLink(fragment, board, look);
    return [read, readLink(writeLink(read.state), board, look)];
  });
}"""


def test_links_without_a_version_stay_readable(run_script: RunScript) -> None:
    _, rows = table(__file__, "old_links")
    assert len(rows) >= 30
    board = {**BOARD, "continents": [{"name": "East", "bonus": 2, "territories": [2, 3]}]}
    read = run_script(READ_ALL, [board, [fragment for fragment, _ in rows]])
    for (fragment, expected), (old, new) in zip(rows, read, strict=True):
        assert new == old
        assert old["problem"] == "", fragment
        state, players = old["state"], old["state"]["players"]
        goal = ".".join(re.sub(r"^o(\d+-\d+)-0", r"\1", state.pop("goal")).split("-"))
        for step in state["steps"]:
            step |= parse_step_text(step.pop("text"), players)
        whole = {**DEFAULTS, **expected}
        parameters = make_parameters({key: whole.pop(key) for key in GOAL}, players)
        found = describe_goal(goal, read_board(TINY), players)["parameters"] if goal else None
        assert (state, found) == (whole, parameters), fragment


GOAL = ("goal", "continent", "victim", "targets", "hold")


def make_parameters(goal: dict[str, Any], players: list[str]) -> dict[str, Any] | None:
    """Return a goal, as links of version 1 describe it, as parameters of `plan`."""
    names = ", ".join("ABCD"[t] for t in goal["targets"])
    hold = {"hold": True} if goal["hold"] else {}
    known: dict[str, dict[str, Any]] = {
        "continent": {"take": "East"},
        "all": {"take": names},
        "any": {"take_any": names},
        "eliminate": {"eliminate": players[goal["victim"]]},
        "worth": {"worth": True},
    }
    return known[goal["goal"]] | hold if goal["goal"] in known else None


# The state of a link that contains only two players and a position.
DEFAULTS = {
    "code": "",
    "players": ["red", "blue"],
    "mover": 0,
    "rules": "classic",
    "goal": "",
    "continent": 0,
    "victim": 1,
    "targets": [],
    "hold": False,
    "keep": {},
    "neutral": [],
    "stay": [],
    "fresh": 0,
    "fields": {},
    "played": False,
    "steps": [],
    "seats": [],
    "asked": 0,
    "rounds": 0,
    "hasOwnDice": False,
    "draft": None,
    "id": "",
    "limit": 0,
    "counted": None,
    "at": 0,
}


def test_a_link_of_a_newer_version_is_named(visit: Visit) -> None:
    page = visit(TINY_LINK.replace("#", "#v=4&"))
    expect(page.locator("#wrong")).to_contain_text("from a newer version of iacta")


def test_links_with_the_wish_to_win_the_game_open_without_a_goal(run_script: RunScript) -> None:
    fragments = [
        "p=red&p=blue&h=a9.b1.b2.b1&g=win&go=1&i=5&x=0a0-1-8-0.1m7.2s.3s.4n&q=0.1.0.0",
        "p=red&p=blue&h=a9.b1.b2.b1&g=win&go=1",
    ]
    for (old, new), goal in zip(
        run_script(READ_ALL, [BOARD, fragments]), ("o1-0-0-0", ""), strict=True
    ):
        assert new == old
        assert old["problem"] == ""
        assert old["state"]["goal"] == goal
        assert not [step for step in old["state"]["steps"] if step["text"][0] == "o"]


def test_a_code_keeps_its_victory_condition(visit: Visit) -> None:
    page = visit(TINY_LINK)
    page.get_by_text("Deal, open or paste").click()
    code = (
        "1;classic;red;Peru:red:9,Brazil:blue:1,Argentina:blue:1;attack;win=share:2"  # blue has won
    )
    page.fill("#pasted", code)
    page.get_by_role("button", name="Use it").click()
    expect(page.locator("#board-name")).to_have_text("classic")
    page.get_by_role("button", name="Analyse", exact=True).click()
    words = "The first player who owns 2 of the 42 territories wins."
    expect(page.locator("#condition")).to_contain_text(f"{words} So far: ")
    assert "&c=win%3Dshare%3A2&" in page.url
    page.reload()
    expect(page.locator("#condition")).to_contain_text("has won: they own 2 of the 42 territories.")
    page.get_by_role("button", name="Set up", exact=True).click()
    page.get_by_label("Won by").select_option("survivor")
    page.get_by_role("button", name="Analyse", exact=True).click()
    expect(page.locator("#now button").first).to_be_visible()
    expect(page.locator("#condition")).to_have_count(0)
    assert "&c=" not in page.url
