"""Editions: their boards, deals and missions, with facts copied from the rule texts."""

import re

import pytest

from iacta import IactaError, Turn
from iacta.board.built_in import classic_board, risiko_board, teg_board, war_board
from iacta.board.files import read_board
from iacta.game import EDITIONS, Hand, Missions, OwnParts, deal, deal_edition, find_edition
from iacta.questions.plan.question import PlanQuestion
from iacta.war.game import Game
from tests.cases import for_each

DEGREES = {  # the number of neighbours of each country, from a program that plays TEG
    1: ("Java"),
    2: (
        "Arabia, Taymyr, Japan, Mexico, Labrador, Italy, Sweden, Uruguay, Madagascar, South "
        "Africa, Sumatra, Borneo"
    ),
    3: (
        "Israel, Malaysia, Gobi, Tartary, Alaska, California, Yukon, Newfoundland, Greenland, "
        "Iceland, Great Britain, Spain, France, Colombia, Chile"
    ),
    4: ("India, Kamchatka, Canada, Germany, Poland, Peru, Argentina, Zaire, Ethiopia, Australia"),
    5: ("Mongolia, Aral, Oregon, New York, Russia, Brazil, Sahara"),
    6: ("Turkey, Siberia, Egypt"),
    7: ("Iran"),
    8: ("China"),
}
NAMES = ("red", "blue", "green", "yellow", "black", "purple")


@for_each("name", [edition.name for edition in EDITIONS])
def test_each_edition_is_dealt_for_each_number_of_players(name: str) -> None:
    edition = find_edition(name)
    for number in range(edition.fewest, edition.most + 1):
        players = NAMES[:number]
        turn = deal_edition(name, players, seed=number)
        sizes = [turn.owners.count(player) for player in players]
        assert max(sizes) - min(sizes) <= 1
        assert turn.players == players
        assert turn.winner is None
        assert Turn.from_code(turn.to_code()) == turn
    for number in {1, 7, edition.fewest - 1}:
        with pytest.raises(IactaError, match="players"):
            deal_edition(name, NAMES[:number] + ("white",) * (number > 6), seed=0)


def test_the_armies_at_the_start_are_those_of_the_rule_texts() -> None:
    # War: one on each territory, and then a round with half as many new armies without attacks.
    for number, new in ((3, 7), (4, 5), (5, 4), (6, 3)):
        turn = deal_edition("war", NAMES[:number], seed=1)
        assert sum(turn.armies) == 42 + number * new
        assert turn.place == max(turn.owners.count("red") // 2, 3)
    # TEG: one on each country, then five and three.
    turn = deal_edition("teg", NAMES[:4], seed=1)
    held = [sum(n for n, o in zip(turn.armies, turn.owners, strict=True) if o == p) for p in NAMES]
    assert [held[k] - turn.owners.count(NAMES[k]) for k in range(4)] == [8] * 4
    # Risk and RisiKo!: 35, 30, 25 or 20 armies.
    for number, armies in ((3, 35), (4, 30), (5, 25), (6, 20)):
        for name in ("risk", "secret mission", "risiko", "german risiko", "capital risk"):
            assert sum(deal_edition(name, NAMES[:number], seed=2).armies) == number * armies


def test_the_sets_of_cards_bring_the_armies_of_the_rule_texts() -> None:
    war, teg = (deal_edition(name, NAMES[:3], seed=1).trade for name in ("war", "teg"))
    assert [war.nth(k) for k in range(7)] == [4, 6, 8, 10, 12, 15, 20]
    assert [teg.nth(k) for k in range(6)] == [4, 7, 10, 15, 20, 25]
    risiko = deal_edition("risiko", NAMES[:3], seed=1).trade
    hands = (Hand(3), Hand(0, 3), Hand(0, 0, 3), Hand(1, 1, 1), Hand(2, 0, 0, 1))
    assert [risiko.worth(hand) for hand in hands] == [6, 8, 4, 10, 12]


def test_the_missions_are_those_of_the_edition() -> None:
    for name, number in (("war", 8), ("risiko", 8), ("german risiko", 8), ("teg", 9)):
        victory = deal_edition(name, NAMES, seed=3).victory
        assert isinstance(victory, Missions)
        assert victory.cards is not None
        assert len(victory.cards) == number + 6
        assert {*victory.secret} == {*NAMES}
        assert (victory.instead, victory.common) == {
            "war": (24, None),
            "risiko": (24, None),
            "german risiko": (None, None),
            "teg": (None, 30),
        }[name]
    teg = find_edition("teg").make_victory(["red"])
    assert isinstance(teg, Missions)
    numbers = [each for each in teg.cards or () if isinstance(each, OwnParts)]
    assert OwnParts({"Europe": 7}, ("South America",), True) in numbers


def test_the_board_of_teg_is_the_published_one() -> None:
    board = teg_board()
    assert [(each.name, len(each.territories), each.bonus) for each in board.continents] == [
        ("North America", 10, 5),
        ("South America", 6, 3),
        ("Europe", 9, 5),
        ("Asia", 15, 7),
        ("Africa", 6, 3),
        ("Oceania", 4, 2),
    ]
    assert len(board.borders) == 2 * 89
    assert {(b, a) for a, b in board.borders} == {*board.borders}
    bridges = ("Chile Australia", "Brazil Sahara", "Poland Egypt", "Sumatra India")
    for pair in (*bridges, "Alaska Kamchatka"):
        assert tuple(pair.split()) in board.borders
    continent = {t: each.name for each in board.continents for t in each.territories}
    between = {(a, b) for a, b in board.borders if continent[a] < continent[b]}
    assert len(between) == 15
    for degree, names in DEGREES.items():
        for name in names.split(", "):
            assert len(board.neighbours(name)) == degree
    assert read_board("TEG") is board


# The neighbours of each territory in a program that plays War, written in Java.
WAR = """
Alaska: Vladivostok, Vancouver, Mackenzie
California: Mexico, New York, Ottawa, Vancouver
Greenland: Mackenzie, Labrador, Iceland
Mackenzie: Alaska, Vancouver, Ottawa, Greenland
Labrador: Greenland, New York, Ottawa
Mexico: California, New York, Venezuela
New York: Ottawa, Labrador, California, Mexico
Vancouver: Alaska, Mackenzie, California, Ottawa
Ottawa: Vancouver, Labrador, New York, California, Mackenzie
Argentina: Peru, Brazil
Brazil: Venezuela, Peru, Argentina, Algeria
Peru: Argentina, Venezuela, Brazil
Venezuela: Mexico, Peru, Brazil
Algeria: France, Brazil, Egypt, Sudan, Congo
Egypt: Poland, France, Middle East, Sudan, Algeria
Sudan: Egypt, Algeria, Congo, Madagascar, South Africa
South Africa: Congo, Sudan, Madagascar
Madagascar: Sudan, South Africa
Congo: Algeria, Sudan, South Africa
France: Algeria, Egypt, England, Germany, Poland
Poland: Moscow, Germany, France, Egypt, Middle East
England: Iceland, Sweden, Germany, France
Germany: England, France, Poland
Sweden: England, Moscow
Iceland: England, Greenland
Moscow: Sweden, Poland, Omsk, Aral, Middle East
China: Mongolia, Japan, Vietnam, India, Aral, Omsk, Chita, Vladivostok
India: China, Aral, Middle East, Vietnam, Sumatra
Japan: China, Vladivostok
Vladivostok: Japan, Chita, Siberia, China, Alaska
Siberia: Vladivostok, Chita, Dudinka
Dudinka: Siberia, Chita, Mongolia, Omsk
Chita: Mongolia, Vladivostok, China, Siberia, Dudinka
Omsk: Mongolia, China, Aral, Dudinka, Moscow
Aral: Moscow, Omsk, Middle East, China, India
Middle East: Moscow, Aral, India, Egypt, Poland
Vietnam: China, India, Borneo
Mongolia: China, Chita, Dudinka, Omsk
Australia: Sumatra, New Guinea, Borneo
Borneo: Australia, New Guinea, Vietnam
New Guinea: Australia, Borneo
Sumatra: Australia, India
"""


def test_the_board_of_war_is_the_published_one() -> None:
    board = war_board()
    lines = [line.split(": ") for line in WAR.strip().splitlines()]
    assert len(lines) == len(board.territories) == 42
    for name, neighbours in lines:
        assert {*board.neighbours(name)} == {*neighbours.split(", ")}
    assert [(each.name, len(each.territories), each.bonus) for each in board.continents] == [
        ("North America", 9, 5),
        ("South America", 4, 2),
        ("Europe", 7, 5),
        ("Africa", 6, 3),
        ("Asia", 12, 7),
        ("Oceania", 4, 2),
    ]


def test_the_board_of_risiko_differs_from_the_classic_board_in_three_borders() -> None:
    # The numbers of neighbours are those of a program that plays RisiKo!, written in C++.
    numbers = {"China": 7, "Middle East": 6, "India": 3, "Afghanistan": 4, "East Africa": 5}
    board, classic = risiko_board(), classic_board()
    assert {name: len(board.neighbours(name)) for name in numbers} == numbers
    changed = {name for border in {*board.borders} ^ {*classic.borders} for name in border}
    assert changed == {*numbers}
    assert board.continents == classic.continents
    # The map shows the borders: neighbours on land share two or more points of their outlines.
    points = {
        name: {point for polygon in outline for point in polygon}
        for name, outline in zip(board.territories, board.outlines, strict=True)
    }
    assert len(points["China"] & points["Middle East"]) == 2
    assert not points["India"] & points["Afghanistan"]


def test_a_neutral_army_defends_and_has_no_turn() -> None:
    turn = deal_edition("two players", ["red", "blue"], seed=4)
    assert [turn.owners.count(name) for name in ("red", "blue", "neutral")] == [14, 14, 14]
    assert sum(turn.armies) == 120
    game = Game(turn, {"red": "usual", "blue": "simple"}, seed=4, max_rounds=200).play()
    assert game.is_over
    assert game.turn.winner in ("red", "blue")
    with pytest.raises(IactaError, match="neutral must differ from the players, got 'Red'"):
        deal(teg_board(), ["red", "blue"], seed=1, neutral="Red")
    with pytest.raises(IactaError, match="armies and extra_armies must not both be given"):
        deal(teg_board(), ["red", "blue"], seed=1, armies=20, extra_armies=3)


def test_an_unknown_edition_is_refused_with_the_known_ones() -> None:
    for name in ("", "warr", "risk 2"):
        with pytest.raises(
            IactaError, match=re.escape("edition must be one of risk, secret mission")
        ):
            find_edition(name)
    assert find_edition("Two-Players") is find_edition("two players")


def test_plans_name_the_rules_after_the_board() -> None:
    turn = deal_edition("teg", ["red", "blue", "green"], seed=1)
    question = PlanQuestion(position=turn, take="Oceania")
    assert question.rule_set.name == "teg"
