"""Editions: board games with their board, rules, cards, missions and armies at the start."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from iacta.board.board import fold_name
from iacta.board.files import read_board
from iacta.game.cards import NEUTRAL, Sets
from iacta.game.deal import deal
from iacta.game.missions import BOX_CARDS, Eliminate, Hidden, Mission, Missions
from iacta.game.turn import Turn
from iacta.game.victory import Victory
from iacta.inputs.checks import FrozenDict, quote, read_list
from iacta.inputs.errors import IllegalError

USUAL_SETS = Sets()
TEG_CARDS = (
    "Africa, 5 of North America, 4 of Europe",
    "South America, 7 of Europe, 3 neighbours",
    "Asia, 2 of South America",
    "Europe, 4 of Asia, 2 of South America",
    "North America, 2 of Oceania, 4 of Asia",
    "2 of Oceania, 2 of Africa, 2 of South America, 3 of Europe, 4 of North America, 3 of Asia",
    "Oceania, North America, 2 of Europe",
    "South America, Africa, 4 of Asia",
    "Oceania, Africa, 5 of North America",
)


@dataclass(frozen=True)
class Edition:
    """A board game, with everything that a deal needs.

    name: the name of the edition. Case, spaces and hyphens do not matter.
    description: the game, its country and its main rules, in one line.
    source: the rule texts.
    fewest, most: the smallest and the largest number of players.
    board: the name of a built-in board.
    rules: the name of the rules of battles.
    trade: the armies for sets of cards.
    cards: the mission cards without eliminations; empty if there are no missions.
    instead, common: the same as for `Missions`.
    victory: the victory condition for `deal`, if there are no missions.
    extra_armies: by number of players, the armies of each player in addition to one on each
        territory, which are placed before the first attack; `None` for the numbers of Risk.
    has_neutral: whether a neutral army gets a third of the territories.
    """

    name: str
    description: str
    source: str
    fewest: int = 3
    most: int = 6
    board: str = "classic"
    rules: str = "classic"
    trade: Sets = USUAL_SETS
    cards: tuple[str, ...] = ()
    instead: int | None = None
    common: int | None = None
    victory: str | None = None
    extra_armies: Mapping[int, int] | None = None
    has_neutral: bool = False

    def make_victory(self, players: Iterable[str]) -> Victory | str | None:
        """Return the victory condition for `deal`; each mission is hidden until it is dealt.

        players: the players, whose eliminations are missions.
        """
        if not self.cards:
            return self.victory
        names = [*players]
        deck: tuple[Mission | str, ...] = (*self.cards, *map(Eliminate, names))
        missions = dict.fromkeys(names, Hidden())
        return Missions(missions, self.instead, cards=deck, common=self.common)


EDITIONS: tuple[Edition, ...] = (
    Edition(
        "risk",
        "Risk: the last survivor wins, and each set of cards brings more armies.",
        "Hasbro, Risk: The World Conquest Game (manuzoid.com; manualshive.com)",
    ),
    Edition(
        "secret mission",
        "Risk with the mission cards of the box.",
        "Hasbro, Risk: Game of Global Domination, Secret Mission Risk (manualmachine.com)",
        cards=BOX_CARDS,
    ),
    Edition(
        "capital risk",
        "Risk with a capital for each player: the owner of all capitals wins.",
        "Hasbro, Risk: Game of Global Domination, Capital Risk (manualmachine.com)",
        victory="capitals",
    ),
    Edition(
        "two players",
        "Risk for two: a neutral army with a third of the territories never attacks.",
        "World Domination Risk for 2 players (risk.sourceforge.io; ultraboardgames.com)",
        fewest=2,
        most=2,
        has_neutral=True,
    ),
    Edition(
        "german risiko",
        "Risiko (Germany): missions; any player may eliminate the target of a mission.",
        "Hasbro, Risiko (libble.de; manualshelf.com)",
        cards=BOX_CARDS,
    ),
    Edition(
        "french risk",
        "Risk (France): missions; 24 territories if another player eliminates the target.",
        "Hasbro, Risk: La conquête du monde (fixfr.com 715870); jeuxstrategie.free.fr",
        cards=BOX_CARDS,
        instead=24,
    ),
    Edition(
        "risiko",
        "RisiKo! (Italy): three defence dice, fixed values of sets, missions.",
        "Editrice Giochi, RisiKo! (scribd.com 766412886; scribd.com 560770960; torisiko.org)",
        board="risiko",
        rules="risiko",
        trade=Sets(is_fixed=True, fixed=(6, 8, 4, 10), joker=12),
        cards=BOX_CARDS,
        instead=24,
    ),
    Edition(
        "war",
        "War (Brazil): three defence dice, one new army for two territories, missions.",
        "Grow, War (scribd.com 41739031; gametrack.com.br)",
        board="war",
        rules="war",
        cards=tuple(card.replace("Australia", "Oceania") for card in BOX_CARDS),
        instead=24,
        extra_armies=FrozenDict({3: 7, 4: 5, 5: 4, 6: 3}),  # a round without attacks
    ),
    Edition(
        "teg",
        "TEG (Argentina): 50 territories, three defence dice, missions or 30 territories.",
        "Yetem, TEG (studylib.es 8881741; studenta.com 136817083; casitaweb.net 35823)",
        fewest=2,
        board="teg",
        rules="teg",
        trade=Sets((4, 7, 10, 15)),
        cards=TEG_CARDS,
        common=30,
        extra_armies=FrozenDict(dict.fromkeys(range(2, 7), 8)),
    ),
)


def find_edition(name: str) -> Edition:
    """Return an edition by its name; raise `IllegalError` for an unknown name.

    >>> find_edition("TEG").common, find_edition("two-players").has_neutral
    (30, True)
    """
    known = {fold_name(edition.name).replace(" ", ""): edition for edition in EDITIONS}
    key = fold_name(name).replace(" ", "").replace("-", "") if isinstance(name, str) else ""
    if key not in known:
        names = ", ".join(edition.name for edition in EDITIONS)
        raise IllegalError(f"edition must be one of {names}, got {quote(name)}")
    return known[key]


def deal_edition(
    name: str,
    players: Iterable[str],
    *,
    seed: int,
    order: Iterable[str] | None = None,
    symbols: Mapping[str, str] | None = None,
) -> Turn:
    """Return the first turn of a game of an edition.

    name: the name of the edition, such as `"war"`.
    players: the players in the order of play.
    seed, order, symbols: the same as for `deal`.

    Raises `IactaError` for a number of players that the edition does not allow, and for the same
    reasons as `deal`.

    >>> turn = deal_edition("teg", ["red", "blue", "green"], seed=1)
    >>> turn.board.name, turn.owners.count("red"), sum(turn.armies)
    ('teg', 17, 74)
    """
    edition = find_edition(name)
    names = read_list(players, "players", "names")
    if not edition.fewest <= len(names) <= edition.most:
        number = f"{edition.fewest} to {edition.most}"
        if edition.fewest == edition.most:
            number = str(edition.fewest)
        raise IllegalError(
            f"{edition.name!r} is a game for {number} players, got {len(names)}",
            parameter="players",
        )
    return deal(
        read_board(edition.board),
        names,
        seed=seed,
        rules=edition.rules,
        victory=edition.make_victory(names),
        order=order,
        trade=edition.trade,
        symbols=symbols,
        extra_armies=None if edition.extra_armies is None else edition.extra_armies[len(names)],
        neutral=NEUTRAL if edition.has_neutral else None,
    )
