"""The best way to take territories, eliminate a player, or gain the most."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from fractions import Fraction
from functools import cached_property, partial
from typing import Any, ClassVar, cast

from iacta.board.board import Board, folded
from iacta.board.files import read_board
from iacta.board.layout import check_size
from iacta.board.position import Position, code_in, read_position
from iacta.forms.form import ClashError, Example, Topic, parameter
from iacta.forms.parameter_kinds import Chance, Flag, Listed, Name, OneOf, Whole
from iacta.forms.percentages import all_digits
from iacta.forms.question import Answer, Charts, Question, Watch, question
from iacta.forms.sections import Section, sections_of
from iacta.forms.sentences import under
from iacta.forms.shared_parameters import SEED, TIME_LIMIT, UnderRules, fresh_seed
from iacta.game import Sets, traded_armies
from iacta.game.turn import FORTIFY
from iacta.inputs.checks import put, shown
from iacta.inputs.errors import IactaError, IllegalError
from iacta.native.deadline import Deadline
from iacta.plan import (
    Continuation,
    Goal,
    Hold,
    InOrder,
    Plan,
    Reinforcement,
    TakeAll,
    TakeAny,
    Worth,
    armies_needed_for_plan,
    best_plan,
    eliminate,
    go_on,
    reinforce,
    reinforcements_needed,
    simulate_plan,
    take_and_hold,
)
from iacta.plan.alternatives import Alternative, alternatives
from iacta.plan.problem import PLAYS
from iacta.plan.reinforcement import MOST_NEW
from iacta.plan.simulated import MOST_RUNS
from iacta.probability.distribution import Distribution
from iacta.questions import plan_armies_cards_hold as around
from iacta.questions import plan_sentences as sentences
from iacta.questions.plan_armies_cards_hold import Needed
from iacta.questions.plan_code import parameters_of_code
from iacta.questions.plan_parameter_kinds import (
    WORTH,
    NewArmies,
    Others,
    OwnRules,
    Pairs,
    RulesOf,
    Source,
    Trades,
)
from iacta.questions.plan_record import (
    PlanRecord,
    cards_record,
    check_record,
    hold_record,
    need_record,
    plan_record,
    reinforce_record,
    ways_record,
)
from iacta.questions.plan_sentences import Checked

MOST_NAMED = 3  # territories in a refusal
USUAL_WORTH = {"territory_value": 1, "bonus_value": 1, "army_value": 0}


@question(
    "plan",
    Topic.BOARD,
    Example("plan --from Ukraine=42 --others 2 --take Asia", "which way to go?"),
    Example("plan game.toml --worth", "what gains most (game.toml: see iacta board)?"),
)
class PlanQuestion(UnderRules, Question):
    """Find the best way to take a continent, eliminate a player, or gain the most."""

    one_of: ClassVar = ("position or from_", "take or take_any or eliminate or worth")

    position: str | Position | None = parameter(
        Source(Position, read_position),
        "The position: a JSON or TOML file, a code, or - for stdin.",
        is_argument=True,
        default=None,
    )
    board: str | Board | None = parameter(
        Source(Board, read_board, ("classic",)),
        "The board of --from or a code, a file.",
        metavar="FILE",
        usual="classic",
        excludes="position",
        default=None,
    )
    from_: tuple[tuple[str, int], ...] | None = parameter(
        Pairs(Whole(least=1), "Ukraine=42"),
        "Your armies (red), without a position: Ukraine=42.",
        needs="others",
        label="your armies",
        default=None,
    )
    others: tuple[tuple[str, int], ...] | None = parameter(
        Others(Whole(least=1), "2,Ural=4"),
        "Armies of the others (blue): 2, or 2,Ural=4.",
        excludes="position",
        label="their armies",
        default=None,
    )
    take: str | None = parameter(
        Name(), "Territories to take, or a continent.", metavar="NAMES", default=None
    )
    take_any: str | None = parameter(
        Name(), "Territories; taking any one of them is enough.", metavar="NAMES", default=None
    )
    eliminate: str | None = parameter(
        Name(), "The player to eliminate.", metavar="PLAYER", default=None
    )
    then: str | None = parameter(
        Name(),
        "Goals after it: 'Africa; eliminate green'.",
        metavar="GOALS",
        needs="take or eliminate",
        default=None,
    )
    stage_values: tuple[Fraction, ...] | None = parameter(
        Listed(WORTH),
        "What each goal in order is worth.",
        usual="1 each",
        needs="then",
        default=None,
    )
    worth: bool = parameter(Flag(), "Gain the most on average, by the values below.", default=False)
    territory_value: Fraction | None = parameter(
        WORTH,
        "The value of a territory.",
        usual=str(USUAL_WORTH["territory_value"]),
        needs="worth",
        default=None,
    )
    bonus_value: Fraction | None = parameter(
        WORTH,
        "What each army of a bonus is worth.",
        usual=str(USUAL_WORTH["bonus_value"]),
        needs="worth",
        default=None,
    )
    army_value: Fraction | None = parameter(
        WORTH,
        "The value of each surviving army.",
        usual=str(USUAL_WORTH["army_value"]),
        needs="worth",
        default=None,
    )
    prizes: tuple[tuple[str, Fraction], ...] | None = parameter(
        Pairs(WORTH, "Africa:5;eliminate green:10", ";"),
        "Goals and their worth: 'Africa:5;eliminate green:10'.",
        metavar="GOALS",
        needs="worth",
        default=None,
    )
    keep: tuple[tuple[str, int], ...] | None = parameter(
        Pairs(Whole(), "Brazil:3,Egypt:2"),
        "Larger garrisons, such as Brazil:3,Egypt:2.",
        default=None,
    )
    rules_of: tuple[tuple[str, str], ...] | None = parameter(
        RulesOf(OwnRules(), "Ukraine:capital,Egypt:wall"),
        "Territories under their own rules: Ukraine:capital.",
        default=None,
    )
    stay: str | None = parameter(
        Name(), "Territories whose armies may not attack.", metavar="NAMES", default=None
    )
    reinforce: int | None = parameter(
        Whole(least=1, most=MOST_NEW),
        "New armies, placed first where they help most.",
        default=None,
    )
    play: str | None = parameter(
        OneOf(PLAYS), "Decide after rolls, or after battles.", usual=PLAYS[0], default=None
    )
    prove: Fraction | None = parameter(
        Chance(),
        "Search until within this of the best, or out of time.",
        metavar="GAP",
        default=None,
    )
    alternatives: bool = parameter(
        Flag(), "Show what each possible first attack is worth.", default=False
    )
    cards: tuple[tuple[str, int], ...] | None = parameter(
        Pairs(Whole(), "blue=4"),
        "Cards of the eliminated player and you: blue=4,red=1.",
        metavar="PLAYERS",
        needs="eliminate",
        excludes="reinforce",
        default=None,
    )
    trade: Sets | None = parameter(
        Trades(),
        "What the next sets bring, or fixed.",
        usual="4,6,8,10,12,15",
        needs="cards",
        default=None,
    )
    hold: bool = parameter(
        Flag(),
        "Plan to hold it until your next turn, too.",
        needs="take or eliminate",
        excludes="cards and then",
        default=False,
    )
    opponents_get: int | tuple[tuple[str, int], ...] | None = parameter(
        NewArmies(Whole(), "blue=5,green=3"),
        "With hold, opponents' new armies: 5 or blue=5,green=3.",
        usual="by the usual rule",
        needs="hold",
        default=None,
    )
    fortify: str | None = parameter(
        OneOf(FORTIFY),
        "With hold, final moves: connected, adjacent or none.",
        usual=FORTIFY[0],
        needs="hold",
        default=None,
    )
    time_limit: Fraction | None = parameter(*TIME_LIMIT, metavar="SECONDS", default=None)
    need: Fraction | None = parameter(
        Chance(),
        "Find the fewest armies (or new armies) for this chance.",
        metavar="CHANCE",
        excludes="then or worth",
        default=None,
    )
    source: str | None = parameter(
        Name(),
        "Where to add the armies of --need.",
        usual="the largest stack",
        metavar="NAME",
        needs="need",
        excludes="reinforce",
        default=None,
    )
    check: int | None = parameter(
        Whole(least=1, most=MOST_RUNS),
        "Simulate this many games of the plan with real dice.",
        metavar="RUNS",
        default=None,
    )
    seed: int | None = parameter(*SEED, needs="check or hold or cards", default=None)

    def complete(self) -> None:
        if (code := code_in(self.position)) is not None:
            self._decode(code)

    def _decode(self, code: str) -> None:
        """Put what a code says in its place; what is asked beside it counts more."""
        with _called(owner="eliminate"):
            given = parameters_of_code(code, self.board, self.eliminate, is_held=self.hold)
        put(self, "board", None)
        if self.rules_file is not None:
            given.pop("rules", None)
        for name, value in given.items():
            if name == "position" or not self.has(name):
                put(self, name, value)

    @cached_property
    def start(self) -> Position:
        if isinstance(self.position, Position):
            return self.position
        if self.position is None:
            board = self.board or "classic"
            others = dict(self.others or ())
            rest = others.pop("", None)
            mine = {name: ("red", armies) for name, armies in self.from_ or ()}
            theirs = {name: ("blue", armies) for name, armies in others.items()}
            if both := {*mine} & {*theirs}:
                raise ClashError("{from_} and {others} both name {0}", min(both))
            return Position(
                board if isinstance(board, Board) else read_board(board),
                "red",
                mine | theirs,
                others=None if rest is None else ("blue", rest),
            )
        return read_position(self.position)

    @cached_property
    def goal(self) -> Goal:
        if self.take_any is not None:
            return TakeAny(self._theirs("take_any", self.start.board.find_set(self.take_any)))
        if self.worth:
            given = {name: getattr(self, name) for name in USUAL_WORTH if self.has(name)}
            lands, bonus, army = map(float, (USUAL_WORTH | given).values())
            prizes = [
                (self._read("prizes", goal), float(worth)) for goal, worth in self.prizes or ()
            ]
            return Worth(lands, bonus, army, tuple(prizes))
        if self.eliminate is not None:
            first = self._eliminated()
        else:
            first = self._taken("take", self.take or "")
        if self.then is None:
            return first
        others = [self._read("then", part) for part in self.then.split(";")]
        return InOrder((first, *others), tuple(map(float, self.stage_values or ())))

    def _eliminated(self) -> TakeAll:
        return eliminate(self.start, self.eliminate or "")

    def _read(self, parameter: str, text: str) -> TakeAll:
        """Return the goal that a text names: territories to take, or a player to eliminate."""
        verb, _, rest = text.strip().partition(" ")
        if verb == "eliminate":
            with _called(owner=parameter):
                return eliminate(self.start, rest.strip())
        return self._taken(parameter, rest if verb == "take" else text)

    def _taken(self, parameter: str, names: str) -> TakeAll:
        territories = self.start.board.find_set(names)
        self._theirs(parameter, territories)
        return TakeAll(territories)

    def _theirs(self, parameter: str, names: Sequence[str]) -> tuple[str, ...]:
        """Return the territories of other players; if there are none, there is no goal."""
        player = self.start.player
        theirs = tuple(name for name in names if self.start.of(name).owner != player)
        if not theirs:
            are = "is" if len(names) == 1 else "are all"
            more = [f"{len(names) - MOST_NAMED} more"] if len(names) > MOST_NAMED else []
            raise IllegalError(
                f"{parameter} must name a territory of another player; "
                f"{', '.join([*names[:MOST_NAMED], *more])} {are} {player}'s",
                parameter=parameter,
            )
        return theirs

    @cached_property
    def new_armies(self) -> Distribution[int] | None:
        if self.cards is None:
            return None
        mine, theirs = self.start.player, self.start.of(self._eliminated().territories[0]).owner
        hand = 0
        for name, number in dict(self.cards).items():
            if folded(name) not in (folded(mine), folded(theirs)):
                raise IllegalError(
                    f"cards must be those of {theirs}, who is to be eliminated, or of {mine}, "
                    f"got {shown(name)}",
                    parameter="cards",
                )
            hand += number
        return traded_armies(hand, self.trade)

    @cached_property
    def constraints(self) -> dict[str, Any]:
        """The rules, larger garrisons, and stacks that may not attack, as arguments."""
        board = self.start.board
        return {
            "play": self.play or PLAYS[0],
            "rules_of": {board.find(name): rules for name, rules in self.rules_of or ()},
            "rules": self.rule_set.rules,
            "keep": {board.find(name): number for name, number in self.keep or ()},
            "stay": () if self.stay is None else board.find_set(self.stay),
        }

    def check_chart(self) -> None:
        check_size(self.start.board)

    def answer(self, watch: Watch | None = None) -> "PlanAnswer":
        deadline = Deadline.of(self.time_limit)
        # What follows the plan has its part of the time, too.
        later = [self.hold, self.need is not None, self.alternatives]
        options: dict[str, Any] = {
            "time_limit": deadline.part(1.0 / (1 + sum(later))).time_limit,
            "progress": partial(self._watched, watch),
        }
        with _called(owner="eliminate", chance="need", worths="stage_values"):
            start, goal = self.start, self.goal
            prove = None if self.prove is None else float(self.prove)
            new = goes_on = None
            brought = self.new_armies
            if self.reinforce is not None:
                new = reinforce(start, goal, self.reinforce, **self.constraints, **options)
                plan = new.plan
            elif brought is not None and goal.in_order:
                seed = self.seed or 0
                several = cast(InOrder, goal)
                goes_on = go_on(start, several, brought, seed=seed, **self.constraints, **options)
                plan = goes_on.plan
            else:
                plan = best_plan(start, goal, **self.constraints, **options, prove=prove)
            answer = PlanAnswer(self, plan, new=new, goes_on=goes_on)
            try:
                if self.hold:
                    held = self._held(plan, deadline.part(1.0 / sum(later)))
                    plan = held.plan
                    answer = replace(answer, plan=plan, held=held)
                if self.need is not None:
                    if watch is not None:
                        watch("Looking for the fewest armies", None, keeps=True)
                    part = deadline.part(1.0 / sum(later[1:]))
                    answer = replace(answer, needed=self._needed(plan, self.need, part))
                if self.check is not None:
                    seed = fresh_seed() if self.seed is None else self.seed
                    checked = Checked(self.check, seed, simulate_plan(plan, self.check, seed))
                    answer = replace(answer, checked=checked)
                if self.alternatives:
                    answer = replace(answer, ways=alternatives(plan, deadline))
            except KeyboardInterrupt:
                return replace(answer, is_whole=False)
        return answer

    def _watched(self, watch: Watch | None, value: float, bound: float) -> None:
        if watch is None:
            return
        if self.worth or self.then is not None:
            best = sentences.gain_so_far(value, bound)
        else:
            best = sentences.chance_so_far(value, bound)
        watch(f"Planning; best so far {best}", None, keeps=True)

    def _held(self, plan: Plan, deadline: Deadline) -> Hold:
        get = self.opponents_get
        with _called(get="opponents_get"):
            return take_and_hold(
                plan,
                dict(get) if isinstance(get, tuple) else get,
                fortify=self.fortify or FORTIFY[0],
                seed=self.seed or 0,
                time_limit=deadline.time_limit,
                **self.constraints,
            )

    def _needed(self, plan: Plan, chance: Fraction, deadline: Deadline) -> Needed:
        options = {**self.constraints, "time_limit": deadline.time_limit}
        if self.reinforce is not None:
            text = Chance().text(chance)
            needed = reinforcements_needed(self.start, self.goal, text, **options)
            return Needed(chance, needed.armies, placement=needed.placement)
        source = _largest(plan) if self.source is None else self.start.board.find(self.source)
        number = armies_needed_for_plan(
            self.start, self.goal, Chance().text(chance), source, **options
        )
        return Needed(chance, number, source)


@contextmanager
def _called(**names: str) -> Iterator[None]:
    """Let a refusal call a parameter of the library what the question calls it.

    names: the parameters of the question by those of the library.
    """
    try:
        yield
    except IactaError as error:
        if error.parameter not in names:
            raise
        name = names[error.parameter]
        sentence = str(error).replace(error.parameter, name, 1)
        raise type(error)(sentence, parameter=name) from None


def _largest(plan: Plan) -> str:
    board = plan.position.board
    mine = plan.position.owned_by(plan.position.player)
    near = [name for name in mine if any(n not in mine for n in board.neighbours(name))]
    able = [name for name in near if name not in plan.problem.turn.stay]
    return max(able or mine, key=lambda name: plan.position.of(name).armies)


class PlanAnswer(Answer):
    """The best plan that was found.

    plan: the plan.
    needed: the fewest armies, if they were asked for.
    checked: how often it succeeded, if it was played.
    new: where new armies are placed, if there are any.
    goes_on: how the turn goes on with the cards of an eliminated player.
    held: the chance to hold what is taken, if that was asked for.
    ways: what plans are worth that begin differently, if that was asked for.
    """

    question: PlanQuestion
    plan: Plan
    needed: Needed | None = None
    checked: Checked | None = None
    new: Reinforcement | None = None
    goes_on: Continuation | None = None
    held: Hold | None = None
    ways: tuple[Alternative, ...] = ()

    @property
    def data(self) -> PlanRecord:
        brought = self.question.new_armies
        more: dict[str, Any] = {}
        if self.ways:
            more["alternatives"] = ways_record(self.ways)
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
        return plan_record(self.plan, self.question.rule_set.name, **more)

    def rows(self) -> Iterator[Sequence[object]]:
        yield "from", "to", "reach_probability", "conquer_probability", "expected_armies"
        for step in self.plan.steps:
            numbers = step.reach_probability, step.conquer_probability, step.expected_armies
            yield step.start, step.to, *map(all_digits, numbers)

    def draw(self, charts: Charts) -> Any:
        return (
            charts.plan_map(self.plan) if self.new is None else charts.reinforcement_map(self.new)
        )

    def sections(self) -> Iterator[Section]:
        plan = self.plan
        yield Section(list(self._sentences()))
        if self.held and self.held.threats:
            yield around.threats(self.held)
        if self.new and self.new.marginals:
            yield around.marginals(plan, self.new)
        if self.ways:
            yield around.beginnings(plan, self.ways)
        yield from sentences.way_sections(plan)

    def _sentences(self) -> Iterator[str]:
        plan, rules = self.plan, self.question.rule_set.name
        brought = self.question.new_armies
        held = [*around.what_is_held(self.held)] if self.held else []
        if self.held and self.held.ends:
            yield held.pop(0)  # what was asked
        if self.goes_on:
            yield from around.continued(plan, self.question.goal, self.goes_on, rules)
        else:
            beginning = sentences.achieved(plan)
            if self.new:
                new = around.new_armies(self.new.placement)
                beginning = f"With {new}, {beginning[0].lower()}{beginning[1:]}"
            yield f"{beginning}{under(rules)}{sentences.proof(plan)}"
            yield from sentences.reasons(plan)
            if brought is not None:
                yield f"{around.cards_words(brought)} {around.TRADED}"
        if self.new:
            yield around.without(plan, self.new)
        if self.needed:
            yield self.needed.sentence(plan)
        if self.checked:
            yield self.checked.sentence(plan)
        yield from held


def plan_answer(plan: Plan, **parts: Any) -> PlanAnswer:
    """Return the answer that has a plan, whatever was asked."""
    return PlanAnswer(PlanQuestion(plan.position, worth=True, rules=plan.rules), plan, **parts)


@sections_of.register
def _(value: Plan) -> Iterator[Section]:
    return plan_answer(value).sections()


@sections_of.register
def _(value: Hold) -> Iterator[Section]:
    return plan_answer(value.plan, held=value).sections()


@sections_of.register
def _(value: Reinforcement) -> Iterator[Section]:
    return plan_answer(value.plan, new=value).sections()


@sections_of.register
def _(value: Continuation) -> Iterator[Section]:
    yield Section(list(around.went_on(value)))
    yield from sentences.way_sections(value.plan)
