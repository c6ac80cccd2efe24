"""The picture of the map: a file with the sentence, names and armies, in the look of the page."""

import re
import struct
from pathlib import Path
from xml.etree import ElementTree

import pytest
from playwright.sync_api import Page, expect

from tests.web.board_page import TINY, TINY_LINK, link, open_more
from tests.web.conftest import Visit

SVG = "{http://www.w3.org/2000/svg}"
PLAN = f"{TINY_LINK}&go=1"
SHARES = """() => {
  navigator.canShare = ({ files }) => files.length === 1;
  navigator.share = async ({ files, text }) => {
    const [{ name, type, size }] = files;
    document.title = [name, type, size > 5000, text].join(' | ');
  };
}"""


def show_sharing(page: Page) -> None:
    open_more(page)
    page.get_by_text("Share it").click()


def save_picture(page: Page, button: str) -> tuple[str, bytes]:
    """Return the name and the content of the picture that a button saves."""
    with page.expect_download() as download:
        page.get_by_role("button", name=button, exact=True).click()
    return download.value.suggested_filename, Path(download.value.path()).read_bytes()


def read_texts(picture: ElementTree.Element) -> list[str]:
    return ["".join(text.itertext()) for text in picture.iter(f"{SVG}text")]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_picture_of_a_plan_has_its_sentence_and_the_look_of_the_page(
    visit: Visit, scheme: str
) -> None:
    page = visit(PLAN)
    page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
    report = page.locator("#value .report")
    expect(report).to_contain_text("East")
    show_sharing(page)
    name, content = save_picture(page, "Picture as SVG")
    assert name == "map.svg"
    picture = ElementTree.fromstring(content)  # noqa: S314 # written by the page
    assert picture.tag == f"{SVG}svg"
    title = picture.findtext(f"{SVG}title") or ""
    assert "East" in title
    sentence, battles, *texts = read_texts(picture)
    assert re.match(r"1\. A to B: taken with > 99%2\. B to C: taken with \d+%", battles)
    assert sentence.replace(" ", "") == title.replace(" ", "")
    assert {"A", "B", "C", "D", "9", "1", "2"} <= {*texts}
    for each in picture.iter():
        assert not {"class", "style", "id"} & {*each.attrib}
    drawn = content.decode()
    assert "color(" not in drawn
    assert "var(" not in drawn
    paper = page.evaluate("getComputedStyle(document.body).backgroundColor")
    rectangle = picture.find(f"{SVG}rect")
    assert rectangle is not None
    assert rectangle.get("fill") == paper
    assert (paper != "rgb(255, 255, 255)") == (scheme == "dark")


def test_a_picture_as_png_is_large_enough_for_a_chat(visit: Visit) -> None:
    page = visit(link(TINY, "p=red&p=blue&h=a9.b1.b2.b1"))
    show_sharing(page)
    _, svg = save_picture(page, "Picture as SVG")
    name, content = save_picture(page, "Picture")
    assert name == "map.png"
    assert content.startswith(b"\x89PNG")
    width, height = struct.unpack(">II", content[16:24])
    assert width >= 1600
    drawn = ElementTree.fromstring(svg)  # noqa: S314 # written by the page
    ratio = float(drawn.attrib["height"]) / float(drawn.attrib["width"])
    assert height / width == pytest.approx(ratio, abs=0.01)
    assert drawn.findtext(f"{SVG}title") == "Red moves on tiny."

    owners = ".".join(f"{'ab'[t % 2]}{t + 1}" for t in range(42))
    page = visit(f"/map#p=red&p=blue&h={owners}", viewport={"width": 390, "height": 800})
    expect(page.locator("#map .digits")).to_have_count(42)
    show_sharing(page)
    _, content = save_picture(page, "Picture as SVG")
    picture = ElementTree.fromstring(content)  # noqa: S314 # written by the page
    assert {str(n) for n in range(1, 43)} <= {*read_texts(picture)}
    assert len(re.findall(r"<path", content.decode())) > 84


def test_a_picture_is_shared_where_the_browser_can_share_files(visit: Visit) -> None:
    page = visit(PLAN)
    expect(page.locator("#value .report")).to_contain_text("East")
    page.evaluate(SHARES)
    show_sharing(page)
    page.get_by_role("button", name="Picture", exact=True).click()
    expect(page).to_have_title(re.compile(r"^map\.png \| image/png \| true \| .*East"))
