"""The pages of the site: outputs are current, lists are complete, and links are valid."""

import json
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import iacta
from iacta import charts, read_board, read_position
from iacta.cli.print_answer import COMMANDS
from iacta.methods import METHODS
from iacta.rules.files import read_rules_file
from iacta_literature import charts as figures
from tests.cli.conftest import run
from tests.cli.run import Run
from tests.plan_cache import no_plan_twice
from tests.web.conftest import Driver, driver
from tools.docs import pages, reference
from tools.docs.commands import make_gallery_page
from tools.docs.pages import ROOT_PAGES, SOURCE, generate_pages, read_handwritten_pages
from tools.docs.pictures import KEPT, PICTURE, add_pictures, draw_svg, list_texts, run_command
from tools.docs.sessions import Session, find_sessions

__all__ = ["driver", "no_plan_twice", "run"]

ROOT = SOURCE.parent
WRITTEN = read_handwritten_pages()

# Commands that are not run here: installation, and a command that `tests/literature/` runs.
NOT_RUN = {"make plot", ". .venv/bin/activate", "iacta reproduce"}


@pytest.fixture(scope="module")
def generated_pages() -> dict[str, str]:
    """Return the generated pages."""
    return generate_pages()


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Change to an empty folder with the files for the commands on the pages."""
    (tmp_path / "docs").mkdir()
    shutil.copy(SOURCE / "house-rules.toml", tmp_path / "docs")
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_functions_in_the_changelog_are_public_or_keys_of_answers() -> None:
    source = "\n".join(file.read_text("utf-8") for file in (ROOT / "src/iacta").rglob("*.py"))
    defined = {*re.findall(r"^(?:def|class) (\w+)", source, re.MULTILINE)}
    keys = {*re.findall(r"^    (\w+): .*= key\(", source, re.MULTILINE)}
    names = {*re.findall(r"`(\w+)", (ROOT / "CHANGELOG.md").read_text("utf-8"))}
    packages = (ROOT / "src/iacta").rglob("__init__.py")
    exported = {*re.findall(r'"(\w+)"', "".join(file.read_text("utf-8") for file in packages))}
    assert names & defined - keys <= {*iacta.__all__, *exported}


def list_sessions() -> list[tuple[str, Session]]:
    """Return all sessions, each with its page."""
    return [
        (page, session)
        for page, text in {**WRITTEN, "gallery/pictures.md": make_gallery_page()}.items()
        for session in find_sessions(text)
        if session.command not in NOT_RUN
    ]


@pytest.mark.parametrize(("page", "session"), list_sessions(), ids=lambda value: str(value)[:60])
def test_each_command_prints_the_output_on_the_page(
    run: Run, here: Path, page: str, session: Session
) -> None:
    # Save specifications instead of pictures, which is faster.
    ended = run.words([word.replace(".svg", ".json") for word in session.words])
    assert ended.code == 0, ended.stderr
    printed = ended.stdout + ended.stderr.replace(".json", ".svg")
    assert session.shows(printed), printed
    if session.picture:
        specification = (here / session.picture).with_suffix(".json").read_text(encoding="utf-8")
        if page in WRITTEN and "compare" not in session.command:  # times vary
            named = re.escape(f"pictures/{session.picture}")
            title = re.search(rf"^!\[(.*)\]\([./]*{named}\)$", WRITTEN[page], re.MULTILINE)
            assert title is not None, "the page does not show it"
            assert f'"description": "{title[1]}' in specification, title[1]
            kept = (KEPT / session.picture).read_text(encoding="utf-8")
            is_stale = list_texts(kept) != list_texts(draw_svg(specification))
            assert not is_stale, f"draw it again: python -m tools.docs.reprint {session.picture}"


def test_a_session_may_leave_out_lines_but_not_change_them() -> None:
    session = Session("iacta", "one\n...\nlast: ... s\n")
    assert session.shows("one\ntwo\nthree\nlast: 4 s\n")
    assert not session.shows("one\ntwo\nthree\nlast: 4 min\n")
    assert not session.shows("1\ntwo\nlast: 4 s\n")


# `tests/web/test_nginx.py` tests the code blocks for nginx and systemd.
LANGUAGES = ("console", "python", "toml", "json", "nginx", "ini")


def test_every_code_block_has_a_tested_language() -> None:
    for page, text in WRITTEN.items():
        assert text.count("```") % 2 == 0, page
        blocks = re.findall(r"^```([^\n]*)\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
        for language, code in blocks:
            assert language in LANGUAGES, page
            assert language != "console" or code.startswith("$ "), page
            assert language != "python" or code.startswith(">>> "), page  # tested as doctests


def test_files_shown_on_pages_can_be_read(tmp_path: Path) -> None:
    blocks = [
        block
        for text in WRITTEN.values()
        for block in re.findall(r"^```toml\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    ]
    assert len(blocks) >= 2
    for number, block in enumerate(blocks):
        file = tmp_path / f"{number}.toml"
        file.write_text(block, encoding="utf-8")
        said = tomllib.loads(block)
        if "player" in said:
            assert read_position(file).player == said["player"]
        elif "territories" in said:
            assert len(read_board(file).territories) >= len(said["territories"])
        else:
            assert read_rules_file(file).name == said["name"]


def test_each_picture_is_drawn_by_a_command_of_its_page(generated_pages: dict[str, str]) -> None:
    pages = WRITTEN | generated_pages
    count = 0
    for page, text in pages.items():
        commands = [session.picture for session in find_sessions(text) if session.picture]
        for title, name in PICTURE.findall(text):
            count += 1
            assert title, page
            assert commands.count(Path(name).name) == 1, (page, name)
        assert add_pictures(text).count("<picture") == 2 * len(PICTURE.findall(text))
    assert count > 30


def test_stored_pictures_match_the_pages() -> None:
    shown = [Path(name).name for text in WRITTEN.values() for _, name in PICTURE.findall(text)]
    kept = {file.name for file in KEPT.glob("*.svg") if not file.stem.endswith("-dark")}
    assert sorted(shown) == sorted(kept - {"campaign.svg"})  # the README uses this picture
    for file in KEPT.glob("*-dark.svg"):
        light = file.with_name(file.name.replace("-dark", ""))
        assert list_texts(file.read_text("utf-8")) == list_texts(light.read_text("utf-8"))


def test_links_work_in_the_repository() -> None:
    pages = [*SOURCE.rglob("*.md"), *(ROOT / name for name in ("README.md", *ROOT_PAGES))]
    for page in pages:
        text = page.read_text(encoding="utf-8")
        assert "{" not in re.sub(r"```.*?```|`[^`]*`", "", text, flags=re.DOTALL), page
        for link in re.findall(r"\]\(([^)\s#]+)|(?:src|srcset)=\"([^\"]+)", text):
            path = "".join(link)
            assert path.startswith("https://") or (page.parent / path).exists(), (page, path)


def test_each_chart_is_a_command_in_the_gallery(generated_pages: dict[str, str]) -> None:
    named = {form.name for form in COMMANDS.find("chart")} - {"chart"}
    assert named == set(
        re.findall(r"^## `iacta (.*)`$", generated_pages["gallery/pictures.md"], re.MULTILINE)
    )


@pytest.fixture(scope="module")
def site(generated_pages: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of the site, built without its pictures."""
    folder = tmp_path_factory.mktemp("docs")
    with pytest.MonkeyPatch.context() as changed:
        changed.setattr(pages, "draw_all", lambda *_: None)  # drawing is tested elsewhere
        changed.setattr(pages, "generate_pages", lambda: generated_pages)
        pages.write_pages(folder / "docs")
    line = [sys.executable, "-m", "mkdocs", "build", "--quiet", "--strict", "--config-file"]
    built = subprocess.run(  # noqa: S603 # our own line
        [*line, str(folder / "mkdocs.yml")], cwd=ROOT, capture_output=True, text=True
    )
    assert built.returncode == 0, built.stderr
    return folder / "site"


@pytest.mark.slow
def test_the_site_is_built_without_a_broken_link_and_needs_no_network(site: Path) -> None:
    assert (site / "iframe-worker.js").is_file()  # searches without a server
    texts = {
        file.relative_to(site).as_posix(): file.read_text("utf-8") for file in site.rglob("*.html")
    }
    for page, text in texts.items():
        assert not re.findall(r"<link[^>]*=\"?http|\bsrc=\"?(?:http|//)|@import", text), page
    library = "".join(text for page, text in texts.items() if page.startswith("library/"))
    for name in (each for each in iacta.__all__ if not each.isupper()):
        assert f'id="iacta.{name}"' in library, name
    for name in dir(charts):
        assert re.search(rf'id="iacta\.charts\.\w+\.{name}"', texts["charts.html"]), name
    for name in figures.__all__:
        assert re.search(rf'id="iacta_literature\.charts\.\w+\.{name}"', texts["charts.html"]), name
    battle = texts["library/battle.html"]
    assert "<li><code>attackers</code>: the number of armies" in battle
    assert '<div class="language-pycon' in battle
    assert 'href="../library.html#iacta.probability.distribution.Probability"' in battle
    assert 'id="iacta.probability.chances.Chance"' in texts["library.html"]


# Runs in the browser: the equations that are not typeset, and those that leave their page.
BAD_EQUATIONS = """() => {
  const right = document.querySelector("article").getBoundingClientRect().right;
  const wide = [...document.querySelectorAll("article math")].filter(
    (math) => math.getBoundingClientRect().right > right || !math.getBoundingClientRect().width);
  const code = document.querySelectorAll("article pre:not(.highlight pre)");
  return [...wide, ...code].map((element) => element.textContent);
}"""


@pytest.mark.slow
def test_the_equations_of_methods_are_typeset_inside_of_a_narrow_page(
    site: Path, driver: Driver
) -> None:
    with driver.driving(), driver.browser.new_page() as page:
        page.set_viewport_size({"width": 390, "height": 800})
        for file in [*(site / "methods").glob("*.html"), site / "plans.html"]:
            page.goto(file.as_uri())
            assert page.evaluate(BAD_EQUATIONS) == [], file.name
            assert page.evaluate("document.documentElement.scrollWidth") == 390, file.name


@pytest.mark.slow
def test_a_search_finds_the_words_beside_an_equation(site: Path) -> None:
    entries = json.loads((site / "search" / "search_index.json").read_text("utf-8"))["docs"]
    [found] = [each["text"] for each in entries if each["location"] == "methods/path_tree.html"]
    assert "over the branches that lead to the state" in found


def test_each_method_states_its_equations_and_sources_are_linked(
    generated_pages: dict[str, str],
) -> None:
    for name in {each.removesuffix("_exact") for each in METHODS}:
        assert "\n\n    " in (reference.METHODS[name].__doc__ or ""), name
    for heading in re.findall(r"^## (.*)$", WRITTEN["sources.md"], re.MULTILINE):
        link = f"[{heading}](../sources.md#{reference.make_anchor(heading)})"
        assert any(link in generated_pages[f"methods/{name}.md"] for name in reference.METHODS), (
            heading
        )


def test_each_task_in_class_takes_at_most_three_lines_and_two_names() -> None:
    tasks = WRITTEN["chain.md"].partition("## Five tasks")[2].partition("\n## ")[0]
    blocks = re.findall(r"\(([^)]*)\):\n\n```python\n(.*?)^```$", tasks, re.DOTALL | re.MULTILINE)
    assert len(blocks) == 5
    for names, code in blocks:
        assert len(re.findall(r"^(?:>>>|\.\.\.) ", code, re.MULTILINE)) <= 3
        assert len(names.split(", ")) <= 2
        assert all(name.strip("`") in f"{code} Decision" for name in names.split(", "))
    exercises = re.findall(
        r"^### (\d+)\. .*?```python", WRITTEN["chain.md"], re.DOTALL | re.MULTILINE
    )
    assert [*map(int, exercises)] == [*range(1, 11)]


def test_the_copy_button_copies_only_the_commands(driver: Driver) -> None:
    lines = [
        '<span class="gp">$ </span>iacta battle 12 10',
        '<span class="go">12 armies beat 10 with a chance of 65.38%.</span>',
        "",
        '<span class="gp">$ </span>iacta need 10',
    ]
    code = "".join(f"<span>{line}\n</span>" for line in lines)
    style = (SOURCE / "style.css").read_text(encoding="utf-8")
    with driver.driving(), driver.browser.new_page() as page:
        block = f"<div class='language-console'><pre><code>{code}</code></pre></div>"
        page.set_content(f"<style>{style}</style>{block}")
        assert "65.38%" in page.locator("code").inner_text()
        page.evaluate("document.querySelector('code').dataset.mdCopying = ''")  # as the theme does
        copied = page.locator("code").inner_text()
    assert copied == "iacta battle 12 10\niacta need 10\n"


def test_the_list_of_questions_is_complete() -> None:
    linked = re.findall(r"\]\((.*?)\)", WRITTEN["questions/index.md"])
    assert sorted(f"questions/{page}" for page in linked) == sorted(
        page for page in WRITTEN if page.startswith("questions/") and page != "questions/index.md"
    )


@pytest.mark.parametrize("page", [page for page in WRITTEN if page.startswith("questions/")])
def test_pages_of_questions_begin_with_a_command_a_picture_and_python(page: str) -> None:
    if page == "questions/index.md":
        return
    answer = WRITTEN[page].partition("\n## ")[0]
    assert answer.startswith("# ")
    assert answer.splitlines()[0].endswith("?")
    assert find_sessions(answer)
    assert PICTURE.search(answer)
    assert "\n## For programmers\n" in WRITTEN[page]


def test_the_commands_page_has_every_option_of_the_help(generated_pages: dict[str, str]) -> None:
    on_a_page = {*re.findall(r"--[\w-]+", run_command("iacta help win-by"))}
    for section in generated_pages["commands.md"].split("\n## ")[1:]:
        command = re.findall(r"`(iacta [\w -]+)`", section)[0]
        _, _, listed = run_command(f"{command} --help").partition("Options:\n")
        options = re.findall(r"^  (--[\w-]+)", listed.partition("Examples:")[0], re.MULTILINE)
        shown = re.findall(r"^\| `(--[\w-]+)", section, re.MULTILINE)
        # The help of a command names only the first option of another help page.
        known = [each for each in shown if each in options or each not in on_a_page]
        assert known == options, command
        assert f"\n- `{command}" in section, command


def test_files_named_in_the_architecture_exist() -> None:
    files = {each.name for each in (ROOT / "src").rglob("*.py")}
    files |= {each.name for folder in ("cmake", "tools") for each in (ROOT / folder).rglob("*.py")}
    named = re.findall(r"`(?:[a-z]+/)*(\w+\.py)`", WRITTEN["architecture.md"])
    assert {*named} <= files
    parts = WRITTEN["architecture.md"].partition("## Plans")[2]
    plan = {each.name for each in (ROOT / "src" / "iacta" / "plan").glob("[a-z]*.py")}
    assert plan <= set(re.findall(r"`(\w+\.py)`", parts))


def test_functions_and_fields_named_in_the_architecture_exist() -> None:
    source = "".join(file.read_text("utf-8") for file in (ROOT / "src").rglob("*.py"))
    for name in re.findall(r"`([a-z]+_[a-z_]+)`", WRITTEN["architecture.md"]):
        is_package = (ROOT / "src" / name).is_dir()
        defined = rf"^ *def {name}\(|^    {name}: "  # a function, or a field of a class
        assert is_package or re.search(defined, source, re.MULTILINE), name
