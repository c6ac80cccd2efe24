"""The decisions of a played turn, judged by the chance to win the game.

A decision is compared with the decision of the usual AI in the same state. The value Q(s, a) of a
decision a is the player's chance to win the game if the usual AI plays every seat after it; for an
attack, the mean over the results of its first roll. The cost of the decision a is

    cost = Q(s, b) - Q(s, a),

where b is the decision of the AI. A decision that is better than the AI's has no cost.

Both values come from games with the same dice, and the player knows only what they see. The first
games select the decisions that seem to cost something. New games with other dice then measure
their cost, because the largest of many estimates is biased upwards. A cost is clear if its 95%
interval lies above 0. As elsewhere, games stop after three rounds and V scores them, except with
capitals and missions.
"""

from collections.abc import Iterator
from math import hypot
from typing import NamedTuple

import numpy as np

from iacta.game import Attack, PlayedStep, Turn, play_step
from iacta.game.steps import Step, read_border
from iacta.native.deadline import Deadline
from iacta.probability.estimate import Interval, compute_half_width_of_difference
from iacta.war.chances import (
    SEED_COUNT,
    V_DIFFERENCE_AS_GAMES,
    Series,
    choose_cut_rounds,
    compute_v_error,
)
from iacta.war.game import PERSON, Game
from iacta.war.games import Floats, War, check_war, list_seats

AI = "usual"
# The numbers of games for each result of a decision, first to select decisions and then to measure
# their cost, and for the chances to win. Games to the end take much longer than games that are cut.
CUT_GAMES, CUT_WIN_GAMES = (40, 160), 80
WHOLE_GAMES, WHOLE_WIN_GAMES = (20, 40), 40
MIN_SELECTED_COST = 0.02  # smaller first costs are never clear
MAX_ENDS_OF_ROLL = 12  # a roll with more results, such as each throw of the dice, is not judged
JUDGED = ("trade", "place", "attack", "advance", "fortify", "stop")


class JudgedDecision(NamedTuple):
    """A decision, compared with the decision of the usual AI.

    turn: the turn before the decision, as its player sees it.
    step: the decision, as recorded.
    better: the decision of the AI; the same as `step` if the AI decides alike.
    cost: the chance to win that the decision gave up; negative if it is better than the AI's.
    interval: the 95% interval of `cost`.
    """

    turn: Turn
    step: Step
    better: Step
    cost: float
    interval: Interval

    @property
    def is_clear(self) -> bool:
        """Whether the decision is clearly worse than the AI's."""
        return self.interval.low > 0.0


def is_decision(played: PlayedStep) -> bool:
    """Return whether a step is a decision with an alternative."""
    turn, step = played.turn, played.step
    if step["do"] not in JUDGED or turn.winner is not None:
        return False
    return len(turn.actions()) > 1


def judge_decision(
    turn: Turn, step: Step, *, seed: int = 0, deadline: Deadline | None = None
) -> JudgedDecision | None:
    """Compare a decision with the decision of the usual AI; return `None` if it cannot be judged.

    turn: the turn before the decision.
    step: the recorded decision.
    seed: the seed of the dice.
    deadline: the time limit.

    The result is `None` if the time is too short, or if the decision has no known alternative.
    Raises `IactaError` for a step that is impossible.

    >>> turn = Turn.from_code("1;classic;red;Peru:red:30,Brazil:blue:1,Siam:blue:1,Ural:green:9")
    >>> found = judge_decision(turn, {"do": "stop"})
    >>> found.better["do"], found.is_clear
    ('attack', True)
    """
    seen, deadline = check_war(turn).seen_by(turn.player), deadline or Deadline()
    better = _find_ai_step(seen, seed)
    if better["do"] not in JUDGED:
        return None
    if _is_same(seen, step, better):
        return JudgedDecision(seen, step, step, 0.0, Interval(0.0, 0.0))
    for number, games in enumerate(CUT_GAMES if choose_cut_rounds(AI, seen) else WHOLE_GAMES):
        dice = seed + number * SEED_COUNT
        found = _measure_cost(seen, step, better, games, dice, deadline)
        if found is None:
            return None
        cost, half = found
        if cost < MIN_SELECTED_COST:
            break
    return JudgedDecision(seen, step, better, cost, Interval(cost - half, cost + half))


def estimate_wins(
    turn: Turn, *, seed: int = 0, deadline: Deadline | None = None
) -> dict[str, float] | None:
    """Return each surviving player's chance to win, if the usual AI plays every seat.

    turn, seed, deadline: as for `judge_decision`. The result is `None` if time is too short.

    >>> turn = Turn.from_code("1;classic;red;Peru:red:30,Brazil:blue:1")
    >>> estimate_wins(turn)["red"] > 0.9
    True
    """
    seen = check_war(turn).seen_by(turn.player)
    if seen.winner is not None:
        return {seen.winner: 1.0}
    games = CUT_WIN_GAMES if choose_cut_rounds(AI, seen) else WHOLE_WIN_GAMES
    results = _play(seen, games, seed, deadline)
    if results is None:
        return None
    names = list_seats(seen.next() if seen.phase == "over" else seen)
    return dict(zip(names, results.mean(axis=0).tolist(), strict=True))


def _find_ai_step(turn: Turn, seed: int) -> Step:
    """Return the first step of the AI in a turn."""
    seats = {name: AI if name == turn.player else PERSON for name in list_seats(turn)}
    steps = iter(Game(turn, seats, seed))
    return next(steps).step


def _is_same(turn: Turn, step: Step, other: Step) -> bool:
    """Return whether two steps are the same decision, apart from the dice of an attack."""
    if step["do"] != other["do"]:
        return False
    if step["do"] == "attack":
        return read_border(turn, step) == read_border(turn, other)
    return play_step(turn, step).after == play_step(turn, other).after


def _measure_cost(
    turn: Turn, step: Step, better: Step, games: int, seed: int, deadline: Deadline
) -> tuple[float, float] | None:
    """Return the cost of a decision, and half the width of its 95% interval."""
    values = [_evaluate(turn, each, games, seed, deadline) for each in (better, step)]
    if values[0] is None or values[1] is None:
        return None
    apart = values[0] - values[1]
    middle = float(values[0].mean() + values[1].mean()) / 2
    half = compute_half_width_of_difference(apart)
    if choose_cut_rounds(AI, turn):
        half = hypot(half, compute_v_error(middle, V_DIFFERENCE_AS_GAMES))
    return float(apart.mean()), half


def _evaluate(turn: Turn, step: Step, games: int, seed: int, deadline: Deadline) -> Floats | None:
    """Return the player's results in games after a decision, averaged over its first roll."""
    total, ends = np.zeros(games), [*_list_ends(turn, step)]
    if len(ends) > MAX_ENDS_OF_ROLL:
        return None
    for chance, end in ends:
        if end.winner is not None:
            total += chance * (end.winner == turn.player)
            continue
        results = _play(end, games, seed, deadline)
        if results is None:
            return None
        seats = list_seats(end.next() if end.phase == "over" else end)
        total += chance * results[:, seats.index(turn.player)]
    return total


def _list_ends(turn: Turn, step: Step) -> Iterator[tuple[float, Turn]]:
    """Yield the possible turns after a decision, each with its chance."""
    if step["do"] != "attack":
        yield 1.0, play_step(turn, step).after
        return
    start, to = read_border(turn, step)
    dice = step.get("dice") or max(turn.compute_dice_limits(start, to)[0])
    attack = Attack(start, to, dice)
    for result, chance in turn.results(attack).items():
        yield float(chance), turn.after(attack, result)


def _play(turn: Turn, games: int, seed: int, deadline: Deadline | None) -> Floats | None:
    """Return each seat's result in games from a turn; `None` if time is too short for all games."""
    start = turn.next() if turn.phase == "over" else turn
    series = Series(War(start), AI, seed, cut=choose_cut_rounds(AI, start))
    results = series.play(games, deadline or Deadline()).chances
    return results if len(results) == games else None
