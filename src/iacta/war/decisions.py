"""The decisions of a played turn, judged by the chance to win the game.

A decision is compared with the decision of the usual AI in the same state. The value Q(s, a) of a
decision a is the player's chance to win the game if the usual AI plays every seat after it; for an
attack, the mean over the results of its first roll. The cost of the decision a is

    cost = Q(s, b) - Q(s, a),

where b is the decision of the AI. A decision that is better than the AI's has no cost.

A game has many decisions, and most of them cost nothing. `estimate_rough_cost` estimates the cost
of each from games that stop after one round and are scored by the value function V. It has no
interval: it only selects the decisions that `judge_decision` then measures in longer games with
other dice, because the largest of many estimates is biased upwards. A cost is clear if its 95%
interval lies above 0. The games that measure it stop after three rounds and are scored by V. With
capitals and missions, V is less exact, so they are played to the end.

Q(s, a) and Q(s, b) come from games with the same dice, which start from the turn as its player sees
it.
"""

from collections.abc import Iterator
from math import hypot
from typing import NamedTuple

import numpy as np

from iacta.game import Attack, PlayedStep, Turn, play_step
from iacta.game.step_fields import Step, read_border
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
CUT_WIN_GAMES, WHOLE_WIN_GAMES = 80, 40  # the numbers of games for the chances to win
ROUGH_GAMES, ROUGH_ROUNDS = 20, 1  # the games of a rough cost, for each result of a decision
# A cost is measured in stages of 50 games for each result. After the first two stages, games go on
# only if the cost may still be clear.
STAGE_GAMES, FIRST_GAMES, MAX_GAMES = 50, 100, 400
MIN_COST = 0.02  # smaller costs are not worth measuring
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


def estimate_rough_cost(
    turn: Turn, step: Step, *, seed: int = 0, deadline: Deadline | None = None
) -> float | None:
    """Estimate the cost of a decision from games of one round that are scored by V.

    turn, step, seed, deadline: as for `judge_decision`. The result is 0 if the AI decides alike,
    and `None` if the decision cannot be judged.

    >>> turn = Turn.from_code("1;classic;red;Peru:red:30,Brazil:blue:1,Siam:blue:1,Ural:green:9")
    >>> estimate_rough_cost(turn, {"do": "stop"}) > 0.02
    True
    """
    seen, deadline = check_war(turn).seen_by(turn.player), deadline or Deadline()
    better = _find_ai_step(seen, seed)
    if better["do"] not in JUDGED:
        return None
    if _is_same(seen, step, better):
        return 0.0
    games = range(ROUGH_GAMES)
    results = _play_both(seen, step, better, games, seed + SEED_COUNT, ROUGH_ROUNDS, deadline)
    return None if results is None else float((results[0] - results[1]).mean())


def judge_decision(
    turn: Turn,
    step: Step,
    *,
    seed: int = 0,
    deadline: Deadline | None = None,
    soon: Deadline | None = None,
) -> JudgedDecision | None:
    """Compare a decision with the decision of the usual AI; return `None` if it cannot be judged.

    turn: the turn before the decision.
    step: the recorded decision.
    seed: the seed of the dice.
    deadline: the time limit. The result is `None` if it is too short for the first games.
    soon: the time after which no further games begin, so that the interval is wider.

    The result is `None` as well if the decision has no known alternative. Raises `IactaError` for a
    step that is impossible.

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
    cut, found = choose_cut_rounds(AI, seen), None
    results = np.zeros((2, 0))
    for first in range(0, MAX_GAMES, STAGE_GAMES):
        games = range(first, first + STAGE_GAMES)
        stage = _play_both(seen, step, better, games, seed, cut, deadline)
        if stage is None:
            break
        results = np.concatenate((results, stage), axis=1)
        cost, half = _measure_cost(results, is_cut=cut > 0)
        found = JudgedDecision(seen, step, better, cost, Interval(cost - half, cost + half))
        is_too_small = games.stop >= FIRST_GAMES and cost < MIN_COST
        if is_too_small or (soon is not None and soon.is_over):
            break
    return found


def estimate_wins(
    turn: Turn, *, seed: int = 0, deadline: Deadline | None = None
) -> dict[str, float] | None:
    """Return each surviving player's chance to win, if the usual AI plays every seat.

    turn, seed, deadline: as for `judge_decision`. All known cards and missions count, because the
    chances at the start of each turn are compared after the game. The result is `None` if time is
    too short.

    >>> turn = Turn.from_code("1;classic;red;Peru:red:30,Brazil:blue:1")
    >>> estimate_wins(turn)["red"] > 0.9
    True
    """
    winner = check_war(turn).winner
    if winner is not None:
        return {winner: 1.0}
    cut = choose_cut_rounds(AI, turn)
    games = range(CUT_WIN_GAMES if cut else WHOLE_WIN_GAMES)
    results = _play(turn, games, seed, cut, deadline or Deadline())
    if results is None:
        return None
    names = list_seats(turn.next() if turn.phase == "over" else turn)
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


def _measure_cost(results: Floats, *, is_cut: bool) -> tuple[float, float]:
    """Return the cost of a decision, and half the width of its 95% interval.

    results: the player's results after the AI's decision, and after the decision.
    is_cut: whether V scored the games.
    """
    apart = results[0] - results[1]
    half = compute_half_width_of_difference(apart)
    if is_cut:
        half = hypot(half, compute_v_error(float(results.mean()), V_DIFFERENCE_AS_GAMES))
    return float(apart.mean()), half


def _play_both(
    turn: Turn, step: Step, better: Step, games: range, seed: int, cut: int, deadline: Deadline
) -> Floats | None:
    """Return the player's results after the AI's decision, and after the decision."""
    rows = [_evaluate(turn, each, games, seed, cut, deadline) for each in (better, step)]
    return None if rows[0] is None or rows[1] is None else np.stack((rows[0], rows[1]))


def _evaluate(
    turn: Turn, step: Step, games: range, seed: int, cut: int, deadline: Deadline
) -> Floats | None:
    """Return the player's results in games after a decision, averaged over its first roll."""
    total, ends = np.zeros(len(games)), [*_list_ends(turn, step)]
    if len(ends) > MAX_ENDS_OF_ROLL:
        return None
    for chance, end in ends:
        if end.winner is not None:
            total += chance * (end.winner == turn.player)
            continue
        results = _play(end, games, seed, cut, deadline)
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


def _play(turn: Turn, games: range, seed: int, cut: int, deadline: Deadline) -> Floats | None:
    """Return each seat's result in games from a turn; `None` if time is too short for all games.

    games: the indices of the games.
    cut: the number of rounds after which games stop; 0 for complete games.
    """
    start = turn.next() if turn.phase == "over" else turn
    series = Series(War(start), AI, seed, cut=cut)
    results = series.play(games.stop, deadline, start=games.start).chances
    return results if len(results) == len(games) else None
