"""Deals: the territories, armies and missions at the start of a game."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import zip_longest
from random import Random
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from iacta.board import Board, Holding, Position
from iacta.board.board import fold_name, read_name
from iacta.board.codes import MAX_TERRITORY_ARMIES
from iacta.game.cards import Sets
from iacta.game.missions import Hidden, Missions
from iacta.game.state import FortifyReach
from iacta.game.turn import Turn
from iacta.game.victory import Capitals, Victory
from iacta.inputs.checks import quote, read_int, read_list
from iacta.inputs.errors import IllegalError, MalformedError
from iacta.rules.rules import Rules

Ints: TypeAlias = npt.NDArray[np.int64]

STARTING_ARMIES = {2: 40, 3: 35, 4: 30, 5: 25, 6: 20}  # by number of players, from the rule book
BOX_TERRITORIES = 42  # the number of territories on the board of the rule book
GUARDS, GUARDS_OF = 2, 5  # two fifths of the armies that a player may place guard their capital
DEALT_VICTORIES = ("capitals", "missions")
MAX_REDEALS = 20  # the maximum number of deals until nobody has won


def deal(
    board: Board,
    players: Iterable[str],
    *,
    seed: int,
    armies: int | None = None,
    rules: Rules | str = "classic",
    victory: Victory | str | None = None,
    cards: bool = True,
    order: Iterable[str] | None = None,
    trade: Sets | None = None,
    symbols: Mapping[str, str] | None = None,
    rules_of: Mapping[str, Rules | str] | None = None,
    fortify: FortifyReach | None = None,
    whole_battles: bool = False,
    extra_armies: int | None = None,
    neutral: str | None = None,
) -> Turn:
    """Return the first turn of a game, with territories and armies dealt at random.

    board: the board. All its territories are dealt, and the numbers of any two players differ by at
        most one.
    players: the two to six players in the order of play; the first player begins.
    seed: the seed of the deal. The same seed gives the same deal.
    armies: the armies of each player at the start; `None` for the number in the rule book: 40, 35,
        30, 25 or 20 for two to six players on 42 territories, and in proportion on other boards.
        Each territory gets one army. All other armies are placed at random on their owner's
        territories.
    victory: the victory condition; `"capitals"` if each player needs all capitals, which are drawn
        at random; `"missions"` for secret missions. Hidden missions are dealt, and then secret.
        Two fifths of the armies that a player may place guard the player's capital.
    cards: whether the game has cards.
    order: all territories in the order in which the players get them in turn, such as the order in
        which they picked them; `None` for a random order.
    rules, trade, symbols, rules_of, fortify, whole_battles: the same as for `Turn`.
    extra_armies: the armies of each player in addition to one on each territory; it replaces
        `armies`.
    neutral: the name of a neutral army, which gets territories and armies like a player, but has no
        turns; `None` without such an army.

    The deal is repeated until nobody has won. Raises `IactaError` if each deal has a winner, for
    fewer territories than players, and for the same reasons as `Turn`.

    >>> from iacta.board.built_in import classic_board
    >>> turn = deal(classic_board(), ["red", "blue", "green"], seed=1)
    >>> turn.phase, turn.player, turn.place, sum(turn.armies), turn.owners.count("blue")
    ('place', 'red', 4, 105, 14)
    """
    if not isinstance(board, Board):
        raise MalformedError(f"board must be a Board, got {quote(board)}")
    names = [read_name(name, "player") for name in read_list(players, "players", "names")]
    if len(names) not in STARTING_ARMIES or len({*map(fold_name, names)}) < len(names):
        raise IllegalError(f"players must be from 2 to 6 different names, got {quote(names)}")
    owning = names if neutral is None else [*names, read_name(neutral, "neutral")]
    if len({*map(fold_name, owning)}) < len(owning):
        raise IllegalError(f"neutral must differ from the players, got {quote(neutral)}")
    lands = board.territories
    if len(lands) < len(owning):
        raise IllegalError(
            f"players must be at most the {len(lands)} territories of {board.name!r}, "
            f"got {len(owning)}"
        )
    if isinstance(victory, str) and victory not in DEALT_VICTORIES:
        raise IllegalError(
            f"victory must be a Victory, or one of {', '.join(DEALT_VICTORIES)}, "
            f"got {quote(victory)}"
        )
    if extra_armies is not None:
        if armies is not None:
            raise IllegalError("armies and extra_armies must not both be given")
        extra_armies = read_int(extra_armies, "extra_armies", 0, MAX_TERRITORY_ARMIES)
    usual = count_starting_armies(len(names), len(lands))
    number = usual if armies is None else read_int(armies, "armies", 1, MAX_TERRITORY_ARMIES)
    rng = np.random.default_rng(read_int(seed, "seed"))
    picked = None if order is None else _read_order(order, board)
    for _ in range(MAX_REDEALS):
        dealt = rng.permutation(len(lands)) if picked is None else picked
        condition = victory
        if victory == "capitals":
            drawn = (lands[t] for t in dealt[: len(names)].tolist())
            condition = Capitals(dict(zip(names, drawn, strict=True)))
        elif victory == "missions":
            condition = Missions(dict.fromkeys(names, Hidden()))
        capitals = (
            _find_capitals(condition, board, names) if isinstance(condition, Capitals) else ()
        )
        owners, strength = deal_armies(
            len(owning), number, dealt, rng, capitals, extra_armies=extra_armies
        )
        rows = zip(owners.tolist(), strength.tolist(), strict=True)
        turn = Turn(
            Position(board, names[0], [Holding(owning[owner], held) for owner, held in rows]),
            rules,
            players=names,
            cards={} if cards else None,
            trade=trade,
            symbols=symbols,
            rules_of=rules_of,
            fortify=fortify,
            whole_battles=whole_battles,
            victory=None if isinstance(condition, str) else condition,
        )
        turn = turn.with_options(place=turn.new_armies())
        turn = deal_missions(turn, int(rng.integers(2**62)))
        winner = turn.winner
        if winner is None:
            return turn
    raise IllegalError(
        "victory must leave the game open after the deal, but "
        f"{winner} has already won: {turn.victory.describe_win(turn, str(winner))}"
    )


def _read_order(order: Iterable[str], board: Board) -> Ints:
    """Return the indices of all territories in a given order."""
    found = [board.find(name) for name in read_list(order, "order", "territories")]
    if len({*found}) < len(found) or len(found) != len(board.territories):
        raise IllegalError(
            f"order must name each of the {len(board.territories)} territories once, "
            f"got {quote(found)}"
        )
    return np.array([board.territories.index(name) for name in found])


def count_starting_armies(players: int, territories: int) -> int:
    """Return the armies of each player at the start of a game, as in the rule book.

    players: the number of players, from 2 to 6.
    territories: the number of territories of the board.

    >>> count_starting_armies(3, 42), count_starting_armies(3, 84)
    (35, 70)
    """
    if players not in STARTING_ARMIES:
        raise IllegalError(f"players must be from 2 to 6, got {quote(players)}")
    return STARTING_ARMIES[players] * territories // BOX_TERRITORIES


def deal_armies(
    players: int,
    armies: int,
    order: Ints,
    rng: "np.random.Generator",  # a string, because NumPy loads this module lazily
    capitals: Sequence[int | None] = (),
    *,
    extra_armies: int | None = None,
) -> tuple[Ints, Ints]:
    """Return the index of the owner of each territory, and its armies.

    players: the number of players.
    armies: the armies of each player; at least one on each territory.
    order: the indices of all territories in the order in which they are dealt.
    rng: the random number generator that places armies.
    capitals: the index of each player's capital, or `None`, for players who have a capital.
    extra_armies: the armies in addition to one on each territory; it replaces `armies`.

    >>> rng = np.random.default_rng(1)
    >>> owners, armies = deal_armies(2, 5, np.array([2, 0, 1]), rng)
    >>> owners.tolist(), int(armies[owners == 0].sum()), int(armies[owners == 1].sum())
    ([1, 0, 0], 5, 5)
    """
    order, strength = order.copy(), np.ones(len(order), np.int64)
    for player, capital in enumerate(capitals):  # each player gets their own capital
        if capital is not None:
            at = int(np.flatnonzero(order == capital)[0])
            order[[player, at]] = order[[at, player]]
    owners = np.empty_like(order)
    owners[order] = np.arange(len(order)) % players
    for player, capital in zip_longest(range(players), capitals):
        own = order[player::players]
        left = max(armies - own.size, 0) if extra_armies is None else extra_armies
        left = left if own.size else 0
        if capital is not None:
            guards = left * GUARDS // GUARDS_OF
            strength[capital] += guards
            left -= guards
        if left:
            np.add.at(strength, rng.choice(own, left), 1)
    return owners, strength


def deal_missions(turn: Turn, seed: int) -> Turn:
    """Return a turn with hidden missions dealt at random.

    turn: the turn. A dealt mission is secret: only its player knows it.
    seed: the seed of the deal.

    >>> code = "1;classic;red;Peru:red:3,Siam:blue:2;attack;win=missions:,red:hidden,blue:hidden"
    >>> deal_missions(Turn.from_code(code), 3).victory.format_texts()[1]["blue"]
    'secret eliminate red'
    """
    random = Random(seed)  # noqa: S311 # games do not need cryptographic randomness
    victory = turn.victory.deal(turn, random)
    return turn if victory == turn.victory else turn.with_options(victory=victory)


def _find_capitals(victory: Capitals, board: Board, players: Sequence[str]) -> list[int | None]:
    """Return the index of each player's capital; `None` for a player without a capital."""
    given = {fold_name(str(name)): territory for name, territory in victory.capitals.items()}
    found = (given.get(fold_name(name)) for name in players)
    return [None if each is None else board.territories.index(board.find(each)) for each in found]
