"""The pages of the site: each command prints what they show, and everything has its place."""

import inspect
import re
import shutil
import tomllib
from pathlib import Path

import pytest

import iacta
from docs import reference
from docs.commands import gallery_page
from docs.pages import BESIDE, FOLDER, generated, handwritten, settings, with_site_links
from docs.pictures import KEPT, PICTURE, drawn, printed_by, with_pictures, words
from docs.sessions import Session, sessions
from docs.signatures import signature
from iacta import charts, read_board, read_position
from iacta.cli.command import COMMANDS
from iacta.rules.files import read_rules_file
from tests.cli.conftest import run
from tests.cli.run import Run
from tests.web.conftest import Driver, driver

__all__ = ["driver", "run"]

ROOT = FOLDER.parent
WRITTEN = handwritten()

# What no test runs: installing would change the machine, and `tests/literature/` runs the other.
NOT_RUN = {"make plot", ". .venv/bin/activate", "iacta reproduce"}


@pytest.fixture(scope="module")
def made() -> dict[str, str]:
    """Return the pages that are made from the code."""
    return generated()


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Go to an empty folder with the files that the pages' commands read."""
    (tmp_path / "docs").mkdir()
    shutil.copy(FOLDER / "house-rules.toml", tmp_path / "docs")
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def shown() -> list[tuple[str, Session]]:
    """Return each session of the pages, with its page."""
    return [
        (page, session)
        for page, text in {**WRITTEN, "gallery/pictures.md": gallery_page()}.items()
        for session in sessions(text)
        if session.command not in NOT_RUN
    ]


@pytest.mark.parametrize(("page", "session"), shown(), ids=lambda value: str(value)[:60])
def test_each_command_prints_what_the_page_shows(
    run: Run, here: Path, page: str, session: Session
) -> None:
    # A specification holds all that a picture does, and takes less time.
    ended = run.words([word.replace(".svg", ".json") for word in session.words])
    assert ended.code == 0, ended.stderr
    printed = ended.stdout + ended.stderr.replace(".json", ".svg")
    assert session.is_told_by(printed), printed
    if session.picture:
        specification = (here / session.picture).with_suffix(".json").read_text(encoding="utf-8")
        if page in WRITTEN and "compare" not in session.command:  # whose times differ
            named = re.escape(f"pictures/{session.picture}")
            title = re.search(rf"^!\[(.*)\]\([./]*{named}\)$", WRITTEN[page], re.MULTILINE)
            assert title is not None, "the page does not show it"
            assert f'"description": "{title[1]}' in specification, title[1]
            kept = (KEPT / session.picture).read_text(encoding="utf-8")
            is_stale = words(kept) != words(drawn(specification))
            assert not is_stale, f"draw it again: python -m docs.retell {session.picture}"


def test_a_session_may_leave_out_lines_but_not_change_them() -> None:
    session = Session("iacta", "one\n...\nlast: ... s\n")
    assert session.is_told_by("one\ntwo\nthree\nlast: 4 s\n")
    assert not session.is_told_by("one\ntwo\nthree\nlast: 4 min\n")
    assert not session.is_told_by("1\ntwo\nlast: 4 s\n")


def test_every_block_of_code_is_of_a_kind_that_is_run() -> None:
    for page, text in WRITTEN.items():
        assert text.count("```") % 2 == 0, page
        blocks = re.findall(r"^```([^\n]*)\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
        for language, code in blocks:
            assert language in ("console", "python", "toml", "json"), page
            assert language != "console" or code.startswith("$ "), page
            assert language != "python" or code.startswith(">>> "), page  # the doctests' part


def test_every_file_of_rules_or_of_a_position_that_is_shown_can_be_read(tmp_path: Path) -> None:
    blocks = [
        block
        for text in WRITTEN.values()
        for block in re.findall(r"^```toml\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    ]
    assert len(blocks) >= 2
    for number, block in enumerate(blocks):
        file = tmp_path / f"{number}.toml"
        file.write_text(block, encoding="utf-8")
        told = tomllib.loads(block)
        if "player" in told:
            assert read_position(file).player == told["player"]
        elif "territories" in told:
            assert len(read_board(file).territories) >= len(told["territories"])
        else:
            assert read_rules_file(file).name == told["name"]


def test_each_picture_is_drawn_by_a_command_of_its_page(made: dict[str, str]) -> None:
    pages = WRITTEN | made
    count = 0
    for page, text in pages.items():
        commands = [session.picture for session in sessions(text) if session.picture]
        for title, name in PICTURE.findall(text):
            count += 1
            assert title, page
            assert commands.count(Path(name).name) == 1, (page, name)
        assert with_pictures(text).count("<picture") == 2 * len(PICTURE.findall(text))
    assert count > 30


def test_every_picture_of_a_page_is_kept_and_no_other() -> None:
    shown = [Path(name).name for text in WRITTEN.values() for _, name in PICTURE.findall(text)]
    kept = {file.name for file in KEPT.glob("*.svg") if not file.stem.endswith("-dark")}
    assert sorted(shown) == sorted(kept - {"campaign.svg"})  # which is the README's
    for file in KEPT.glob("*-dark.svg"):
        light = file.with_name(file.name.replace("-dark", ""))
        assert words(file.read_text("utf-8")) == words(light.read_text("utf-8"))


def test_in_the_repository_links_lead_to_files_too() -> None:
    pages = [*FOLDER.rglob("*.md"), *(ROOT / name for name in ("README.md", *BESIDE))]
    for page in pages:
        text = page.read_text(encoding="utf-8")
        assert "{" not in re.sub(r"```.*?```|`[^`]*`", "", text, flags=re.DOTALL), page
        for link in re.findall(r"\]\(([^)\s#]+)|(?:src|srcset)=\"([^\"]+)", text):
            path = "".join(link)
            assert path.startswith("https://") or (page.parent / path).exists(), (page, path)


def test_each_chart_is_a_command_in_the_gallery(made: dict[str, str]) -> None:
    named = {form.name for form in COMMANDS.find("chart")} - {"chart"}
    assert named == set(re.findall(r"^## `iacta (.*)`$", made["gallery/pictures.md"], re.MULTILINE))


def test_each_page_stands_in_the_navigation_once(made: dict[str, str]) -> None:
    listed = re.findall(r"([\w/-]+\.md)$", settings(), re.MULTILINE)
    assert sorted(listed) == sorted([*WRITTEN, *made, *(name.lower() for name in BESIDE)])


def test_the_site_needs_no_network(made: dict[str, str]) -> None:
    assert "font: false" in settings()
    assert "http" not in settings()
    assert "  - offline" in settings()  # it searches without a server,
    assert "polyfills: [iframe-worker.js]" in settings()  # with a script that is here
    assert (FOLDER / "iframe-worker.js").is_file()
    assert "http" not in (FOLDER / "style.css").read_text(encoding="utf-8")
    for page, text in (WRITTEN | made).items():
        assert not re.findall(r"!\[[^]]*\]\(http|\bsrc=|<script|<link", text), page


def test_the_copy_button_copies_what_one_would_paste(driver: Driver) -> None:
    lines = [
        '<span class="gp">$ </span>iacta battle 12 10',
        '<span class="go">12 armies beat 10 with a chance of 65.38%.</span>',
        "",
        '<span class="gp">$ </span>iacta need 10',
    ]
    code = "".join(f"<span>{line}\n</span>" for line in lines)
    style = (FOLDER / "style.css").read_text(encoding="utf-8")
    with driver.driving(), driver.browser.new_page() as page:
        block = f"<div class='language-console'><pre><code>{code}</code></pre></div>"
        page.set_content(f"<style>{style}</style>{block}")
        assert "65.38%" in page.locator("code").inner_text()
        page.evaluate("document.querySelector('code').dataset.mdCopying = ''")  # as the theme does
        copied = page.locator("code").inner_text()
    assert copied == "iacta battle 12 10\niacta need 10\n"


def test_each_question_stands_in_the_list_of_questions() -> None:
    linked = re.findall(r"\]\((.*?)\)", WRITTEN["questions/index.md"])
    assert sorted(f"questions/{page}" for page in linked) == sorted(
        page for page in WRITTEN if page.startswith("questions/") and page != "questions/index.md"
    )


@pytest.mark.parametrize("page", [page for page in WRITTEN if page.startswith("questions/")])
def test_a_question_is_answered_first_with_a_command_a_picture_and_python(page: str) -> None:
    if page == "questions/index.md":
        return
    answer = WRITTEN[page].partition("\n## ")[0]
    assert answer.startswith("# ")
    assert answer.splitlines()[0].endswith("?")
    assert sessions(answer)
    assert PICTURE.search(answer)
    assert "\n## From Python\n" in WRITTEN[page]


def test_links_lead_to_pages_and_headings(made: dict[str, str]) -> None:
    pages = WRITTEN | made | dict.fromkeys((name.lower() for name in BESIDE), "")
    for page, text in pages.items():
        for link in re.findall(r"(?<!!)\[[^]\n]*\]\(([^)\s]+)\)", with_site_links(page, text)):
            if link.startswith("https://"):
                continue
            file, _, heading = link.partition("#")
            target = (Path("/") / page).parent.joinpath(file).resolve() if file else Path("/", page)
            assert str(target)[1:] in pages, (page, link)
            headings = re.findall(r"^#+ (.*)$", pages[str(target)[1:]], re.MULTILINE)
            assert not heading or heading in map(reference.anchor, headings), (page, link)


def test_the_commands_page_has_every_option_of_the_help(made: dict[str, str]) -> None:
    for section in made["commands.md"].split("\n## ")[1:]:
        command = re.findall(r"`(iacta [\w -]+)`", section)[0]
        _, _, listed = printed_by(f"{command} --help").partition("Options:\n")
        options = re.findall(r"^  (--[\w-]+)", listed.partition("Examples:")[0], re.MULTILINE)
        assert re.findall(r"^\| `(--[\w-]+)", section, re.MULTILINE) == options, command
        assert f"\n- `{command}" in section, command


def test_every_public_name_and_chart_has_its_place(made: dict[str, str]) -> None:
    for name in (each for each in iacta.__all__ if not each.isupper()):
        link = re.findall(rf"^\| \[`{name}`\]\(([\w/-]+\.md)", made["library.md"], re.MULTILINE)
        page = made[link[0]]
        assert re.search(rf"^##? `{name}`$", page, re.MULTILINE), name
        assert inspect.isclass(getattr(iacta, name)) == page.startswith(f"# `{name}`"), name
    for name in dir(charts):
        assert f"### `{name}`" in made["charts.md"], name


def test_every_function_is_shown_with_its_types(made: dict[str, str]) -> None:
    for page in (page for page in made if page.startswith(("library/", "methods/"))):
        for called in re.findall(r"^```python\n(?!>>>)(.*?)^```$", made[page], re.DOTALL | re.M):
            head = called.split("(")[0]
            is_class = (
                f"`{head}`" in made[page].splitlines()[0] or head.rpartition(".")[2].istitle()
            )
            assert "->" in called or ": " in called or is_class, (page, called)


def test_a_signature_shows_what_is_written() -> None:
    assert signature("stages", iacta.Campaign.stages) == "stages() -> list[Stage]"
    shown = signature("need", iacta.armies_needed_for_campaign)
    assert "\n    *,\n" in shown
    assert 'rules: Rules | str = "classic",' in shown


def test_short_names_of_types_are_explained(made: dict[str, str]) -> None:
    assert "\n- `Probability` is `Fraction | float`" in made["library/Battle.md"]


def test_in_sentences_too_indices_are_below_and_powers_above(made: dict[str, str]) -> None:
    assert "its mean is M(w)<sup>s</sup>" in " ".join(made["methods/leap.md"].split())
    for page in (page for page in made if page == "plans.md" or page.startswith("methods/")):
        text = re.sub(
            r"^```.*?^```|`[^`]*`|^<div.*?$|\]\([^)]*\)", "", made[page], flags=re.M | re.S
        )
        assert not re.search(r"[_^]", text), page


def test_every_method_has_its_page(made: dict[str, str]) -> None:
    pages = [text for page, text in made.items() if page.startswith("methods/")]
    assert len(pages) == len(reference.METHODS)
    assert all("\n## Its functions\n" in text for text in pages)
    for heading in re.findall(r"^## (.*)$", WRITTEN["sources.md"], re.MULTILINE):
        link = f"[{heading}](../sources.md#{reference.anchor(heading)})"
        assert any(link in text for text in pages), heading


def test_every_file_that_the_architecture_names_is_there() -> None:
    files = {each.name for each in (ROOT / "src").rglob("*.py")}
    files |= {f"docs/{each.name}" for each in FOLDER.glob("*.py")}
    named = re.findall(r"`(?:[a-z]+/)?(\w+\.py)`", WRITTEN["architecture.md"])
    assert set(named) <= files | {each.removeprefix("docs/") for each in files}
    parts = WRITTEN["architecture.md"].partition("## Where a plan comes from")[2]
    plan = {each.name for each in (ROOT / "src" / "iacta" / "plan").glob("[a-z]*.py")}
    assert plan <= set(re.findall(r"`(\w+\.py)`", parts))
