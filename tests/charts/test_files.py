"""Charts as files: written atomically, self-contained, and with their data."""

import csv
import io
import json
import re
from contextlib import closing
from pathlib import Path
from xml.etree import ElementTree

import pytest

from iacta import Battle, IllegalError, TooLargeError, charts, win_table
from iacta.charts.converter import CONVERTED
from iacta.charts.saving import SUFFIXES, fit_width
from tests.processes import run_python

CHART = charts.win_chance_map(win_table(4, 3))
STARTS = {"svg": b"<svg", "png": b"\x89PNG", "pdf": b"%PDF", "html": b"<!doctype html>"}


@pytest.mark.parametrize("kind", SUFFIXES)
def test_each_suffix_selects_its_format(kind: str, tmp_path: Path) -> None:
    file = tmp_path / f"odds.{kind}"
    CHART.save(file)
    content = file.read_bytes()
    assert content.startswith(STARTS.get(kind, b""))
    assert list(tmp_path.iterdir()) == [file]


def test_an_svg_has_the_title_and_the_subtitle_of_its_chart(tmp_path: Path) -> None:
    file = tmp_path / "odds.svg"
    CHART.save(file)
    root = ElementTree.fromstring(file.read_text(encoding="utf-8"))  # noqa: S314 # our own file
    words = {each.tag.split("}")[1]: each.text for each in root}
    assert f"{words['title']} {words['desc']}" == CHART.description
    assert root.attrib["role"] == "img"


def test_text_has_the_expected_width_on_each_system(tmp_path: Path) -> None:
    file = tmp_path / "odds.svg"
    CHART.save(file)
    fonts = re.findall(r'font-family="([^"]*)"', file.read_text(encoding="utf-8"))
    # These fonts have equal widths, whereas system fonts may be wider.
    assert {each.partition(", Helvetica")[0] for each in fonts} == {"Liberation Sans, Arial"}


def test_narrow_plots_use_their_narrow_properties() -> None:
    spec = CHART.to_dict()
    wide, narrow = fit_width(spec), fit_width(spec, width=260)
    assert len(wide["title"]["text"]) <= len(narrow["title"]["text"])
    assert max(map(len, narrow["title"]["text"])) <= 42
    assert narrow["config"]["view"]["continuousWidth"] == 260


def test_the_data_equals_the_library_s_numbers(tmp_path: Path) -> None:
    table = win_table(4, 3)
    for row in csv.DictReader(io.StringIO(CHART.to_csv())):
        place = int(row["attackers"]) - 1, int(row["defenders"]) - 1
        assert float(row["win_probability"]) == table[place]
    assert sum(row["win_probability"] for row in CHART.tables["battles"]) == pytest.approx(
        table.sum()
    )


def test_a_page_needs_no_network(tmp_path: Path) -> None:
    file = tmp_path / "odds.html"
    CHART.save(file)
    page = file.read_text(encoding="utf-8")
    assert not re.findall(
        r"<(?:script|link|img|iframe)[^>]*(?:src|href)=", page.split("<script>")[0]
    )
    assert not re.findall(r"<script[^>]+src=", page)
    assert "vegaEmbed" in page


def test_dark_mode_only_changes_the_theme() -> None:
    light, dark = (CHART.to_dict(dark=dark) for dark in (False, True))
    assert light.pop("config") != dark.pop("config")
    assert light == dark


def test_a_notebook_shows_a_picture_and_a_terminal_its_title() -> None:
    bundle = CHART._repr_mimebundle_()
    assert bundle["text/plain"] == repr(CHART) == f"<Chart: {CHART.title}>"
    assert bundle["image/svg+xml"].startswith('<svg role="img"')


def test_wrong_paths_are_refused_in_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(IllegalError, match=r"must end in .svg, .png, .*, got 'odds.gif'"):
        CHART.save("odds.gif")
    with pytest.raises(IllegalError, match="cannot write"):
        CHART.save(tmp_path / "nowhere" / "odds.json")
    (tmp_path / "folder.json").mkdir()
    with pytest.raises(IllegalError, match="cannot write"):
        CHART.save(tmp_path / "folder.json")
    assert [file.name for file in tmp_path.iterdir()] == ["folder.json"]


def test_the_child_process_draws_the_same_picture() -> None:
    from iacta.charts.converter import Converter, PictureError, convert

    spec = json.dumps(charts.battle_outcomes(Battle(4, 3)).to_dict())
    with closing(Converter("svg")) as converter:
        svg = converter(spec, "svg")
        assert svg == convert(spec, "svg")
        assert converter(svg.decode(), "raster") == convert(spec, "png")
        with pytest.raises(PictureError, match="Error"):
            converter("{", "svg")
    assert set(CONVERTED) == set(STARTS)


def test_without_vl_convert_the_message_has_the_command_to_install_it() -> None:
    code = (
        "import sys; sys.modules['vl_convert'] = None\n"
        "from iacta import Battle\n"
        "try:\n    Battle(4, 3).plot().save('odds.svg')\n"
        "except ValueError as error:\n    print(error)"
    )
    ended = run_python(code)
    assert "pip install vl-convert-python\n" in ended.stdout


def test_saving_follows_links_and_keeps_permissions(tmp_path: Path) -> None:
    real, link = tmp_path / "real.json", tmp_path / "link.json"
    real.write_text("before", encoding="utf-8")
    real.chmod(0o600)
    link.symlink_to(real)
    CHART.save(link)
    assert link.is_symlink()
    assert json.loads(real.read_text(encoding="utf-8"))["datasets"]
    assert real.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("spoilt", [b"", b"alert('other')", None])
def test_a_damaged_script_is_not_used_in_pages(
    spoilt: bytes | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from iacta.charts import converter

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    script = "the script"
    monkeypatch.setattr("vl_convert.javascript_bundle", lambda: script)
    assert converter.convert("", "html") == script.encode()
    (known,) = (tmp_path / "iacta").iterdir()
    if spoilt is None:
        monkeypatch.setattr("vl_convert.javascript_bundle", lambda: "not asked again")
    else:
        known.write_bytes(spoilt)
    assert converter.convert("", "html") == script.encode()


def test_a_killed_converter_is_reported_in_a_sentence(tmp_path: Path) -> None:
    from iacta.charts.converter import Converter

    killed = pytest.raises(TooLargeError, match="cannot be drawn: the converter was killed")
    with closing(Converter("svg")) as converter, killed:
        converter._process.kill()
        CHART.save(tmp_path / "odds.svg", make=converter)
    assert not list(tmp_path.iterdir())
