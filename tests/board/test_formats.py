"""Every format gives the same board, survives ours, and each mistake is reported with its line."""

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from iacta import (
    Board,
    Continent,
    IllegalError,
    MalformedError,
    Position,
    Turn,
    classic_board,
    read_board,
)
from iacta.board.board import folded
from iacta.board.files import read_board_file, write_board
from iacta.board.formats import FORMATS, board_text, own
from iacta.board.formats import read_text as read_any
from iacta.board.formats.draft import assemble
from iacta.board.formats.reading import FileTable

FILES = Path(__file__).parent / "files"
# Each file is called like the module that reads it.
SAMPLES = {
    file.name: each.name
    for each in FORMATS
    for file in FILES.glob(f"{each.read.__module__.rpartition('.')[2]}.*")
}
TWO_COASTS = read_board(FILES / "own.json")
DOMINATION = (FILES / "domination.map").read_text()
CONQUEST = (FILES / "conquest.map").read_text()
CLUB = (FILES / "conquer_club.xml").read_text()
LUX = (FILES / "lux.xml").read_text()
WARZONE = (FILES / "warzone.json").read_text()
OWN = (FILES / "own.json").read_text()
TOML = (FILES / "own.toml").read_text()


def read_text(folder: Path, text: str) -> Board:
    """Return the board in a text, from a file without an ending."""
    file = folder / "board"
    file.write_text(text)
    return read_board(file)


def remarks(folder: Path, text: str) -> list[tuple[int | None, str]]:
    """Return what is odd about the board in a text."""
    file = folder / "board"
    file.write_text(text)
    return [(each.line, each.text) for each in read_board_file(file).remarks]


def test_there_is_a_sample_of_every_format() -> None:
    assert set(SAMPLES.values()) == {each.name for each in FORMATS}


@pytest.mark.parametrize("file", SAMPLES)
def test_every_format_gives_the_same_board(file: str) -> None:
    found = read_board(FILES / file)
    names = set(TWO_COASTS.territories)
    assert set(found.territories) == names
    assert set(found.borders) == set(TWO_COASTS.borders)
    assert {(c.name, c.bonus, frozenset(c.territories)) for c in found.continents} == {
        (c.name, c.bonus, frozenset(c.territories)) for c in TWO_COASTS.continents
    }
    if file != "warzone.json":  # which has no places
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


@pytest.mark.parametrize("file", SAMPLES)
@pytest.mark.parametrize("ending", [".json", ".toml"])
def test_every_board_survives_our_own_formats(file: str, ending: str, tmp_path: Path) -> None:
    board = read_board(FILES / file)
    written = tmp_path / f"x{ending}"
    write_board(board, written)
    assert read_board(written) == board
    assert read_board(json.loads(board_text(board, "x.json"))) == board
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
    """Draw a small board with odd names and places."""
    names = draw(st.lists(NAMES.filter(folded), min_size=1, max_size=5, unique_by=folded))
    territories = Board("any", tuple(names), ()).territories
    some = st.lists(st.sampled_from(territories), max_size=6)
    borders = [(a, b) for a, b in zip(draw(some), draw(some), strict=False) if a != b]
    if draw(st.booleans()):
        borders += [(b, a) for a, b in borders]
    continents = draw(st.lists(NAMES.filter(folded), max_size=3, unique_by=folded))
    homes = draw(st.lists(st.integers(0, max(len(continents) - 1, 0)), min_size=5, max_size=5))
    is_parted = draw(st.booleans())
    points = st.tuples(NUMBERS, NUMBERS)
    pairs = [*zip(territories, homes, strict=False)]
    return Board(
        draw(NAMES.filter(folded)),
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


@settings(max_examples=300)
@given(boards())
@pytest.mark.slow
def test_any_board_comes_back_from_our_own_formats(board: Board) -> None:
    for ending in ("json", "toml"):
        assert _read(board_text(board, f"x.{ending}"), board.name) == board


@settings(max_examples=300)
@given(boards(), st.sampled_from(["map", "xml"]))
@pytest.mark.slow
def test_any_board_comes_back_from_other_formats_or_is_refused(board: Board, ending: str) -> None:
    try:
        text = board_text(board, f"x.{ending}")
    except IllegalError as refused:
        assert str(refused).startswith(("in a .map ", "in an .xml "))
        return
    found = _read(text, board.name)
    # A hyphen is a space there, and places are whole pixels.
    assert folded(found.name) == folded(board.name)
    assert list(map(folded, found.territories)) == list(map(folded, board.territories))
    numbers = {name: number for number, name in enumerate(board.territories)}
    theirs = {name: number for number, name in enumerate(found.territories)}
    assert [(theirs[a], theirs[b]) for a, b in found.borders] == [
        (numbers[a], numbers[b]) for a, b in board.borders
    ]
    assert [
        (folded(c.name), c.bonus, [theirs[name] for name in c.territories])
        for c in found.continents
    ] == [
        (folded(c.name), c.bonus, sorted(numbers[name] for name in c.territories))
        if ending == "map"
        else (folded(c.name), c.bonus, [numbers[name] for name in c.territories])
        for c in board.continents
    ]
    assert found.places == tuple((round(x), round(y)) for x, y in board.places)


def _read(text: str, name: str) -> Board:
    return assemble(read_any(text, name)[1]).board


@pytest.mark.parametrize("name", ["#1", ";1"])
def test_no_map_has_a_continent_that_reads_as_a_comment(name: str) -> None:
    board = Board("x", ("A", "B"), (), (Continent(name, 1, ("A",)), Continent("C", 1, ("B",))))
    with pytest.raises(IllegalError, match="no continent's name may begin as comments do, got "):
        board_text(board, "x.map")


def test_toml_with_commas_is_not_taken_for_conquest() -> None:
    for text in ('[territories]\n"A, B" = []\n', "[territories]\n# A, B\nA = []\n"):
        assert read_any(text, "x")[0] is own.TOML
    assert read_any("[Territories]\n; a, b\nA,1,2,\n", "x")[0].name == "Conquest"


def test_blanks_without_end_cost_nothing() -> None:
    assert read_any("[territories]\n" + " " * 900_000, "x")[0] is own.TOML


def test_what_a_map_cannot_hold_is_not_written() -> None:
    homeless = Board("x", ("A", "B"), (), (Continent("X", 1, ("A",)),))
    with pytest.raises(IllegalError, match="must be in one continent, got 'B' in none"):
        board_text(homeless, "x.map")
    twice = Board("x", ("A",), (), (Continent("X", 1, ("A",)), Continent("Y", 1, ("A",))))
    with pytest.raises(IllegalError, match="must be in one continent, got 'A' in two"):
        board_text(twice, "x.map")
    with pytest.raises(IllegalError, match=r"must end in \.json, \.toml, .*, got 'x.png'"):
        board_text(homeless, "x.png")


def test_a_file_that_cannot_be_written_is_refused(tmp_path: Path) -> None:
    with pytest.raises(IllegalError, match=r"cannot write .*: no such folder"):
        write_board(TWO_COASTS, tmp_path / "none" / "x.json")
    (tmp_path / "x.json").mkdir()
    with pytest.raises(IllegalError, match="cannot write"):
        write_board(TWO_COASTS, tmp_path / "x.json")
    assert [each.name for each in tmp_path.iterdir()] == ["x.json"]


# The file, what is replaced in it, by what, and the sentence.
REPLACED: dict[str, tuple[str, str, str, str | None]] = json.loads(
    Path(__file__).with_name("mistakes.json").read_text("utf-8")
)
MISTAKES: dict[str, tuple[str, str | None]] = {
    name: ((FILES / of).read_text().replace(old, new) if of else new, sentence)
    for name, (of, old, new, sentence) in REPLACED.items()
} | {
    "a border line of nobody": (
        DOMINATION + "8 1\n",
        "line 27: unknown territory with borders: '8'",
    ),
    "two border lines": (DOMINATION + "5 3\n", "line 27: country 5 has a second line of borders"),
    "a truncated map": (
        DOMINATION[: DOMINATION.index(" 100\n5 East")],
        "line 18: expected a country's id, name, continent, x and y, got '4 Egypt 2 380'",
    ),
    "a short line": (
        CONQUEST[: CONQUEST.index(",120,")],
        "line 16: expected name,x,y,continent,neighbours, got 'North Africa,300'",
    ),
    "an element without its end": (
        CLUB[: CLUB.index("<name>Egypt")],
        "line 28: the text is not XML: no element found",
    ),
    "a polygon of two points": (LUX.replace("130,140 150,140 ", "", 1), None),
    "an id of the wrong type": (WARZONE.replace('"id": "3"', '"id": {}', 1), None),
    "JSON cut off": (OWN[:100], "line 5: invalid JSON: "),
    "TOML cut off": (TOML[:70], "line 5: invalid TOML: "),
    "continents in a circle": (
        OWN.replace('["Brazil", "Peru"]', '["Africa"]').replace(
            '["North Africa", "Egypt", "E', '["South America", "E'
        ),
        None,
    ),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_each_mistake_is_reported_with_its_line(mistake: str, tmp_path: Path) -> None:
    text, sentence = MISTAKES[mistake]
    with pytest.raises((IllegalError, MalformedError)) as refused:
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


@pytest.mark.parametrize(
    ("text", "line", "sentence"),
    [
        (DOMINATION.replace("\n2 1\n", "\n2\n"), 22, "the border from 'Brazil' to 'Peru' leads one "
        "way only"),
        (CONQUEST.replace("America,Brazil\n", "America\n"), 13, "the border from 'Brazil' to "
        "'Peru' leads one way only"),
        (CLUB.replace("<border>Peru</border>", ""), 14, "the border from 'Peru' to 'Brazil' leads "
        "one way only"),
        (CLUB.replace("<border>Peru</border>", ""), 11, "'Peru' cannot be reached from 'Brazil'"),
        (LUX.replace("<adjoining>0</", "<adjoining></"), 13, None),
        (OWN.replace('"Peru", "North', '"North'), 5, "'Peru' cannot be reached from 'Brazil'"),
        (OWN.replace('"Brazil", "Peru"]', '"Brazil"]'), 5, "'Peru' belongs to no continent"),
        (OWN.replace('["Brazil", "Peru"]', "[]"), 11, "continent 'South America' has no "
        "territories"),
        (OWN.replace('"Peru": []', '"Peru": ["Peru"]'), 5, "'Peru' is its own neighbour"),
        (CONQUEST.replace("America,Brazil\n", "America,Brazil,brazil\n"), 14, "'Peru' has the "
        "neighbour 'Brazil' twice"),
    ],
)  # fmt: skip
def test_what_is_odd_is_remarked_on_with_its_line(
    text: str, line: int, sentence: str | None, tmp_path: Path
) -> None:
    found = remarks(tmp_path, text)
    assert line in [each for each, _ in found]
    assert sentence is None or (line, sentence) in found


def test_if_the_first_territory_is_cut_off_it_is_remarked_on_not_all_others() -> None:
    table = {"territories": {"Island": [], "A": ["B"], "B": []}}
    found = assemble(own.read_board_table(FileTable(table), "x")).remarks
    assert [each.text for each in found] == ["'Island' cannot be reached from 'A'"]


def test_continents_may_consist_of_continents() -> None:
    table = json.loads(OWN)
    table["continents"]["World"] = {"bonus": 9, "territories": ["africa", "South-America"]}
    world = read_board(table).continents[-1]
    assert world.territories == ("North Africa", "Egypt", "East Africa", "Brazil", "Peru")


def test_directed_borders_of_our_own_lead_one_way() -> None:
    board = read_board({"directed": True, "territories": {"A": ["B"], "B": []}})
    assert board.borders == (("A", "B"),)
    assert board.to_record()["directed"] is True


def test_a_territory_with_a_bonus_of_its_own_is_a_continent_of_one(tmp_path: Path) -> None:
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


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "latin-1", "utf-16"])
def test_old_and_new_encodings_are_read(encoding: str, tmp_path: Path) -> None:
    for text in (CONQUEST, CLUB, DOMINATION):
        file = tmp_path / "x"
        file.write_bytes(text.replace("Egypt", "Ägypten").encode(encoding))
        assert "Ägypten" in read_board(file).territories


def test_a_windows_line_end_counts_as_one(tmp_path: Path) -> None:
    file = tmp_path / "x"
    file.write_bytes(CONQUEST.replace("160,Africa", "160,Afrika").replace("\n", "\r\n").encode())
    with pytest.raises(IllegalError, match="line 18: unknown continent"):
        read_board(file)


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
        (4, "a card must be a kind and the id of a country, got 'Cannon 9'"),
        (5, "a card must be a kind and the id of a country, got 'Dragon 2'"),
        (0, "there is no card for 'Peru' and 3 more"),
    )


@pytest.mark.parametrize("name", ["../secret.cards", "/etc/x.cards", "..\\x.cards", ".x.cards"])
def test_a_map_names_no_cards_elsewhere(name: str, tmp_path: Path) -> None:
    (tmp_path / "secret.cards").write_text("[cards]\nwildcard\n")
    inner = tmp_path / "inner"
    inner.mkdir()
    (inner / "x.map").write_text(DOMINATION.replace("coasts.cards", name))
    assert read_board_file(inner / "x.map").cards is None


def test_classic_is_the_built_in_board() -> None:
    assert read_board("classic") is classic_board()
    assert read_board("Classic") is classic_board()


EMPTY = {
    "domination": DOMINATION.replace("Africa 3 yellow", "Africa 3 yellow\nAtlantis 7 blue"),
    "conquest": CONQUEST.replace("Africa=3", "Africa=3\nAtlantis=7"),
    "conquer club": CLUB.replace(
        "</map>",
        "<continent><name>Atlantis</name><bonus>7</bonus><components/></continent></map>",
    ),
    "lux": LUX.replace(
        "</luxboard>",
        "<continent><continentname>Atlantis</continentname><bonus>7</bonus></continent></luxboard>",
    ),
    "warzone": WARZONE.replace(
        '"bonuses": [',
        '"bonuses": [{"id": "9", "name": "Atlantis", "value": "7", "territoryIDs": []},',
    ),
    "own json": OWN.replace(
        '"continents": {', '"continents": {"Atlantis": {"bonus": 7, "territories": []},'
    ),
    "own toml": TOML.replace(
        "[places]", "[continents.Atlantis]\nbonus = 7\nterritories = []\n[places]"
    ),
}


@pytest.mark.parametrize("text", EMPTY.values(), ids=EMPTY)
def test_a_continent_without_territories_is_read_with_a_remark(text: str, tmp_path: Path) -> None:
    found = read_text(tmp_path, text)
    assert Continent("Atlantis", 7, ()) in found.continents
    assert "continent 'Atlantis' has no territories" in [
        said for _, said in remarks(tmp_path, text)
    ]
    held = dict.fromkeys(found.territories, ("blue", 1)) | {"Brazil": ("red", 2)}
    assert Turn(Position(found, "red", held)).new_armies() == 3
