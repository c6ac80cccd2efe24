"""Trials, such as rolls and battles, with the probabilities of their outcomes."""

import math
from collections import Counter
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

from iacta.battle.battle import Battle
from iacta.battle.territory import Territory
from iacta.inputs.errors import TooLargeError
from iacta.rules.roll import Roll
from iacta.rules.rules import Rules

MAX_NAME_LENGTH = 100
MAX_BATTLE_STATES = (
    10**6
)  # maximum of attackers times defenders in a battle, computed in under a second
# These outcomes stand for a win and a loss of the attackers if the log states no losses.
WON, LOST = (0, 1), (1, 0)


class Trial(NamedTuple):
    """A random experiment, such as a roll or a battle, without its outcome.

    kind: `"die"`, `"roll"`, `"total"` (many rolls with only their total losses), `"battle"`, or
        `"chance"` (an attack with only its chance of success before and after).
    first: the faces of a die, the attack dice of a roll, or the attackers of a battle; otherwise 0.
    second: the defence dice of a roll, or the defenders of a battle; otherwise 0.
    is_recorded: whether the trial is a battle from a recording, which does not show all outcomes.
    has_only_winner: whether only the winner of the battle is known.
    chance: the chance of success, for the kind `"chance"`.
    is_decided: whether the attack has already succeeded or failed, for the kind `"chance"`.
    """

    kind: str
    first: int
    second: int
    rules: Rules
    is_recorded: bool = False
    has_only_winner: bool = False
    chance: float = 0.0
    is_decided: bool = True

    @property
    def has_losses(self) -> bool:
        """Whether the losses are known, not only the winner."""
        return self.kind != "chance" and not self.has_only_winner


class Entry(NamedTuple):
    """One line of a log: a trial and its outcome.

    trial: the trial; `None` for a battle that the attackers stopped early.
    outcome: (face, 0) for a die; `WON` or `LOST` if only the winner is known, and (0, 0) if this
        attack is undecided; otherwise the armies lost by the attackers and by the defenders, in all
        rolls together for the kind `"total"`.
    player: the name of the attacker, empty if unknown.
    opponent: the name of the defender, empty if unknown.
    dice: the dice of both sides in the order of the log, attack dice first; empty if unknown.
    armies: the attackers and defenders before a roll, if given.
    ahead: the territories that the attackers must conquer after this one.
    chances: the chance to succeed before and after, if given.
    times: how often the trial occurred with this outcome.
    """

    trial: Trial | None
    outcome: tuple[int, int]
    player: str = ""
    opponent: str = ""
    dice: tuple[int, ...] = ()
    armies: tuple[int, int] | None = None
    ahead: tuple[Territory, ...] = ()
    chances: tuple[float, float] | None = None
    times: int = 1

    @property
    def fought(self) -> tuple[int, int] | None:
        """The attackers and defenders before a battle or a roll; `None` if unknown."""
        if self.trial is not None and self.trial.kind == "battle":
            return self.trial.first, self.trial.second
        return self.armies


@dataclass
class Notes:
    """Notes for the user about a log, collected while it is read.

    unread: the ignored columns.
    remarks: sentences about how the log was read.
    skipped: for a recording of a game, the number of attacks that could not be used, by reason.
    is_recording: whether the log is a recording of a game.
    has_order: whether the lines show the order of the throws.
    """

    unread: dict[str, None] = field(default_factory=dict)
    remarks: dict[str, None] = field(default_factory=dict)
    skipped: Counter[str] = field(default_factory=Counter)
    is_recording: bool = False
    has_order: bool = True


@lru_cache(maxsize=2**11)  # the outcomes of a large battle take about 200 kB of memory
def compute_outcome_chances(trial: Trial) -> dict[tuple[int, int], float]:
    """Return the probability, with fair dice, of each outcome that a log can show for a trial.

    The keys are as in `Entry.outcome`, ordered from best to worst for the attackers; the faces of a
    die are in ascending order.

    >>> compute_outcome_chances(Trial("roll", 1, 1, Rules()))
    {(0, 1): 0.4166666666666667, (1, 0): 0.5833333333333334}
    """
    if trial.kind == "die":
        return {(face, 0): 1 / trial.first for face in range(1, trial.first + 1)}
    if trial.kind == "chance":
        both = {WON: trial.chance, LOST: 1 - trial.chance}
        return {outcome: chance for outcome, chance in both.items() if chance > 0}
    if trial.kind in ("roll", "total"):
        losses = Roll(trial.first, trial.second, trial.rules).losses()
        return {(loss.attackers, loss.defenders): float(losses[loss]) for loss in sorted(losses)}
    ends = Battle(trial.first, trial.second, trial.rules).outcomes()
    if trial.has_only_winner:
        lost = math.fsum(float(chance) for end, chance in ends.items() if end.defenders)
        won = math.fsum(float(chance) for end, chance in ends.items() if not end.defenders)
        return {outcome: p for outcome, p in ((WON, won), (LOST, lost)) if p > 0}
    chances = {
        (trial.first - end.attackers, trial.second - end.defenders): float(chance)
        for end, chance in ends.items()
        if chance > 0
    }
    if trial.is_recorded:
        most = count_losses_of_first_roll(trial.first, trial.second, trial.rules)
        chances = {lost: p for lost, p in chances.items() if lost[1] and sum(lost) > most}
    total = sum(chances.values())
    best_first = sorted(chances, key=lambda lost: (-lost[1], lost[0]))
    return {lost: chances[lost] / total for lost in best_first}


def count_losses_of_first_roll(attackers: int, defenders: int, rules: Rules) -> int:
    """Return the number of armies that both sides together lose in the first roll of a battle."""
    able = attackers - rules.garrison
    return min(able, rules.attack.kept, defenders, rules.defence.kept)


def refuse_large(attackers: int, defenders: int) -> None:
    """Raise `TooLargeError` if computing a battle or campaign would take too long."""
    if attackers * defenders > MAX_BATTLE_STATES:
        raise TooLargeError(
            f"attackers times all defenders must be at most {MAX_BATTLE_STATES:,}, got "
            f"{attackers:,} and {defenders:,}"
        )
