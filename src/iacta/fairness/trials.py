"""Trials: what dice decide, and how often fair dice decide it so."""

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

LONGEST_NAME = 100
MAX_STATES = 10**6  # of a battle in a log: a fraction of a second
WON, LOST = (0, 1), (1, 0)  # the outcomes of a trial of which only success is known


class Trial(NamedTuple):
    """Something that dice decide.

    kind: `"die"`, `"roll"`, `"total"` for a roll of which only sums over many are known,
        `"battle"` or `"chance"`.
    first: the faces of a die, the attack dice of a roll, or the attackers of a battle.
    second: the defence dice or the defenders; 0 for a die.
    is_recorded: whether it is a battle of which a recording does not show every outcome.
    is_only_won: whether it is a battle of which the log shows only the winner.
    chance: the chance to succeed, of a line that has no dice and no armies.
    is_decided: whether that chance became 0 or 1.
    """

    kind: str
    first: int
    second: int
    rules: Rules
    is_recorded: bool = False
    is_only_won: bool = False
    chance: float = 0.0
    is_decided: bool = True

    @property
    def has_losses(self) -> bool:
        """Whether the armies lost are known, and not only whether the attackers succeeded."""
        return self.kind != "chance" and not self.is_only_won


class Entry(NamedTuple):
    """What a line of a log says.

    trial: what was thrown or fought; `None` for a battle that was broken off.
    outcome: the face; or the armies that attackers and defenders have lost, in total if only sums
        are known; or `WON` or `LOST`.
    player: who threw or attacked, empty if unknown.
    opponent: who defended.
    dice: the dice of both sides as they were thrown, attack dice first.
    armies: attackers and defenders before a roll, if they are given.
    ahead: the territories that the attackers are still to take after this one.
    chances: the chance to succeed before and after, if they are given.
    times: how often it happened.
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
        """Attackers and defenders of a battle, or before a roll; `None` if they are not known."""
        if self.trial is not None and self.trial.kind == "battle":
            return self.trial.first, self.trial.second
        return self.armies


@dataclass
class Notes:
    """What a log has that is not part of any test.

    unread: columns that are ignored.
    remarks: how the log was read, where it does not say so itself.
    skipped: what is not clear from a recording, and how often.
    is_recording: whether the log is the recording of a game.
    """

    unread: dict[str, None] = field(default_factory=dict)
    remarks: dict[str, None] = field(default_factory=dict)
    skipped: Counter[str] = field(default_factory=Counter)
    is_recording: bool = False


@lru_cache(maxsize=2**11)  # of large battles each takes some 200 kB
def outcomes(trial: Trial) -> dict[tuple[int, int], float]:
    """Return the probability of each outcome with fair dice, of those that a log can show.

    The outcomes are in order, the best for the attackers first: the armies that attackers and
    defenders lose, or the face of a die. Of a chance they are `WON` and `LOST`.

    >>> outcomes(Trial("roll", 1, 1, Rules()))
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
    if trial.is_only_won:
        lost = math.fsum(float(chance) for end, chance in ends.items() if end.defenders)
        won = math.fsum(float(chance) for end, chance in ends.items() if not end.defenders)
        return {outcome: p for outcome, p in ((WON, won), (LOST, lost)) if p > 0}
    chances = {
        (trial.first - end.attackers, trial.second - end.defenders): float(chance)
        for end, chance in ends.items()
        if chance > 0
    }
    if trial.is_recorded:
        most = armies_in_one_roll(trial.first, trial.second, trial.rules)
        chances = {lost: p for lost, p in chances.items() if lost[1] and sum(lost) > most}
    total = sum(chances.values())
    best_first = sorted(chances, key=lambda lost: (-lost[1], lost[0]))
    return {lost: chances[lost] / total for lost in best_first}


def armies_in_one_roll(attackers: int, defenders: int, rules: Rules) -> int:
    """Return how many armies the first roll of a battle takes."""
    able = attackers - rules.garrison
    return min(able, rules.attack.kept, defenders, rules.defence.kept)


def refuse_large(attackers: int, defenders: int) -> None:
    """Refuse a battle, or a campaign, whose distribution takes long."""
    if attackers * defenders > MAX_STATES:
        raise TooLargeError(
            f"attackers times all defenders must be at most {MAX_STATES:,}, got {attackers:,} and "
            f"{defenders:,}"
        )
