"""The question `plan`: the best way to reach a goal, and the requested extras."""

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any, ClassVar, cast

from iacta.board.layout import check_size
from iacta.forms.form import Example, Topic
from iacta.forms.parameter_kinds import Chance
from iacta.forms.percentages import percent
from iacta.forms.question import Watch, question
from iacta.forms.sections import Section, make_sections
from iacta.forms.shared_parameters import draw_seed
from iacta.game import Advance
from iacta.inputs.errors import IllegalError, TooLargeError
from iacta.native.deadline import Deadline
from iacta.plan import (
    Continuation,
    Goal,
    Hold,
    InOrder,
    Plan,
    Reinforcement,
    TakeAll,
    armies_needed_for_plan,
    armies_needed_to_hold,
    best_plan,
    go_on,
    hold_without_attack,
    reinforcements_needed,
    simulate_plan,
    take_and_hold,
)
from iacta.plan.alternatives import alternatives
from iacta.plan.goal_plan import GoalPlan, plan_at_levels, plan_goal
from iacta.plan.levels import read_level
from iacta.plan.margin import MARGIN
from iacta.plan.problem import enter_phase
from iacta.plan.reinforcement import combine_plans
from iacta.questions.plan import armies_cards_hold as around
from iacta.questions.plan import sentences
from iacta.questions.plan.answer import PlanAnswer, SettledGoalAnswer
from iacta.questions.plan.armies_cards_hold import Needed
from iacta.questions.plan.move_in import defend_conquest
from iacta.questions.plan.parameters import PlanParameters, rename_parameters
from iacta.questions.plan.sentences import Checked


@question(
    "plan",
    Topic.BOARD,
    Example("plan --from Ukraine=42 --others 2 --take Asia", "which way should I go?"),
    Example("plan game.toml --worth", "which attacks gain the most?"),
)
class PlanQuestion(PlanParameters):
    """Find the best attacks to take a continent, eliminate a player, or gain points."""

    is_search: ClassVar = True
    is_live: ClassVar = False

    def check_chart(self) -> None:
        check_size(self.turn.board)

    def answer(self, watch: Watch | None = None) -> PlanAnswer | SettledGoalAnswer:
        deadline = Deadline.from_time_limit(self.time_limit)
        turn = self.turn
        with rename_parameters(owner="eliminate", worths="stage_values"):
            goal = self.goal
        if goal is None or (goal.is_chance and goal.is_reached(turn)):
            if self.hold and isinstance(goal, TakeAll):
                return self._compute_defence(goal, deadline)
            return SettledGoalAnswer(self, 1.0, is_reached=True)
        if turn.phase in ("fortify", "over"):
            return SettledGoalAnswer(self, goal.worth(turn))
        if turn.phase == "defend":
            raise IllegalError(
                "position must not be a turn in which the defender chooses dice",
                parameter="position",
            )
        # The search and the requested extras get equal shares of the time.
        later = [self.hold, self.need is not None, self.check is not None, self.alternatives]
        part = deadline.take_share(1.0 / (1 + sum(later)))
        with rename_parameters(owner="eliminate", chance="need", worths="stage_values"):
            try:
                answer = self._plan_attacks(goal, part, watch)
            except TooLargeError as error:
                if error.parameter != "time_limit":
                    raise
                return SettledGoalAnswer(self, None)
            if isinstance(answer, SettledGoalAnswer):
                return answer
            try:
                return self._add_extras(answer, later, deadline, watch)
            except KeyboardInterrupt:
                return replace(answer, is_complete=False)

    def _plan_attacks(
        self, goal: Goal, deadline: Deadline, watch: Watch | None
    ) -> PlanAnswer | SettledGoalAnswer:
        """Plan the attacks of the turn and return the answer."""
        turn, price = self.turn, None if self.price is None else float(self.price)
        brought, margin = self.new_armies, self.largest_sacrifice
        if brought is not None and goal.sequence and turn.phase != "advance" and not turn.place:
            several, seed = cast(InOrder, goal), self.seed or 0
            goes_on = go_on(
                turn,
                several,
                brought,
                seed=seed,
                time_limit=deadline.time_limit,
                progress=partial(self._report_progress, watch),
            )
            return PlanAnswer(self, goes_on.plan, goes_on=goes_on)
        if self.prove is not None and turn.phase != "advance" and not turn.place:
            plan = best_plan(
                turn,
                goal,
                prove=float(self.prove),
                margin=margin,
                price=price,
                time_limit=deadline.time_limit,
                progress=partial(self._report_progress, watch),
            )
            return PlanAnswer(self, plan)
        level = read_level(self.level)
        lowest = None if deadline.limited or watch is not None else level
        answer: PlanAnswer | SettledGoalAnswer | None = None
        try:
            for found in plan_at_levels(
                turn, goal, level, deadline, margin=margin, price=price, lowest=lowest
            ):
                answer = make_answer(self, found, deadline, margin, price)
                if watch is not None:
                    watch("Planning", None, keeps=True, so_far=answer)
        except KeyboardInterrupt:
            if answer is None:
                raise
            answer = replace(answer, is_complete=False)
        assert answer is not None  # noqa: S101 # there is at least one plan
        return answer

    def _add_extras(
        self, answer: PlanAnswer, later: list[bool], deadline: Deadline, watch: Watch | None
    ) -> PlanAnswer:
        """Add the requested extras to an answer."""
        if self.hold and answer.plan.goal.is_chance and answer.move_in is None:
            held = self._compute_hold(answer.plan, deadline.take_share(1.0 / sum(later)))
            answer = replace(answer, plan=held.plan, held=held)
        if self.need is not None:
            if watch is not None:
                watch("Looking for the fewest armies", None, keeps=True)
            part = deadline.take_share(1.0 / sum(later[1:]))
            needed = self._compute_needed(answer.plan, self.need, part)
            answer = replace(answer, needed=needed, is_unsearched=needed is None)
        if self.check is not None:
            seed = draw_seed() if self.seed is None else self.seed
            part = deadline.take_share(1.0 / sum(later[2:]))
            limit = part.time_limit
            simulated = simulate_plan(answer.plan, self.check, seed, time_limit=limit)
            checked = None
            if simulated is not None:
                checked = Checked(simulated.won.runs, seed, simulated)
            answer = replace(answer, checked=checked, is_unchecked=checked is None)
        if self.alternatives:
            answer = replace(answer, ways=alternatives(answer.plan, deadline))
        return answer

    def _report_progress(self, watch: Watch | None, value: float, _: float) -> None:
        """Report the best value so far. The bound is left out, because the answer shows it."""
        if watch is None:
            return
        is_gain = self.worth or self.then is not None
        best = f"{value:.2f} more than now" if is_gain else percent(value)
        if value > 0.0:
            watch(f"Planning; best so far {best}", None, keeps=True)
        else:  # there is no plan yet
            watch("Planning", None)

    def _compute_hold(self, plan: Plan, deadline: Deadline) -> Hold:
        get = self.opponents_get
        with rename_parameters(get="opponents_get"):
            return take_and_hold(
                plan,
                dict(get) if isinstance(get, tuple) else get,
                seed=self.seed or 0,
                time_limit=deadline.time_limit,
            )

    def _compute_defence(self, goal: TakeAll, deadline: Deadline) -> SettledGoalAnswer:
        """Return the chance to hold a goal that is reached already, without attacks."""
        turn, get, needed, is_unsearched = self.turn, self.opponents_get, None, False
        if turn.phase == "advance":
            turn = turn.after(Advance(defend_conquest(turn).best))
        new = dict(get) if isinstance(get, tuple) else get
        with rename_parameters(get="opponents_get", chance="need"):
            part = deadline.take_share(0.5 if self.need is not None else 1.0)
            defence = hold_without_attack(turn, goal, new, time_limit=part.time_limit)
            if self.need is not None:
                limit = deadline.time_limit
                text = Chance().format(self.need)
                found = armies_needed_to_hold(turn, goal, text, new, time_limit=limit)
                is_unsearched = found is None
                if found is not None:
                    needed = Needed(self.need, found.armies, placement=found.placement)
        return SettledGoalAnswer(
            self, defence.hold.win_probability, True, defence, needed, is_unsearched
        )

    def _compute_needed(self, plan: Plan, chance: Fraction, deadline: Deadline) -> Needed | None:
        """Return the fewest armies for a chance, or `None` if the time is too short."""
        turn, text, limit = self.turn, Chance().format(chance), deadline.time_limit
        if turn.place:
            needed = reinforcements_needed(turn, plan.goal, text, time_limit=limit)
            if needed is None:
                return None
            return Needed(chance, needed.armies, placement=needed.placement)
        source = (
            _choose_largest_stack(plan) if self.source is None else turn.board.find(self.source)
        )
        number = armies_needed_for_plan(turn, plan.goal, text, source, time_limit=limit)
        return None if number is None else Needed(chance, number, source)


def make_answer(
    question: PlanParameters,
    found: GoalPlan,
    deadline: Deadline,
    margin: float = MARGIN,
    price: float | None = None,
) -> PlanAnswer | SettledGoalAnswer:
    """Return the answer that shows a plan for a goal.

    deadline: when to stop the search without the new armies, if there are any.
    margin, price: those of the plan.
    """
    turn, goal, plan, level = found.turn, found.goal, found.plan, found.level
    if plan is None or goal is None:
        return SettledGoalAnswer(question, found.value, is_reached=found.value == 1.0)
    new = None
    if found.placed is not None and turn.place:
        start = enter_phase(turn, "attack")
        without = found.remove_numbers()
        if level is not None:
            without = plan_goal(start, goal, level, deadline, margin=margin, price=price)
            without = without.remove_numbers() if deadline.is_over else without
        new = combine_plans(found.placed, without.plan or plan)
    name = level.name if level else ""
    return PlanAnswer(question, plan, new=new, move_in=found.move_in, level=name)


def _choose_largest_stack(plan: Plan) -> str:
    turn, mine = plan.turn, plan.position.list_territories(plan.turn.player)
    near = [name for name in mine if any(n not in mine for n in turn.board.neighbours(name))]
    able = [name for name in near if name not in turn.stay]
    return max(able or mine, key=turn.armies_on)


def plan_answer(plan: Plan, **parts: Any) -> PlanAnswer:
    """Return an answer that shows a plan made without a question."""
    return PlanAnswer(PlanQuestion(plan.turn, worth=True), plan, **parts)


@make_sections.register
def _(value: Plan) -> Iterator[Section]:
    return plan_answer(value).sections()


@make_sections.register
def _(value: Hold) -> Iterator[Section]:
    return plan_answer(value.plan, held=value).sections()


@make_sections.register
def _(value: Reinforcement) -> Iterator[Section]:
    return plan_answer(value.plan, new=value).sections()


@make_sections.register
def _(value: Continuation) -> Iterator[Section]:
    yield Section(list(around.summarise_continuation(value)))
    yield from sentences.list_sections(value.plan)
