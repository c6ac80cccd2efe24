"""The number of armies to move into a conquered territory."""

from iacta.battle.battle import Battle
from iacta.game import Advance, Turn
from iacta.game.step_fields import list_advances
from iacta.plan.goal_plan import MoveIn, pick_evenly

MAX_DEFENDED = 60  # maximum number of advances to compare for defence alone


def defend_conquest(turn: Turn) -> MoveIn:
    """Return the number of armies to move in that best protects both territories.

    turn: a turn right after a conquest.

    Each territory is assumed to be attacked by its strongest neighbouring enemy. The best number
    has the smallest chance to lose the more endangered territory; ties are broken by the sum of the
    two chances.

    >>> turn = Turn.from_code("1;classic;red;Brazil:red:9,Peru:blue:1,Argentina:blue:5")
    >>> from iacta.game.steps import take_step
    >>> attack = {"do": "attack", "from": "Brazil", "to": "Peru", "left": 9, "their_left": 0}
    >>> defend_conquest(take_step(turn, attack)[0]).best
    5
    """
    assert turn.pending is not None  # noqa: S101 # the phase is `advance`
    ends = turn.pending.start, turn.pending.to

    def compute_risks(armies: int) -> tuple[float, float, int]:
        after = turn.after(Advance(armies))
        risks = [_compute_risk(after, name) for name in ends]
        return max(risks), sum(risks), -armies

    return MoveIn(min(pick_evenly(list_advances(turn), MAX_DEFENDED), key=compute_risks), ())


def _compute_risk(turn: Turn, name: str) -> float:
    """Return the chance that a territory falls to its strongest neighbouring enemy."""
    armies = dict(zip(turn.board.territories, turn.armies, strict=True))
    owners = dict(zip(turn.board.territories, turn.owners, strict=True))
    enemies = [
        armies[start]
        for start, to in turn.board.borders
        if to == name and owners[start] not in ("", turn.player)
    ]
    if not enemies:
        return 0.0
    rules = turn.rules_of.get(name, turn.rules)
    return float(Battle(max(enemies), armies[name], rules).win_probability())
