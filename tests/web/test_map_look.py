"""The look of the board page: the shares of a window, the number of controls, and the texts."""

from collections.abc import Callable
from typing import TypeAlias

import pytest
from playwright.sync_api import Page, expect

from tests.web.board_page import SLOWEST, TINY, TINY_LINK, attack, fought, link, open_more
from tests.web.conftest import Visit
from tools.docs.photograph import write_game

Open: TypeAlias = Callable[[Visit, dict[str, int]], Page]

LAPTOP = {"width": 1440, "height": 900}
PHONE = {"width": 390, "height": 844}
PROJECTOR = {"width": 1920, "height": 1080}
LONG = {
    **TINY,
    "territories": {
        "Northwest Territory": ["Constantinople"],
        "Constantinople": ["C", "D"],
        "C": [],
        "D": [],
    },
    "continents": {
        "Lands of the Seven Kingdoms beyond the Mountains": {
            "bonus": 2,
            "territories": ["C", "D"],
        }
    },
    "places": {
        "Northwest Territory": [0, 50],
        "Constantinople": [50, 50],
        "C": [100, 0],
        "D": [100, 100],
    },
}
LONG_LINK = link(LONG, "p=Bartholomew&p=Maximilian&h=a9.b1.b2.b1&g=continent&t=0&go=1")


def open_analysis(visit: Visit, size: dict[str, int]) -> Page:
    """Return the board page with the plan of the example."""
    page = visit("/map", viewport=size)
    expect(page.locator("#moves li").first).to_be_visible(timeout=SLOWEST)
    return page


def open_game(visit: Visit, size: dict[str, int]) -> Page:
    """Return the board page in a game, in the turn of a person."""
    page = visit(f"/{write_game()}", viewport=size)
    page.get_by_role("button", name="Skip to my turn").click(timeout=SLOWEST)
    expect(page.locator("#placing-said")).to_be_visible(timeout=SLOWEST)
    return page


OPENINGS = pytest.mark.parametrize("open_page", [open_analysis, open_game])


@OPENINGS
@pytest.mark.parametrize("size", [LAPTOP, PROJECTOR])
def test_the_map_takes_half_of_a_wide_window_and_its_lower_third(
    visit: Visit, open_page: Open, size: dict[str, int]
) -> None:
    page = open_page(visit, size)
    area = size["width"] * size["height"]
    page.wait_for_function("area => map.clientWidth * map.clientHeight >= .5 * area", arg=area)
    box = page.locator(".land").evaluate_all(
        "lands => Math.max(...lands.map(each => each.getBoundingClientRect().bottom))"
    )
    assert box > 0.72 * size["height"]  # the land itself, not only the sea
    assert page.evaluate("document.documentElement.scrollHeight <= innerHeight")


@OPENINGS
def test_the_map_takes_two_fifths_of_a_phone_beside_the_next_action(
    visit: Visit, open_page: Open
) -> None:
    page = open_page(visit, PHONE)
    assert page.evaluate(
        "view.offsetHeight >= .4 * innerHeight && view.offsetWidth >= document.body.clientWidth"
    )
    expect(page.locator("#now")).to_be_in_viewport()
    expect(page.locator("#to-extra")).to_be_in_viewport(ratio=1)


# The controls in view, apart from the rows of the list.
CONTROLS = """() => [...document.querySelectorAll("a, button, input, select, textarea, summary")]
  .filter(each => each.checkVisibility({ visibilityProperty: true }) && !each.closest("svg, .list"))
  .filter(each => {
    const { top, right, bottom, width } = each.getBoundingClientRect();
    return width > 0 && right > 0 && bottom > 0 && top < innerHeight;
  })
  .map(each => each.textContent || each.ariaLabel || each.id)"""


def open_game_of_six(visit: Visit, size: dict[str, int]) -> Page:
    """Return the page with a game of six players with cards, at the end of the person's turn."""
    names = ["red", "blue", "green", "yellow", "purple", "orange"]
    held = ".".join(f"{'abcdef'[t % 6]}{3}" for t in range(42))
    players, seats = "&".join(f"p={name}" for name in names), ".".join(["person", *["usual"] * 5])
    fields = "phase%3Dover%3Bcards%3Dred%3A1.1.0.0.0%2Cblue%3A1%2Cgreen%3A2"
    page = visit(f"/map#v=3&{players}&h={held}&c={fields}&y={seats}&go=1&e=1", viewport=size)
    expect(page.locator("#legend")).to_contain_text("2 cards")
    return page


@pytest.mark.parametrize(
    ("open_page", "most"), [(open_analysis, 20), (open_game, 16), (open_game_of_six, 16)]
)
def test_a_laptop_shows_one_next_action_and_few_controls(
    visit: Visit, open_page: Open, most: int
) -> None:
    page = open_page(visit, LAPTOP)
    controls = page.evaluate(CONTROLS)
    assert len(controls) <= most, controls
    assert page.locator(".primary:visible").count() <= 1
    rows = page.locator(".tools button").evaluate_all(
        "all => [...new Set(all.filter(each => each.checkVisibility())"
        ".map(each => each.getBoundingClientRect().top))]"
    )
    assert len(rows) == 1


def test_a_battle_on_a_laptop_has_few_controls(visit: Visit) -> None:
    page = visit(f"{TINY_LINK}&go=1", viewport=LAPTOP)
    attack(page, "A", "B")
    expect(page.locator("#moves li").first).to_be_visible(timeout=SLOWEST)
    controls = page.evaluate(CONTROLS)
    assert len(controls) <= 24, controls
    assert page.locator(".primary:visible").all_text_contents() == ["Roll once"]


# Whether the current step is in the visible part of the list.
IS_LISTED = """() => {
  const [list, step] = [play, document.querySelector("#steps [aria-current]")]
    .map(each => each.getBoundingClientRect());
  return play.scrollTop > 0 && step.top >= list.top && step.bottom <= list.bottom;
}"""


def test_the_list_scrolls_to_the_current_step(visit: Visit) -> None:
    page = open_game(visit, {"width": 1280, "height": 600})
    page.wait_for_function(IS_LISTED)


# The sizes of the visible texts beside the map, in pixels.
SIZES = """() => {
  const sizes = new Set();
  const walker = document.createTreeWalker(document.querySelector(".map-side"), 4);
  while (walker.nextNode()) {
    const { data, parentElement: parent } = walker.currentNode;
    if (data.trim() && parent.checkVisibility() && !parent.closest("svg, .unseen"))
      sizes.add(getComputedStyle(parent).fontSize);
  }
  return [...sizes];
}"""


@pytest.mark.parametrize("size", [LAPTOP, PHONE])
def test_the_panel_has_at_most_three_sizes_of_text(visit: Visit, size: dict[str, int]) -> None:
    page = visit(LONG_LINK, viewport=size)
    expect(page.locator("#figure")).not_to_be_empty(timeout=SLOWEST)
    sizes = {*page.evaluate(SIZES)}
    page.get_by_role("button", name="Threats").click()
    sizes |= {*page.evaluate(SIZES)}
    page.get_by_role("button", name="Goal:").click()
    sizes |= {*page.evaluate(SIZES)}
    open_more(page)
    page.get_by_text("Share it").click()
    sizes |= {*page.evaluate(SIZES)}
    attack(page, "Northwest Territory", "Constantinople")
    page.locator("#dice summary").click()
    sizes |= {*page.evaluate(SIZES)}
    page.get_by_role("button", name="Set up", exact=True).click()
    sizes |= {*page.evaluate(SIZES)}
    assert len(sizes) <= 3, sizes


# The visible words of the page that are cut at an edge of their element or broken into two lines.
CUT_WORDS = """() => {
  const found = [];
  const walker = document.createTreeWalker(document.body, 4);
  const range = document.createRange();
  while (walker.nextNode()) {
    const node = walker.currentNode;
    const parent = node.parentElement;
    const isShown = parent.checkVisibility({ visibilityProperty: true });
    const isClipped = getComputedStyle(parent).clipPath !== "none";
    if (!isShown || isClipped || parent.closest("svg, select, .skip, .shared")) continue;
    for (const { 0: word, index } of node.data.matchAll(/[^\\s-]+/g)) {
      range.setStart(node, index);
      range.setEnd(node, index + word.length);
      const { left, right, width, height } = range.getBoundingClientRect();
      const tops = [...range.getClientRects()].map(({ top }) => Math.round(top));
      const isBroken = new Set(tops).size > 1;
      let isCut = false;
      for (let box = parent; box !== document.body; box = box.parentElement) {
        const { overflowX } = getComputedStyle(box);
        const edges = box.getBoundingClientRect();
        const isOutside = left < edges.left - 1 || right > edges.right + 1;
        isCut ||= overflowX !== "visible" && isOutside;
      }
      if (width && height && (isBroken || isCut || right > innerWidth + 1)) found.push(word);
    }
  }
  return found;
}"""


@pytest.mark.parametrize("size", [LAPTOP, PHONE, {"width": 720, "height": 450}])
def test_no_word_of_a_long_goal_or_name_is_cut(visit: Visit, size: dict[str, int]) -> None:
    page = visit(LONG_LINK, viewport=size)
    goal = page.get_by_role("button", name="Goal: Take Lands of the Seven Kingdoms beyond the")
    expect(goal).to_be_visible(timeout=SLOWEST)
    expect(page.locator("#figure")).not_to_be_empty(timeout=SLOWEST)
    assert page.evaluate(CUT_WORDS) == []
    goal.click()
    assert page.evaluate(CUT_WORDS) == []
    goal.click()
    attack(page, "Northwest Territory", "Constantinople")
    assert page.evaluate(CUT_WORDS) == []
    open_more(page)
    assert page.evaluate(CUT_WORDS) == []


# Collects the callbacks of animation frames, and the animations of elements.
COLLECT = """() => {
  window.frames = [];
  window.moves = [];
  window.requestAnimationFrame = (draw) => window.frames.push(draw);
  Element.prototype.animate = function (frames, { duration }) {
    window.moves.push([frames.map(({ transform }) => transform), duration]);
    return {};
  };
}"""

# Runs the collected callbacks at a time in milliseconds; returns the numbers of A and B.
DRAW_AT = """(time) => {
  for (const draw of window.frames.splice(0)) draw(time);
  return ["A", "B"].map(name =>
    document.querySelector(`.spot[aria-label^="${name},"] .digits`).textContent);
}"""


@pytest.mark.parametrize("motion", ["no-preference", "reduce"])
def test_armies_move_and_numbers_count_in_a_fifth_of_a_second(visit: Visit, motion: str) -> None:
    page = visit(
        link(TINY, "p=red&p=blue&h=a90.b30.b2.b1&g=continent&t=0&go=1"), reduced_motion=motion
    )
    expect(page.locator("#moves li").first).to_be_visible(timeout=SLOWEST)
    page.evaluate(COLLECT)
    attack(page, "A", "B")
    fought(page, 50, 10)
    expect(page.locator('.spot[aria-label^="A, red, 50 armies"]')).to_be_attached()
    shown = [page.evaluate(DRAW_AT, time) for time in (1000, 1100, 1200)]
    end = ["50", "10"]
    is_calm = motion == "reduce"
    assert shown == ([end] * 3 if is_calm else [["90", "30"], ["70", "20"], end])
    assert page.evaluate("moves") == []
    fought(page, 50, 0)
    expect(page.locator("#advance")).to_be_visible()
    moves = page.evaluate("moves")
    assert [duration for _, duration in moves] == ([] if is_calm else [200])
    assert all(frames[0] != frames[-1] for frames, _ in moves)
