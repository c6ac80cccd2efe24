"""The pages in a real browser: questions asked by links, forms and keyboard."""

import json
import re
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import numpy as np
import pytest
from playwright.sync_api import Page, expect

import iacta
from iacta.forms.command_and_call import format_command, format_python_call
from iacta.forms.form import Parameter, format_error
from iacta.forms.parameter_kinds import Flag, Name, OneOf, RulesName
from iacta.forms.question import Answer, Question
from iacta.inputs.errors import IactaError
from iacta.questions.audit import AuditQuestion
from iacta.questions.battle import BattleQuestion
from iacta.questions.campaign import CampaignQuestion
from iacta.questions.review import ReviewQuestion
from iacta.web.question_page import list_inputs
from iacta.web.read_question import list_pages, read_address
from iacta.web.read_question import write_query as query
from iacta.web.templates import format_label
from tests.tables import table
from tests.web.conftest import RunScript, Visit, barriers, late
from tests.web.server import Server

FORMS = {name: form for name, form in list_pages().items() if name != "plan"}
# A second question for each form, as the query of a URL.
ASKED = dict(table(__file__, "other_questions")[1])
WRONG = "?!"


def pairs(text: str) -> list[tuple[str, str]]:
    """Return the names and values in a query."""
    return [(name, value) for name, _, value in (each.partition("=") for each in text.split("&"))]


def find_question(name: str) -> Question:
    """Return the second question for a form."""
    return read_address(FORMS[name], pairs(ASKED[name]))


@cache
def answer_once(question: Question) -> Answer:
    """Return the answer to a question from a cache, because several tests need it."""
    return question.answer()


def find_main_sentence(question: Question) -> str:
    """Return the main sentence of an answer as a page shows it."""
    return answer_once(question).sentence.rstrip(":")


def test_every_form_is_asked() -> None:
    assert set(ASKED) == set(FORMS)


@pytest.mark.parametrize("name", FORMS)
def test_a_form_is_accessible_and_answers_links_and_input(name: str, visit: Visit) -> None:
    question = find_question(name)
    page = visit(f"/{name}")
    expect(page.locator("#lead")).not_to_be_empty()
    check_first_screen(page)
    check_access(page)
    fill(page, name, ASKED[name])
    expect(page.locator("#lead")).to_have_text(find_main_sentence(question))
    usual = re.escape(f"/{name}?{query(question)}") + "$"
    expect(page).to_have_url(re.compile(rf"/{name}#log=[\w-]+$" if name == "review" else usual))
    inputs = list_changed_values(page)
    page.goto(page.url)
    expect(page.locator("#lead")).to_have_text(find_main_sentence(question))
    assert list_changed_values(page) == inputs
    twin = page.get_by_role("link", name="JSON").evaluate("each => each.href")
    assert drop_durations(page.request.get(twin).json()) == drop_durations(
        answer_once(question).record()
    )
    codes = page.locator(".elsewhere code").all_inner_texts()
    assert codes == [format_command(question), format_python_call(question)]
    open_rare_fields(page)
    for each in list_inputs(FORMS[name]):
        # Some fields accept any text, because it may be a name.
        if not isinstance(each.kind, Flag | RulesName | OneOf) and type(each.kind) is not Name:
            check_wrong_input(page, name, each)
    page.locator("#form").dispatch_event("input")
    expect(page.locator("#lead")).to_have_text(find_main_sentence(question))
    expect(page.locator(".wrong:not(:empty)")).to_have_count(0)


def check_wrong_input(page: Page, name: str, each: Parameter) -> None:
    """Check that an error is shown at its field, and restore the value."""
    box = page.locator(f"#{each.name}")
    if each.kind.is_list:
        box = page.locator(f".field[data-name={each.name}] .chip input").first
    before = box.input_value()
    box.fill(WRONG)
    expect(page.locator(f"#wrong-{each.name}")).to_have_text(refusal(name, each, page))
    expect(box).to_have_attribute("aria-invalid", "true")
    if each.kind.is_list:
        box.fill(before)
    else:  # without an event, the page does not answer the question again
        box.evaluate("(box, text) => { box.value = text; }", before)


def fill(page: Page, name: str, text: str) -> None:
    """Fill in a form by typing."""
    given = dict(pairs(text))
    open_rare_fields(page)
    for each in list_inputs(FORMS[name]):
        usual = "" if each.default is None else each.default_text
        box, value = page.locator(f"#{each.name}"), given.get(each.name, usual)
        if each.kind.is_list:
            chips = page.locator(f".field[data-name={each.name}] .chip input")
            while chips.count() > 1:
                page.get_by_role("button", name="Remove").click()
            chips.first.fill(value)
        elif isinstance(each.kind, Flag):
            box.set_checked(value == "true")
        elif isinstance(each.kind, RulesName | OneOf):
            box.select_option(value if value != each.usual else "")
        else:
            box.fill(value)


def open_rare_fields(page: Page) -> None:
    page.locator("details.rare").evaluate_all("all => all.forEach(each => { each.open = true; })")


def list_changed_values(page: Page) -> dict[str, str]:
    """Return the values in a form that differ from their defaults."""
    return dict(
        page.evaluate("[...new FormData(document.querySelector('#form'))].filter(each => each[1])")
    )


def drop_durations(record: Any) -> Any:
    """Return a record as JSON without durations."""
    plain = json.loads(json.dumps(record))
    for each in plain.get("methods", []):
        each.pop("seconds", None)
    return plain


def refusal(name: str, parameter: Parameter, page: Page) -> str:
    """Return the library's error message for the values in a form."""
    try:
        read_address(FORMS[name], [*list_changed_values(page).items()])
    except IactaError as error:
        return format_error(error, FORMS[name], lambda each: format_label(each).lower())
    raise AssertionError(f"{parameter.name} accepts a wrong value")


def test_values_in_a_url_are_escaped(visit: Visit) -> None:
    evil = "<img src=x onerror=alert(1)>'\"&lt;"
    page = visit(f"/battle?{urlencode({'attackers': evil, 'defenders': '3'})}")
    page.on("dialog", lambda dialog: pytest.fail(dialog.message))
    expect(page.locator("#attackers")).to_have_value(evil)
    expect(page.locator("#wrong-attackers")).to_contain_text("<img src=x onerror=alert(1)>")
    page.locator("#defenders").fill("4")
    expect(page).to_have_url(re.compile("defenders=4"))
    expect(page.locator("#wrong-attackers")).to_contain_text("<img src=x onerror=alert(1)>")
    page.goto(page.url.replace("attackers", urlencode({"": evil})[1:]))
    expect(page.locator("#wrong")).to_contain_text("; expected some of attackers, defenders")


def test_clashing_inputs_are_reported_at_one_field(visit: Visit) -> None:
    page = visit("/campaign?attackers=9&territories=3&seed=4")
    sentence = "seed also needs single game"
    expect(page.locator("#wrong-seed")).to_have_text(sentence)
    expect(page.locator("#seed")).to_be_visible()
    page.get_by_label("Single game").check()
    expect(page.locator("#wrong-seed")).to_be_empty()
    expect(page.locator("#rest")).to_contain_text("territory taken")


def test_empty_input_waits_and_an_error_greys_the_last_answer(visit: Visit) -> None:
    page = visit("/battle?attackers=12&defenders=10")
    box = page.get_by_label("Attackers", exact=True)
    box.fill("none")
    expect(page.locator("#wrong-attackers")).not_to_be_empty()
    expect(page.locator("#lead")).to_have_text(find_main_sentence(BattleQuestion(12, 10)))
    expect(page.locator("#rest")).to_have_css("opacity", "0.55")
    box.fill("13")
    expect(page.locator("#rest")).to_have_css("opacity", "1")
    box.fill("")
    expect(page.locator("#lead")).to_be_empty()  # the old answer no longer applies
    expect(page.locator("#wrong-attackers")).to_be_empty()
    box.blur()
    expect(page.locator("#wrong-attackers")).to_have_text("missing attackers")
    box.fill("12")
    expect(page.locator("#lead")).to_have_text("12 armies beat 10 with a chance of 65.38%.")


@pytest.mark.parametrize(
    ("path", "names", "answer"),
    [
        ("/", ("Attacking armies", "Defending armies"), "#odds"),
        ("/battle", ("Attackers", "Defenders"), "#lead"),
    ],
)
def test_two_taps_and_two_digits_ask_about_a_battle(
    path: str, names: tuple[str, str], answer: str, visit: Visit
) -> None:
    page = visit(path, has_touch=True, viewport={"width": 390, "height": 844})
    assert page.evaluate("document.activeElement === document.body")  # no keyboard is open
    for name, digit in zip(names, "73", strict=True):
        page.get_by_label(name, exact=True).tap()
        page.keyboard.press(digit)
    expect(page.locator(answer)).to_have_text(find_main_sentence(BattleQuestion(7, 3)))


def test_requests_to_a_busy_server_are_repeated(visit: Visit) -> None:
    page = visit("/battle?attackers=12&defenders=10")
    busy = {"status": 503, "detail": "the server has too much to do"}
    page.route(
        re.compile("attackers=13"), lambda route: route.fulfill(status=503, json=busy), times=1
    )
    page.get_by_label("Attackers", exact=True).fill("13")
    expect(page.locator("#wrong")).to_have_text("The server has too much to do")
    expect(page.locator("#lead")).to_have_text(find_main_sentence(BattleQuestion(13, 10)))


@pytest.mark.parametrize("path", ["/", "/about", "/nowhere"])
def test_other_pages_are_accessible(path: str, visit: Visit) -> None:
    check_access(visit(path))


def check_first_screen(page: Page) -> None:
    """Check that the answer and the fields it needs are on the first screen."""
    page.set_viewport_size({"width": 360, "height": 740})
    page.locator("#picture .drawn").wait_for()
    lead = page.locator("#lead").bounding_box() or {"y": 0, "height": 0}
    assert lead["y"] + lead["height"] <= 740
    for each in page.locator("form [required]").all():
        box = each.bounding_box() or {"y": 0, "height": 0}
        assert box["y"] + box["height"] <= lead["y"], each.get_attribute("name")
    page.set_viewport_size({"width": 1280, "height": 800})
    assert bottom(page, "form > .fields") < 800
    assert bottom(page, "#lead") < 800


def check_access(page: Page) -> None:
    """Check that everybody can use a page with all its sections open."""
    page.locator("details").evaluate_all("all => all.forEach(each => { each.open = true; })")
    wide = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    # The second run checks only the contrast: a dark, wide page differs from a light, narrow page
    # in colours and positions, and the colours do not depend on the width.
    for width, scheme, rules in ((360, "light", []), (1280, "dark", ["color-contrast"])):
        page.set_viewport_size({"width": width, "height": 740})
        page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
        assert barriers(page, *rules) == []
        assert page.evaluate(wide) <= 0


def bottom(page: Page, selector: str) -> float:
    """Return the lower edge of an element."""
    found: float = page.locator(selector).evaluate("each => each.getBoundingClientRect().bottom")
    return found


def test_general_errors_are_visible_on_a_phone(visit: Visit) -> None:
    page = visit("/audit", viewport={"width": 360, "height": 740})
    page.get_by_label("Log", exact=True).fill("attack,defence\n7 8,9")
    expect(page.locator("#wrong")).to_have_text(
        "line 2: attack must be dice that show 1 to 6, got '7 8'"
    )
    assert bottom(page, "#wrong") <= 740
    page.get_by_label("Log", exact=True).fill("attack,defence\n6 5,1")
    expect(page.locator("#wrong")).to_be_empty()
    assert bottom(page, "#lead") <= 740


def test_long_work_can_be_stopped_beside_the_form(visit: Visit) -> None:
    page = visit("/battle?attackers=12&defenders=10")
    page.route(re.compile("attackers=13"), lambda route: None)  # this request is never answered
    page.get_by_label("Attackers", exact=True).fill("13")
    stop = page.locator("form").get_by_role("button", name="Stop")
    stop.click()
    expect(stop).to_be_hidden()
    expect(page.locator("#lead")).to_have_text(find_main_sentence(BattleQuestion(12, 10)))
    expect(page.locator("#answer")).not_to_have_attribute("aria-busy", "true")


def test_numbers_that_the_picture_shows_are_folded_away(visit: Visit) -> None:
    page = visit("/decide")
    letters = page.locator(".letters")
    expect(letters).to_be_hidden()
    page.get_by_text("The map (R roll").click()
    expect(letters).to_be_visible()
    page.get_by_role("button", name="Defenders: more").click()
    expect(page).to_have_url(re.compile("defenders=11"))
    expect(letters).to_be_visible()  # an open section stays open


def test_table_of_20_fits_a_laptop(visit: Visit) -> None:
    table = visit("/table", viewport={"width": 1280, "height": 800}).locator(".wide").first
    assert table.evaluate("each => each.scrollWidth - each.clientWidth") <= 0


def test_the_menu_has_all_questions_in_a_player_s_words_on_a_phone(visit: Visit) -> None:
    page = visit("/docs", viewport={"width": 390, "height": 844})
    assert "`" not in page.locator("main").inner_text()
    expect(page.locator(".summary code")).to_have_text("--json")
    links = page.locator(".menu a")
    expect(links.first).to_be_hidden()
    page.get_by_role("button", name="Menu").press("Enter")
    expect(links.first).to_have_text("Board Play a turn on the map")
    assert links.count() == len(FORMS) + len({"map", "about", "docs"})
    assert bottom(page, ".menu li:last-child li:last-child a") < 844
    assert barriers(page) == []
    page.keyboard.press("Escape")
    expect(links.first).to_be_hidden()


def test_prints_fit_on_one_white_sheet(visit: Visit) -> None:
    page = visit("/battle", color_scheme="dark")
    page.emulate_media(media="print")
    expect(page.locator("body")).to_have_css("background-color", "rgb(255, 255, 255)")
    expect(page.locator("#lead")).to_be_visible()
    expect(page.locator("#picture")).to_be_visible()
    for selector in (".menu", ".step >> nth=0", ".copy >> nth=0"):
        expect(page.locator(selector)).to_be_hidden()
    assert len(re.findall(rb"/Type\s*/Page\b", page.pdf(format="A4"))) == 1


def test_back_forward_reload_and_a_shared_link(visit: Visit) -> None:
    page = visit("/battle?attackers=12&defenders=10")
    page.get_by_label("Defenders", exact=True).fill("7")
    seven = find_main_sentence(BattleQuestion(12, 7))
    expect(page.locator("#lead")).to_have_text(seven)
    page.get_by_role("link", name="Campaign").click()
    expect(page.locator("h1")).to_have_text("Campaign")
    page.go_back()
    expect(page.locator("#lead")).to_have_text(seven)
    expect(page.get_by_label("Defenders", exact=True)).to_have_value("7")
    page.go_forward()
    expect(page.locator("h1")).to_have_text("Campaign")
    page.go_back()
    page.reload()
    expect(page.locator("#lead")).to_have_text(seven)
    link = page.get_by_role("link", name="Link to this answer").get_attribute("href") or ""
    other = visit(f"/{link}")
    expect(other.locator("#lead")).to_have_text(seven)


def test_last_edit_wins(visit: Visit) -> None:
    page = visit("/battle?attackers=12&defenders=10")
    page.route(re.compile("attackers=13"), late)
    box = page.get_by_label("Attackers", exact=True)
    box.fill("13")
    page.wait_for_timeout(80)
    box.fill("14")
    expect(page.locator("#lead")).to_have_text(find_main_sentence(BattleQuestion(14, 10)))
    page.wait_for_timeout(500)
    expect(page.locator("#lead")).to_have_text(find_main_sentence(BattleQuestion(14, 10)))
    assert "attackers=14" in page.url


def test_steppers_work_by_mouse_and_keyboard(visit: Visit) -> None:
    page = visit("/need?territories=10&chance=95%")
    page.get_by_role("button", name="Chance: more").click()
    expect(page.locator("#chance")).to_have_value("96%")
    page.locator("#chance").press("Shift+ArrowUp")
    expect(page.locator("#chance")).to_have_value("99%")
    page.get_by_text("More options").click()
    page.locator("#keep").press("ArrowDown")
    expect(page.locator("#keep")).to_have_value("0")
    expect(page).to_have_url(re.compile("chance=99%25$"))
    page.locator("#chance").fill("75")
    expect(page.locator("#reading-chance")).to_have_text("= 75%")
    page.locator("#chance").press("ArrowUp")
    expect(page.locator("#reading-chance")).to_have_text("= 76%")
    page.locator("#chance").fill("100")
    sentence = "nothing is certain: enter less than 100%, got '100'"
    expect(page.locator("#wrong-chance")).to_have_text(sentence)
    expect(page.locator("#reading-chance")).to_be_empty()


def way(page: Page) -> str:
    return page.locator("input[name=territories]").input_value()


def test_the_territories_of_a_campaign_are_edited_as_a_row(visit: Visit) -> None:
    page = visit("/campaign?attackers=30&territories=8 2 4")
    chips = page.locator(".chip input")
    chips.nth(2).press("Enter")  # a new empty field appears after the last one
    page.keyboard.type("5 6")
    assert way(page) == "8 2 4 5 6"
    page.keyboard.press("Alt+ArrowLeft")
    page.keyboard.press("Alt+ArrowLeft")
    assert way(page) == "8 2 6 4 5"
    chips.nth(2).fill("6,200, 3")  # pasted text
    assert way(page) == "8 2 6,200 3 4 5"
    chips.nth(3).press("Backspace")
    chips.nth(3).press("Backspace")
    chips.nth(2).fill("6")
    page.get_by_role("button", name="Later").press("Enter")
    assert way(page) == "8 2 4 6 5"
    page.get_by_role("button", name="Remove").press("Enter")
    assert way(page) == "8 2 4 5"
    chips.nth(3).fill("")
    chips.nth(3).press("Backspace")
    assert way(page) == "8 2 4"
    page.get_by_text("Only for territory 3").click()
    page.locator(".own").get_by_label("Rules").select_option("zombie defender")
    page.locator(".own").get_by_label("Garrison").fill("3")
    assert way(page) == "8 2 4:zombie-defender@3"
    chips.nth(2).press("Alt+ArrowLeft")
    chips.nth(1).press("Alt+ArrowLeft")
    assert way(page) == "4:zombie-defender@3 8 2"
    sentence = find_main_sentence(CampaignQuestion(("4:zombie defender@3", "8", "2"), attackers=30))
    expect(page.locator("#lead")).to_have_text(sentence)
    chips.first.fill("1, 2;3")
    expect(page.locator("#wrong-territories")).not_to_be_empty()
    marked = page.locator("[aria-invalid=true]")
    expect(marked).to_have_count(1)
    expect(marked).to_have_value("2;3")


def test_the_error_of_a_code_is_shown_beside_the_code(visit: Visit) -> None:
    page = visit("/win?code=1;classic;rd;Peru:red:3,Brazil:blue:2")
    expect(page.locator("#wrong-code")).to_contain_text("must be one of blue, red, got 'rd'")
    expect(page.locator("#wrong-player")).to_be_empty()


@pytest.mark.parametrize("writing", ["", "new Promise(() => {})", "Promise.reject(new Error())"])
def test_copying_does_not_wait_for_the_clipboard(visit: Visit, writing: str) -> None:
    page = visit(f"/battle?{ASKED['battle']}", permissions=["clipboard-read", "clipboard-write"])
    if writing:
        page.evaluate(f"void (navigator.clipboard.writeText = () => {writing})")
    for name, text in (("command", format_command), ("Python", format_python_call)):
        button = page.get_by_role("button", name=f"Copy as {name}")
        button.click()
        expect(button).to_have_text("Copied")
        expect(page.locator("p.unseen")).to_have_text("Copied")
        copied = page.evaluate("navigator.clipboard.readText()")
        assert copied == text(find_question("battle"))


def test_colours_can_be_switched_and_stay_switched(visit: Visit) -> None:
    page = visit("/battle", color_scheme="dark")
    drawn = page.get_by_role("img", name="12 armies beat 10 with a chance of 65.38%").locator("svg")
    ground = page.locator("body")
    light, dark = "rgb(255, 255, 255)", "rgb(22, 24, 29)"
    expect(drawn).to_have_css("background-color", dark)
    page.emulate_media(color_scheme="light")
    expect(drawn).to_have_css("background-color", light)
    page.get_by_role("button", name="Switch between light and dark").click()
    expect(drawn).to_have_css("background-color", dark)
    page.get_by_role("link", name="About").click()
    expect(page.locator("h1")).to_have_text("About")
    expect(page.locator(".top .version")).to_have_text(iacta.__version__)
    expect(ground).to_have_css("background-color", dark)
    page.get_by_role("button", name="Switch between light and dark").click()
    expect(ground).to_have_css("background-color", light)
    assert page.evaluate("localStorage.length") == 0  # the system's colours are not stored
    page.emulate_media(color_scheme="dark")
    expect(ground).to_have_css("background-color", dark)


def test_the_picture_of_an_almost_sure_campaign_has_no_warnings(visit: Visit) -> None:
    page = visit("/campaign?attackers=30&territories=8")
    expect(page.get_by_role("img", name="30 armies take the territory")).to_be_visible()


def test_plan_on_the_start_page_plays_itself_until_it_is_paused(visit: Visit) -> None:
    page = visit("/", reduced_motion="no-preference")
    words = page.locator("#words")
    armies = page.get_by_label("Attacking armies")
    expect(armies).to_be_focused()
    armies.click()
    expect(armies).to_have_js_property("selectionStart", 0)
    page.keyboard.press("7")
    expect(page.locator("#odds")).to_have_text(find_main_sentence(BattleQuestion(7, 5)))
    expect(page.locator("#game svg")).to_be_visible()
    expect(words).to_contain_text(" takes ")
    page.get_by_role("button", name="Pause").click()
    shown = words.inner_text()
    page.wait_for_timeout(1700)
    expect(words).to_have_text(shown)
    page.emulate_media(reduced_motion="reduce")
    page.reload()
    expect(page.get_by_role("button", name="Play")).to_be_visible()  # the animation has not started


def test_log_is_reviewed_from_a_file_and_its_link_opens_finished(
    visit: Visit, tmp_path: Path
) -> None:
    log = "\n".join([ReviewQuestion.first_texts["log"].strip()] * 2)
    file = tmp_path / "game.jsonl"
    file.write_text(log)
    page = visit("/review", permissions=["clipboard-read", "clipboard-write"])
    page.locator("#file").set_input_files(file)
    page.wait_for_url("**#log=*")
    words = ReviewQuestion(log=log).answer().sentence
    expect(page.locator("#lead")).to_have_text(words)
    page.get_by_role("button", name="Copy the sentence and the link").click()
    expect(page.locator("#post button").first).to_have_text("Copied")
    assert page.evaluate("navigator.clipboard.readText()") == f"{words} {page.url}"
    link = page.url
    file.write_text("no log")
    page.locator("#file").set_input_files(file)
    expect(page.locator(".wrong:not(:empty)")).to_be_visible()
    expect(page.locator("#lead")).to_be_empty()
    expect(page.locator("#rest")).to_be_hidden()
    other = visit(link.removeprefix(link.partition("/review")[0]))
    expect(other.locator("#lead")).to_have_text(words)
    expect(other.get_by_label("Log", exact=True)).to_have_value(log)
    expect(other.locator("#picture .drawn")).to_be_visible()
    other.goto(link[:-9])
    expect(other.locator("#wrong")).to_contain_text("it may be incomplete")


def test_a_log_in_the_fragment_is_not_called_an_example(visit: Visit) -> None:
    page = visit("/audit")
    expect(page.locator("#example-note")).not_to_be_empty()
    page.get_by_label("Log", exact=True).fill("attack,defence\n6 5,1")
    expect(page.locator("#example-note")).to_be_empty()


def test_a_log_too_long_for_a_url_is_reviewed_and_offered_as_a_file(
    visit: Visit, tmp_path: Path
) -> None:
    rng = np.random.default_rng(3)
    rolls = rng.integers(1, 7, (9_000, 3))
    log = "attack,defence\n" + "".join(f"{a} {b},{d}\n" for a, b, d in rolls)
    file = tmp_path / "rolls.csv"
    file.write_text(log)
    page = visit("/audit")
    page.locator("#file").set_input_files(file)
    expect(page.locator("#post")).to_contain_text("too long for a link")
    expect(page.locator("#lead")).to_have_text(find_main_sentence(AuditQuestion(log=log)))
    expect(page.locator("#picture .drawn")).to_be_visible()
    with page.expect_download() as saving:
        page.get_by_role("button", name="Save the log").click()
    assert saving.value.path().read_text() == log


def test_start_page_works_without_scripts(visit: Visit) -> None:
    page = visit("/", java_script_enabled=False)
    assert page.locator("#game img").evaluate("each => each.naturalWidth") > 100
    expect(page.get_by_role("button", name="Pause")).to_be_hidden()
    page.get_by_label("Attacking armies").fill("7")
    page.get_by_role("button", name="Calculate").click()
    expect(page.locator("#lead")).to_have_text(find_main_sentence(BattleQuestion(7, 5)))


@pytest.mark.parametrize("name", ["battle", "need", "rules"])
def test_page_works_without_scripts(name: str, visit: Visit) -> None:
    page = visit(f"/{name}", java_script_enabled=False, color_scheme="dark")
    for field, text in pairs(ASKED[name]):
        (kind,) = (each.kind for each in list_inputs(FORMS[name]) if each.name == field)
        box = page.locator(f"#{field}")
        box.evaluate("each => each.closest('details')?.setAttribute('open', '')")
        if isinstance(kind, Flag):
            box.check()
        elif isinstance(kind, RulesName):
            box.select_option(text)
        else:
            box.fill(text)
    page.get_by_role("button", name="Calculate").click()
    expect(page.locator("#lead")).to_have_text(find_main_sentence(find_question(name)))
    page.wait_for_load_state("load")
    assert page.locator("#picture img").evaluate("each => each.currentSrc").endswith("&dark=true")
    assert page.locator("#picture img").evaluate("each => each.naturalWidth") > 100
    needs_script = page.locator(".copy, .step")
    assert not needs_script.evaluate_all("all => all.some(each => each.checkVisibility())")


def test_redrawn_elements_keep_their_text_and_focus(run_script: RunScript) -> None:
    script = """async () => {
      const {element, redraw} = await import("/static/redraw.js");
      const list = element("ol");
      document.body.append(list);
      const draw = (...keys) => redraw(list, keys.map(key => {
        return element("li", {key}, element("input", {ariaLabel: key, type: "text"}));
      }));
      draw("a", "b", "c");
      const input = list.children[1].firstChild;
      input.focus();
      input.value = "typed";
      draw("c", "d", "b");
      const names = [...list.children].map(each => each.firstChild.ariaLabel);
      return [names.join(""), list.children[2].firstChild === input, input.value,
        document.activeElement === input];
    }"""
    assert run_script(script) == ["cdb", True, "typed", True]


def test_two_users_do_not_disturb_each_other(visit: Visit) -> None:
    one, other = visit("/battle"), visit("/battle")
    for page, attackers in ((one, "8"), (other, "9"), (one, "18"), (other, "19")):
        page.get_by_label("Attackers", exact=True).fill(attackers)
    expect(one.locator("#lead")).to_have_text(find_main_sentence(BattleQuestion(18, 10)))
    expect(other.locator("#lead")).to_have_text(find_main_sentence(BattleQuestion(19, 10)))


def test_pages_of_logs_say_what_to_do_without_a_script(server: Server) -> None:
    words = "This log is an example: replace it with yours."
    for name in ("audit", "review"):
        example = server.ask(f"/{name}").body.decode()
        assert words in example
        assert '<p id="post" hidden' in example  # the button is empty until the script runs
    own = server.ask("/audit?log=6+4+1+vs+5+3").body.decode()
    assert words not in own
    assert '<p id="post" hidden' in own
    assert "Paste your rolls or open a file." in server.ask("/audit?log=").body.decode()
