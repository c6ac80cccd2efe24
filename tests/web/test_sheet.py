"""The sheet of all battles: a choice on the page of the table that prints on one page of A4."""

import re

import pytest
from playwright.sync_api import expect

import iacta
from tests.web.conftest import Visit


def test_the_sheet_prints_on_one_page(visit: Visit) -> None:
    page = visit("/table?attackers=20&defenders=15&rules=capital")
    expect(page.get_by_role("button", name="Print the sheet")).to_have_count(0)
    page.goto(page.url.partition("/table")[0] + "/table?attackers=20&defenders=15&show=sheet")
    expect(page.locator("#picture svg")).to_be_visible()
    page.evaluate("window.print = () => { document.title = 'printed'; }")
    page.get_by_role("button", name="Print the sheet").click()
    expect(page).to_have_title("printed")
    printed = page.pdf(format="A4", print_background=True)
    assert len(re.findall(rb"/Type\s*/Page\b", printed)) == 1
    page.emulate_media(media="print")
    expect(page.locator("#picture svg")).to_be_visible()
    expect(page.locator(".panel")).to_be_hidden()
    expect(page.locator("h1")).to_be_hidden()
    box = page.locator("#picture svg").bounding_box()
    assert box is not None
    assert box["height"] > 700


def test_the_table_offers_the_sheet(visit: Visit) -> None:
    page = visit("/table?attackers=5&defenders=5")
    link = page.get_by_role("link", name="a sheet of chances and losses to print")
    link.click()
    expect(page.get_by_role("button", name="Print the sheet")).to_be_visible()


def test_a_sheet_has_the_chances_and_the_losses() -> None:
    answer = iacta.ask("table", attackers=6, defenders=5, show="sheet")
    titles = [
        section.parts[0] for section in answer.sections() if isinstance(section.parts[0], str)
    ]
    assert [title.partition(";")[0] for title in titles] == [
        "Chance to win in percent",
        "Armies that you lose, on average",
    ]
    assert {*answer.plot().tables} == {"chances", "losses"}
    record = answer.data.to_json()
    lost = iacta.ask("table", attackers=6, defenders=5, show="losses").data.to_json()
    assert record["expected_attackers_lost"] == lost["expected_attackers_lost"]
    with pytest.raises(iacta.IactaError, match="at most 20 armies on each side, got 21 against 5"):
        iacta.ask("table", attackers=21, defenders=5, show="sheet").question.check_chart()
