"""Picking territories in turn before the first turn, by the value function V.

V scores only positions in which all territories are dealt. So the free territories are dealt at
random, several times. In each deal, the worth of a territory for a player is what V gains by an
exchange that gives the territory to the player; for a territory that the player has, what V loses
by an exchange that takes it away.
"""

from collections.abc import Sequence

import numpy as np

from iacta.board import Board, Holding, Position
from iacta.game.deal import count_starting_armies
from iacta.game.turn import Turn
from iacta.game.victory import Victory
from iacta.inputs.checks import quote
from iacta.inputs.errors import IllegalError
from iacta.rules.rules import Rules
from iacta.war.games import War
from iacta.war.value import load_weights

COMPLETIONS = 2  # the number of random deals of the free territories
MAX_CANDIDATES = 60  # the maximum number of free territories that V compares in each deal


def pick_territory(
    board: Board,
    players: Sequence[str],
    order: Sequence[str],
    *,
    seed: int,
    rules: Rules | str = "classic",
    victory: Victory | None = None,
) -> str:
    """Return the free territory that V values most for the next player.

    board: the board.
    players: the two to six players in the order of play.
    order: the territories that have been picked, in order; the first player picked the first one.
    seed: the seed of the random deals of the free territories.
    rules, victory: the rules and the victory condition of the game.

    Raises `IactaError` if no territory is free, and for the same reasons as `Turn`.

    >>> from iacta.board.built_in import classic_board
    >>> order = ["Indonesia", "Peru", "New Guinea", "Egypt", "Eastern Australia", "Ural"]
    >>> pick_territory(classic_board(), ["red", "blue"], order, seed=1)
    'Western Australia'
    """
    free = [name for name in board.territories if name not in order]
    if not free:
        raise IllegalError(f"order must leave a territory free, got all {len(order)}")
    rng, picked = np.random.default_rng(seed), len(order)
    values = dict.fromkeys(free, 0.0)
    for _ in range(COMPLETIONS if len(free) > 1 else 0):
        whole = [*order, *rng.permutation(free).tolist()]

        def judge(first: str, second: str, whole: list[str] = whole) -> float:
            """Return V for the next player after an exchange of two territories."""
            exchange = {first: second, second: first}
            changed = [exchange.get(name, name) for name in whole]
            turn = _make_turn(board, players, changed, rules, victory)
            weights = load_weights("choosing" if turn.victory.is_judged_by_v else "missions")
            return float(War(turn).judge(weights)[0][picked % len(players)])

        # A territory is worth V with it minus V with `mine` instead of it.
        mine, theirs = whole[picked], whole[picked + 1]
        value = judge(mine, mine)
        gained = judge(mine, theirs) - value
        own = whole[picked :: len(players)]
        for name in whole[picked : picked + MAX_CANDIDATES]:
            lost = name in own and name != mine
            values[name] += (
                value - judge(name, theirs) + gained if lost else judge(mine, name) - value
            )
    return max(free, key=lambda name: values[name])


def _make_turn(
    board: Board,
    players: Sequence[str],
    order: Sequence[str],
    rules: Rules | str,
    victory: Victory | None,
) -> Turn:
    """Return the first turn after a deal in an order, with equal numbers of armies everywhere."""
    owners = {name: players[k % len(players)] for k, name in enumerate(order)}
    armies = count_starting_armies(len(players), len(order)) * len(players) // len(order)
    held = [Holding(owners[name], max(armies, 1)) for name in board.territories]
    turn = Turn(Position(board, players[0], held), rules, players=players, victory=victory)
    return turn.with_options(place=turn.new_armies())


def complete_order(
    board: Board,
    players: Sequence[str],
    order: Sequence[str],
    pickers: Sequence[str],
    *,
    seed: int,
    rules: Rules | str = "classic",
    victory: Victory | None = None,
) -> tuple[str, ...]:
    """Return the order of picked territories after the picks of computers, up to a person's pick.

    pickers: the players for whom V picks.
    board, players, order, seed, rules, victory: the same as for `pick_territory`.

    Raises `IllegalError` for a territory that is picked twice, and for the same reasons as `Turn`.

    >>> from iacta.board.built_in import classic_board
    >>> len(complete_order(classic_board(), ["red", "blue"], ["Siam"], ["blue"], seed=1))
    2
    """
    found = [board.find(name) for name in order]
    if twice := next((name for name in found if found.count(name) > 1), ""):
        raise IllegalError(f"order must name each territory once, got {quote(twice)} twice")
    while len(found) < len(board.territories):
        if players[len(found) % len(players)] not in pickers:
            break
        found.append(
            pick_territory(
                board, players, found, seed=seed + len(found), rules=rules, victory=victory
            )
        )
    return tuple(found)
