"""Board formats: the same board in every format, and errors with line numbers."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import iacta
from iacta import Board, Continent, IllegalError, classic_board, read_board
from iacta.board.board import fold_name
from iacta.board.files import read_board_file, write_board
from iacta.board.formats import FORMATS, format_board, own, tables
from iacta.board.formats import read_text as read_any
from iacta.board.formats.draft import assemble
from iacta.board.formats.reading import FileTable
from tests.cases import for_each
from tests.tables import table

FILES = Path(__file__).parent / "files"
# Each file is named after the module that reads it; files of graphs also after their endings.
# Tables of borders have their own tests.
SAMPLES = {
    file.name: each.name
    for each in FORMATS
    for file in FILES.glob(f"{each.read.__module__.rpartition('.')[2]}.*")
    if file.name.endswith(each.ending) or not file.name.startswith("graph")
}
TABLES = {each.name for each in FORMATS if each.read.__module__ == tables.__name__}
TWO_COASTS = read_board(FILES / "own.json")
DOMINATION = (FILES / "domination.map").read_text()
CONQUEST = (FILES / "conquest.map").read_text()
CLUB = (FILES / "conquer_club.xml").read_text()
LUX = (FILES / "lux.xml").read_text()
WARZONE = (FILES / "warzone.json").read_text()
OWN = (FILES / "own.json").read_text()
TOML = (FILES / "own.toml").read_text()


def read_text(folder: Path, text: str) -> Board:
    """Read a board from a file without a suffix."""
    file = folder / "board"
    file.write_text(text)
    return read_board(file)


def remarks(folder: Path, text: str) -> list[tuple[int | None, str]]:
    """Return the line and the text of each remark on a board given as text."""
    file = folder / "board"
    file.write_text(text)
    return [(each.line, each.text) for each in read_board_file(file).remarks]


def test_there_is_a_sample_of_every_format() -> None:
    assert set(SAMPLES.values()) == {each.name for each in FORMATS} - TABLES


@pytest.mark.parametrize("file", SAMPLES)
def test_every_format_gives_the_same_board(file: str) -> None:
    found = read_board(FILES / file)
    names = set(TWO_COASTS.territories)
    assert set(found.territories) == names
    assert set(found.borders) == set(TWO_COASTS.borders)
    assert {(c.name, c.bonus, frozenset(c.territories)) for c in found.continents} == {
        (c.name, c.bonus, frozenset(c.territories)) for c in TWO_COASTS.continents
    }
    if file not in ("members.json", "warzone.json"):  # these formats have no coordinates
        assert dict(zip(found.territories, found.places, strict=True)) == dict(
            zip(TWO_COASTS.territories, TWO_COASTS.places, strict=True)
        )


@pytest.mark.parametrize("file", SAMPLES)
def test_the_format_is_found_by_the_content_not_the_name(file: str, tmp_path: Path) -> None:
    renamed = tmp_path / "renamed.txt"
    renamed.write_bytes((FILES / file).read_bytes())
    found = read_board_file(renamed)
    assert found.format == SAMPLES[file]
    assert found.remarks == ()


@for_each("file", SAMPLES)
@for_each("ending", [".json", ".toml"])
def test_every_board_survives_iacta_s_own_formats(file: str, ending: str, tmp_path: Path) -> None:
    board = read_board(FILES / file)
    written = tmp_path / f"x{ending}"
    write_board(board, written)
    assert read_board(written) == board
    assert read_board(json.loads(format_board(board, "x.json"))) == board
    assert [each.name for each in tmp_path.iterdir()] == [written.name]


@pytest.mark.parametrize("ending", [".map", ".xml"])
def test_a_board_survives_domination_and_conquer_club(ending: str, tmp_path: Path) -> None:
    for board in (TWO_COASTS, classic_board()):
        written = tmp_path / f"x{ending}"
        write_board(board, written)
        found = read_board(written)
        assert (found.territories, found.borders) == (board.territories, board.borders)
        assert found.continents == board.continents
        assert found.places == board.places


def test_the_classic_board_survives_with_its_outlines() -> None:
    assert read_board(classic_board().to_record()) == classic_board()


ODD = ("[x]", "#a", ";b", "name z", "[borders]", "[map]", "crd x.cards", "<a>", "{", "1", "true")
NAMES = st.text("abXY,;#=[]'\"& <>é-_.1\\{}:/", min_size=1, max_size=6) | st.sampled_from(ODD)
NUMBERS = st.integers(-3, 3) | st.floats(-1e9, 1e9) | st.sampled_from([1e9, -1e6, 1000001, 0.5])


@st.composite
def boards(draw: st.DrawFn) -> Board:
    """Draw a random small board with odd names and coordinates."""
    names = draw(st.lists(NAMES.filter(fold_name), min_size=1, max_size=5, unique_by=fold_name))
    territories = Board("any", tuple(names), ()).territories
    some = st.lists(st.sampled_from(territories), max_size=6)
    borders = [(a, b) for a, b in zip(draw(some), draw(some), strict=False) if a != b]
    if draw(st.booleans()):
        borders += [(b, a) for a, b in borders]
    continents = draw(st.lists(NAMES.filter(fold_name), max_size=3, unique_by=fold_name))
    homes = draw(st.lists(st.integers(0, max(len(continents) - 1, 0)), min_size=5, max_size=5))
    is_parted = draw(st.booleans())
    points = st.tuples(NUMBERS, NUMBERS)
    pairs = [*zip(territories, homes, strict=False)]
    return Board(
        draw(NAMES.filter(fold_name)),
        territories,
        tuple(borders),
        tuple(
            Continent(
                name,
                draw(st.integers(-9, 9)),
                tuple(each for each, home in pairs if home == number)
                if is_parted
                else tuple(dict.fromkeys(draw(some))),
            )
            for number, name in enumerate(continents)
        ),
        draw(
            st.just(())
            | st.just(((1.5, 2.0),) * len(territories))
            | st.tuples(*[points] * len(territories))
        ),
        draw(
            st.just(())
            | st.tuples(*[st.lists(st.lists(points, max_size=3), max_size=2)] * len(territories))
        ),
    )


@given(boards())
@pytest.mark.slow
def test_any_board_survives_iacta_s_own_formats(board: Board) -> None:
    for ending in ("json", "toml"):
        assert _read(format_board(board, f"x.{ending}"), board.name) == board


@given(boards(), st.sampled_from(["map", "xml"]))
@pytest.mark.slow
def test_any_board_survives_other_formats_or_is_refused(board: Board, ending: str) -> None:
    try:
        text = format_board(board, f"x.{ending}")
    except IllegalError as refused:
        assert str(refused).startswith(("in a .map ", "in an .xml "))
        return
    found = _read(text, board.name)
    # These formats turn hyphens into spaces and coordinates into whole pixels.
    assert fold_name(found.name) == fold_name(board.name)
    assert list(map(fold_name, found.territories)) == list(map(fold_name, board.territories))
    numbers = {name: number for number, name in enumerate(board.territories)}
    theirs = {name: number for number, name in enumerate(found.territories)}
    assert [(theirs[a], theirs[b]) for a, b in found.borders] == [
        (numbers[a], numbers[b]) for a, b in board.borders
    ]
    assert [
        (fold_name(c.name), c.bonus, [theirs[name] for name in c.territories])
        for c in found.continents
    ] == [
        (fold_name(c.name), c.bonus, sorted(numbers[name] for name in c.territories))
        if ending == "map"
        else (fold_name(c.name), c.bonus, [numbers[name] for name in c.territories])
        for c in board.continents
    ]
    assert found.places == tuple((round(x), round(y)) for x, y in board.places)


def _read(text: str, name: str) -> Board:
    return assemble(read_any(text, name)[1]).board


@pytest.mark.parametrize("name", ["#1", ";1"])
def test_continent_names_that_look_like_comments_are_refused(name: str) -> None:
    board = Board("x", ("A", "B"), (), (Continent(name, 1, ("A",)), Continent("C", 1, ("B",))))
    with pytest.raises(IllegalError, match="a continent's name must not begin with ; or #, got "):
        format_board(board, "x.map")


def test_toml_with_commas_is_not_taken_for_conquest() -> None:
    for text in ('[territories]\n"A, B" = []\n', "[territories]\n# A, B\nA = []\n"):
        assert read_any(text, "x")[0] is own.TOML
    assert read_any("[Territories]\n; a, b\nA,1,2,\n", "x")[0].name == "Conquest"


def test_very_many_blanks_are_read_quickly() -> None:
    assert read_any("[territories]\n" + " " * 900_000, "x")[0] is own.TOML


def test_boards_that_a_format_cannot_represent_are_not_written() -> None:
    homeless = Board("x", ("A", "B"), (), (Continent("X", 1, ("A",)),))
    with pytest.raises(IllegalError, match="must be in one continent, got 'B' in none"):
        format_board(homeless, "x.map")
    twice = Board("x", ("A",), (), (Continent("X", 1, ("A",)), Continent("Y", 1, ("A",))))
    with pytest.raises(IllegalError, match="must be in one continent, got 'A' in two"):
        format_board(twice, "x.map")
    with pytest.raises(IllegalError, match=r"must end in \.json, \.toml, .*, got 'x.png'"):
        format_board(homeless, "x.png")


def test_a_file_that_cannot_be_written_is_refused(tmp_path: Path) -> None:
    with pytest.raises(IllegalError, match=r"cannot write .*: no such folder"):
        write_board(TWO_COASTS, tmp_path / "none" / "x.json")
    (tmp_path / "x.json").mkdir()
    with pytest.raises(IllegalError, match="cannot write"):
        write_board(TWO_COASTS, tmp_path / "x.json")
    assert [each.name for each in tmp_path.iterdir()] == ["x.json"]


def replace_text(file: str | None, old: str, new: str) -> str:
    """Return a file's content with one text replaced; without an old text, return the new one."""
    return (FILES / file).read_text().replace(old, new) if file else new


@for_each(*table(__file__, "mistakes"))
def test_each_mistake_is_reported_with_its_line(
    mistake: str, file: str | None, old: str, new: str, sentence: str | None, tmp_path: Path
) -> None:
    text = replace_text(file, old, new)
    with pytest.raises((IllegalError, iacta.MalformedError)) as refused:
        read_text(tmp_path, text)
    message = str(refused.value)
    assert message.startswith(f"board file {str(tmp_path / 'board')!r}: ")
    assert "\n" not in message
    if sentence is not None:
        assert message.split(": ", 1)[1].startswith(sentence)


def test_all_mistakes_are_reported_at_once_and_very_many_are_counted(tmp_path: Path) -> None:
    two = OWN.replace('["Egypt", "East', '["Egipt", "Eest').replace('["Brazil", "Peru"]', '["X"]')
    with pytest.raises(IllegalError, match=r"3 mistakes: line 6: .*'Egipt'.*; line 6: .*; line 11"):
        read_text(tmp_path, two)
    many = {"territories": {"A": [f"no {number}" for number in range(50)]}}
    with pytest.raises(IllegalError, match=r"50 mistakes: .*; and 40 more$"):
        read_board(many)


@for_each(*table(__file__, "oddities"))
def test_each_oddity_gets_a_remark_with_its_line(
    file: str, old: str, new: str, line: int, sentence: str | None, tmp_path: Path
) -> None:
    found = remarks(tmp_path, replace_text(file, old, new))
    assert line in [each for each, _ in found]
    assert sentence is None or (line, sentence) in found


def test_a_remark_names_an_isolated_first_territory_instead_of_all_others() -> None:
    table = {"territories": {"Island": [], "A": ["B"], "B": []}}
    found = assemble(own.read_board_table(FileTable(table), "x")).remarks
    assert [each.text for each in found] == ["'Island' cannot be reached from 'A'"]


def test_continents_may_consist_of_continents() -> None:
    table = json.loads(OWN)
    table["continents"]["World"] = {"bonus": 9, "territories": ["africa", "South-America"]}
    world = read_board(table).continents[-1]
    assert world.territories == ("North Africa", "Egypt", "East Africa", "Brazil", "Peru")


def test_directed_borders_in_iacta_s_format_lead_one_way() -> None:
    board = read_board({"directed": True, "territories": {"A": ["B"], "B": []}})
    assert board.borders == (("A", "B"),)
    assert board.to_record()["directed"] is True


def test_a_territory_with_its_own_bonus_becomes_a_continent(tmp_path: Path) -> None:
    text = CLUB.replace("<name>Peru</name>", "<name>Peru</name><bonus>4</bonus>")
    found = read_text(tmp_path, text).continents[-1]
    assert (found.bonus, found.territories) == (4, ("Peru",))


def test_warzone_bonuses_may_overlap(tmp_path: Path) -> None:
    text = WARZONE.replace('"1",\n     "2"', '"1",\n     "3"')
    found = {c.name: c.territories for c in read_text(tmp_path, text).continents}
    assert found["South America"] == ("Brazil", "North Africa")
    assert "North Africa" in found["Africa"]


def test_outlines_are_read_from_lux() -> None:
    board = read_board(FILES / "lux.xml")
    assert board.outlines[0] == (((130, 140), (150, 140), (150, 160), (130, 160)),)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "latin-1", "cp1252", "utf-16"])
def test_old_and_new_encodings_are_read(encoding: str, tmp_path: Path) -> None:
    for text in (CONQUEST, CLUB, DOMINATION):
        file = tmp_path / "x"
        file.write_bytes(text.replace("Egypt", "Ägypten").encode(encoding))
        assert "Ägypten" in read_board(file).territories


def test_text_that_is_not_utf_8_is_windows_1252_with_one_remark(tmp_path: Path) -> None:
    for text in (CONQUEST, DOMINATION):
        file = tmp_path / "x"
        file.write_bytes(text.replace("Egypt", "“Ägypten”").encode("cp1252"))
        found = read_board_file(file)
        assert "“Ägypten”" in found.board.territories
        line = text[: text.index("Egypt")].count("\n") + 1
        said = "this is not UTF-8, so the file is read as Windows-1252"
        assert found.remarks == ((line, said),)


@pytest.mark.parametrize("encoding", ["ISO-8859-1", "windows-1251"])
def test_xml_that_declares_its_encoding_is_read_without_a_remark(
    encoding: str, tmp_path: Path
) -> None:
    name = "“Ägypten”" if encoding == "ISO-8859-1" else "Египет"
    text = f"<?xml version='1.0' encoding='{encoding}'?>{CLUB[CLUB.index('<map') :]}"
    file = tmp_path / "x"
    coded = "cp1252" if encoding == "ISO-8859-1" else encoding
    file.write_bytes(text.replace("Egypt", name).encode(coded))
    found = read_board_file(file)
    assert name in found.board.territories
    assert found.remarks == ()


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (b"PK\x03\x04\0\0", "a ZIP archive"),
        (b"GIF89a\0", "a GIF picture"),
        (b"\x89PNG\r\n", "a PNG picture"),
        (b"%PDF-1.4\n\x93", "a PDF"),
    ],
)
def test_the_message_names_the_kind_of_a_binary_file(
    content: bytes, kind: str, tmp_path: Path
) -> None:
    (tmp_path / "x").write_bytes(content)
    with pytest.raises(iacta.MalformedError, match=f"the file must be text, got {kind}$"):
        read_board(tmp_path / "x")


def test_a_windows_line_end_counts_as_one(tmp_path: Path) -> None:
    file = tmp_path / "x"
    file.write_bytes(CONQUEST.replace("160,Africa", "160,Afrika").replace("\n", "\r\n").encode())
    with pytest.raises(IllegalError, match="line 18: unknown continent"):
        read_board(file)


# A board of four territories, two of which have the same name.
FOUR = {each.suffix: each.read_text() for each in (Path(__file__).parent / "four").iterdir()}


@pytest.mark.parametrize("text", FOUR.values(), ids=FOUR)
def test_territories_of_equal_name_are_distinguished_by_ids(text: str, tmp_path: Path) -> None:
    board = read_text(tmp_path, text)
    assert board.territories == ("Port (East)", "Hill", "Port (West)", "Bay")
    assert len(board.borders) == 2 * 3
    assert board.continents == (
        Continent("East", 4, ("Port (East)", "Hill")),
        Continent("West", 6, ("Port (West)", "Bay")),
    )
    said = "2 territories are named 'Port'; iacta calls them 'Port (East)', 'Port (West)'"
    assert [each for _, each in remarks(tmp_path, text)] == [said]


def test_territories_of_one_name_in_one_continent_get_numbers(tmp_path: Path) -> None:
    text = FOUR[".map"].replace("Hill", "port").replace("Bay", "Port_(1)")
    names = ("Port (2)", "port (3)", "Port (West)", "Port (1)")
    assert read_text(tmp_path, text).territories == names
    assert read_text(tmp_path, text.replace("3 Port 2", "3 Port 1")).territories == (
        *names[:2],
        "Port (4)",
        "Port (1)",
    )


def test_territories_with_one_long_name_are_distinguished() -> None:
    name = "x" * 100
    territories = [{"id": n, "name": name, "connectedTo": []} for n in range(2000)]
    board = _read(json.dumps({"territories": territories}), "any")
    assert len(board.territories) == 2000


def test_borders_with_an_ambiguous_country_name_are_refused(tmp_path: Path) -> None:
    text = FOUR[".map"].replace("4 3\n", "Bay Port\n")
    sentence = (
        "line 14: borders must use ids where names repeat, got 'Port', the name of the countries "
        "in lines 6 and 8"
    )
    with pytest.raises(IllegalError, match=sentence):
        read_text(tmp_path, text)


@for_each(*table(__file__, "partial_maps"))
def test_a_domination_map_may_omit_everything_that_odds_do_not_need(
    kind: str, text: str, tmp_path: Path
) -> None:
    board = read_text(tmp_path, text)
    assert board.borders == (("A", "B"), ("B", "A"), ("B", "C"), ("C", "B"))
    assert board.continents == (
        Continent("Lowland", 3, ("A", "B")),
        Continent("Upland", 5, ("C",)),
    )
    assert len(board.places) == (3 if "A 1 5" in text else 0)
    assert remarks(tmp_path, text) == []


def test_countries_of_lux_and_warzone_need_no_names(tmp_path: Path) -> None:
    lux = LUX.replace("<name>Egypt</name>", "").replace("<name>Peru</name>", "<name/>")
    found = read_text(tmp_path, lux.replace("<continentname>Africa</continentname>", ""))
    assert found.territories == ("Brazil", "1", "North Africa", "3", "East Africa")
    assert found.continents[1].name == "Continent 2"
    warzone = WARZONE.replace('"name": "Egypt",', "").replace('"name": "Africa",', "")
    found = read_text(tmp_path, warzone)
    assert found.territories[3] == "4"
    assert found.continents[1].name.startswith("Bonus ")


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("conquest.map", "East Africa,400,160", "East Africa,,"),
        ("conquer_club.xml", "<smallx>400</smallx>", ""),
    ],
)
def test_a_territory_may_lack_its_place(file: str, old: str, new: str, tmp_path: Path) -> None:
    text = replace_text(file, old, new)
    assert read_text(tmp_path, text).territories == TWO_COASTS.territories


def test_the_cards_beside_a_map_are_counted_and_checked(tmp_path: Path) -> None:
    found = read_board_file(FILES / "domination.map").cards
    assert found is not None
    assert (found.territories, found.wildcards, found.missions, found.remarks) == (5, 2, 2, ())
    (tmp_path / "x.map").write_text(DOMINATION.replace("crd coasts.cards", ""))
    assert read_board_file(tmp_path / "x.map").cards is None
    cards = "[cards]\nInfantry 1\nCavalry 1\nCannon 9\nDragon 2\nwildcard\n"
    (tmp_path / "x.cards").write_text(cards)
    odd = read_board_file(tmp_path / "x.map").cards
    assert odd is not None
    assert odd.remarks == (
        (3, "there are two cards for 'Brazil'"),
        (4, "a card must be a type and the id of a country, got 'Cannon 9'"),
        (5, "a card must be a type and the id of a country, got 'Dragon 2'"),
        (0, "there is no card for 'Peru' and 3 more"),
    )


@pytest.mark.parametrize("name", ["../secret.cards", "/etc/x.cards", "..\\x.cards", ".x.cards"])
def test_a_map_may_only_name_cards_in_its_own_folder(name: str, tmp_path: Path) -> None:
    (tmp_path / "secret.cards").write_text("[cards]\nwildcard\n")
    inner = tmp_path / "inner"
    inner.mkdir()
    (inner / "x.map").write_text(DOMINATION.replace("coasts.cards", name))
    assert read_board_file(inner / "x.map").cards is None


def test_the_name_classic_means_the_built_in_board() -> None:
    assert read_board("classic") is classic_board()
    assert read_board("Classic") is classic_board()


@pytest.mark.parametrize(*table(__file__, "empty_continents"))
def test_a_continent_without_territories_is_read_with_a_remark(
    file: str, old: str, new: str, tmp_path: Path
) -> None:
    text = replace_text(file, old, new)
    found = read_text(tmp_path, text)
    assert Continent("Atlantis", 7, ()) in found.continents
    assert "continent 'Atlantis' has no territories" in [
        said for _, said in remarks(tmp_path, text)
    ]
    held = dict.fromkeys(found.territories, ("blue", 1)) | {"Brazil": ("red", 2)}
    assert iacta.Turn(iacta.Position(found, "red", held)).new_armies() == 3


@pytest.mark.parametrize(
    ("west", "east", "bonuses"),
    [("<bonus>4</bonus>", "<bonus>4</bonus>", (4, 4)), ("", "", (0, 0))],
)
def test_lux_continents_may_have_equal_or_no_bonuses(
    west: str, east: str, bonuses: tuple[int, int], tmp_path: Path
) -> None:
    text = FOUR[".xml"].replace("<bonus>4</bonus>", west).replace("<bonus>6</bonus>", east)
    found = read_text(tmp_path, text).continents
    assert tuple(continent.bonus for continent in found) == bonuses
    assert [len(continent.territories) for continent in found] == [2, 2]


def test_lux_continents_inside_others_may_have_equal_bonuses(tmp_path: Path) -> None:
    inner = FOUR[".xml"].replace("<bonus>6</bonus>", "<bonus>4</bonus>")
    outer = "<continent><continentname>World</continentname><bonus>4</bonus>"
    text = inner.replace("</title>", f"</title>{outer}").replace(
        "</luxboard>", "</continent></luxboard>"
    )
    found = read_text(tmp_path, text).continents
    assert [(each.name, each.bonus, len(each.territories)) for each in found] == [
        ("World", 4, 4),
        ("East", 4, 2),
        ("West", 4, 2),
    ]


@pytest.mark.parametrize(
    ("count", "sentence"),
    [
        (1, "'T0' borders on itself; this border is left out"),
        (3, "'T0', 'T1', 'T2' border on themselves; these borders are left out"),
        (12, "'T8', 'T9' and 2 more border on themselves; these borders are left out"),
    ],
)
def test_one_remark_lists_the_territories_that_border_on_themselves(
    count: int, sentence: str
) -> None:
    loops = {f"T{n}": [f"T{n}", f"T{n + 1}"] for n in range(count)}
    table = {"territories": {**loops, f"T{count}": []}}
    (remark,) = assemble(own.read_board_table(FileTable(table), "x")).remarks
    assert remark.text.endswith(sentence)


def test_a_domination_country_may_name_its_continent(tmp_path: Path) -> None:
    text = DOMINATION.replace("Brazil 1", "Brazil south_america").replace("Egypt 2", "Egypt AFRICA")
    board = read_text(tmp_path, text)
    assert board == read_text(tmp_path, DOMINATION)
    two = text.replace("Africa 3", "South_America 3")
    with pytest.raises(
        IllegalError, match=r"line 15: continent must be the number .* got 'south_am"
    ):
        read_text(tmp_path, two)


def test_domination_continents_may_have_both_numbers_and_numeric_names(tmp_path: Path) -> None:
    rest = "[countries]\n1 A 1\n2 B 2\n[borders]\n1 2\n2 1\n"
    text = f"[continents]\n1 2 3 red\n2 East 5 blue\n{rest}"
    east = Continent("East", 5, ("B",))
    assert read_text(tmp_path, text).continents == (Continent("2", 3, ("A",)), east)
    unnumbered = text.replace("1 2 3 red", "7 3 red").replace("2 East", "East")
    assert read_text(tmp_path, unnumbered).continents == (Continent("7", 3, ("A",)), east)


@pytest.mark.parametrize("name", ['"name": null,', '"name": "",', '"name": " ",', ""])
def test_a_warzone_name_may_be_null_or_empty(name: str, tmp_path: Path) -> None:
    text = WARZONE.replace('"name": "Egypt",', name).replace('"name": "Africa",', name)
    found = read_text(tmp_path, text)
    assert found.territories[3] == "4"
    assert found.continents[1].name.startswith("Bonus ")
