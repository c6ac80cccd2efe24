"""The board page on screens, projectors and paper, and its accessibility."""

import json
import math
import re
from itertools import combinations, pairwise

import numpy as np
import pytest
from playwright.sync_api import expect

from iacta import charts
from iacta.board.built_in import classic_board
from iacta.board.files import read_board
from iacta.board.position import Position, read_position
from iacta.charts.boards import assign_owner_colours
from iacta.charts.theme import choose_shapes
from iacta.game import Turn
from iacta.plan import TakeAll, best_plan
from tests.web.board_page import (
    SEEN,
    SLOWEST,
    TINY_LINK,
    attack,
    link,
    open_more,
    plan_of_tiny,
    says,
    spot,
    value,
)
from tests.web.conftest import Visit, barriers


def test_names_and_badges_are_large_enough_on_a_phone(visit: Visit) -> None:
    page = visit("/map", viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    says(page, "Alaska", "blue, 3")
    middles = page.locator(".badge").evaluate_all(
        "all => all.map(each => each.getBoundingClientRect())"
        ".map(({x, y, width, height}) => [x + width / 2, y + height / 2])"
    )
    assert min(math.dist(a, b) for a, b in combinations(middles, 2)) >= 32
    unit = page.evaluate("map.getScreenCTM().a")
    sizes = page.locator("#map .name").evaluate_all(
        "all => all.map(each => Number(each.getAttribute('font-size')))"
    )
    assert min(sizes) * unit >= 11
    page.get_by_role("button", name="Set up", exact=True).tap()
    page.get_by_role("button", name="Clear", exact=True).tap()
    names = page.locator("#map .name.continent").all_text_contents()
    assert {*names} == {f"{each.name} +{each.bonus}" for each in classic_board().continents}


# The elements of the board page that can scroll on their own.
SCROLLERS = """() => [...document.querySelectorAll("main *")].filter(each => {
  const { overflow } = getComputedStyle(each);
  return /auto|scroll/.test(overflow) && each.checkVisibility();
}).map(each => each.id || each.className)"""


def test_only_the_page_scrolls_on_a_phone(visit: Visit) -> None:
    page = visit(f"{TINY_LINK}&go=1", viewport={"width": 390, "height": 844})
    expect(page.locator("#figure")).not_to_be_empty(timeout=SLOWEST)
    page.locator("#how summary").click()
    page.locator("#whole summary").click()
    page.get_by_role("button", name="Threats").click()
    assert page.evaluate(SCROLLERS) == ["view"]  # a zoomed map scrolls inside its frame
    page.get_by_role("button", name="Goal: Take East").click()
    open_more(page)
    assert page.evaluate(SCROLLERS) == ["view"]
    page.get_by_role("button", name="Set up", exact=True).click()
    for summary in page.locator("#setup summary").all():
        summary.click()
    page.get_by_text("All territories as a table").click()
    assert page.evaluate(SCROLLERS) == ["view", "pasted"]
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert page.evaluate("pasted.scrollHeight <= pasted.clientHeight")
    page.evaluate("scrollTo(0, 500)")
    page.get_by_role("button", name="Analyse", exact=True).click()
    assert page.evaluate("scrollY") == 0


def test_the_page_is_as_high_as_a_wide_window_whatever_is_open(visit: Visit) -> None:
    page = visit(f"{TINY_LINK}&go=1", viewport={"width": 1440, "height": 844})
    expect(page.locator("#figure")).not_to_be_empty(timeout=SLOWEST)
    is_high = "document.documentElement.scrollHeight > innerHeight"
    page.locator("#how summary").click()
    page.locator("#whole summary").click()
    page.get_by_role("button", name="Threats").click()
    assert not page.evaluate(is_high)
    open_more(page)
    page.get_by_text("Share it").click()
    assert not page.evaluate(is_high)
    page.get_by_role("button", name="Set up", exact=True).click()
    for summary in page.locator("#setup summary").all():
        summary.click()
    page.get_by_text("All territories as a table").click()
    assert not page.evaluate(is_high)


# The sum of the layout shifts of a page since it was opened.
LAYOUT_SHIFT = """new Promise((resolve) => {
  let sum = 0;
  const observer = new PerformanceObserver((list) => {
    for (const { value } of list.getEntries()) sum += value;
  });
  observer.observe({ type: "layout-shift", buffered: true });
  setTimeout(() => resolve(sum), 100);
})"""


# Whether the map fills at least half of a window. `wait_for_function` evaluates a bare expression
# again with `eval`, which the page's Content Security Policy forbids; a function works.
IS_FILLED = "(area) => map.clientWidth * map.clientHeight >= .5 * area"


def test_the_map_fills_the_window_with_the_next_action_beside_it(visit: Visit) -> None:
    page = visit("/map", viewport={"width": 1440, "height": 900})
    expect(page.locator("#moves li").first).to_be_visible(timeout=SLOWEST)
    assert page.evaluate(LAYOUT_SHIFT) <= 0.05
    sizes = []
    for width, height in ((1440, 900), (1920, 1080)):
        page.set_viewport_size({"width": width, "height": height})
        page.wait_for_function(IS_FILLED, arg=width * height)
        assert page.evaluate("view.scrollWidth <= view.clientWidth")
        assert page.evaluate("document.documentElement.scrollHeight <= innerHeight")
        for shown in ("#figure", "#goal-now", "#moves li", "#steps", "#how"):
            expect(page.locator(shown).first).to_be_in_viewport()
        expect(page.locator(".menu")).to_be_hidden()
        name, badge = page.locator("#map .name").first, page.locator("#map .badge").first
        sizes.append((name.bounding_box(), badge.bounding_box()))
    for before, after in zip(*sizes, strict=True):
        assert before
        assert after
        assert after["height"] > 1.1 * before["height"]


# Whether an element is completely inside the window.
IS_INSIDE = """each => {
  const box = each.getBoundingClientRect();
  return box.height > 0 && box.top >= 0 && box.bottom <= innerHeight;
}"""


def test_an_open_battle_fits_in_the_window_with_the_moves_and_the_last_steps(visit: Visit) -> None:
    names = classic_board().territories
    own = {"Northwest Territory": 9, "Western United States": 12, "Eastern United States": 8}
    held = ".".join(f"a{own[name]}" if name in own else "b9" for name in names)
    fragment = f"/map#p=Alexandra&p=Maximilian&h={held}&g=continent&t=0&go=1"
    page = visit(fragment, viewport={"width": 1440, "height": 900})
    moves = page.locator("#moves button")
    expect(moves).to_have_count(3, timeout=SLOWEST)
    moves.last.click()
    for steps in (0, 3, 5):  # the first of these steps is the beginning of the turn
        while page.locator("#steps li").count() < steps:
            count = max(page.locator("#steps li").count(), 1)
            page.locator("#rolls button").nth(1).click()
            expect(page.locator("#steps li")).to_have_count(count + 1)
        for width, height in ((1440, 900), (1920, 1080)):
            page.set_viewport_size({"width": width, "height": height})
            page.wait_for_function(IS_FILLED, arg=width * height)
            assert page.evaluate("document.documentElement.scrollHeight <= innerHeight")
            for selector in (
                "#moves",
                "#battle",
                "#now button:text('Stop')",
                "#steps [aria-current]",
                "#to-extra",
            ):
                for each in page.locator(selector).all():
                    assert each.evaluate(IS_INSIDE)


CHAIN = [f"{n}" for n in range(1, 8)]
LONG = {
    "name": "long",
    "territories": {a: [b] for a, b in pairwise(CHAIN)} | {"7": []},
    "places": {name: [80 * n, 200 * (n % 2)] for n, name in enumerate(CHAIN)},
}


def test_a_long_plan_shows_its_first_steps_until_it_is_opened(visit: Visit) -> None:
    page = visit(link(LONG, "p=red&p=blue&h=a40.b1x6&g=all&t=6&go=1"))
    numbers = page.locator("#map .step-number")
    expect(numbers).to_have_text(["1", "2", "3", "4"], timeout=SLOWEST)
    page.get_by_text("The plan: all 6 steps").click()
    expect(numbers).to_have_text(["1", "2", "3", "4", "5", "6"])
    page.get_by_text("The plan: all 6 steps").click()
    expect(numbers).to_have_count(4)


def test_a_double_tap_on_the_sea_zooms_in(visit: Visit) -> None:
    page = visit("/map", viewport={"width": 1440, "height": 900})
    says(page, "Ukraine", "red, 42")
    whole = page.evaluate("map.clientWidth")
    for wide in (2 * whole, whole):
        page.locator("#view").dblclick(position={"x": 5, "y": 5})
        assert abs(page.evaluate("map.clientWidth") - wide) < 2


ROW = [f"T{n}" for n in range(12)]

FAR = {
    "name": "far",
    "territories": {a: [b] for a, b in pairwise(ROW)} | {"T11": []},
    "places": {name: [80 * n, 200 * (n % 2)] for n, name in enumerate(ROW)},
}


@pytest.mark.parametrize("motion", ["reduce", "no-preference"])
def test_the_map_follows_the_goal_and_the_first_attack(visit: Visit, motion: str) -> None:
    held = "a9.b9.b1x7.a8.b1.b2"  # the largest stack, shown first, is far away
    fragment = f"p=red&p=blue&h={held}&g=all&t=10&s=0&go=1"
    size = {"width": 390, "height": 844}
    page = visit(link(FAR, fragment), viewport=size, has_touch=True, reduced_motion=motion)
    value(page, best_plan(Turn(position_of_far(), stay=["T0"]), TakeAll("T10")).comparable_value)
    expect(page.locator("#map .head")).to_have_class("head next")
    assert page.locator("#map .step-number").all_text_contents() == ["1"]
    page.wait_for_function(SEEN, arg=["T9", "T10"])
    assert page.evaluate("scrollY") == 0


def position_of_far() -> Position:
    armies = [9, 9, *[1] * 7, 8, 1, 2]
    territories = {
        name: {"owner": "red" if n in (0, 9) else "blue", "armies": armies[n]}
        for n, name in enumerate(ROW)
    }
    return read_position({"board": FAR, "player": "red", "territories": territories})


def test_a_projector_shows_the_map_and_the_sentence(visit: Visit) -> None:
    page = visit(f"{TINY_LINK}&go=1", viewport={"width": 1920, "height": 1080})
    value(page, plan_of_tiny().comparable_value)
    before = page.locator(".badge").first.bounding_box()
    open_more(page)
    page.get_by_role("button", name="Projector", exact=True).click()
    expect(page.locator(".map-foot")).to_be_hidden()
    page.wait_for_function("() => map.getBoundingClientRect().height > .7 * innerHeight")
    assert page.evaluate("view.getBoundingClientRect().width > .95 * innerWidth")
    after = page.locator(".badge").first.bounding_box()
    assert before
    assert after
    assert after["width"] > 1.2 * before["width"]
    assert page.evaluate("document.documentElement.scrollHeight <= innerHeight")
    expect(page.locator("#report")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator(".map-foot")).to_be_visible()


def test_map_sentence_and_main_line_are_printed_on_one_page(visit: Visit) -> None:
    page = visit("/map", viewport={"width": 1280, "height": 800})
    expect(page.locator("#figure")).not_to_be_empty(timeout=SLOWEST)
    printed = page.pdf(format="A4", prefer_css_page_size=True)
    assert len(re.findall(rb"/Type\s*/Page\b", printed)) == 1
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    for shown in ("h1", "#map", "#bar", "#how summary", "#report", "#moves", "#main-line h3"):
        expect(page.locator(shown).first).to_be_visible()
    for hidden in ("#setup", "#nav", "#cards", "#command", "#sharing", ".menu"):
        expect(page.locator(hidden)).to_be_hidden()


def test_names_are_escaped_everywhere(visit: Visit) -> None:
    names = ["<img src=x onerror=alert(1)>", "</script><b>\"quoted'", "__proto__", "constructor"]
    board = {
        "name": "<h1>board</h1>",
        "territories": {name: [] for name in names} | {names[0]: names[1:]},
        "continents": {"<i>land</i>": {"bonus": 1, "territories": names}},
    }
    position = {
        "board": board,
        "player": "<u>me</u>",
        "territories": {name: {"owner": "__proto__", "armies": 1} for name in names}
        | {names[0]: {"owner": "<u>me</u>", "armies": 9}},
    }
    page = visit("/map")
    page.get_by_role("button", name="Set up", exact=True).click()
    page.get_by_text("Deal, open or paste").click()
    page.fill("#pasted", json.dumps(position))
    page.get_by_role("button", name="Use it").click()
    expect(page.locator("#board-name")).to_have_text("<h1>board</h1>")
    page.get_by_text("All territories as a table").click()
    page.get_by_label("Armies on __proto__").fill("3")
    page.get_by_role("button", name="Analyse", exact=True).click()
    page.get_by_label("Goal", exact=True).select_option("Eliminate __proto__")
    expect(page.locator("#report")).to_contain_text("eliminate __proto__", timeout=SLOWEST)
    page.get_by_role("button", name="Goal: Eliminate __proto__").click()
    page.locator("#moves button").first.click()
    expect(page.locator("#battle-name")).to_contain_text(names[0])
    shown = "main img:not(#qr), main b:not(#names b), main i, main u, main h1"
    assert page.locator(shown).count() == 1


@pytest.mark.parametrize(("width", "scheme"), [(360, "light"), (1280, "light"), (1280, "dark")])
def test_pages_have_no_accessibility_barriers(visit: Visit, width: int, scheme: str) -> None:
    # In dark and light mode, only the colours differ, which do not depend on the width.
    rules = ["color-contrast"] if scheme == "dark" else []
    page = visit(TINY_LINK, viewport={"width": width, "height": 800}, color_scheme=scheme)
    spot(page, "B").click()
    for summary in page.locator("#setup summary").all():
        summary.click()
    page.get_by_text("All territories as a table").click()
    assert barriers(page, *rules) == []
    page = visit(
        f"{TINY_LINK}&go=1&x=0a0-1-8-0&i=1",
        viewport={"width": width, "height": 800},
        color_scheme=scheme,
    )
    expect(page.locator("#figure")).not_to_be_empty(timeout=SLOWEST)
    assert barriers(page, *rules) == []
    page.get_by_role("button", name="Move in", exact=True).click()
    expect(page.locator("#moves li")).not_to_have_count(0)
    page.locator("#moves button").first.click()
    page.locator("#whole summary").click()
    assert barriers(page, *rules) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("width", [360, 1280])
def test_every_territory_is_named_and_no_label_is_on_another(visit: Visit, width: int) -> None:
    page = visit("/map", viewport={"width": width, "height": 800})
    says(page, "Ukraine", "red, 42")
    # Read all labels in one call, because a better plan changes them.
    labels, keys = page.evaluate(
        "() => [[...map.querySelectorAll('.name, .badge')].map(each => {"
        " const box = each.getBoundingClientRect();"
        " return [each.textContent, box.left, box.top, box.right, box.bottom] }),"
        " [...names.children].map(each => each.innerText)]"
    )
    texts = " ".join(each[0] for each in labels)
    for name in read_board("classic").territories:
        letters = [key.split()[0] for key in keys if key.endswith(f" {name}")]
        assert name in texts or any(letter in texts.split() for letter in letters), name
    edges = 2.5  # pixels by which a box is higher than its letters
    left, top, right, bottom = np.array([each[1:] for each in labels], float).T
    left, top, right, bottom = left + edges, top + edges, right - edges, bottom - edges
    meet = (left[:, None] < right) & (top[:, None] < bottom)
    meet &= meet.T
    lines = {each for each in range(len(labels)) if labels[each][0]}
    pairs = [(i, j) for i, j in np.argwhere(np.triu(meet, 1)) if {i, j} & lines]
    assert [(labels[i][0], labels[j][0]) for i, j in pairs] == []


# The name, the colour and the shape of each player in the legend.
LOOKS = """all => all.map(each => {
  const path = each.querySelector("path");
  const name = each.textContent.split(":")[0].trim();
  return [name, path.getAttribute("fill"), path.getAttribute("d")];
})"""


def test_players_look_alike_on_the_page_and_in_the_picture_in_any_order(visit: Visit) -> None:
    names = ["Ann", "Ben", "Cem", "Dora", "red", "Eva", "Fritz"]
    looks = []
    for order in (names, names[::-1]):
        held = ".".join(f"{chr(97 + order.index(names[t % 7]))}{t + 1}" for t in range(42))
        page = visit(f"/map#{'&'.join(f'p={name}' for name in order)}&h={held}")
        expect(page.locator("#legend li")).to_have_count(7)
        found = page.eval_on_selector_all("#legend li", LOOKS)
        looks.append({name: (colour, shape) for name, colour, shape in found})
    assert looks[0] == looks[1]
    board = classic_board()
    holdings = {name: (names[t % 7], 1) for t, name in enumerate(board.territories)}
    position = Position(board, "red", holdings)
    drawn = json.dumps(charts.board_map(position).to_dict())
    colours = assign_owner_colours(position)
    shapes = choose_shapes(colours)
    assert {name: (colours[name], shapes[name]) for name in names} == looks[0]
    assert all(colour in drawn and shape in drawn for colour, shape in looks[0].values())
    assert len(set(shapes.values())) == 7


def test_land_and_badge_have_the_colour_of_the_owner(visit: Visit) -> None:
    page = visit(f"{TINY_LINK}&go=1")
    expect(page.locator("#figure")).not_to_be_empty(timeout=SLOWEST)
    fills = "all => all.map(each => getComputedStyle(each).fill)"
    tones = page.eval_on_selector_all(".badge", fills)
    assert page.eval_on_selector_all(".land", fills) == tones


# The sum of the heights of the panel's contents, and the height of the page, when the texts of an
# open battle are longer than any dice make them.
LENGTHEN = """() => {
  const words = "Western United States to Ontario: you lose 2, they lose 0, ".repeat(20);
  for (const each of document.querySelectorAll("#report, #battle-said, #steps button, #legend li"))
    each.textContent = words;
  return [dock.scrollHeight + play.scrollHeight, document.documentElement.scrollHeight];
}"""


@pytest.mark.parametrize(("width", "height"), [(1440, 900), (1280, 720), (1920, 1080)])
def test_no_text_of_an_open_battle_makes_the_page_higher_than_the_window(
    visit: Visit, width: int, height: int
) -> None:
    page = visit(f"{TINY_LINK}&go=1&i=1", viewport={"width": width, "height": height})
    attack(page, "A", "B")
    panel_height, page_height = page.evaluate(LENGTHEN)
    assert panel_height > height
    assert page_height == height
