"""The values of policies, for a turn or for a single battle.

A policy π maps a turn to an action. Its value is the expected payoff when the turn is over,

    V(s) = Σ_x P(x | s, π(s)) · V(s after x),     V(s) = worth(s) if the turn is over,

where x runs over the results of the action. If the attacked player decides in s, V(s) is the
minimum over their actions, or the value under their own policy. An exact evaluation visits each
successor once. If there are too many successors, simulated games estimate the value.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import fsum
from statistics import fmean
from typing import Any, Protocol, TypeAlias

import numpy as np

from iacta.board import Board, Position
from iacta.game.actions import Action, Advance, Attack, EndPhase
from iacta.game.turn import Policy, Turn
from iacta.inputs.checks import quote, read_int
from iacta.inputs.errors import IllegalError, MalformedError
from iacta.methods.kernel import read_battle
from iacta.probability.chances import Chance, read_fraction
from iacta.probability.estimate import Estimate, Interval, compute_half_width
from iacta.rules.rules import Rules

MAX_POLICY_STATES = 20_000  # an exact evaluation of 20,000 states takes a few seconds
DEFAULT_SIMULATED_TURNS = 1000

Thumb: TypeAlias = Callable[[int, int], int | None]


class TurnGoal(Protocol):
    """A goal of a turn: a payoff for each finished turn.

    Two methods are optional: `is_reached(turn)` returns whether the payoff can no longer change,
    and `read(board)` returns the goal with the board's spelling of names. Goals of plans have both
    methods.
    """

    def worth(self, turn: Turn, /) -> float:
        """Return the payoff of a finished turn."""


@dataclass(frozen=True)
class Evaluation:
    """The value of a policy.

    value: the expected payoff at the end of the turn.
    interval: the 95% interval of an estimate; `None` for an exact value. This is Wilson's interval
        if every payoff is 0 or 1, and otherwise Student's interval, which is unreliable if all
        payoffs are equal, and infinite for fewer than ten games.
    games: the number of simulated games; 0 for an exact value.
    states: the number of states in an exact evaluation; 0 for an estimate.
    """

    value: float
    interval: Interval | None
    games: int
    states: int


def evaluate(
    policy: Policy,
    turn: Turn,
    goal: TurnGoal,
    *,
    defender: Policy | None = None,
    games: int = DEFAULT_SIMULATED_TURNS,
    seed: int = 0,
    max_states: int = MAX_POLICY_STATES,
) -> Evaluation:
    """Compute the value of a policy if few states can occur, otherwise estimate the value.

    policy: a deterministic function from a turn to a legal action.
    turn: the initial state of the turn.
    goal: an object whose method `worth(turn)` returns the payoff of a finished turn. If the goal
        has a method `is_reached(turn)`, the turn also ends when this method returns true.
    defender: the policy that chooses defence dice. If it is `None`, an exact evaluation assumes the
        worst dice for the goal, and simulated games use `Turn.careful_defence`.
    games: the number of simulated games if more than `max_states` states can occur.
    seed: the seed of the dice.
    max_states: the maximum number of states in an exact evaluation; 0 always simulates. Rules under
        which a battle can gain armies always need simulation.

    Raises `IactaError` if the policy returns an illegal action.

    >>> class Brazil:
    ...     def worth(self, turn):
    ...         return float(turn.position.find_holding("Brazil").owner == turn.player)
    >>> def always(turn):
    ...     return turn.actions()[0]
    >>> turn = Turn.from_code("1;classic;red;Peru:red:7,Brazil:blue:3")
    >>> round(evaluate(always, turn, Brazil()).value, 4)
    0.8569
    """
    if not isinstance(turn, Turn):
        raise MalformedError(f"turn must be a Turn, got {quote(turn)}")
    for each, name in ((policy, "policy"), (getattr(goal, "worth", None), "worth of the goal")):
        if not callable(each):
            raise MalformedError(f"{name} must be a function of a turn, got {quote(each)}")
    if hasattr(goal, "resolve_names"):
        goal = goal.resolve_names(turn.board)
    number = read_int(games, "games", minimum=2)
    most = read_int(max_states, "max_states", minimum=0)
    if all(each.mode.fits_plans for each in (turn.rules, *turn.rules_of.values())):
        found = _evaluate_exactly(policy, turn, goal, defender, most)
        if found is not None:
            return found
    return _estimate(policy, turn, goal, defender, number, seed)


def _is_over(turn: Turn, goal: TurnGoal) -> bool:
    is_reached = getattr(goal, "is_reached", None)
    return turn.phase == "over" or (is_reached is not None and bool(is_reached(turn)))


# For each action that is considered in a state, the successors with their chances.
_Branches: TypeAlias = list[list[tuple[float, Turn]]]


def _evaluate_exactly(
    policy: Policy, turn: Turn, goal: TurnGoal, defender: Policy | None, maximum: int
) -> Evaluation | None:
    """Compute the value by Bellman's equation; return `None` if there are over `maximum` states."""
    values: dict[tuple[object, ...], float] = {}
    branches: dict[tuple[object, ...], _Branches] = {}
    # No successor leads back to an earlier state, so depth-first search suffices.
    waiting = [turn]
    while waiting:
        here = waiting[-1]
        key = here.state
        if key in values:
            waiting.pop()
        elif _is_over(here, goal):
            values[key] = float(goal.worth(here))
        elif key in branches:
            values[key] = min(
                fsum(p * values[after.state] for p, after in row) for row in branches.pop(key)
            )
        elif len(values) + len(branches) >= maximum:
            return None
        else:
            is_worst = here.phase == "defend" and defender is None
            actions = [*here.actions()] if is_worst else [here.decide(policy, defender)]
            branches[key] = [_list_successors(here, action) for action in actions]
            waiting += [after for row in branches[key] for _, after in row]
    return Evaluation(values[turn.state], None, 0, len(values))


def _list_successors(turn: Turn, action: Action) -> list[tuple[float, Turn]]:
    """Return the next turns with their chances, given that the action changes the turn.

    After a roll that changes nothing, a policy repeats its action.
    """
    results = turn.results(action)
    found = [(float(p), turn.after(action, result)) for result, p in results.items()]
    changed = [(p, after) for p, after in found if after.state != turn.state]
    if len(changed) == len(found):
        return found
    total = fsum(p for p, _ in changed)
    return [(p / total, after) for p, after in changed]


def _estimate(
    policy: Policy, turn: Turn, goal: TurnGoal, defender: Policy | None, games: int, seed: int
) -> Evaluation:
    rng = np.random.default_rng(read_int(seed, "seed"))
    values = []
    for _ in range(games):
        end = turn
        while not _is_over(end, goal):
            end, _ = end.play_action(end.decide(policy, defender), rng)
        values.append(float(goal.worth(end)))
    mean = fmean(values)
    if {*values} <= {0.0, 1.0}:
        return Evaluation(mean, Estimate(games, round(sum(values))).interval(), games, 0)
    half = compute_half_width(values)
    return Evaluation(mean, Interval(mean - half, mean + half), games, 0)


class _Gain:
    """The payoff of a battle: the prize, plus the values of surviving and destroyed armies."""

    def __init__(self, turn: Turn, prize: float, army_value: float, kill_value: float) -> None:
        self.start, self.values = turn, (prize, army_value, kill_value)

    def worth(self, turn: Turn) -> float:
        prize, army, kill = self.values
        left = sum(n for n, owner in zip(turn.armies, turn.owners, strict=True) if owner == "us")
        against = sum(turn.armies) - left
        won = turn.owners[1] == "us"
        return prize * won + army * left + kill * (self.start.armies[1] - against)


def evaluate_battle(
    policy: Thumb,
    attackers: int,
    defenders: int,
    rules: Rules | str = "classic",
    *,
    prize: Chance,
    army_value: Chance = 1,
    kill_value: Chance = 0,
    games: int = DEFAULT_SIMULATED_TURNS,
    seed: int = 0,
) -> Evaluation:
    """Return the expected payoff of a rule of thumb for a single battle.

    policy: a function that takes the numbers of attackers (garrison included) and of defenders, and
        returns the largest number of dice to roll; 0 or `None` stops the battle.
    attackers: armies on the attacking territory, garrison included.
    defenders: armies on the defended territory.
    rules: `Rules`, or the name of a rule set.
    prize, army_value, kill_value: the values of the territory, of each surviving attacker, and of
        each destroyed defender, as in `when_to_stop`. The value of `when_to_stop` is an upper bound
        for every rule of thumb that rolls as many dice as possible.
    games, seed: the same as for `evaluate`. Only rules under which a battle can gain armies use
        these arguments; under all other rules the value is exact.

    >>> from iacta import when_to_stop
    >>> best = when_to_stop(9, 6, prize=10)
    >>> thumb = evaluate_battle(lambda a, d: 3 if a > d + 1 else 0, 9, 6, prize=10)
    >>> round(thumb.value, 3), round(best.value, 3)
    (10.901, 11.919)
    """
    if not callable(policy):
        raise MalformedError(f"policy must be a function of armies, got {quote(policy)}")
    a, d, found = read_battle(attackers, defenders, rules)
    names = {"prize": prize, "army_value": army_value, "kill_value": kill_value}
    values = {name: read_fraction(value, name, "be a number") for name, value in names.items()}
    for name, value in values.items():
        if value < 0:
            raise IllegalError(f"{name} must be at least 0, got {quote(names[name])}")
    board = Board("battle", ("start", "to"), (("start", "to"),))
    turn = Turn(Position(board, "us", {"start": ("us", a), "to": ("them", d)}), found)
    gain = _Gain(turn, *map(float, values.values()))
    return evaluate(
        lambda now: _act_by_thumb(policy, now), turn, gain, games=games, seed=seed, max_states=10**9
    )


def _act_by_thumb(policy: Thumb, turn: Turn) -> Action:
    actions: Any = turn.actions()
    if turn.phase == "advance":
        most: Advance = actions[-1]
        return most
    attacks = [action for action in actions if isinstance(action, Attack)]
    dice = policy(turn.armies[0], turn.armies[1]) if attacks else 0
    if dice is not None and (not hasattr(dice, "__index__") or dice < 0):
        raise MalformedError(f"policy must return a number of dice or None, got {quote(dice)}")
    if not dice:
        return EndPhase()
    return next((attack for attack in attacks if attack.dice <= dice), attacks[-1])
