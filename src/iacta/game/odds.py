"""The odds and the expected losses of attacks and battles in a turn."""

from collections.abc import Iterable
from functools import lru_cache
from math import fsum
from typing import NamedTuple

from iacta.game.actions import Attack
from iacta.game.state import make_battle_choice
from iacta.game.turn import Turn
from iacta.inputs.meanings import Count, Unit
from iacta.methods.kernel import Kernel
from iacta.probability.distribution import Probability

MAX_EXPECTED = 10**6  # computing the expected losses of a larger battle takes over a second


class BorderOdds(NamedTuple):
    """The odds of a battle between two neighbouring territories, fought to its end.

    start: the attacking territory.
    to: the attacked territory.
    attackers: the armies on the attacking territory, garrison included.
    defenders: the armies on the attacked territory.
    win_probability: the chance to conquer the territory if the battle is fought to its end.
    """

    start: str
    to: str
    attackers: Count
    defenders: Count
    win_probability: Unit


class ExpectedLosses(NamedTuple):
    """The expected losses of both sides."""

    attackers: float
    defenders: float


def list_border_odds(turn: Turn) -> tuple[BorderOdds, ...]:
    """Return the odds of all battles that the player could start if the phase were `attack`.

    turn: the turn.

    Each battle is fought to its end with all spare armies of the attacking territory. The battles
    are in the order of the board.

    >>> turn = Turn.from_code("1;classic;red;Peru:red:7,Brazil:blue:3")
    >>> for border in list_border_odds(turn):
    ...     print(border.start, border.to, round(border.win_probability, 4))
    Peru Brazil 0.8569
    """
    names, setting = turn.board.territories, turn.setting
    return tuple(
        BorderOdds(
            names[v],
            names[c],
            turn.armies[v],
            turn.armies[c],
            _win_chance(setting.kernels[c], turn.count_spare(v), turn.armies[c]),
        )
        for v in turn.list_own()
        if turn.count_spare(v) > 0 and not setting.immobile[v]
        for c in setting.borders[v]
        if turn.owners[c] != turn.player and turn.armies[c]
    )


def expect_roll_losses(turn: Turn, attack: Attack, their_dice: int | None = None) -> ExpectedLosses:
    """Return the expected losses of one attack.

    turn: the turn before the attack.
    attack: a legal attack. A defender who sees the attack dice chooses as in
        `Turn.careful_defence`.
    their_dice: the number of defence dice if the defender rolls fewer than possible.

    >>> turn = Turn.from_code("1;classic;red;Peru:red:9,Brazil:blue:4")
    >>> losses = expect_roll_losses(turn, Attack("Peru", "Brazil", 3))
    >>> [round(each, 4) for each in losses]
    [0.9209, 1.0791]
    """
    if their_dice is not None:
        reduced = turn.results(attack, their_dice).items()
        return _sum_losses((p, lost, killed) for (lost, killed), p in reduced)
    turn.list_losses(attack)  # raises an error for an illegal attack
    v, c = turn.index_ends(attack)
    kernel, spare, defenders = turn.setting.kernels[c], turn.count_spare(v), turn.armies[c]
    return _sum_losses(
        [
            (throw.chance * p, lost, killed)
            for throw in turn.find_choice(attack).throws
            for p, lost, killed in throw.options[kernel.choose_worst_reply(throw, spare, defenders)]
        ]
    )


def expect_battle_losses(turn: Turn, start: str, to: str) -> ExpectedLosses | None:
    """Return the expected losses of a whole battle.

    turn: the turn before the battle.
    start, to: the attacking and the attacked territory.

    Both sides roll as many dice as possible. The result is `None` for a battle of more than a
    million armies, or of more armies than the method for its rules can handle.

    >>> turn = Turn.from_code("1;classic;red;Peru:red:9,Brazil:blue:4")
    >>> [round(losses, 4) for losses in expect_battle_losses(turn, "Peru", "Brazil")]
    [3.1362, 3.7571]
    """
    v, c = (turn.setting.index[turn.board.find(name)] for name in (start, to))
    kernel, spare, defenders = turn.setting.kernels[c], turn.count_spare(v), turn.armies[c]
    if spare <= 0 or turn.owners[c] == turn.player:
        return ExpectedLosses(0.0, 0.0)
    if spare + defenders > MAX_EXPECTED or kernel.refusal(spare, defenders) is not None:
        return None
    (results,) = make_battle_choice(kernel, spare, defenders).throws[0].options
    return _sum_losses(results)


def _sum_losses(results: Iterable[tuple[Probability, int, int]]) -> ExpectedLosses:
    """Return the expected losses.

    results: triples of a chance and the losses of the attacker and of the defender.
    """
    rows = [(float(p), lost, killed) for p, lost, killed in results]
    return ExpectedLosses(
        fsum(p * lost for p, lost, _ in rows), fsum(p * killed for p, _, killed in rows)
    )


@lru_cache(maxsize=65536)
def _win_chance(kernel: Kernel, able: int, defenders: int) -> float:
    """Return the attacker's chance of winning a battle that is fought to its end."""
    if not defenders:
        return 1.0
    return float(kernel.win_probability(able, defenders)) if able > 0 else 0.0
