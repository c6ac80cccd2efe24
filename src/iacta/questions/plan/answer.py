"""The answers of the question `plan`: the best plan, or the value of a settled goal."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cached_property
from typing import Any

from iacta.board.layout import is_drawable
from iacta.forms.command_and_call import format_command, format_python_call
from iacta.forms.moment import (
    describe_condition,
    describe_winner,
)
from iacta.forms.percentages import (
    format_all_digits,
    format_best_found,
    format_goal_value,
    shorten_percent,
)
from iacta.forms.question import Answer, Charts
from iacta.forms.sections import Section
from iacta.forms.sentences import add_noun, note_rules
from iacta.inputs.errors import IactaError
from iacta.native.deadline import Deadline
from iacta.plan import (
    Continuation,
    Defence,
    Hold,
    OwnAny,
    Plan,
    Reinforcement,
)
from iacta.plan.alternatives import Alternative
from iacta.plan.goal_plan import MoveIn
from iacta.plan.goals import WinGame
from iacta.plan.winning import find_win
from iacta.questions.plan import armies_cards_hold as around
from iacta.questions.plan import sentences
from iacta.questions.plan.armies_cards_hold import Needed
from iacta.questions.plan.move_in import defend_conquest
from iacta.questions.plan.moves import RankedMove, rank_moves
from iacta.questions.plan.parameters import PlanParameters
from iacta.questions.plan.record import (
    GoalEndRecord,
    PlanRecord,
    cards_record,
    check_record,
    hold_record,
    make_scene_records,
    need_record,
    plan_record,
    reinforce_record,
    stop_record,
    tables_record,
)
from iacta.questions.plan.sentences import Checked

# Parameters that are already part of a turn, and the time limit, which does not change the
# question.
FREE_PARAMETERS: dict[str, Any] = {"capital_dice": False} | dict.fromkeys(
    (
        *("from_", "others", "board", "rules", "rules_file", "garrison", "keep", "rules_of"),
        *("stay", "play", "fortify", "reinforce", "time_limit"),
        *("win_by", "capital", "mission", "mission_cards"),
    )
)
MOVES_SECONDS, MOVES_TIME_SHARE = 0.05, 0.05  # time for ranking the first attacks after the search
CHOSEN_WIN = "This wins the game; iacta chose the goal among those that win."


class PlanAnswer(Answer):
    """The best plan found, with the requested extras.

    plan: the plan.
    needed: the fewest armies for a required chance.
    is_unsearched: whether there was no time to find the fewest armies.
    checked: simulated games of the plan.
    is_unchecked: whether there was no time to simulate the plan.
    new: the placement of new armies, if there are any.
    goes_on: the rest of the turn with the cards of an eliminated player.
    held: the chance to hold the conquests.
    ways: the values of the possible first attacks.
    move_in: after a conquest, the number of armies to move in. The plan continues from there.
    level: the level of the search; empty for another search.
    """

    question: PlanParameters
    plan: Plan
    needed: Needed | None = None
    is_unsearched: bool = False
    checked: Checked | None = None
    is_unchecked: bool = False
    new: Reinforcement | None = None
    goes_on: Continuation | None = None
    held: Hold | None = None
    ways: tuple[Alternative, ...] = ()
    move_in: MoveIn | None = None
    level: str = ""

    @cached_property
    def moves(self) -> tuple[RankedMove, ...]:
        """The first attacks, best first; empty while new armies are still to be placed.

        They are evaluated after the search, within a short additional time.
        """
        limit = self.question.time_limit
        seconds = None if limit is None else MOVES_SECONDS + MOVES_TIME_SHARE * float(limit)
        moves = () if self.new else rank_moves(self.plan, Deadline(seconds))
        if self.held or self._lacks_hold:  # the moves are ranked by the chance to take the goal
            moves = (move._replace(words=f"to take: {move.words}") for move in moves)
        return tuple(moves)

    @property
    def data(self) -> PlanRecord:
        brought = self.question.new_armies
        more: dict[str, Any] = {}
        if self.ways:
            more["alternatives"] = self.ways
        if self.new:
            more["reinforce"] = reinforce_record(self.new)
        if brought is not None:
            more["cards"] = cards_record(brought, self.goes_on)
        if self.held:
            more["hold"] = hold_record(self.held)
        if self.needed:
            more["need"] = need_record(self.needed)
        if self.checked:
            more["check"] = check_record(self.checked)
        if self.move_in:
            more["move_in"] = (
                self.move_in._replace(values=()) if self.plan.value is None else self.move_in
            )
        if not (self.new or self.held):
            more["stop"] = stop_record(self.plan)
        if is_drawable(self.plan.position.board):
            more |= make_scene_records(self.plan)
        summary, *others = self.sections()
        return plan_record(
            self.plan,
            self.question.rule_set.name,
            figure=self._figure,
            sentences=[str(part) for part in summary.parts],
            tables=tables_record(others, self.plan),
            **self._list_calls(),
            moves=self.moves,
            level=self.level,
            **more,
        )

    def _list_calls(self) -> dict[str, str | None]:
        """Return the command and the Python call that ask the same question."""
        asked = replace(self.question, position=self.question.turn, **FREE_PARAMETERS)
        try:
            return {"command": format_command(asked), "python": format_python_call(asked)}
        except IactaError:
            return {"command": None, "python": None}

    @property
    def _lacks_hold(self) -> bool:
        """Whether the chance to hold the conquests was requested but is not known yet."""
        is_asked = self.question.hold and self.plan.goal.is_chance
        return is_asked and self.move_in is None and self.held is None

    @property
    def _figure(self) -> str:
        """The requested value as text: a chance or points; empty if it is not known."""
        plan = self.plan
        held = self.held
        value, interval = (
            (held.win_probability, held.interval) if held else (plan.value, plan.interval)
        )
        if value is None or self._lacks_hold:
            return ""
        is_chance = plan.goal.is_chance
        shown = sentences.mark_certain_chance(plan, value) if is_chance else value
        if is_chance and not held:
            return shorten_percent(format_best_found(shown, interval, plan.upper_bound))
        return format_goal_value(shown, interval, is_chance=is_chance)

    def rows(self) -> Iterator[Sequence[object]]:
        yield "from", "to", "reach_probability", "conquer_probability", "expected_armies"
        for step in self.plan.steps:
            numbers = step.reach_probability, step.conquer_probability, step.expected_armies
            yield step.start, step.to, *map(format_all_digits, numbers)

    def draw(self, charts: Charts) -> Any:
        return (
            charts.plan_map(self.plan) if self.new is None else charts.reinforcement_map(self.new)
        )

    def sections(self) -> Iterator[Section]:
        plan = self.plan
        yield Section(list(self._list_sentences()))
        if self.held and self.held.threats:
            yield around.list_threats(self.held)
        if self.new and self.new.marginals:
            yield around.list_marginals(plan, self.new)
        if self.ways:
            yield around.list_first_attacks(plan, self.ways)
        yield from sentences.list_sections(plan)

    def _list_sentences(self) -> Iterator[str]:
        plan, rules = self.plan, self.question.rule_set.name
        brought = self.question.new_armies
        held = [*around.describe_hold(self.held)] if self.held else []
        if self.held and self.held.ends:
            yield held.pop(0)  # the chance to hold comes first
        if self.move_in:
            yield f"Best: move {add_noun(self.move_in.best, 'army', 'armies')} in."
        if self.goes_on:
            goal = self.question.goal or plan.goal
            yield from around.describe_continuation(
                plan, goal, self.goes_on, rules, self.question.sets
            )
        else:
            beginning = sentences.describe_result(plan)
            if self.new:
                new = around.describe_placement(self.new.placement)
                beginning = f"With {new}, {beginning[0].lower()}{beginning[1:]}"
            has_tried_all = self.new is None or self.new.has_tried_all
            yield f"{beginning}{note_rules(rules)}{sentences.describe_proof(plan, has_tried_all)}"
            yield from sentences.explain_gain(plan)
            yield from sentences.describe_sacrifice(plan)
            if brought is not None:
                trading = around.describe_trading(self.question.sets)
                yield f"{around.describe_cards(brought)} {trading}"
        if self.question.own_any is not None and not isinstance(plan.goal, OwnAny):
            yield "iacta chose these territories; others may be better."
        if self.question.win:
            if not isinstance(plan.goal, WinGame):
                yield CHOSEN_WIN
            yield from describe_condition(self.question.turn)
        if self.new:
            yield around.describe_value_before(plan, self.new)
        if self.needed:
            yield self.needed.describe(plan, purpose=" to take" if self.held else "")
        if self.is_unsearched:
            yield "There was no time to find the fewest armies."
        if self.checked:
            yield self.checked.describe(plan)
        if self.is_unchecked:
            yield "There was no time to check the plan with dice."
        yield from held


class SettledGoalAnswer(Answer):
    """The answer if no attack is needed or possible, or if there was no time to prepare a plan.

    value: the points now for a goal with points; otherwise 1 if the goal is reached, or else 0.
        With `hold`, the chance to hold the goal until the next turn. `None` if there was no time
        for an estimate.
    is_reached: whether the goal is reached.
    defence: the chance to hold the goal, if the question asks for it.
    needed: the fewest new armies that hold the goal with a required chance.
    is_unsearched: whether there was no time to find the fewest armies.
    """

    question: PlanParameters
    value: float | None
    is_reached: bool = False
    defence: Defence | None = None
    needed: Needed | None = None
    is_unsearched: bool = False

    @property
    def _is_chance(self) -> bool:
        return self.is_reached or self.question.goal is None or self.question.goal.is_chance

    @property
    def data(self) -> GoalEndRecord:
        more: dict[str, Any] = {}
        if self._move_in:
            more["move_in"] = self._move_in
        if self.defence:
            more["hold"] = hold_record(
                self.defence.hold,
                placement=dict(self.defence.placement),
                win_probability_without=self.defence.without,
            )
        if self.needed:
            more["need"] = need_record(self.needed)
        return GoalEndRecord(
            win_probability=self.value if self._is_chance else None,
            value=self.value,
            upper_bound=1.0 if self.value is None or not self._is_proven else self.value,
            proven=self._is_proven,
            is_reached=self.is_reached,
            is_chance=self._is_chance,
            figure=self._figure,
            sentences=[str(part) for part in next(self.sections()).parts],
            code=self.question.turn.to_code(),
            **more,
        )

    @property
    def _figure(self) -> str:
        if self.value is None:
            return ""
        if self.defence:
            return format_goal_value(self.value, self.defence.hold.interval, is_chance=True)
        value = Fraction(self.value) if self._is_chance else self.value
        return format_goal_value(value, is_chance=self._is_chance)

    @property
    def _is_proven(self) -> bool:
        return self.value is not None and (
            self.defence is None or (self.defence.hold.proven and len(self.defence.placement) == 0)
        )

    @cached_property
    def _move_in(self) -> MoveIn | None:
        turn = self.question.turn
        return defend_conquest(turn) if turn.phase == "advance" else None

    def _describe_result(self) -> str:
        if self.value is None:
            return "No estimate yet; allow more time."
        if self.question.win and (winner := describe_winner(self.question.turn)):
            return winner
        win = find_win(self.question.turn) if self.question.win else None
        if win is not None and win.placement is not None:
            return around.describe_win(win)
        if self.is_reached:
            return "The goal is reached."
        if self._is_chance:
            return "The goal is not reached."
        return f"The turn has {self.value:.2f} points."

    def rows(self) -> Iterator[Sequence[object]]:
        yield "value", "is_reached"
        yield self.value, self.is_reached

    def draw(self, charts: Charts) -> Any:
        return charts.board_map(self.question.start)

    def sections(self) -> Iterator[Section]:
        yield Section([*self._list_sentences()])
        if self.defence and self.defence.hold.threats:
            yield around.list_threats(self.defence.hold)

    def _list_sentences(self) -> Iterator[str]:
        if self.defence is None:
            yield self._describe_result()
        else:
            yield from around.describe_defence(self.defence)
        if self._move_in:
            yield f"Best: move {add_noun(self._move_in.best, 'army', 'armies')} in."
        if self.needed and self.defence:
            yield self.needed.describe(self.defence.hold.plan, "placement")
        if self.is_unsearched:
            yield "There was no time to find the fewest armies."
