"""The best way to take territories, eliminate a player, or gain the most points."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from fractions import Fraction
from functools import cached_property, partial
from time import monotonic
from typing import Any, ClassVar, cast

from iacta.board.board import Board, fold_name
from iacta.board.files import read_board
from iacta.board.layout import check_size, is_drawable
from iacta.board.position import Position
from iacta.forms.command_and_call import format_command, format_python_call
from iacta.forms.form import Example, Topic, parameter
from iacta.forms.moment import (
    FROM,
    OTHERS,
    VictoryForm,
    describe_condition,
    describe_winner,
    make_position,
    resolve_board,
)
from iacta.forms.parameter_kinds import Chance, CommaList, Flag, Name, OneOf, Pairs, Source, Whole
from iacta.forms.percentages import format_all_digits, format_goal_value, percent
from iacta.forms.question import Answer, Charts, Question, Watch, question
from iacta.forms.sections import Section, make_sections
from iacta.forms.sentences import add_noun, note_rules
from iacta.forms.shared_parameters import (
    ELIMINATE,
    SEED,
    TAKE,
    TAKE_ANY,
    TIME_LIMIT,
    RulesForm,
    draw_seed,
)
from iacta.game import Advance, Sets, Turn, traded_armies
from iacta.game.moment import read_moment
from iacta.game.state import FORTIFY
from iacta.inputs.checks import quote, set_field
from iacta.inputs.errors import IactaError, IllegalError
from iacta.native.deadline import Deadline
from iacta.plan import (
    Continuation,
    Defence,
    Goal,
    Hold,
    InOrder,
    OwnAny,
    Plan,
    Reinforcement,
    TakeAll,
    Worth,
    armies_needed_for_plan,
    armies_needed_to_hold,
    best_plan,
    go_on,
    hold_without_attack,
    reinforce,
    reinforcements_needed,
    take_and_hold,
)
from iacta.plan.alternatives import Alternative, alternatives
from iacta.plan.goals import WinGame
from iacta.plan.named_goals import GOAL_KINDS, read_goal
from iacta.plan.reinforcement import MAX_PLACED_ARMIES
from iacta.plan.simulated import MAX_PLAN_RUNS, simulate_within
from iacta.plan.winning import find_win
from iacta.probability.distribution import Distribution
from iacta.questions.plan import armies_cards_hold as around
from iacta.questions.plan import sentences
from iacta.questions.plan.armies_cards_hold import Needed
from iacta.questions.plan.move_in import MoveIn, compare_advances, defend_conquest
from iacta.questions.plan.moves import RankedMove, rank_moves
from iacta.questions.plan.parameter_kinds import (
    WORTH,
    NewArmies,
    OwnRules,
    TerritoryRules,
    Trades,
)
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
from iacta.rules.variants import RuleSet, find_rules, rules_name

PLAYS = ("rolls", "battles")
MAX_ERROR_TERRITORIES = 3  # maximum number of territories to name in an error message
# Parameters that are already part of a turn, and the time limit, which does not change the
# question.
FREE_PARAMETERS: dict[str, Any] = {"capital_dice": False} | dict.fromkeys(
    (
        *("from_", "others", "board", "rules", "rules_file", "garrison", "keep", "rules_of"),
        *("stay", "play", "fortify", "reinforce", "time_limit"),
        *("win_by", "capital", "mission", "mission_cards"),
    )
)
FIRST_UPDATE = 0.25  # seconds before a search shows its first answer
MOVES_SECONDS, MOVES_TIME_SHARE = 0.05, 0.05  # time for ranking the first attacks after the search
UPDATE_FACTOR = 2.0  # minimum ratio between the elapsed times of successive updates
CHOSEN_WIN = "This wins the game; iacta chose the goal among those that win."
USUAL_WORTH = {"territory_value": 1, "bonus_value": 1, "army_value": 0}


@question(
    "plan",
    Topic.BOARD,
    Example("plan --from Ukraine=42 --others 2 --take Asia", "which way should I go?"),
    Example("plan game.toml --worth", "which attacks gain the most?"),
)
class PlanQuestion(VictoryForm, RulesForm, Question):
    """Find the best attacks to take a continent, eliminate a player, or gain points."""

    one_of: ClassVar = (
        "position or from_",
        " or ".join(GOAL_KINDS),
    )
    is_search: ClassVar = True
    is_live: ClassVar = False

    position: str | Position | Turn | None = parameter(
        Source(Turn, read_moment, reads=(Position,)),
        "A saved position or turn: a file, or a code from iacta's board.",
        is_argument=True,
        default=None,
    )
    board: str | Board | None = parameter(
        Source(Board, read_board, ("classic",)),
        "The map for --from or for a code.",
        metavar="FILE",
        usual="classic",
        excludes="position",
        default=None,
    )
    from_: tuple[tuple[str, int], ...] | None = parameter(
        *FROM, needs="others", label="your armies", default=None
    )
    others: tuple[tuple[str, int], ...] | None = parameter(
        *OTHERS, excludes="position", label="their armies", default=None
    )
    take: str | None = parameter(*TAKE, metavar="NAMES", default=None)
    take_any: str | None = parameter(*TAKE_ANY, metavar="NAMES", default=None)
    own_any: int | None = parameter(Whole(least=1), "Own any N more territories.", default=None)
    armies: int | None = parameter(
        Whole(least=1),
        "With --own-any: minimum armies on each.",
        usual="1",
        needs="own_any",
        default=None,
    )
    eliminate: str | None = parameter(*ELIMINATE, metavar="PLAYER", default=None)
    then: str | None = parameter(
        Name(),
        "Further goals, in order: 'Africa; eliminate green'.",
        metavar="GOALS",
        needs="take or eliminate",
        default=None,
    )
    stage_values: tuple[Fraction, ...] | None = parameter(
        CommaList(WORTH),
        "The points for each goal, in order.",
        usual="1 each",
        needs="then",
        default=None,
    )
    worth: bool = parameter(
        Flag(), "Gain the most points on average (you set what counts).", default=False
    )
    territory_value: Fraction | None = parameter(
        WORTH,
        "Points for each territory.",
        usual=str(USUAL_WORTH["territory_value"]),
        needs="worth",
        default=None,
    )
    bonus_value: Fraction | None = parameter(
        WORTH,
        "Points per army of a continent's bonus.",
        usual=str(USUAL_WORTH["bonus_value"]),
        needs="worth",
        default=None,
    )
    army_value: Fraction | None = parameter(
        WORTH,
        "Points for each army that survives.",
        usual=str(USUAL_WORTH["army_value"]),
        needs="worth",
        default=None,
    )
    prizes: tuple[tuple[str, Fraction], ...] | None = parameter(
        Pairs(WORTH, "Africa:5;eliminate green:10", ";"),
        "Points for goals: 'Africa:5;eliminate green:10'.",
        metavar="GOALS",
        needs="worth",
        default=None,
    )
    win: bool = parameter(Flag(), "Win the game this turn.", default=False)
    keep: tuple[tuple[str, int], ...] | None = parameter(
        Pairs(Whole(), "Brazil:3,Egypt:2"),
        "How many armies must stay behind: Brazil:3,Egypt:2.",
        default=None,
    )
    rules_of: tuple[tuple[str, str], ...] | None = parameter(
        TerritoryRules(OwnRules(), "Ukraine:capital,Egypt:wall"),
        "Rules for attacks on territories: Ukraine:capital.",
        default=None,
    )
    stay: str | None = parameter(
        Name(), "Territories whose armies must not attack.", metavar="NAMES", default=None
    )
    reinforce: int | None = parameter(
        Whole(least=1, most=MAX_PLACED_ARMIES),
        "New armies; iacta places them where they help most.",
        default=None,
    )
    play: str | None = parameter(
        OneOf(PLAYS),
        "Plan again after each roll or battle.",
        usual=PLAYS[0],
        default=None,
    )
    prove: Fraction | None = parameter(
        Chance(),
        "Search until no plan is better by more than, say, 1%.",
        metavar="GAP",
        default=None,
    )
    alternatives: bool = parameter(Flag(), "Compare all possible first attacks.", default=False)
    cards: tuple[tuple[str, int], ...] | None = parameter(
        Pairs(Whole(), "blue=4"),
        "How many cards you and your victim hold: blue=4,red=1.",
        metavar="CARDS",
        needs="eliminate",
        excludes="reinforce",
        default=None,
    )
    trade: Sets | None = parameter(
        Trades(),
        "Armies that the next card sets bring; fixed: the fixed values of the app.",
        usual="4,6,8,10,12,15",
        needs="cards",
        default=None,
    )
    hold: bool = parameter(
        Flag(),
        "Hold what you take, or own, until your next turn.",
        needs=" or ".join(name for name, kind in GOAL_KINDS.items() if kind.can_hold),
        excludes="cards and then",
        default=False,
    )
    opponents_get: int | tuple[tuple[str, int], ...] | None = parameter(
        NewArmies(Whole(), "blue=5,green=3"),
        "With --hold: new armies of opponents, 5 or blue=5,green=3.",
        usual="by the usual rule",
        needs="hold",
        default=None,
    )
    fortify: str | None = parameter(
        OneOf(FORTIFY),
        "With --hold: fortify to connected or adjacent territories; none: not at all.",
        usual=FORTIFY[0],
        needs="hold",
        default=None,
    )
    time_limit: Fraction | None = parameter(*TIME_LIMIT, metavar="SECONDS", default=None)
    need: Fraction | None = parameter(
        Chance(),
        "Find the fewest armies that give you this chance.",
        metavar="CHANCE",
        excludes="then or worth",
        default=None,
    )
    source: str | None = parameter(
        Name(),
        "Where --need adds armies.",
        usual="the largest stack",
        metavar="NAME",
        needs="need",
        excludes="reinforce",
        default=None,
    )
    check: int | None = parameter(
        Whole(least=1, most=MAX_PLAN_RUNS),
        "Play the plan this many times with random dice.",
        metavar="RUNS",
        default=None,
    )
    seed: int | None = parameter(*SEED, needs="check or hold or cards", default=None)

    def complete(self) -> None:
        if self.position is not None:
            set_field(self, "position", read_moment(self.position, resolve_board(self.board)))
            set_field(self, "board", None)

    def has(self, name: str) -> bool:
        if name == "cards" and self._held_cards:
            return True
        return super().has(name) or (name == "reinforce" and self._moment.place > 0)

    @cached_property
    def _moment(self) -> Turn:
        """The moment as given, before the other parameters change it."""
        if isinstance(self.position, Turn):
            return self.position
        board = resolve_board(self.board or "classic")
        return Turn(make_position(board, self.from_ or (), self.others or ()))

    def _find_rule_set(self) -> RuleSet:
        if self.rules is None and self.rules_file is None:
            rules = self._moment.rules
            return RuleSet(rules_name(rules), rules, "", "")
        return super()._find_rule_set()

    @cached_property
    def turn(self) -> Turn:
        """The turn to plan: the moment as changed by the other parameters."""
        moment, board = self._moment, self._moment.board
        keep, rules_of = dict(self.keep or ()), dict(self.rules_of or ())
        turn = moment.with_options(
            rules=self.rule_set.rules,
            place=self.reinforce,
            keep={board.find(name): number for name, number in keep.items()} or None,
            rules_of={board.find(name): find_rules(own) for name, own in rules_of.items()} or None,
            stay=None if self.stay is None else board.find_set(self.stay),
            fortify=self.fortify,
            whole_battles=None if self.play is None else self.play == PLAYS[1],
        )
        return self.set_victory(turn)

    @cached_property
    def start(self) -> Position:
        return self.turn.position

    @cached_property
    def _held_cards(self) -> dict[str, int]:
        """The cards that the player and the player to eliminate hold now."""
        moment = self._moment
        if self.eliminate is None or not moment.cards or moment.place or self.reinforce:
            return {}
        with _rename_parameters(owner="eliminate"):
            goal = read_goal(moment, "eliminate", self.eliminate)
        if goal is None or (self.hold and self.then is not None):
            return {}
        victim = moment.owner_of(goal.names[0])
        hands = {name: hand.number for name, hand in moment.cards.items()}
        return {name: hands[name] for name in hands if name in (victim, moment.player)}

    @cached_property
    def goal(self) -> Goal | None:
        """The goal, or `None` if the player to eliminate owns no territory."""
        if self.worth:
            given = {name: getattr(self, name) for name in USUAL_WORTH if self.has(name)}
            lands, bonus, army = map(float, (USUAL_WORTH | given).values())
            prizes = [
                (self._read_target("prizes", goal), float(worth))
                for goal, worth in self.prizes or ()
            ]
            return Worth(lands, bonus, army, tuple(prizes))
        kind = next(filter(self.has, GOAL_KINDS))
        with _rename_parameters(owner="eliminate"):
            text = str(getattr(self, kind))
            if kind == "own_any" and self.armies is not None:
                text = f"{text} with {self.armies} armies"
            first = read_goal(self.turn, kind, text)
        if self.then is None or first is None:
            return first
        others = [self._read_target("then", part) for part in self.then.split(";")]
        worths = tuple(map(float, self.stage_values or ()))
        return InOrder((cast(TakeAll, first), *others), worths)

    def _read_target(self, parameter: str, text: str) -> TakeAll:
        """Read a goal from text: territories to take, or a player to eliminate."""
        verb, _, rest = text.strip().partition(" ")
        kind, named = (verb, rest.strip()) if verb in ("take", "eliminate") else ("take", text)
        with _rename_parameters(owner=parameter):
            goal = read_goal(self.turn, kind, named)
        names, player = goal.names if goal else (), self.turn.player
        if all(self.turn.owner_of(name) == player for name in names):
            are = "is" if len(names) == 1 else "are all"
            more = (
                [f"{len(names) - MAX_ERROR_TERRITORIES} more"]
                if len(names) > MAX_ERROR_TERRITORIES
                else []
            )
            raise IllegalError(
                f"{parameter} must name a territory of another player; "
                f"{', '.join([*names[:MAX_ERROR_TERRITORIES], *more])} {are} {player}'s",
                parameter=parameter,
            )
        return cast(TakeAll, goal)

    @cached_property
    def new_armies(self) -> Distribution[int] | None:
        cards = dict(self.cards or ()) or self._held_cards
        if not cards or self.goal is None:
            return None
        mine, theirs = self.turn.player, self.turn.owner_of(self.goal.names[0])
        hand = 0
        for name, number in cards.items():
            if fold_name(name) not in (fold_name(mine), fold_name(theirs)):
                raise IllegalError(
                    f"cards must be those of {mine} or of {theirs} (the player to eliminate), "
                    f"got {quote(name)}",
                    parameter="cards",
                )
            hand += number
        trade = self._moment.trade if self.trade is None and not self.cards else self.trade
        return traded_armies(hand, trade)

    def check_chart(self) -> None:
        check_size(self.turn.board)

    def answer(self, watch: Watch | None = None) -> "PlanAnswer | SettledGoalAnswer":
        deadline = Deadline.from_time_limit(self.time_limit)
        turn = self.turn
        with _rename_parameters(owner="eliminate", worths="stage_values"):
            goal = self.goal
        if goal is None or (goal.is_chance and goal.is_reached(turn)):
            if self.hold and isinstance(goal, TakeAll):
                return self._find_defence(goal, deadline)
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
        with _rename_parameters(owner="eliminate", chance="need", worths="stage_values"):
            answer = self._plan_attacks(goal, part, watch)
            try:
                return self._add_extras(answer, later, deadline, watch)
            except KeyboardInterrupt:
                return replace(answer, is_complete=False)

    def _plan_attacks(self, goal: Goal, deadline: Deadline, watch: Watch | None) -> "PlanAnswer":
        """Plan the attacks of the turn and return the answer."""
        turn = self.turn
        if turn.phase == "advance":
            move_in, plan = compare_advances(turn, goal, deadline)
            return PlanAnswer(self, plan, move_in=move_in)
        brought, show = self.new_armies, Improvements(watch)
        options: dict[str, Any] = {
            "time_limit": deadline.time_limit,
            "progress": partial(self._report_progress, watch),
        }
        if turn.place:
            new = reinforce(
                turn,
                goal,
                improved=lambda new: show(PlanAnswer(self, new.plan, new=new)),
                **options,
            )
            return PlanAnswer(self, new.plan, new=new)
        if brought is not None and goal.sequence:
            several, seed = cast(InOrder, goal), self.seed or 0
            goes_on = go_on(turn, several, brought, seed=seed, **options)
            return PlanAnswer(self, goes_on.plan, goes_on=goes_on)
        prove = None if self.prove is None else float(self.prove)
        plan = best_plan(
            turn,
            goal,
            prove=prove,
            improved=lambda plan: show(PlanAnswer(self, plan)),
            **options,
        )
        return PlanAnswer(self, plan)

    def _add_extras(
        self, answer: "PlanAnswer", later: list[bool], deadline: Deadline, watch: Watch | None
    ) -> "PlanAnswer":
        """Add the requested extras to an answer."""
        if self.hold and answer.plan.goal.is_chance and answer.move_in is None:
            held = self._find_hold(answer.plan, deadline.take_share(1.0 / sum(later)))
            answer = replace(answer, plan=held.plan, held=held)
        if self.need is not None:
            if watch is not None:
                watch("Looking for the fewest armies", None, keeps=True)
            part = deadline.take_share(1.0 / sum(later[1:]))
            try:
                needed = self._find_needed(answer.plan, self.need, part)
            except IllegalError as error:
                if error.parameter != "time_limit":
                    raise
                needed = None
            answer = replace(answer, needed=needed, is_unsearched=needed is None)
        if self.check is not None:
            seed = draw_seed() if self.seed is None else self.seed
            part = deadline.take_share(1.0 / sum(later[2:]))
            simulated = simulate_within(answer.plan, self.check, seed, part)
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
        watch(f"Planning; best so far {best}", None, keeps=True)

    def _find_hold(self, plan: Plan, deadline: Deadline) -> Hold:
        get = self.opponents_get
        with _rename_parameters(get="opponents_get"):
            return take_and_hold(
                plan,
                dict(get) if isinstance(get, tuple) else get,
                seed=self.seed or 0,
                time_limit=deadline.time_limit,
            )

    def _find_defence(self, goal: TakeAll, deadline: Deadline) -> "SettledGoalAnswer":
        """Return the chance to hold a goal that is reached already, without attacks."""
        turn, get, needed, is_unsearched = self.turn, self.opponents_get, None, False
        if turn.phase == "advance":
            turn = turn.after(Advance(defend_conquest(turn).best))
        new = dict(get) if isinstance(get, tuple) else get
        with _rename_parameters(get="opponents_get", chance="need"):
            part = deadline.take_share(0.5 if self.need is not None else 1.0)
            defence = hold_without_attack(turn, goal, new, time_limit=part.time_limit)
            if self.need is not None:
                limit = deadline.time_limit
                text = Chance().format(self.need)
                try:
                    found = armies_needed_to_hold(turn, goal, text, new, time_limit=limit)
                    needed = Needed(self.need, found.armies, placement=found.placement)
                except IllegalError as error:
                    if error.parameter != "time_limit":
                        raise
                    is_unsearched = True
        return SettledGoalAnswer(
            self, defence.hold.win_probability, True, defence, needed, is_unsearched
        )

    def _find_needed(self, plan: Plan, chance: Fraction, deadline: Deadline) -> Needed:
        turn, text, limit = self.turn, Chance().format(chance), deadline.time_limit
        if turn.place:
            needed = reinforcements_needed(turn, plan.goal, text, time_limit=limit)
            return Needed(chance, needed.armies, placement=needed.placement)
        source = _find_largest_stack(plan) if self.source is None else turn.board.find(self.source)
        number = armies_needed_for_plan(turn, plan.goal, text, source, time_limit=limit)
        return Needed(chance, number, source)


class Improvements:
    """A callback that shows better answers during a search, at growing intervals.

    watch: a function that receives the answers; `None` to show nothing.
    """

    def __init__(self, watch: Watch | None) -> None:
        self._watch, self._start, self._next = watch, monotonic(), FIRST_UPDATE

    def __call__(self, answer: "PlanAnswer") -> None:
        passed = monotonic() - self._start
        if self._watch is not None and passed >= self._next:
            self._next = UPDATE_FACTOR * passed
            self._watch("Planning", None, keeps=True, so_far=answer)


@contextmanager
def _rename_parameters(**names: str) -> Iterator[None]:
    """Translate parameter names in errors of the library into names of the question.

    names: a mapping from names in the library to names in the question.
    """
    try:
        yield
    except IactaError as error:
        if error.parameter not in names:
            raise
        name = names[error.parameter]
        sentence = str(error).replace(error.parameter, name, 1)
        raise type(error)(sentence, parameter=name) from None


def _find_largest_stack(plan: Plan) -> str:
    turn, mine = plan.turn, plan.position.list_territories(plan.turn.player)
    near = [name for name in mine if any(n not in mine for n in turn.board.neighbours(name))]
    able = [name for name in near if name not in turn.stay]
    return max(able or mine, key=turn.armies_on)


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
    """

    question: PlanQuestion
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

    @cached_property
    def moves(self) -> tuple[RankedMove, ...]:
        """The first attacks, best first; empty while new armies are still to be placed.

        They are evaluated after the search, within a short additional time.
        """
        limit = self.question.time_limit
        seconds = None if limit is None else MOVES_SECONDS + MOVES_TIME_SHARE * float(limit)
        return () if self.new else tuple(rank_moves(self.plan, Deadline(seconds)))

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
    def _figure(self) -> str:
        """The value as text: a chance or points; empty if there is no value."""
        plan = self.plan
        value = self.held.win_probability if self.held else plan.value
        if value is None:
            return ""
        is_chance = plan.goal.is_chance
        shown = sentences.mark_certain_chance(plan, value) if is_chance else value
        return format_goal_value(shown, is_chance=is_chance)

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
            yield from around.describe_continuation(plan, goal, self.goes_on, rules)
        else:
            beginning = sentences.describe_result(plan)
            if self.new:
                new = around.describe_placement(self.new.placement)
                beginning = f"With {new}, {beginning[0].lower()}{beginning[1:]}"
            has_tried_all = self.new is None or self.new.has_tried_all
            yield f"{beginning}{note_rules(rules)}{sentences.describe_proof(plan, has_tried_all)}"
            yield from sentences.explain_gain(plan)
            if brought is not None:
                yield f"{around.describe_cards(brought)} {around.TRADED}"
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
    """The answer if no attack is needed or possible.

    value: the points now for a goal with points; otherwise 1 if the goal is reached, or else 0.
        With `hold`, the chance to hold the goal until the next turn; `None` if there was no time to
        estimate it.
    is_reached: whether the goal is reached.
    defence: the chance to hold the goal, if the question asks for it.
    needed: the fewest new armies that hold the goal with a required chance.
    is_unsearched: whether there was no time to find the fewest armies.
    """

    question: PlanQuestion
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
        value = self.value if self.defence or not self._is_chance else Fraction(self.value)
        return format_goal_value(value, is_chance=self._is_chance)

    @property
    def _is_proven(self) -> bool:
        return self.defence is None or (
            self.defence.hold.proven and len(self.defence.placement) == 0
        )

    @cached_property
    def _move_in(self) -> MoveIn | None:
        turn = self.question.turn
        return defend_conquest(turn) if turn.phase == "advance" else None

    def _describe_result(self) -> str:
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
