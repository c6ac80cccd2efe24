"""The review of a game: the luck of its dice and the cost of each decision.

Each turn is judged by the goal that its player had. Let V(s) be the value of the best plan found in
state s, and Q(s, a) the action value of an attack with its number of dice
(`iacta.plan.alternatives`). Let s' be the state after the actual attack and advance, and s* the
state after the same attack if the policy chose the advance. Then

    cost = V(s) − Q(s, a) + V(s*) − V(s'),     luck = V(s') − V(s) + cost.

The luck of a roll is 0 on average. The luck of a turn is the change of its value plus all costs,
unless a defender rolled fewer dice than usual (`iacta.plan.judge`). The cost of stopping is the
value that further attacks could have gained. `iacta.plan.judge` computes the two differences in the
cost, and treats a loss within the uncertainty of the values as 0. It also measures luck in armies,
which needs no goal.

Source: Zare, "A measure of luck" (GammOnLine, 2000), for backgammon.
"""

import math
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from iacta.board import Board
from iacta.game import Advance, Attack, Turn
from iacta.game.logged_battle import LoggedBattle
from iacta.game.step_fields import Step, list_advances, read_border, read_losses
from iacta.inputs.errors import IllegalError, TooLargeError
from iacta.inputs.meanings import Count
from iacta.native.deadline import Deadline, run_in_threads
from iacta.plan.alternatives import Alternative, measure_spread
from iacta.plan.game_log import LoggedTurn, read_game
from iacta.plan.goal_plan import compute_end_value, plan_goal
from iacta.plan.goals import Goal, Worth
from iacta.plan.judge import (
    Judgement,
    StateValue,
    judge_attack,
    judge_choice,
    list_reduced_ends,
    measure_army_luck,
    value_goal,
)
from iacta.plan.levels import USUAL, Level, list_levels, read_level
from iacta.plan.plan import Plan
from iacta.plan.step_tree import CHOICES, StepTree
from iacta.rules.roll import Losses

MAX_BATTLES = 2_000  # maximum number of battles in a log; this number takes minutes to review
MAX_COSTLIEST = 3  # maximum number of mistakes in the list of the costliest mistakes
# A decision with a known better alternative is a mistake if it lowers the chance of success by at
# least this much, or the expected worth by at least 10 times as much.
MIN_MISTAKE = 0.01


class ReviewedStep(NamedTuple):
    """A judged step of a game: a battle, a roll, or the decision to stop a turn.

    turn: the number of the turn, from 1.
    player: the attacker.
    start: the attacking territory; empty if the player stopped.
    to: the defending territory; empty if the player stopped.
    lost: the armies that the attacker lost.
    killed: the armies that the defender lost.
    moved: the number of armies that moved in.
    before: the value of the best plan found before the step; `None` without a goal.
    after: the value of the best plan found after the step; `None` without a goal.
    luck: the effect of the dice on the value; `None` without a goal.
    spread: the standard deviation of the luck; `None` for several rolls, or without a goal.
    cost: the value that the decision gave up, compared with the best decision; `None` without a
        goal.
    better: the better decision in words; empty if no better decision is known.
    is_useful: whether the attack helps to reach the goal.
    dice: the number of attack dice that was judged; `None` for a stop, without a goal, or if the
        log omits the dice of an attack that cannot be judged.
    is_assumed: whether the log omits the dice of a judged attack, so `dice` is the best number that
        fits the losses.
    luck_armies: the luck of the dice in armies: own expected losses less own losses, plus the other
        side's losses less their expected losses; `None` for a stop or a very large battle.
    words: a recorded step that is no battle, in words, such as a placement of new armies.
    """

    turn: Count
    player: str
    start: str
    to: str
    lost: Count
    killed: Count
    moved: Count
    before: float | None = None
    after: float | None = None
    luck: float | None = None
    spread: float | None = None
    cost: float | None = None
    better: str = ""
    is_useful: bool = True
    dice: Count | None = None
    is_assumed: bool = False
    luck_armies: float | None = None
    words: str = ""

    @property
    def name(self) -> str:
        """The decision in words, such as `Peru to Brazil` or `stop`."""
        return f"{self.start} to {self.to}" if self.to else self.words or "stop"


class PlayerReview(NamedTuple):
    """The luck of one player and the cost of their decisions, over a whole game.

    player: the name of the player.
    turns: the number of turns.
    battles: the number of battles, or of rolls if the log has rolls.
    luck: the total luck, in the unit of the goals' values; `None` without a goal.
    spread: the standard deviation of the total luck; `None` without a goal, or if it is unknown for
        some step.
    cost: the total cost of all decisions; `None` without a goal.
    luck_armies: the total luck in armies; `None` if some battle was too large.
    mistakes: the number of decisions with a known better alternative that cost at least 1
        percentage point (.1 for worths).
    worst: the costliest mistake; `None` if there is no mistake.
    """

    player: str
    turns: int
    battles: int
    luck: float | None
    spread: float | None
    cost: float | None
    luck_armies: float | None
    mistakes: int
    worst: ReviewedStep | None


@dataclass(frozen=True)
class Review:
    """The review of a game.

    steps: the battles and stops of all turns, in order.
    is_chance: whether values are chances to reach a goal, and not the worth of armies and
        territories (goal `Worth`); also true if no turn has a goal.
    proven: whether all values are proven to be optimal.
    unclear: for a recording, the number of unclear events of each kind that were left out.
    ambiguous: for a recording, the number of turns in which the last movement of armies fits both
        the advance after a conquest and the fortifying move.
    missed: the number of battles that were not judged for lack of time, although their turns have
        a goal. Their luck is measured in armies only; after Ctrl-C, they are not among the steps.
    corrections: a description of each position that was corrected by hand; corrections are not
        judged.
    pending: the number of battles still to be reviewed, if the review is not finished.
    level: the level at which the whole game is judged.
    """

    steps: tuple[ReviewedStep, ...]
    is_chance: bool
    proven: bool
    unclear: tuple[tuple[str, int], ...] = ()
    missed: int = 0
    corrections: tuple[str, ...] = ()
    pending: int = 0
    ambiguous: int = 0
    level: str = ""

    @cached_property
    def players(self) -> tuple[PlayerReview, ...]:
        """The statistics of each player, in the order of their first turns."""
        return tuple(map(self._sum_up_player, dict.fromkeys(step.player for step in self.steps)))

    def _sum_up_player(self, player: str) -> PlayerReview:
        own = [step for step in self.steps if step.player == player]
        battles = [each for each in own if each.to]
        armies = [battle.luck_armies for battle in battles if battle.luck_armies is not None]
        judged = [each for each in own if each.luck is not None]
        spreads = [each.spread for each in judged if each.spread is not None]
        least = MIN_MISTAKE if self.is_chance else 10 * MIN_MISTAKE
        mistakes = [each for each in own if each.better and (each.cost or 0.0) >= least]
        return PlayerReview(
            player,
            len({each.turn for each in own}),
            len(battles),
            math.fsum(each.luck or 0.0 for each in judged) if judged else None,
            math.hypot(*spreads) if judged and len(spreads) == len(judged) else None,
            math.fsum(each.cost or 0.0 for each in judged) if judged else None,
            math.fsum(armies) if len(armies) == len(battles) else None,
            len(mistakes),
            max(mistakes, key=lambda each: each.cost or 0.0, default=None),
        )

    @property
    def assumed(self) -> int:
        """The number of steps with an assumed number of dice, whose luck may be biased."""
        return sum(step.is_assumed for step in self.steps)

    @property
    def costliest(self) -> tuple[ReviewedStep, ...]:
        """The costliest decisions with a known better alternative, at most 3."""
        found = [step for step in self.steps if step.better]
        return tuple(sorted(found, key=lambda each: -(each.cost or 0.0))[:MAX_COSTLIEST])


def review(
    log: str | Path,
    *,
    board: Board | str | Path | None = None,
    time_limit: float | Fraction | None = None,
    worth: bool = False,
    level: str = USUAL.name,
    progress: Callable[[float, int, Review], object] | None = None,
) -> Review:
    """Return the review of a game: the luck of the dice and the cost of each decision.

    log: JSON lines, the path of a file with JSON lines, or a RiskGameRecorder recording. Each line
        is an object for one turn. `turn` is the code of a position or of a turn. Either `steps`
        lists all steps of the turn, as the board records them (`iacta.game.steps.take_step`); or
        the turn is in its attack phase, and `battles` is a list of objects with `from`, `to`,
        `left` (armies left on the attacking territory before armies move in), `their_left`, after a
        conquest `moved`, and for a single roll `dice` (attack dice) and, if fewer than usual,
        `their_dice` (defence dice). Optional keys: `goal`, one of `{"take": NAMES}`, `{"take_any":
        NAMES}`, `{"eliminate": PLAYER}` or `{"worth": true}`; and `board`, for this line and all
        following lines (default: the classic board). With `battles` also `stops`, false if the turn
        goes on in the next line, and `corrected`, the corrections of the position since the
        previous line.
    board: the board of a recording, or of all lines before the first line with a key `board`: a
        `Board` or an argument of `read_board`; `None` for the classic board.
    time_limit: the maximum time in seconds; `None` for no limit. The time decides which level is
        reached for the whole game. If it is too short for the first level, the luck of battles at
        the end is measured in armies only; the rest does not change.
    worth: whether to judge turns without a goal by `{"worth": true}`, the greatest expected worth.
        Otherwise only the luck in armies is measured for such turns.
    level: the amount of work of each search: `"quick"`, `"usual"` or `"long"`.
    progress: a callback that receives the part of the work that is done, the number of battles in
        the log, and the review so far.

    A player is assumed to stop after the last battle of a turn. A battle may be one roll or
    several; of several rolls, only the first decision is judged. If a battle has no `dice`, the
    best number of dice that fits is assumed, and the luck may be biased. Cards are not considered.
    An impossible battle, or a log with both chances and worths as goals, raises an error that gives
    the line. After an unclear change in a recording, the turn continues with the next battle.

    >>> turn = '"turn": "1;classic;red;Peru:red:5,Brazil:blue:2,Argentina:blue:1"'
    >>> battle = '{"from": "Peru", "to": "Brazil", "left": 3, "their_left": 2}'
    >>> found = review(f'{{{turn}, "goal": {{"take": "Argentina"}}, "battles": [{battle}]}}')
    >>> [(each.name, each.better, round(each.cost, 3)) for each in found.steps]
    [('Peru to Brazil', 'Peru to Argentina', 0.103), ('stop', 'Peru to Argentina', 0.754)]
    """
    deadline = Deadline.from_time_limit(time_limit).disable_shares()
    game, last = read_game(log, board), read_level(level)
    turns = game.turns
    if worth:
        turns = [turn._replace(goal=turn.goal or Worth()) for turn in turns]
    kinds = {goal.is_chance for turn in turns for goal in turn.goals}
    if len(kinds) > 1:
        raise IllegalError("goals must all be chances, or all worths, got both")
    total = sum(turn.number_of_battles for turn in turns)
    if total > MAX_BATTLES:
        raise TooLargeError(f"the log must have at most {MAX_BATTLES:,} battles, got {total:,}")
    empty = Review((), kinds != {False}, True, game.unclear, 0, (), total, game.ambiguous)
    best: Review | None = None
    levels = list_levels(last) if deadline.limited else [last]

    def report(found: Review) -> None:
        if progress is not None:
            done = levels.index(read_level(found.level)) + 1 - found.pending / max(total, 1)
            progress(done / len(levels), total, found if best is None else best)

    for each in levels:
        try:
            found = _review_game(turns, empty, each, deadline, report)
        except KeyboardInterrupt:
            if best is None:
                raise
            break
        if best is None or not found.missed:
            best = found
        if deadline.is_over:
            break
    assert best is not None  # noqa: S101 # there is at least one level
    return best


def _review_game(
    turns: Sequence[LoggedTurn],
    empty: Review,
    level: Level,
    deadline: Deadline,
    report: Callable[[Review], object],
) -> Review:
    """Return the review of a game at one level.

    empty: the review without any steps, all of whose battles are pending.
    report: a callback that receives the review so far.
    """
    steps, corrections, proven, done, missed = list[ReviewedStep](), list[str](), True, 0, 0

    def make_review() -> Review:
        return replace(
            empty,
            steps=tuple(steps),
            proven=proven and (values is None or values.proven),
            corrections=tuple(corrections),
            missed=missed,
            pending=empty.pending - done,
            level=level.name,
        )

    values: _Values | None = None
    try:
        with closing(_evaluate_states(turns, level, deadline)) as states:
            for played in turns:
                corrections += _describe_corrections(played)
                values = (
                    None if played.goal is None else _Values(played.goal, level, deadline, states)
                )
                recorded = _judge_recorded(played, level, deadline) if played.nodes else None
                for step in recorded or _compute_steps(played, values):
                    steps.append(step)
                    done += bool(step.to)
                    missed += bool(step.to and played.goals) and step.cost is None
                    report(make_review())
                proven = proven and (values is None or values.proven)
    except KeyboardInterrupt:
        deadline.stop()
        if not steps:
            raise
        missed, done = missed + empty.pending - done, empty.pending
    return make_review()


class _State(NamedTuple):
    """A state of the reviewed game, with the best plan found and its value."""

    turn: Turn
    plan: Plan | None  # the best plan found; `None` if the goal is reached
    value: StateValue


def _evaluate_states(
    turns: Sequence[LoggedTurn], level: Level, deadline: Deadline
) -> Generator[_State, None, None]:
    """Yield the states of all turns with a goal, in order, until the deadline.

    Several threads evaluate the states; each search uses one thread.
    """
    from concurrent.futures import Future  # a slow import

    begun = [(played, played.goal) for played in turns if played.goal is not None]
    states = [
        (state, goal, k)
        for k, (played, goal) in enumerate(begun)
        for state in (played.turn, *(battle.after for battle in played.battles))
    ]
    # The price of a lost army is found where a turn begins, and stays the same for the turn.
    prices = [Future[float]() for _ in begun]

    def evaluate(number: int, part: Deadline) -> _State:
        state, goal, k = states[number]
        if state is not begun[k][0].turn:
            return _evaluate(state, goal, level, part, prices[k].result())
        try:
            start = _evaluate(state, goal, level, part)
        except BaseException as error:
            prices[k].set_exception(error)
            raise
        prices[k].set_result(start.value.price)
        return start

    ready, due = dict[int, _State](), 0
    for number, state in run_in_threads(evaluate, range(len(states)), deadline):
        ready[number] = state
        while due in ready:
            yield ready.pop(due)
            due += 1


def _evaluate(
    turn: Turn,
    goal: Goal,
    level: Level,
    deadline: Deadline,
    price: float | None = None,
    *,
    has_attacks: bool = True,
) -> _State:
    """Search for the best plan in a state, and return the state with the plan and its value.

    price: the price of a lost army in this turn; `None` if the turn begins.
    has_attacks: whether to include the values of the possible next attacks.
    """
    found = plan_goal(turn, goal, level, deadline, price=price)
    return _State(turn, found.plan, value_goal(found, has_attacks=has_attacks))


class _Values:
    """The values of the states of one turn, for the goal of its player.

    states: yields the evaluated states of all turns with a goal in order; all turns share this
        iterator.
    """

    def __init__(
        self, goal: Goal, level: Level, deadline: Deadline, states: Iterator[_State]
    ) -> None:
        self.goal, self.level, self.deadline = goal, level, deadline
        self.proven, self._states = True, states
        self._known: dict[Turn, StateValue] = {}
        self.price: float | None = None  # the price of a lost army, from the first state

    def take_next_state(self) -> _State | None:
        """Return the next evaluated state of the game, or `None` after the deadline."""
        state = next(self._states, None)
        if state is None or self.deadline.is_over:  # the search may be unfinished
            return None
        if self.price is None:
            self.price = state.value.price
        return self._note_proof(state)

    def compute_state_value(self, turn: Turn) -> StateValue:
        """Return the value of a state that did not occur in the game, such as another advance."""
        if turn not in self._known:
            state = _evaluate(
                turn, self.goal, self.level, self.deadline, self.price, has_attacks=False
            )
            self._known[turn] = self._note_proof(state).value
        return self._known[turn]

    def _note_proof(self, state: _State) -> _State:
        self.proven = self.proven and (state.plan is None or state.plan.proven)
        return state


def _describe_corrections(played: LoggedTurn) -> list[str]:
    return [
        *(
            f"turn {played.number}: {name} {each.owner or 'empty'} {each.armies or ''}".rstrip()
            for name, each in played.corrected.items()
        ),
        *(
            f"turn {played.number}: {node.words.removeprefix('Corrected: ')}"
            for node in played.nodes
            if node.step is not None and node.step["do"] == "correct"
        ),
    ]


def _judge_recorded(played: LoggedTurn, level: Level, deadline: Deadline) -> Iterator[ReviewedStep]:
    """Judge the recorded steps of a turn, as the board judges them."""
    tree = StepTree(played.nodes)
    for _ in tree.evaluate(range(len(played.nodes)), level, deadline):
        pass
    values = tree.values()
    for k, node in enumerate(played.nodes):
        turn, judged = played.nodes[node.before].turn, tree.judge_step(k, values)
        if node.step is None or turn is None or node.step["do"] not in (*CHOICES, "attack"):
            continue
        before, after = tree.find_value_before(k, values), values[k]
        judged = judged or Judgement()
        step = ReviewedStep(
            played.number,
            turn.player,
            *("", "", 0, 0, 0),
            luck=judged.luck,
            spread=None if judged.luck is None else 0.0,
            cost=judged.cost,
            luck_armies=judged.luck_armies,
            words=node.words[:1].lower() + node.words[1:],
        )
        if before is not None and after is not None:
            better = before.best or (_name_attack(before.attacks[0]) if before.attacks else "")
            is_costly = (judged.cost or 0.0) > before.margin
            better = better if is_costly else ""
            step = step._replace(before=before.value, after=after.value, better=better)
        yield step if node.step["do"] != "attack" else _add_battle(step, turn, node.step, before)


def _add_battle(
    step: ReviewedStep, turn: Turn, recorded: Step, value: StateValue | None
) -> ReviewedStep:
    """Return the judged step of a recorded attack with its battle.

    turn: the turn before the attack.
    recorded: the attack.
    value: the value of this turn; `None` without a goal.
    """
    border, losses = read_border(turn, recorded), read_losses(turn, recorded)
    dice = recorded.get("dice")
    fit = [dice] if dice else turn.list_dice(*border, *losses)
    ways = [way for way in (value.attacks if value else ()) if way[:2] == border]
    way = max(
        [way for way in ways if way.dice in fit] or ways, key=lambda each: each.value, default=None
    )
    step = step._replace(
        start=border[0],
        to=border[1],
        lost=losses.attackers,
        killed=losses.defenders,
        dice=dice,
        is_useful=way is not None or not value or not value.attacks,
        words="",
    )
    if step.luck is None or way is None:
        return step
    better = step.better
    if better == step.name and value is not None:
        better += f" with {_count_dice(value.attacks[0])}"
    return step._replace(
        dice=way.dice,
        is_assumed=not dice and len(fit) > 1,
        spread=way.spread if fit else None,
        better=better,
    )


def _compute_steps(played: LoggedTurn, values: _Values | None) -> Iterator[ReviewedStep]:
    stop = ReviewedStep(played.number, played.turn.player, "", "", 0, 0, 0)
    turn = played.turn
    now = None if values is None else values.take_next_state()
    for battle in played.battles:
        armies = _measure_armies(turn, battle)
        step = stop._replace(start=battle.start, to=battle.to, luck_armies=armies)
        step = step._replace(lost=battle.lost, killed=battle.killed, moved=battle.moved)
        after = None if values is None else values.take_next_state()
        if values is not None and now is not None and after is not None:
            judged = _judge_battle(step, battle, now, after.value, values)
            step = step if values.deadline.is_over else judged  # the search may be unfinished
        yield step
        turn, now = battle.after, after
    if not played.is_over:
        return
    if values is None or now is None:
        yield stop
        return
    stopped = StateValue(compute_end_value(now.turn, values.goal))
    cost = judge_choice(now.value, stopped).cost or 0.0
    action = now.plan.policy(now.turn) if cost and now.plan is not None else None
    better = f"{action.start} to {action.to}" if isinstance(action, Attack) else ""
    yield stop._replace(
        before=now.value.value, after=stopped.value, luck=0.0, spread=0.0, cost=cost, better=better
    )


def _measure_armies(turn: Turn, battle: LoggedBattle) -> float | None:
    """Return the luck of a battle in armies; without dice, it is treated as several rolls."""
    border, losses = (battle.start, battle.to), Losses(battle.lost, battle.killed)
    dice = battle.dice, battle.their_dice
    return measure_army_luck(turn, battle.after, border, losses, *dice)


def _judge_battle(
    step: ReviewedStep, battle: LoggedBattle, before: _State, after: StateValue, values: _Values
) -> ReviewedStep:
    """Judge a battle: return the step with its values, its luck and the cost of the decision."""
    stated = None if battle.is_assumed else battle.ways[0][0]
    step = step._replace(
        before=after.value, after=after.value, luck=0.0, spread=0.0, cost=0.0, dice=stated
    )
    plan, value = before.plan, before.value
    if plan is None:
        return step  # the goal was already reached, so the battle has no luck or cost
    if not battle.lost and not battle.killed and battle.their_dice is None:
        return step  # a roll that costs nobody an army
    step = step._replace(before=value.value)
    best = value.attacks[0] if value.attacks else None
    border = battle.start, battle.to
    known = {attack.dice for attack in value.attacks if attack[:2] == border}
    if not known:
        cost = judge_choice(value, after).cost or 0.0
        better = _name_attack(best) if best is not None and cost else ""
        return step._replace(cost=cost, better=better, is_useful=False)
    judged = []
    for dice, fought in battle.ways:
        if dice in known:
            advance, usual = _judge_advance(plan, battle, fought, after, values)
            ready = after._replace(value=after.value + advance)
            ends = _value_reduced_ends(before.turn, battle, dice, fought, ready, values)
            expected = math.fsum(p * worth for p, worth in ends) if ends else None
            attack = judge_attack(value, ready, border, [dice], expected)
            spread = measure_spread(ends or _list_ends(plan, battle, dice))
            judged.append((attack.cost or 0.0, attack.luck or 0.0, advance, usual, dice, spread))
    attack_cost, luck, advance, usual, dice, spread = min(
        judged, key=lambda each: each[0] + each[2]
    )
    better = ""
    if advance > max(attack_cost, value.margin):
        better = f"move {usual} in"
    elif best is not None and attack_cost > value.margin:
        better = _name_attack(best)
        if best[:2] == border:
            better += f" with {_count_dice(best)}"
    return step._replace(
        luck=luck,
        spread=spread if battle.is_roll else None,
        cost=attack_cost + advance,
        better=better,
        dice=dice,
        is_assumed=battle.is_assumed,
    )


def _value_reduced_ends(
    turn: Turn, battle: LoggedBattle, dice: int, fought: Turn, ready: StateValue, values: _Values
) -> list[tuple[float, float]]:
    """Return the chance and the value of each result of a roll with fewer defence dice than usual.

    The list is empty if the defender rolled the usual number of dice.

    fought, ready: the turn after the actual roll, and its value.
    """
    if battle.their_dice is None:
        return []
    ends = list_reduced_ends(turn, (battle.start, battle.to), dice, battle.their_dice)
    return [
        (
            chance,
            ready.value if end == fought else values.compute_state_value(end).value,
        )
        for chance, end in ends
    ]


def _name_attack(way: Alternative) -> str:
    return f"{way.start} to {way.to}"


def _count_dice(way: Alternative) -> str:
    return f"{way.dice} {'die' if way.dice == 1 else 'dice'}"


def _judge_advance(
    plan: Plan, battle: LoggedBattle, fought: Turn, after: StateValue, values: _Values
) -> tuple[float, int]:
    """Return the cost of an advance, and the number of armies that the policy moves in instead."""
    if fought.phase != "advance":
        return 0.0, 0
    problem, numbers = plan.problem, list_advances(fought)
    v, c = problem.place(battle.start), problem.place(battle.to)
    able = fought.armies[v] + fought.armies[c] - problem.garrisons[v]
    usual = plan.policy.advance(problem.start, v, c, able, numbers[0])
    if usual == battle.moved or usual not in numbers:
        return 0.0, battle.moved
    best = values.compute_state_value(fought.after(Advance(usual)))
    return judge_choice(best, after).cost or 0.0, usual


def _list_ends(plan: Plan, battle: LoggedBattle, dice: int) -> list[tuple[float, float]]:
    """Return the chance of each result of a roll, with its value under the plan's policy."""
    problem = plan.problem
    v, c = map(problem.place, battle[:2])
    judged = plan.policy.evaluate_attack(
        problem.start, v, c, 0 if problem.turn.setting.has_whole_battles(c) else dice
    )
    return [(outcome.chance, outcome.value) for outcome in judged.outcomes]
