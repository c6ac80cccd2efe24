"""Victory conditions: the winner after each action, their text form, and refused conditions."""

import re
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from random import Random
from typing import Any

import pytest

from iacta import (
    Battle,
    Capitals,
    Missions,
    Share,
    Survivor,
    Turn,
    Victory,
    best_plan,
    classic_board,
)
from iacta.board import Board, Continent, Position
from iacta.board.codes import escape_name
from iacta.game import (
    Advance,
    Attack,
    Eliminate,
    EndPhase,
    Fortify,
    Mission,
    OwnContinents,
    OwnNamed,
    OwnParts,
    OwnTerritories,
    Place,
)
from iacta.game.codes import format_victory, read_victory
from iacta.game.mission_cards import read_mission_cards
from iacta.game.missions import read_mission
from iacta.game.moment import parse_moment, read_moment
from iacta.game.victory import SURVIVAL, VICTORIES
from iacta.inputs.errors import IactaError, IllegalError
from iacta.plan.winning import find_win
from tests.cases import for_each
from tests.game.positions import make_line_turn

TERRITORIES = "'24 territories' or '18 territories with 2 armies'"
EXAMPLES: tuple[Victory, ...] = (
    Survivor(),
    Share("70%"),
    Share(29),
    Share(1.0),
    Capitals({"red": "Peru", "blue": "Brazil"}),
    Capitals({"red": "Peru", "blue": "Brazil"}, 1),
    Missions({"red": "Asia, Africa", "blue": "Europe, any"}),
    Missions({"red": "secret Asia, Africa", "blue": "hidden"}, cards=("Europe", "eliminate red")),
    Missions({"red": "18 territories with 2 armies", "blue": "eliminate red"}, 24, at_end=True),
    Missions({"red": "Africa, 5 of Asia, 2 of Europe", "blue": "1 of Asia, 3 neighbours"}),
)


@pytest.mark.parametrize("victory", EXAMPLES)
def test_the_condition_survives_its_texts(victory: Victory) -> None:
    assert read_victory(format_victory(victory)) == victory
    turn = Turn.from_code("1;classic;red;Peru:red:3,Brazil:blue:2").with_options(victory=victory)
    assert turn.victory == victory
    assert Turn.from_code(turn.to_code()) == turn
    assert read_moment({**_table(turn), "win": format_victory(victory)}) == turn


def _table(turn: Turn) -> dict[str, object]:
    held = zip(turn.board.territories, turn.position.holdings, strict=True)
    return {
        "board": "classic",
        "player": turn.player,
        "territories": {
            name: {"owner": each.owner, "armies": each.armies} for name, each in held if each.owner
        },
    }


def test_every_condition_has_an_example() -> None:
    assert {type(each) for each in EXAMPLES} == {*VICTORIES.values()}


def test_a_share_is_won_by_a_conquest_with_rivals_left() -> None:
    turn = make_line_turn("r4 b1 g2 b1 g1", victory=Share("40%"), cards={"red": 4}, place=0)
    assert turn.winner == "blue"  # blue owns two of five territories, red only one
    turn = make_line_turn("r4 b1 g2 b1 g1", victory=Share(3))
    assert turn.winner is None
    turn = make_line_turn("r4 r4 b1 b1 g1", victory=Share("60%"), cards={"red": 2})
    taken = turn.after(Attack("B", "C", 3), (0, 1))
    assert (taken.phase, taken.winner, taken.then) == ("advance", "red", "over")
    end = taken.after(Advance(3))
    assert (end.phase, end.winner, end.cards["red"].number) == ("over", "red", 2)  # type: ignore[index] # there are cards
    assert end.survivors == ("red", "blue", "green")
    with pytest.raises(IllegalError, match="the game is over: red has won"):
        end.next()
    assert turn.apply_battle("B", "C", 4, 0).then == "over"


def test_capitals_are_won_by_the_owner_of_all_or_of_a_number_with_their_own() -> None:
    homes = {"red": "A", "blue": "C", "green": "E"}
    turn = make_line_turn("r4 r4 b1 b1 g1", victory=Capitals(homes))
    taken = turn.after(Attack("B", "C", 3), (0, 1))
    assert taken.winner is None  # green still has their capital
    assert (
        turn.with_options(victory=Capitals(homes, 2)).apply_battle("B", "C", 4, 0).winner == "red"
    )
    lost = make_line_turn("b4 r4 g1 b1 r1", victory=Capitals(homes, 2))
    assert lost.winner is None  # red owns green's capital but has lost their own
    assert {*lost.survivors} == {"red", "blue", "green"}
    assert make_line_turn("b4 r4 b1 b1 g1", victory=Capitals(homes, 2)).winner == "blue"


def test_a_share_is_rounded_up() -> None:
    turn = make_line_turn("r4 b1 g2 b1 g1")
    assert [Share(Fraction(k, 100)).count_needed(turn) for k in (1, 40, 41, 60, 100)] == [
        *(1, 2, 3, 3, 5)
    ]


# Continents whose names are missions, or parts of missions, and a continent without territories.
STRANGE = Board(
    "strange",
    ("A", "B", "C", "D", "E"),
    (("A", "B"), ("B", "C"), ("C", "D"), ("D", "E")),
    (
        Continent("any", 1, ("A",)),
        Continent("2 territories", 1, ("B",)),
        Continent("secret K", 1, ("C",)),
        Continent("K", 1, ("D",)),
        Continent("eliminate blue", 1, ("E",)),
        Continent("empty", 1, ()),
    ),
)


def test_a_number_of_territories_may_also_win() -> None:
    board = classic_board()
    held = {"Peru": ("red", 3), "Siam": ("red", 1), "Brazil": ("blue", 2)}
    missions = Missions({"red": "secret Asia", "blue": "Africa"}, 24, common=3)
    turn = Turn(Position(board, "red", held), victory=missions)
    assert "missions:24%2Bor3" in turn.to_code() or "missions:24+or3" in turn.to_code()
    assert Turn.from_code(turn.to_code()) == turn
    assert "or owns 3 territories" in turn.victory.describe(turn)
    won = turn.apply_battle("Peru", "Brazil", 3, 0)
    assert won.winner == "red"
    assert won.victory.describe_win(won, "red") == "they own 3 territories"
    win = find_win(turn)
    assert win is not None
    chance = best_plan(turn, win.goal).value
    assert chance == pytest.approx(Battle(3, 2).win_probability())
    with pytest.raises(IactaError, match="missions must be like 24"):
        read_victory("missions:or3+or4,red:Asia,blue:Africa")


def test_a_mission_may_name_territories() -> None:
    board = classic_board()
    held = {"Peru": ("red", 3), "Siam": ("red", 1), "Brazil": ("blue", 2)}
    missions = Missions({"red": "own peru, Brazil, SIAM", "blue": "own Alaska"})
    turn = Turn(Position(board, "red", held), victory=missions)
    red = turn.victory.missions["red"]  # type: ignore[attr-defined] # missions
    assert red == OwnNamed(("Peru", "Brazil", "Siam"))
    assert red.describe_progress(turn, "red") == "2 of 3 territories"
    assert Turn.from_code(turn.to_code()) == turn
    won = turn.apply_battle("Peru", "Brazil", 3, 0)
    assert won.winner == "red"
    win = find_win(turn)
    assert win is not None
    plan = best_plan(turn, win.goal)
    assert plan.value == pytest.approx(Battle(3, 2).win_probability())
    for mission, words in (
        ("own Atlantis", "mission of red must name territories of the board"),
        ("own Peru, Peru", "mission of red must name each territory once, got 'Peru' twice"),
    ):
        with pytest.raises(IactaError, match=words):
            Turn(Position(board, "red", held), victory=Missions({"red": mission, "blue": "Asia"}))


def test_a_mission_may_name_parts_of_continents() -> None:
    board = classic_board()
    held = {"Peru": ("red", 3), "Siam": ("red", 1), "Brazil": ("blue", 2)}
    missions = Missions({"red": "1 of asia, 2 of South america", "blue": "Europe, 3 neighbours"})
    turn = Turn(Position(board, "red", held), victory=missions)
    red = turn.victory.missions["red"]  # type: ignore[attr-defined] # missions
    assert red == OwnParts({"Asia": 1, "South America": 2})
    assert red.describe_progress(turn, "red") == "1 of 1 in Asia, 1 of 2 in South America"
    assert turn.victory.measure_progress(turn, "red") == pytest.approx(2 / 3)
    assert len(turn.victory.list_targets(turn, "red")) == 12 + 4
    assert turn.victory.describe_progress(turn, "blue") == "0 of 7 in Europe, 1 of 3 neighbours"
    assert Turn.from_code(turn.to_code()) == turn
    assert turn.apply_battle("Peru", "Brazil", 3, 0).winner == "red"
    win = find_win(turn)
    assert win is not None
    assert best_plan(turn, win.goal).value == pytest.approx(Battle(3, 2).win_probability())


@for_each("seed", range(60))
def test_the_ways_to_own_parts_are_all_ways(seed: int) -> None:
    rng = Random(seed)  # noqa: S311 # draws positions, no secrets
    names, pairs = "ABCDEFGH", [*combinations("ABCDEFGH", 2)]
    some = rng.sample(pairs, 14)
    borders = tuple((a, b) if rng.random() < 0.5 else (b, a) for a, b in some)
    continents = (Continent("K", 1, tuple("ABC")), Continent("L", 1, tuple("CDE")))
    board = Board("random", tuple(names), borders, continents)
    held = {name: (rng.choice(("red", "blue")), rng.randint(1, 3)) for name in names}
    turn = Turn(Position(board, "red", held), players=("red", "blue"))
    number = rng.randint(1, 3)
    is_possible = any(
        {*trio} <= {*"DEFGH"} and all({a, b} in map(set, borders) for a, b in combinations(trio, 2))
        for trio in combinations(names, 3)
    )
    given = OwnParts({"K": number}, (), is_possible)
    mission = given.resolve_names(turn)
    ways = [{*way.territories} for way in mission.list_ways(turn, "red")]
    own = {name for name, owner in zip(names, turn.owners, strict=True) if owner == "red"}
    for size in range(9):
        for more in combinations(names, size):
            taken = own | {*more}
            free = sorted(taken - {*"ABC"})
            trios = combinations(free, 3)
            links = ([*combinations(trio, 2)] for trio in trios)
            is_won = len(taken & {*"ABC"}) >= number and (
                not is_possible
                or any(all({a, b} in map(set, borders) for a, b in x) for x in links)
            )
            assert is_won == any(way <= taken for way in ways)


@for_each(
    "mission, words",
    [
        ("5 of Atlantis", "must name continents of the board"),
        ("13 of Asia", "mission of red must be for at most 12 territories of Asia, got 13"),
        ("0 of Asia", "territories of a continent"),
        ("2 of Asia, 3 of Asia", "a mission must be like|mission of red must be like"),
        ("Asia, 3 of Asia", "mission of red must name each continent once"),
        ("2 of Asia, any", "mission of red must be like 'Africa, 5 of North America"),
        ("3 neighbours, 3 neighbours", "mission of red must be like"),
        (OwnParts({}, (), True), ""),
    ],
)
def test_wrong_parts_of_continents_are_refused(mission: Mission | str, words: str) -> None:
    held = {"Peru": ("red", 3), "Siam": ("red", 1), "Brazil": ("blue", 2)}
    position = Position(classic_board(), "red", held)
    if not words:
        Turn(position, victory=Missions({"red": mission}))
        return
    with pytest.raises(IactaError, match=words):
        Turn(position, victory=Missions({"red": mission}))


@pytest.mark.parametrize(
    ("mission", "words"),
    [
        ("any", "one meaning"),
        ("K, any", "one meaning"),
        (OwnContinents(("any",)), "one meaning"),
        ("2 territories", "one meaning"),
        (OwnContinents(("2 territories",)), "one meaning"),
        ("secret K", "one meaning"),
        (OwnContinents(("secret K",)), "one meaning"),
        ("eliminate blue", "one meaning"),
        ("empty", "mission of red must name continents with territories, got 'empty'"),
        ("K", ""),
        ("secret 3 territories", ""),
    ],
    ids=str,
)
def test_a_mission_with_two_meanings_or_without_territories_is_refused(
    mission: Mission | str, words: str
) -> None:
    held = {"A": ("red", 3), "B": ("blue", 2), "D": ("blue", 1)}
    given = {"victory": Missions({"red": mission, "blue": "3 territories"})}
    position = Position(STRANGE, "red", held)
    if words:
        with pytest.raises(IllegalError, match=words):
            Turn(position, **given)  # type: ignore[arg-type] # a condition
    else:
        turn = Turn(position, **given)  # type: ignore[arg-type] # a condition
        assert Turn.from_code(turn.to_code(), STRANGE) == turn
        assert turn.winner is None


@for_each("name", ["cards", "Missions", "capitals", "a/b", "100%", "a,b", "a:b"])
@for_each("kind", ["share", "capitals", "missions"])
def test_a_code_can_be_read_whatever_players_are_called(name: str, kind: str) -> None:
    victory: dict[str, Victory] = {
        "share": Share("70%"),
        "capitals": Capitals({name: "Peru", "red": "Brazil"}),
        "missions": Missions({name: "hidden", "red": "Asia"}, cards=(f"eliminate {name}", "Asia")),
    }
    position = Position(classic_board(), name, {"Peru": (name, 3), "Brazil": ("red", 2)})
    if name.lower() in {"capitals": ["capitals"], "missions": ["cards", "missions"]}.get(kind, []):
        with pytest.raises(IllegalError, match=f"must have another name than '{name}'"):
            Turn(position, victory=victory[kind])
    else:
        turn = Turn(position, victory=victory[kind])
        assert Turn.from_code(turn.to_code()) == turn
        assert parse_moment(turn.to_toml()) == turn


def test_wrong_arguments_of_missions_are_refused() -> None:
    missions = {"red": "Asia", "blue": "Europe"}
    wrong: tuple[dict[str, Any], ...] = (
        {"secret": "red"},
        {"secret": ("pink",)},
        {"secret": (3,)},
        {"secret": 3},
        {"at_end": "yes"},
        {"at_end": 1},
    )
    for arguments in wrong:
        with pytest.raises(IactaError, match=next(iter(arguments))):
            Missions(missions, **arguments)
    turn = Turn.from_code("1;classic;red;Peru:red:3,Brazil:blue:2")
    named = turn.with_options(victory=Missions(missions, secret=("RED",)))
    assert named.victory == Missions({**missions, "red": "secret Asia"})


@pytest.mark.parametrize("share", ["0.7", '"70%"', '"7/10"', "30"])
def test_a_share_in_a_file_may_be_a_number_or_text(share: str) -> None:
    turn = parse_moment(
        'player = "red"\nterritories = { Peru = { owner = "red", armies = 3 } }\n'
        f"win = {{ share = {share} }}\n"
    )
    assert turn.victory == (Share(30) if share == "30" else Share("70%"))


def test_a_wrong_mission_in_a_file_is_refused_with_its_line(tmp_path: Path) -> None:
    file = tmp_path / "position.toml"
    file.write_text(
        'player = "red"\n'
        'territories = { Peru = { owner = "red", armies = 3 } }\n'
        'win = { missions = "", red = "18 territories with x armies" }\n'
    )
    with pytest.raises(IactaError) as error:
        read_moment(file)
    sentence = f"mission of red must be like {TERRITORIES}, got '18 territories with x armies'"
    assert str(error.value) == f"position file {str(file)!r}: line 3: {sentence}"


def test_the_default_condition_is_not_in_the_code() -> None:
    turn = make_line_turn("r4 b1", victory=SURVIVAL)
    assert "win" not in turn.to_code()
    with pytest.raises(IactaError, match="victory must be a Victory, got 'share'"):
        make_line_turn("r4 b1", victory="share")


MISSIONS: dict[str, Mission | str] = {
    "red": "18 territories",
    "blue": "eliminate green",
    "green": "eliminate red",
}


def test_a_rivals_mission_may_be_fulfilled_in_ones_turn() -> None:
    turn = make_line_turn("r4 g1 b1 b1 b1", victory=Missions(MISSIONS | {"red": "4 territories"}))
    taken = turn.apply_battle("A", "B", 4, 0)
    assert (taken.winner, taken.then) == ("blue", "over")
    own = Missions({"red": "eliminate green", "blue": "eliminate green", "green": "4 territories"})
    assert turn.with_options(victory=own).apply_battle("A", "B", 4, 0).winner == "red"


def test_a_mission_whose_player_others_eliminate_may_become_a_number_of_territories() -> None:
    missions = MISSIONS | {"red": "5 territories"}
    turn = make_line_turn("r4 g1 b1 b1 b1", victory=Missions(missions, instead=4))
    after = turn.apply_battle("A", "B", 4, 0)
    assert (after.winner, after.phase) == (None, "advance")
    assert after.victory.missions["blue"] == OwnTerritories(4)  # type: ignore[attr-defined] # missions
    assert Turn.from_code(after.to_code(), after.board) == after
    own = make_line_turn("r4 g1 b1 b1 b1", victory=Missions(MISSIONS | {"red": "eliminate red"}))
    assert own.victory.missions["red"] == OwnTerritories(5)  # type: ignore[attr-defined] # missions


def test_armies_on_own_territories_may_fulfil_a_mission() -> None:
    two: dict[str, Mission | str] = {"red": "2 territories with 3 armies", "blue": "4 territories"}
    turn = make_line_turn("r3 r1 b1 b1", victory=Missions(two), place=4)
    won = turn.after(Place("B", 4))
    assert (won.phase, won.place, won.winner) == ("over", 0, "red")
    some = make_line_turn(
        "r3 r3 r1 b1", victory=Missions({**two, "red": "3 territories with 2 armies"})
    )
    last = some.after(EndPhase())
    assert last.after(Fortify("A", "C", 1)).winner == "red"


def test_missions_may_be_checked_at_the_end_of_the_turn() -> None:
    missions: dict[str, Mission | str] = {"red": "3 territories", "blue": "4 territories"}
    turn = make_line_turn("r4 r4 b1 b1", victory=Missions(missions, at_end=True))
    taken = turn.apply_battle("B", "C", 4, 0)
    assert (taken.winner, taken.then) == (None, "attack")
    on = taken.after(Advance(3))
    assert on.winner is None
    over = on.after(EndPhase())
    over = over.after(EndPhase()) if over.phase == "fortify" else over
    assert (over.phase, over.winner) == ("over", "red")


def test_a_third_continent_of_choice_counts() -> None:
    code = "1;classic;red;" + ",".join(
        f"{escape_name(name)}:{'red' if name in own else 'blue'}:1"
        for name in classic_board().territories
        for own in [
            {t for k in (1, 3) for t in classic_board().continents[k].territories},
        ]
    )
    turn = Turn.from_code(code)
    for text, winner in (
        ("South America, any", "red"),
        ("South America, Africa", "red"),
        ("South America, any, any", None),
        ("Asia, any", None),
    ):
        missions = Missions({"red": text, "blue": "eliminate red"})
        assert turn.with_options(victory=missions).winner == winner


def test_hidden_missions_are_dealt_from_the_cards_that_remain_possible() -> None:
    code = "1;classic;red;Peru:red:3,Brazil:blue:2,Siam:green:1;attack;win=missions:"
    turn = Turn.from_code(f"{code},red:secret%20Asia%2C%20Africa,blue:hidden,green:hidden")
    missions = turn.victory
    assert isinstance(missions, Missions)
    assert [missions.is_hidden(name) for name in turn.players] == [True, True, True]
    deck = missions.list_cards(turn)
    assert len(deck) == 8 + 3 - 1  # the box has 14 cards, of which six are to eliminate a colour
    dealt = set()
    for seed in range(300):
        found = missions.deal(turn, Random(seed))  # noqa: S311 # deals cards, no secrets
        assert found.missions["red"] == missions.missions["red"]
        assert not any(found.is_fulfilled(turn, name) for name in turn.players)
        dealt.add(found.missions["blue"])
    assert dealt == {each for each in deck if each != Eliminate("blue")} | {OwnTerritories(24)}
    gone = Turn.from_code(f"{code}24,red:hidden,blue:hidden,green:hidden")
    after = gone.apply_battle("Peru", "Brazil", 3, 0)
    cards = after.victory.list_cards(after)  # type: ignore[attr-defined] # missions
    assert cards.count(OwnTerritories(24)) == 2


def test_missions_come_from_files(tmp_path: Path) -> None:
    board, file = classic_board(), tmp_path / "missions.toml"
    file.write_text('missions = ["Asia, Africa", "18 territories with 2 armies"]')
    found = read_mission_cards(file, board, ("red", "blue"))
    assert found == (OwnContinents(("Asia", "Africa")), OwnTerritories(18, 2))
    rows = (
        "0 24 1 0 0 0 Own",
        "0 18 2 0 0 0 Own",
        "0 0 0 3 4 * Own",
        "2 0 0 0 0 0 Kill",
        "6 0 0 0 0 0 K",
    )
    file.with_suffix(".cards").write_text("\n".join(("[cards]", "wildcard", "[missions]", *rows)))
    assert read_mission_cards(file.with_suffix(".cards"), board, ("red", "blue")) == (
        OwnTerritories(24),
        OwnTerritories(18, 2),
        OwnContinents(("Europe", "Africa"), 1),
        Eliminate("blue"),
    )
    for text, sentence in (
        ("missions = []", "the file must have at least one mission, got none"),
        ("mission = []", "the file must have one key, missions, got 'mission'"),
        ("[missions]\n0 0 0 7 0 0 Own", "line 2: a continent must be from 1 to 6, 0 or *, got '7'"),
        (
            "[missions]\n0 9 9999999 0 0 0 Own",
            "line 2: armies on each territory must be a whole number from 0 to 1000000, "
            "got 9999999",
        ),
        (f"[missions]\n0 {'9' * 5000} 0 0 0 0 Own", "line 2: a mission must be six numbers"),
        (f"[missions]\n0 0 0 {'9' * 5000} 0 0 Own", "line 2: a continent must be from 1 to 6"),
        ("[missions]\n0 0 0 -1 0 0 Own", "line 2: a continent must be from 1 to 6, 0 or *"),
        ("[missions]\n0 0 0 00 0 0 Own", "line 2: a mission must name a continent, got none"),
        ("[missions]\n0 0", "line 2: a mission must be six numbers and a sentence, got '0 0'"),
    ):
        file.write_text(text)
        with pytest.raises(IactaError, match=re.escape(sentence)):
            read_mission_cards(file, board, ("red", "blue"))


def test_missions_that_are_not_named_are_hidden() -> None:
    code = "1;classic;red;Peru:red:3,Brazil:blue:2,Egypt:green:1;attack;win=missions:,red:{}"
    turn = Turn.from_code(code.format("Asia"))
    assert isinstance(turn.victory, Missions)
    assert turn.victory.list_hidden(turn) == ["blue", "green"]
    one = Turn.from_code(code.format("1 territory with 60 armies"))
    assert isinstance(one.victory, Missions)
    assert one.victory.missions["red"] == read_mission("1 territories with 60 armies")


@for_each(
    "victory, part, targets",
    [
        (Survivor(), 2 / 5, []),
        (Share(5), 2 / 5, []),
        (Capitals({"red": "Peru", "blue": "Siam"}), 1 / 2, ["Peru", "Siam"]),
        (Missions({"red": "5 territories"}), 2 / 5, []),
        (Missions({"red": "2 territories with 4 armies"}), 1 / 2, ["Peru"]),
        (
            Missions({"red": "South America"}),
            1 / 4,
            ["Venezuela", "Peru", "Brazil", "Argentina"],
        ),
        (
            Missions({"red": "South America, 1 of Africa"}),
            2 / 5,
            [
                *("Venezuela", "Peru", "Brazil", "Argentina", "North Africa", "Egypt"),
                *("East Africa", "Congo", "South Africa", "Madagascar"),
            ],
        ),
        (Missions({"red": "eliminate blue"}), 1 - 3 / 21, ["Brazil", "Ural", "Siam"]),
        (Missions({"blue": "2 territories"}), 0, []),
    ],
)
def test_progress_and_targets_belong_to_the_way_to_win(
    victory: Victory, part: float, targets: list[str]
) -> None:
    code = "1;classic;red;Peru:red:3,Egypt:red:4,Brazil:blue:2,Siam:blue:1,Ural:blue:1;attack"
    turn = Turn.from_code(code).with_options(victory=victory)
    assert turn.victory.measure_progress(turn, "red") == pytest.approx(part, abs=0.05)
    assert [*turn.victory.list_targets(turn, "red")] == targets


def test_a_player_who_has_won_has_full_progress() -> None:
    turn = Turn.from_code("1;classic;red;Peru:red:3;over;players=red,blue")
    assert turn.victory.measure_progress(turn, "red") == 1
