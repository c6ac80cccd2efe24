"""Review: a game that was played, turn by turn: what each decision cost, and what luck did.

Let V(s) be the value of the best plan found in a state, Q(s, a) the value of an attack a with its
number of dice and the best play after it (`iacta.plan.alternatives`), s' the state after the attack
and the advance that were made, and s* the state after the advance of the policy. Then

    cost = V(s) − Q(s, a) + V(s*) − V(s'),     luck = V(s') − V(s) + cost.

The luck of a roll is 0 on average. The luck of a turn is the change of its value plus all costs. To
stop costs all that the attacks would still have gained. Each of the two differences of the cost is
judged by `iacta.plan.judge`, where a loss within the uncertainty of the values counts as 0.

Source: Zare, "A measure of luck" (GammOnLine, 2000), for backgammon.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from iacta.board import Board
from iacta.game import Advance, Turn
from iacta.game.steps import LoggedBattle, list_advances
from iacta.inputs.errors import IllegalError, TooLargeError
from iacta.native.deadline import Deadline
from iacta.plan.alternatives import Alternative
from iacta.plan.best import usual_threads
from iacta.plan.game_log import LoggedTurn, read_game
from iacta.plan.goals import Goal
from iacta.plan.judge import StateValue, judge_attack, judge_choice, plan_state, value_plan
from iacta.plan.plan import Plan

MOST_BATTLES = 2_000  # of a log: minutes of planning
MOST_COSTLY = 3  # decisions that are named


class ReviewedStep(NamedTuple):
    """A battle or a roll of a game, or where a turn stopped.

    turn: the number of the turn, from 1 on.
    player: who attacked.
    start, to: the territories that attacked and were attacked; empty where the turn stopped.
    lost, killed: the armies that both sides lost.
    moved: the armies that moved in.
    before, after: what the best plan found was worth before and after.
    luck: what the dice added.
    spread: the standard deviation of the luck; `None` for a step of several rolls.
    cost: what the decision cost against the best one.
    better: the better decision in words, empty where none is known to be better.
    is_useful: whether the attack was of use for the goal.
    dice: the attack dice of the decision; `None` where none were judged.
    is_assumed: whether the log does not say these dice, and they are the best that fit.
    """

    turn: int
    player: str
    start: str
    to: str
    lost: int
    killed: int
    moved: int
    before: float
    after: float
    luck: float
    spread: float | None
    cost: float
    better: str
    is_useful: bool = True
    dice: int | None = None
    is_assumed: bool = False

    @property
    def name(self) -> str:
        """The decision in words."""
        return f"{self.start} to {self.to}" if self.to else "stop"


class PlayerReview(NamedTuple):
    """A player's game.

    player: the player.
    turns, battles: how many there were.
    luck: what the dice added in all.
    spread: its standard deviation; `None` where that of a step is not known.
    cost: what all decisions cost.
    """

    player: str
    turns: int
    battles: int
    luck: float
    spread: float | None
    cost: float


@dataclass(frozen=True)
class Review:
    """A game that was played, as `review` sees it.

    steps: its battles, and the end of each turn, in order.
    is_chance: whether the goals are chances; else they are worths.
    proven: whether all values are those of the best play.
    unclear: what a recording does not show for certain, and how often; it is no part of the steps.
    missed: how many battles at the end there was no time for.
    """

    steps: tuple[ReviewedStep, ...]
    is_chance: bool
    proven: bool
    unclear: tuple[tuple[str, int], ...] = ()
    missed: int = 0

    @cached_property
    def players(self) -> tuple[PlayerReview, ...]:
        """The game of each player, in the order of their first turns."""
        return tuple(map(self._player, dict.fromkeys(each.player for each in self.steps)))

    def _player(self, player: str) -> PlayerReview:
        own = [each for each in self.steps if each.player == player]
        spreads = [each.spread for each in own if each.spread is not None]
        is_known = len(spreads) == len(own)
        return PlayerReview(
            player,
            len({each.turn for each in own}),
            sum(bool(each.to) for each in own),
            math.fsum(each.luck for each in own),
            math.hypot(*spreads) if is_known else None,
            math.fsum(each.cost for each in own),
        )

    @property
    def assumed(self) -> int:
        """How many steps have dice that are assumed, so that luck may be biased."""
        return sum(each.is_assumed for each in self.steps)

    @property
    def costliest(self) -> tuple[ReviewedStep, ...]:
        """The decisions that cost most, of those for which a better one is known: at most 3."""
        found = [each for each in self.steps if each.better]
        return tuple(sorted(found, key=lambda each: -each.cost)[:MOST_COSTLY])


def review(
    log: str | Path,
    *,
    board: Board | str | Path | None = None,
    time_limit: float | Fraction | None = None,
    progress: Callable[[int, int], object] | None = None,
) -> Review:
    """Return how a game went: what the dice did, and what decisions cost.

    log: JSON lines, or the path of a file of them; each is a turn, with the keys `turn`, the code
        of a position or of a turn at its attacks; `battles`, each with `from`, `to`, `left` (the
        attacking territory's armies before any move in), `their_left`, `moved` where it conquers,
        and, if it is one roll, `dice`, the attack dice; optionally `goal`, one of
        `{"take": NAMES}`, `{"take_any": NAMES}`, `{"eliminate": PLAYER}` and `{"worth": true}`,
        which is usual; `stops`, false where the turn goes on in the next line; and `board`, where
        it is not the classic one, for this line and those that follow. Or a recording of
        RiskGameRecorder, where each turn is to gain the most.
    board: the board of a recording, or of lines before one that names its own: a `Board`, or what
        `read_board` takes; `None` for the classic one.
    time_limit: the most seconds that all of it may take; `None` for none. Battles at the end that
        there is no time for are left out; too little for the first one is refused. What is
        reviewed is the same in any case.
    progress: called with how many battles are done, and how many there are.

    After the last battle of a turn, its player stops. A battle may be a roll or several: where it
    is several, its decision is the first one. Where its dice are not given, the best number of
    them that fits is assumed, and luck may be biased. Cards are not considered. Impossible battles
    and dice are refused with the number of their line, and so are chances beside worths. A
    recording does not show everything: after what is not clear, the turn is followed from the next
    battle on.

    >>> turn = '"turn": "1;classic;red;Peru:red:5,Brazil:blue:2,Argentina:blue:1"'
    >>> battle = '{"from": "Peru", "to": "Brazil", "left": 3, "their_left": 2}'
    >>> found = review(f'{{{turn}, "goal": {{"take": "Argentina"}}, "battles": [{battle}]}}')
    >>> [(each.name, each.better, round(each.cost, 3)) for each in found.steps]
    [('Peru to Brazil', 'Peru to Argentina', 0.103), ('stop', 'Peru to Argentina', 0.754)]
    """
    deadline = Deadline.of(time_limit).keep_whole()
    turns, unclear = read_game(log, board)
    if len({each.goal.is_chance for each in turns}) > 1:
        raise IllegalError("goals must all be chances, or all worths, got both")
    total = sum(len(each.battles) for each in turns)
    if total > MOST_BATTLES:
        raise TooLargeError(f"the log must have at most {MOST_BATTLES:,} battles, got {total:,}")
    steps, proven, done = list[ReviewedStep](), True, 0
    for played in turns:
        values = _Values(played.goal, deadline)
        for step in _steps(played, values):
            if deadline.is_over:  # what it found has been cut
                break
            steps.append(step)
            done += bool(step.to)
            if progress is not None:
                progress(done, total)
        proven = proven and values.proven
        if deadline.is_over:
            break
    if not steps and deadline.is_over:
        raise IllegalError(
            f"time_limit must be more for a battle of this log, got {time_limit} seconds",
            parameter="time_limit",
        )
    return Review(tuple(steps), turns[0].goal.is_chance, proven, unclear, total - done)


class _State(NamedTuple):
    """A state of a game."""

    turn: Turn
    plan: Plan | None  # `None` where nothing is left to plan
    value: StateValue


class _Values:
    """The values of states of a turn."""

    def __init__(self, goal: Goal, deadline: Deadline) -> None:
        self.goal, self.deadline, self.proven = goal, deadline, True
        self._known: dict[Turn, StateValue] = {}

    def evaluate(self, turn: Turn, *, has_attacks: bool = True) -> _State:
        """Return a state with its plan, and with the values of its first attacks if wanted."""
        plan = plan_state(turn, self.goal, self.deadline, usual_threads())
        self.proven = self.proven and (plan is None or plan.proven)
        if plan is None:
            return _State(turn, None, StateValue(self.goal.worth(turn)))
        return _State(turn, plan, value_plan(plan, has_attacks=has_attacks))

    def find_value(self, turn: Turn) -> StateValue:
        """Return the value of a state that was not played."""
        if turn not in self._known:
            self._known[turn] = self.evaluate(turn, has_attacks=False).value
        return self._known[turn]


def _steps(played: LoggedTurn, values: _Values) -> Iterator[ReviewedStep]:
    now = values.evaluate(played.turn)
    for battle in played.battles:
        after = values.evaluate(battle.after)
        yield _step(played.number, battle, now, after.value, values)
        now = after
    if not played.is_over:
        return
    stopped = StateValue(values.goal.worth(now.turn))
    cost = judge_choice(now.value, stopped).cost or 0.0
    move = now.plan.next_move() if cost and now.plan is not None else None
    better = "" if move is None else f"{move.start} to {move.to}"
    end = played.number, now.turn.player, "", "", 0, 0, 0
    yield ReviewedStep(*end, now.value.value, stopped.value, 0.0, 0.0, cost, better)


def _step(
    number: int, battle: LoggedBattle, before: _State, after: StateValue, values: _Values
) -> ReviewedStep:
    said = None if battle.is_assumed else battle.ways[0][0]
    step = ReviewedStep(
        number,
        before.turn.player,
        *battle[:5],
        after.value,
        after.value,
        0.0,
        0.0,
        0.0,
        "",
        dice=said,
    )
    plan, value = before.plan, before.value
    if plan is None:  # the goal is reached
        return step
    step = step._replace(before=value.value)
    best = value.attacks[0] if value.attacks else None
    border = battle.start, battle.to
    known = {attack.dice for attack in value.attacks if attack[:2] == border}
    if not known:
        cost = judge_choice(value, after).cost or 0.0
        better = _name(best) if best is not None and cost else ""
        return step._replace(cost=cost, better=better, is_useful=False)
    judged = []
    for dice, fought in battle.ways:
        if dice in known:
            advance, usual = _judge_advance(plan, battle, fought, after, values)
            ready = after._replace(value=after.value + advance)
            attack = judge_attack(value, ready, border, [dice])
            judged.append((attack.cost or 0.0, attack.luck or 0.0, advance, usual, dice))
    attack_cost, luck, advance, usual, dice = min(judged, key=lambda each: each[0] + each[2])
    better = ""
    if advance > attack_cost:
        better = f"move {usual} in"
    elif best is not None and attack_cost:
        better = _name(best)
        if best[:2] == border:
            better += f" with {best.dice} {'die' if best.dice == 1 else 'dice'}"
    return step._replace(
        luck=luck,
        spread=_spread(plan, battle, dice),
        cost=attack_cost + advance,
        better=better,
        dice=dice,
        is_assumed=battle.is_assumed,
    )


def _name(way: Alternative) -> str:
    return f"{way.start} to {way.to}"


def _judge_advance(
    plan: Plan, battle: LoggedBattle, fought: Turn, after: StateValue, values: _Values
) -> tuple[float, int]:
    """Return the cost of the number of armies that moved in, and the number of the policy."""
    if fought.phase != "advance":
        return 0.0, 0
    problem, numbers = plan.problem, list_advances(fought)
    v, c = problem.place(battle.start), problem.place(battle.to)
    able = fought.armies[v] + fought.armies[c] - problem.garrisons[v]
    usual = plan.policy.advance(problem.start, v, c, able, numbers[0])
    if usual == battle.moved or usual not in numbers:
        return 0.0, battle.moved
    best = values.find_value(fought.after(Advance(usual)))
    return judge_choice(best, after).cost or 0.0, usual


def _spread(plan: Plan, battle: LoggedBattle, dice: int) -> float | None:
    if not battle.is_roll:
        return None
    problem = plan.problem
    v, c = map(problem.place, battle[:2])
    judged = plan.policy.judge(problem.start, v, c, 0 if problem.is_whole(c) else dice)
    mean = math.fsum(each.chance * each.value for each in judged.outcomes)
    return math.sqrt(math.fsum(each.chance * (each.value - mean) ** 2 for each in judged.outcomes))
