"""Decisions in a battle: whether to roll, stop or blitz, and how many dice to roll."""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from fractions import Fraction
from math import inf
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from iacta.inputs.checks import check_choice, quote, read_int
from iacta.inputs.errors import IllegalError, TooLargeError
from iacta.inputs.meanings import Count
from iacta.inputs.reprs import DisplayMixin
from iacta.methods.hand_or_blitz import compute_best_mix, compute_expected_left, make_hand_rules
from iacta.methods.optimal_play import (
    MAY_STOP,
    TO_THE_END,
    Aim,
    Choices,
    OptimalPlay,
    Reward,
    compute_chance_if_seen,
    is_rolling_best_in_the_limit,
    refuse_rules,
    solve,
    solve_exactly,
)
from iacta.probability.chances import Chance, read_fraction
from iacta.probability.distribution import Probability
from iacta.rules.roll import list_seen_throws
from iacta.rules.rules import Rules
from iacta.rules.variants import find_rules

Action = Literal["roll", "stop", "blitz"]
Chooser = Literal["nobody", "attacker", "defender", "both"]
Bools: TypeAlias = npt.NDArray[np.bool_]

CHOOSERS = ("nobody", "attacker", "defender", "both")

ROOT_PRECISION = Fraction(1, 10**9)  # the relative error of a prize against a defender who replies
MAX_VALUE = 10**100  # the square of a value must be a finite float
BOUNDARY_FACTOR = 8  # the search for a boundary stops at eight times the attackers of the battle
BOUNDARY_MARGIN = 16  # how many more attackers than defenders the first search covers


class Boundary(NamedTuple):
    """The fewest attackers that should attack a given number of defenders.

    defenders: armies on the defended territory.
    attackers: the fewest attackers, garrison included; `None` if it is never best to attack.
    """

    defenders: Count
    attackers: Count | None


class _Policy(DisplayMixin):
    """A decision whose tables are read-only, even after unpickling."""

    def __post_init__(self) -> None:
        for table in vars(self).values():
            if isinstance(table, np.ndarray):
                table.setflags(write=False)

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self.__post_init__()


@dataclass(frozen=True, repr=False)
class Decision(_Policy):
    """The best action now and in every later state of a battle.

    attackers: armies on the attacking territory, garrison included.
    defenders: armies on the defended territory.
    rules: the rules of the battle.
    objective: the quantity that the best action maximises: `"value"` for the value of the territory
        and the armies, or `"conquest"` for the chance to conquer the territory.
    action: the best action now: `"roll"`, `"stop"` or `"blitz"`.
    value: the value of the battle under the best policy.
    value_if_stopped: the value of stopping now.
    error: a bound on the error of `value`; 0 for fractions.
    win_probability: the chance to conquer the territory under the best policy.
    expected_attackers_left: the expected number of surviving attackers under the best policy,
        garrison included.
    boundary: for each number of defenders up to `defenders`, the fewest attackers for which rolling
        is best; if a blitz is allowed, the fewest attackers for which a blitz is best.
    rolls: a table of whether rolling is best: `rolls[d, n]` is for `d` defenders and `n` attackers,
        garrison excluded. The table covers the battle and every boundary.
    values: the value function, a table of the value of each state under the best policy, with the
        indices of `rolls`: `values[defenders, attackers - garrison]` is `value`.

    If two actions are equally good, or too close for floats, `action` is the easier action: stop
    rather than roll, and blitz rather than roll. A boundary is `None` if no number of attackers in
    `rolls` is enough. To find a boundary, `rolls` covers up to eight times the attackers. If the
    best action changes more than once as attackers are added, only `rolls` shows all changes.
    """

    attackers: int
    defenders: int
    rules: Rules
    objective: str
    action: Action
    value: Probability
    value_if_stopped: Probability
    error: float
    win_probability: Probability
    expected_attackers_left: Probability
    boundary: tuple[Boundary, ...]
    rolls: npt.NDArray[np.bool_] = field(compare=False)
    values: npt.NDArray[Any] = field(compare=False)

    def _summary(self) -> str:
        return (
            f"{self.action}, {self.attackers} against {self.defenders}; value "
            f"{float(self.value):.6g}, {float(self.value_if_stopped):.6g} if stopped"
        )

    def choose_best_action(self, attackers: int, defenders: int) -> Action:
        """Return the best action for given numbers of armies.

        attackers: armies on the attacking territory, garrison included.
        defenders: armies on the defended territory; 0 after the conquest.

        Raises `IactaError` for more armies than `rolls` covers.

        >>> when_to_stop(12, 10, prize=10).choose_best_action(3, 6)
        'stop'
        """
        d = read_int(defenders, "defenders", 0, len(self.rolls) - 1)
        most = self.rolls.shape[1] - 1 + self.rules.garrison
        able = read_int(attackers, "attackers", 0, most) - self.rules.garrison
        if able <= 0 or not d:
            return "stop"
        return "roll" if self.rolls[d, able] else self._other_action

    @property
    def _other_action(self) -> Action:
        """The best action in states with able attackers in which no single roll is best."""
        return "blitz" if self.objective == "conquest" else "stop"

    def list_actions(self) -> Iterator[list[Action]]:
        """Yield the best actions against 1, 2, ... defenders, for 1, 2, ... attackers.

        >>> list(when_to_stop(3, 2, prize=10).list_actions())
        [['stop', 'stop'], ['roll', 'roll'], ['roll', 'roll']]
        """
        garrison, other = self.rules.garrison, self._other_action
        for attackers in range(1, self.attackers + 1):
            if attackers <= garrison:
                yield ["stop"] * self.defenders
            else:
                rolls = self.rolls[1 : self.defenders + 1, attackers - garrison].tolist()
                yield ["roll" if is_roll else other for is_roll in rolls]


class DefenceReply(NamedTuple):
    """The best number of defence dice after an attack roll that the defender sees.

    attack_dice: the number of attack dice in the roll.
    attack: the attack dice that can be compared, highest first, with their bonuses.
    defence_dice: the best number of defence dice.
    values: the value of the battle for the attacker after replies with 1, 2, ... dice.
    first_die: the first defence die, if the defender decides on a second die after seeing it;
        otherwise `None`.
    """

    attack_dice: int
    attack: tuple[int, ...]
    defence_dice: int
    values: tuple[Probability, ...]
    first_die: int | None = None


@dataclass(frozen=True, repr=False)
class DiceDecision(_Policy):
    """The best numbers of dice for both sides, and the value of the battle.

    attackers, defenders: the armies of both sides, garrison included.
    rules: the rules of the battle.
    attack_dice: the best number of attack dice now; 0 to stop, or if no army can attack.
    defence_dice: the defender's best number of dice in reply; 0 if there is no roll, or if the
        defender sees the attack roll.
    value: the value of the battle for the attacker.
    error: a bound on the error of `value`; 0 for fractions.
    win_probability: the chance to conquer the territory.
    attack_policy, defence_policy: tables of the best numbers of dice: the entry `[d, n]` is for `d`
        defenders and `n` attackers, garrison excluded.
    replies: the defender's best reply now to every attack roll with every number of attack dice, if
        the rules let the defender see the attack roll; otherwise empty.
    """

    attackers: int
    defenders: int
    rules: Rules
    attack_dice: int
    defence_dice: int
    value: Probability
    error: float
    win_probability: Probability
    attack_policy: npt.NDArray[np.int64] = field(compare=False)
    defence_policy: npt.NDArray[np.int64] = field(compare=False)
    replies: tuple[DefenceReply, ...] = ()

    def _summary(self) -> str:
        reply = "a reply to each roll" if self.replies else self.defence_dice
        return (
            f"{self.attack_dice} dice against {reply}, {self.attackers} against "
            f"{self.defenders}; value {float(self.value):.6g}"
        )


def when_to_stop(
    attackers: int,
    defenders: int,
    rules: Rules | str = "classic",
    *,
    prize: Chance,
    army_value: Chance = 1,
    kill_value: Chance = 0,
    garrison: int | None = None,
    exact: bool = False,
) -> Decision:
    """Return whether to roll or to stop, now and in every later state of a battle.

    attackers: armies on the attacking territory, garrison included.
    defenders: armies on the defended territory.
    rules: `Rules`, or the name of a rule set.
    prize: the value of the territory, including its card and continent: a number of at least 0, or
        a string such as `"5/2"`. All three values have the same unit, usually armies.
    army_value: the value of each surviving attacker on either territory, garrison included.
    kill_value: the value of each destroyed defender.
    garrison: armies that must stay behind; `None` for the garrison of the rules, usually 1.
    exact: whether to return fractions instead of floats.

    Returns a `Decision` in floats with a proven `error`, or in fractions. Raises `IactaError` for
    values below 0, for armies that are not whole numbers of at least 1, for rules under which
    armies can grow or battles are not decided roll by roll, and for battles too large for memory.

    >>> decision = when_to_stop(20, 10, prize=10)
    >>> decision.action, round(decision.value, 4), round(decision.win_probability, 4)
    ('roll', 21.412, 0.9578)
    >>> decision.boundary[9]
    Boundary(defenders=10, attackers=13)
    >>> bool(decision.values[10, 20 - 1] == decision.value)
    True
    >>> when_to_stop(3, 1, prize=2, exact=True).value
    Fraction(3319, 864)

    Source: Bellman's equation, in `iacta.methods.optimal_play`. "Analyzing the Board Game Risk"
    (pracpred) ends with this question.
    """
    battle = _read_battle(attackers, defenders, rules, garrison)
    refuse_rules(battle.rules)
    reward = _read_reward(prize, army_value, kill_value)
    solver = _choose_solver(exact)
    solution = _solve_to_boundary(
        battle,
        lambda able: solver(able, battle.defenders, battle.rules, reward, MAY_STOP),
        lambda: is_rolling_best_in_the_limit(battle.defenders, battle.rules, reward),
    )
    rolls = solution.attack_dice > 0
    value, value_if_stopped, error = _compute_values(battle, reward, solution, exact)
    return Decision(
        *battle,
        objective="value",
        action="roll" if rolls[battle.state] else "stop",
        value=value,
        value_if_stopped=value_if_stopped,
        error=error,
        win_probability=_to_float(solution.win_probabilities[battle.state]),
        expected_attackers_left=_to_float(battle.attackers - solution.lost[battle.state]),
        boundary=_find_boundaries(rolls, battle.rules),
        rolls=rolls,
        values=_compute_value_function(battle.rules, reward, solution, exact),
    )


def compute_prize_to_roll(
    attackers: int,
    defenders: int,
    rules: Rules | str = "classic",
    *,
    army_value: Chance = 1,
    kill_value: Chance = 0,
    garrison: int | None = None,
) -> float | None:
    """Return the prize at which rolling is worth as much as stopping.

    With a larger prize rolling is better, with a smaller prize stopping. The arguments and the
    exceptions are the same as for `when_to_stop`. Returns `None` if no army can attack.

    >>> prize = compute_prize_to_roll(7, 5)
    >>> round(prize, 4), when_to_stop(7, 5, prize=prize + 0.01).action
    (4.8252, 'roll')

    The gain from optimal play is a piecewise linear function of the prize, whose slope is the
    chance to conquer the territory. It is convex unless the defender replies to rolls. Newton's
    method from a prize with a gain therefore finds the largest prize without a gain after finitely
    many steps. It begins at the prize that pays for an attack to the end, because optimal play
    gains at least as much. Against a defender who replies, bisection continues where a step of
    Newton's method goes too far; the relative error is then at most 1e-9.
    """
    battle = _read_battle(attackers, defenders, rules, garrison)
    refuse_rules(battle.rules)
    if not battle.able:
        return None
    reward = _read_reward(1, army_value, kill_value)

    def compute_gain(prize: Fraction, choices: Choices = MAY_STOP) -> tuple[float, float]:
        solution = solve(
            battle.able, battle.defenders, battle.rules, reward._replace(prize=prize), choices
        )
        chance = float(solution.win_probabilities[battle.state])
        return float(solution.values[battle.state]), chance

    gain, chance = compute_gain(Fraction(0), TO_THE_END)
    pays = -gain / chance if chance else inf
    low, high = Fraction(0), Fraction(min(max(pays, 0.0), float(MAX_VALUE)))
    gain, chance = compute_gain(high)
    while gain <= 0.0 and not battle.rules.mode.dice_chosen_first and high < MAX_VALUE:
        low, high = high, max(2 * high, Fraction(1))
        gain, chance = compute_gain(high)
    while gain > 0.0 and chance > 0.0 and high - low > high * ROOT_PRECISION:
        tangent = high - Fraction(gain / chance)
        if tangent <= 0:
            return 0.0
        if tangent == high:
            break
        point = tangent if tangent > low else (low + high) / 2
        found = compute_gain(point)
        if found[0] > 0.0:
            high, (gain, chance) = point, found
        elif battle.rules.mode.dice_chosen_first:
            return float(point)
        else:
            low = point
            above = point * (1 + ROOT_PRECISION)
            found = compute_gain(above)
            if found[0] > 0.0:
                return float(point)
    return float(high)


def best_mix(
    attackers: int, defenders: int, rules: Rules | str = "classic", *, garrison: int | None = None
) -> Decision:
    """Return whether to roll by hand or to use the balanced blitz of the official app.

    attackers, defenders, garrison: the same as for `when_to_stop`.
    rules: `Rules` for rolls by hand or for a blitz, or the name of a rule set.

    Returns a `Decision` that maximises the chance to conquer the territory, in floats with a proven
    `error`. Its action is `"stop"` only if no army can attack. The exceptions are the same as for
    `when_to_stop`.

    >>> decision = best_mix(11, 10)
    >>> decision.action, round(decision.win_probability, 4)
    ('roll', 0.6616)
    >>> decision.boundary[9]
    Boundary(defenders=10, attackers=14)

    Source: the rules of RISK: Global Domination, as published in 2024.
    """
    battle = _read_battle(attackers, defenders, rules, garrison)
    able, d, hand_rules = battle.able, battle.defenders, make_hand_rules(battle.rules)
    solution = _solve_to_boundary(
        battle,
        lambda most: compute_best_mix(most, d, hand_rules),
        lambda: np.ones(d + 1, dtype=bool),
        blitz=True,
    )
    rolls, blitzes = solution.attack_dice > 0, solution.attack_dice == 0
    blitzes[:, 0] = False
    chance = float(solution.values[battle.state])
    left = compute_expected_left(able, d, hand_rules, solution)
    return Decision(
        *battle,
        objective="conquest",
        action="stop" if not able else "roll" if rolls[battle.state] else "blitz",
        value=chance,
        value_if_stopped=0.0,
        error=float(solution.errors[battle.state]),
        win_probability=chance,
        expected_attackers_left=battle.attackers - able + left,
        boundary=_find_boundaries(blitzes, battle.rules),
        rolls=rolls,
        values=solution.values,
    )


def how_many_dice(
    attackers: int,
    defenders: int,
    rules: Rules | str = "classic",
    *,
    chooser: Chooser = "both",
    may_stop: bool = False,
    prize: Chance = 1,
    army_value: Chance = 0,
    kill_value: Chance = 0,
    garrison: int | None = None,
    exact: bool = False,
) -> DiceDecision:
    """Return the best number of dice for each side.

    attackers, defenders, rules, garrison, exact: the same as for `when_to_stop`.
    chooser: the side that may roll fewer dice than the maximum: `"attacker"`, `"defender"`,
        `"both"` or `"nobody"`. Each side rolls at least one die. The attacker chooses a number
        first, and the defender replies before the roll. Under rules by which the defender sees the
        attack roll, the defender always chooses, after the roll.
    may_stop: whether the attacker may stop.
    prize, army_value, kill_value: the values that the attacker maximises and the defender
        minimises, the same as for `when_to_stop`; by default the chance to conquer the territory.

    Returns a `DiceDecision`. If several numbers of dice are equally good, it contains the largest
    number. The exceptions are the same as for `when_to_stop`.

    With classic dice, fewer dice never improve the chance of either side (tested up to 30 against
    30), nor any other value that was tested (up to 9 against 9). Fewer dice can help if one die is
    better than the others.

    >>> how_many_dice(11, 10).attack_dice
    3
    >>> how_many_dice(3, 2, "attack commander").attack_dice  # the eight-sided die alone
    1
    >>> decision = how_many_dice(10, 8, "defender sees first")
    >>> {reply.attack: reply.defence_dice for reply in decision.replies}[6, 5]
    1

    Source: Bellman's equation, in `iacta.methods.optimal_play`.
    """
    check_choice(chooser, CHOOSERS, "chooser")
    check_choice(may_stop, (True, False), "may_stop")
    battle = _read_battle(attackers, defenders, rules, garrison)
    refuse_rules(battle.rules)
    reward = _read_reward(prize, army_value, kill_value)
    choices = Choices(may_stop, chooser in ("attacker", "both"), chooser in ("defender", "both"))
    with _restate_size(battle):
        solver = _choose_solver(exact)
        solution = solver(battle.able, battle.defenders, battle.rules, reward, choices)
    value, _, error = _compute_values(battle, reward, solution, exact)
    return DiceDecision(
        *battle,
        attack_dice=int(solution.attack_dice[battle.state]),
        defence_dice=int(solution.defence_dice[battle.state]),
        value=value,
        error=error,
        win_probability=_to_float(solution.win_probabilities[battle.state]),
        attack_policy=solution.attack_dice,
        defence_policy=solution.defence_dice,
        replies=tuple(_list_replies(battle, reward, solution, exact)),
    )


def _list_replies(
    battle: "_Battle", reward: Reward, solution: OptimalPlay, exact: bool
) -> Iterator[DefenceReply]:
    """Yield the best reply to every attack roll, if the defender sees it.

    Of replies whose values differ by less than the bounds on their errors, the reply with the most
    dice is the best.
    """
    rules = battle.rules
    if rules.mode.dice_chosen_first:
        return
    number = Fraction if exact else float
    most = min(battle.defenders, rules.defence.kept)
    for attack_dice in range(min(battle.able, rules.attack.kept), 0, -1):
        for throw in list_seen_throws(attack_dice, most, rules):
            values, errors = [], []
            for losses in throw.replies:
                value, error = battle.attackers * reward.army_value, Fraction(0)
                for killed, count in enumerate(losses.counts):
                    lost = losses.pair_count - killed
                    after = battle.defenders - killed, battle.able - lost
                    gain = reward.kill_value * killed - reward.army_value * lost
                    chance = Fraction(count, losses.total)
                    value += chance * (gain + Fraction(solution.values[after]))
                    error += chance * Fraction(solution.errors[after])
                values.append(value)
                errors.append(error)
            least = min(map(sum, zip(values, errors, strict=True)))
            good = [value - error <= least for value, error in zip(values, errors, strict=True)]
            dice = max(j for j, is_good in enumerate(good, 1) if is_good)
            yield DefenceReply(
                attack_dice, throw.attack, dice, tuple(map(number, values)), throw.first_die
            )


def win_probability_if_seen(
    attackers: int,
    defenders: int,
    rules: Rules | str = "classic",
    *,
    aim: Aim = "conquest",
    garrison: int | None = None,
) -> float:
    """Return the chance to win against a defender who sees the attack roll before choosing dice.

    attackers, defenders, garrison: the same as for `when_to_stop`.
    rules: `Rules`, or the name of a rule set. Its dice mode must let the defender see the attack
        roll.
    aim: the defender's aim: `"conquest"` to prevent the conquest, or `"losses"` to lose as few
        armies as possible on average. If two numbers of dice serve the aim equally well, the
        defender rolls more dice.

    Returns a float with the error of `iacta.methods.sees_first`. Raises `IactaError` for a dice
    mode without visible attack rolls, and for battles too large for memory.

    >>> round(win_probability_if_seen(11, 10), 4)
    0.4529
    >>> round(win_probability_if_seen(11, 10, aim="losses"), 4)
    0.454
    """
    check_choice(aim, ("conquest", "losses"), "aim")
    battle = _read_battle(attackers, defenders, rules, garrison)
    return compute_chance_if_seen(battle.able, battle.defenders, battle.rules, aim)


class _Battle(NamedTuple):
    attackers: int
    defenders: int
    rules: Rules

    @property
    def able(self) -> int:
        return max(self.attackers - self.rules.garrison, 0)

    @property
    def state(self) -> tuple[int, int]:
        return self.defenders, self.able


def _read_battle(
    attackers: int, defenders: int, rules: Rules | str, garrison: int | None
) -> _Battle:
    return _Battle(
        read_int(attackers, "attackers", minimum=1),
        read_int(defenders, "defenders", minimum=1),
        find_rules(rules, garrison),
    )


def _read_reward(prize: Chance, army_value: Chance, kill_value: Chance) -> Reward:
    values = {"prize": prize, "army_value": army_value, "kill_value": kill_value}
    return Reward(*(_read_value(value, name) for name, value in values.items()))


def _read_value(value: Chance, name: str) -> Fraction:
    fraction = read_fraction(value, name, "be a number of at least 0")
    if fraction < 0:
        raise IllegalError(
            f"{name} must be a number of at least 0, got {quote(value)}", parameter=name
        )
    if fraction > MAX_VALUE:
        raise TooLargeError(
            f"{name} must be at most {MAX_VALUE:.0e}, got {quote(value)}", parameter=name
        )
    return fraction


def _choose_solver(exact: bool) -> Callable[[int, int, Rules, Reward, Choices], OptimalPlay]:
    check_choice(exact, (True, False), "exact")
    return solve_exactly if exact else solve


def _compute_value_function(
    rules: Rules, reward: Reward, solution: OptimalPlay, exact: bool
) -> npt.NDArray[Any]:
    """Return the values of all states: the value of the armies now, and the gain from then on."""
    armies = range(rules.garrison, rules.garrison + solution.values.shape[1])
    kept = np.array([each * reward.army_value for each in armies], object if exact else float)
    values: npt.NDArray[Any] = kept + solution.values
    return values


def _compute_values(
    battle: _Battle, reward: Reward, solution: OptimalPlay, exact: bool
) -> tuple[Probability, Probability, float]:
    """Return the value of optimal play, the value of stopping now, and a bound on both errors."""
    kept, gain = reward.army_value * battle.attackers, solution.values[battle.state]
    if exact:
        return kept + gain, kept, 0.0
    value = float(kept) + float(gain)
    error = float(solution.errors[battle.state]) + 2.0**-52 * (float(kept) + abs(value))
    return value, float(kept), error


def _to_float(number: Any) -> Probability:
    """Convert a number to a float, unless it is a fraction."""
    return number if isinstance(number, Fraction) else float(number)


@contextmanager
def _restate_size(battle: _Battle) -> Iterator[None]:
    """Restate errors about the larger battle of a search as errors about the user's battle."""
    try:
        yield
    except TooLargeError as error:
        named = f"a battle of {quote(battle.attackers)} against {quote(battle.defenders)}"
        raise TooLargeError(re.sub("^a battle of .* against [^ ]+", named, str(error))) from None


def _solve_to_boundary(
    battle: _Battle,
    solver: Callable[[int], OptimalPlay],
    find_reachable: Callable[[], Bools],
    *,
    blitz: bool = False,
) -> OptimalPlay:
    """Return a solution with enough attackers to contain every boundary.

    solver: a function that takes a number of attackers, garrison excluded, and returns the solution
        for up to this number.
    find_reachable: a function that returns, for each number of defenders, whether an attack becomes
        the best action at some number of attackers.
    blitz: whether the boundaries are for a blitz instead of a roll.
    """
    able = max(battle.able, battle.defenders + BOUNDARY_MARGIN)
    most = BOUNDARY_FACTOR * able
    while True:
        with _restate_size(battle):
            solution = solver(able)
        wanted = (solution.attack_dice == 0) if blitz else (solution.attack_dice > 0)
        lacking = ~wanted[:, 1:].any(axis=1)
        if able >= most or not (lacking & find_reachable())[1:].any():
            return solution
        able *= 2


def _find_boundaries(wanted: Bools, rules: Rules) -> tuple[Boundary, ...]:
    fewest = wanted.argmax(axis=1)
    return tuple(
        Boundary(d, int(fewest[d]) + rules.garrison if wanted[d].any() else None)
        for d in range(1, len(wanted))
    )
