"""The best way to take territories, eliminate a player, or gain the most."""

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from importlib import import_module
from math import ceil
from pathlib import PurePath
from types import ModuleType
from typing import Annotated, Any, ClassVar, NamedTuple

from iacta.answers.form import ClashError, Example, Parameter, Topic
from iacta.answers.kinds import (
    Chance,
    Choice,
    Flag,
    Kind,
    Listed,
    Name,
    Number,
    Runs,
    Schema,
    Whole,
)
from iacta.answers.parameters import Seed, UnderRules, fresh_seed
from iacta.answers.question import Answer, Question, Watch, question
from iacta.answers.sections import Section, Table, sections_of
from iacta.answers.words import (
    all_digits,
    armies,
    count,
    percent,
    plain_percent,
    settled,
    short_percent,
    under,
)
from iacta.board.formats.reading import MOST_BYTES, decode, read_table
from iacta.board.position import Position, read_position
from iacta.checks import parse_whole_number, row_of, shown, whole_number
from iacta.distribution import Distribution, Probability
from iacta.errors import IactaError, IllegalError, MalformedError, TooLargeError
from iacta.estimate import Interval
from iacta.methods import find_kernel
from iacta.plan import (
    Continuation,
    Goal,
    Hold,
    InOrder,
    Plan,
    Reinforcement,
    SimulatedPlan,
    Step,
    TakeAll,
    TakeAny,
    Trade,
    Worth,
    armies_needed_for_plan,
    best_plan,
    eliminate,
    go_on,
    hold,
    reinforce,
    reinforcements_needed,
    simulate_plan,
    traded_armies,
)
from iacta.plan.alternatives import Alternative, alternatives
from iacta.plan.goals import MOST_WORTH, deed, goal_words, held_worth, names_in
from iacta.plan.hold import FORTIFY
from iacta.plan.problem import bits, mask_of
from iacta.plan.reinforce import MOST_NEW, Placement, late_after
from iacta.plan.simulated import MOST_RUNS
from iacta.plan.way import Rearguard, UsualBattle, rearguards, usual_way
from iacta.rules.variants import find_rule_set

__all__ = ["PlanAnswer", "PlanQuestion"]

LEVEL = "0.95"
RARE = 0.001
SEEN = 5e-5  # differences of values that are told
NEAR = 0.01  # gaps that are told as such, and not by the bound
NO_BOUND = 0.999  # a chance that proves nothing as a bound
MOST_LINES = 40
MOST_ENDINGS = 3
PLAYS = ("rolls", "battles")
COUNTED = "The numbers of these tables are counted in {} games of the plan."
BY_BATTLES = "Fight each battle to its end: no better play roll by roll was found."
NOT_BY_ROLLS = "Fight each battle to its end: play roll by roll was not looked at."
LOOKED_AHEAD = "These are compared by a lookahead, and the plan as a whole may be worth more."
OFTEN = 0.995
ALONE = "Each of them is taken to attack alone, and to meet what you leave."
DEALT = "All sets are traded in at once; what is on the cards is taken to be random."
LONGEST_LIMIT = Fraction(10**9)
USUAL_WORTH = {"territory_value": 1, "bonus_value": 1, "army_value": 0}
WORTH = Number(least=0, most=int(MOST_WORTH))


class PositionSource(Kind):
    """The path of a file with a position, or in Python and JSON the position itself."""

    def check(self, value: object, name: str) -> str | Position:
        if isinstance(value, Position):
            return value
        if isinstance(value, Mapping):
            return read_position(value)
        if isinstance(value, str | PurePath):
            return str(value)
        raise MalformedError(f"{name} must be a position or a file of one, got {shown(value)}")

    def schema(self) -> Schema:
        return {"type": ["string", "object"]}


@dataclass(frozen=True, eq=False, repr=False)
class Garrisons(Kind):
    """A number for each of some names, such as the armies that must stay on some territories.

    example: what it looks like.

    >>> Garrisons().parse("Brazil:3, Egypt=2", "keep")
    (('Brazil', 3), ('Egypt', 2))
    """

    metavar: ClassVar[str] = "NAMES"
    example: str = "Brazil:3,Egypt:2"

    def parse(self, text: str, name: str) -> tuple[tuple[str, int], ...]:
        kept = {}
        for part in text.split(","):
            territory, colon, number = part.replace("=", ":").rpartition(":")
            if not colon:
                raise IllegalError(f"{name} must be like '{self.example}', got {shown(text)}")
            kept[territory.strip()] = parse_whole_number(number.strip(), f"{name} of {territory}")
        return self.check(kept, name)

    def check(self, value: object, name: str) -> tuple[tuple[str, int], ...]:
        pairs = value.items() if isinstance(value, Mapping) else row_of(value, name, "pairs")
        return tuple((str(who), whole_number(number, f"{name} of {who}")) for who, number in pairs)

    def text(self, value: Sequence[tuple[str, int]]) -> str:
        return ",".join(f"{territory}:{number}" for territory, number in value)

    def json(self, value: Sequence[tuple[str, int]]) -> dict[str, int]:
        return dict(value)

    def schema(self) -> Schema:
        return {"type": "object", "additionalProperties": {"type": "integer", "minimum": 0}}


class RulesOf(Kind):
    """The names of rules by which territories are defended.

    >>> RulesOf().parse("Ukraine:wall+capital, Egypt=wall", "rules_of")
    (('Ukraine', 'capital+wall'), ('Egypt', 'wall'))
    """

    metavar: ClassVar[str] = "NAMES"

    def parse(self, text: str, name: str) -> tuple[tuple[str, str], ...]:
        pairs = []
        for part in text.split(","):
            territory, colon, rules = part.replace("=", ":").partition(":")
            if not colon:
                raise IllegalError(
                    f"{name} must be like 'Ukraine:capital,Egypt:wall', got {shown(text)}"
                )
            pairs.append((territory.strip(), rules.strip()))
        return self.check(pairs, name)

    def check(self, value: object, name: str) -> tuple[tuple[str, str], ...]:
        pairs = value.items() if isinstance(value, Mapping) else row_of(value, name, "pairs")
        return tuple((str(who), find_rule_set(rules).name) for who, rules in pairs)

    def text(self, value: Sequence[tuple[str, str]]) -> str:
        return ",".join(f"{territory}:{rules}" for territory, rules in value)

    def json(self, value: Sequence[tuple[str, str]]) -> dict[str, str]:
        return dict(value)

    def schema(self) -> Schema:
        return {"type": "object", "additionalProperties": {"type": "string"}}


class NewArmies(Garrisons):
    """New armies: one number for all players, or one for each of some.

    >>> NewArmies().parse("5", "opponents_get"), NewArmies().parse("blue=5", "opponents_get")
    (5, (('blue', 5),))
    """

    metavar: ClassVar[str] = "ARMIES"

    def parse(self, text: str, name: str) -> Any:
        if text.strip().isdigit():
            return parse_whole_number(text.strip(), name)
        return super().parse(text, name)

    def check(self, value: object, name: str) -> Any:
        return whole_number(value, name) if isinstance(value, int) else super().check(value, name)

    def text(self, value: Any) -> str:
        return str(value) if isinstance(value, int) else super().text(value)

    def json(self, value: Any) -> Any:
        return value if isinstance(value, int) else super().json(value)

    def schema(self) -> Schema:
        return {"anyOf": [{"type": "integer", "minimum": 0}, super().schema()]}


class Sets(Kind):
    """What the next sets of cards bring, or `fixed` as in the app.

    >>> Sets().parse("10,12", "trade").nth(2), Sets().parse("fixed", "trade").is_fixed
    (15, True)
    """

    metavar: ClassVar[str] = "ARMIES"

    def parse(self, text: str, name: str) -> Trade:
        if text.strip() == "fixed":
            return Trade(is_fixed=True)
        return Trade(tuple(parse_whole_number(part.strip(), name) for part in text.split(",")))

    def check(self, value: object, name: str) -> Trade:
        if isinstance(value, Trade):
            return value
        if isinstance(value, str):
            return self.parse(value, name)
        return Trade(tuple(whole_number(each, name) for each in row_of(value, name, "numbers")))

    def text(self, value: Trade) -> str:
        return "fixed" if value.is_fixed else ",".join(map(str, value.values))

    def json(self, value: Trade) -> str:
        return self.text(value)


class Prizes(Kind):
    """Goals, and what it is worth to reach them.

    >>> Prizes().parse("Africa: 5; eliminate green: 5/2", "prizes")
    (('Africa', Fraction(5, 1)), ('eliminate green', Fraction(5, 2)))
    """

    metavar: ClassVar[str] = "GOALS"

    def parse(self, text: str, name: str) -> tuple[tuple[str, Fraction], ...]:
        prizes = []
        for part in text.split(";"):
            goal, colon, number = part.rpartition(":")
            if not colon:
                raise IllegalError(
                    f"{name} must be like 'Africa:5;eliminate green:10', got {shown(text)}"
                )
            prizes.append((goal.strip(), number.strip()))
        return self.check(prizes, name)

    def check(self, value: object, name: str) -> tuple[tuple[str, Fraction], ...]:
        pairs = value.items() if isinstance(value, Mapping) else row_of(value, name, "pairs")
        return tuple((str(goal), WORTH.check(worth, name)) for goal, worth in pairs)

    def text(self, value: Sequence[tuple[str, Fraction]]) -> str:
        return ";".join(f"{goal}:{worth}" for goal, worth in value)

    def json(self, value: Sequence[tuple[str, Fraction]]) -> dict[str, str]:
        return {goal: WORTH.json(worth) for goal, worth in value}

    def schema(self) -> Schema:
        return {"type": "object", "additionalProperties": WORTH.schema()}


@question(
    "plan",
    Topic.BOARD,
    Example("plan examples/asia.toml --take Asia", "which way should this stack go?"),
)
@dataclass(frozen=True)
class PlanQuestion(UnderRules, Question):
    """Find the best way to take a continent, eliminate a player, or gain the most."""

    position: Annotated[
        str | Position,
        Parameter(
            PositionSource(),
            "Who holds what: a JSON or TOML file, or - for standard input.",
            is_argument=True,
        ),
    ]
    take: Annotated[
        str | None,
        Parameter(Name(), "Territories to take, or a continent.", metavar="NAMES"),
    ] = None
    take_any: Annotated[
        str | None, Parameter(Name(), "Territories of which one is to be taken.", metavar="NAMES")
    ] = None
    eliminate: Annotated[
        str | None, Parameter(Name(), "The player to eliminate.", metavar="PLAYER")
    ] = None
    then: Annotated[
        str | None,
        Parameter(
            Name(),
            "Goals after it, in order, such as 'Africa; eliminate green'.",
            metavar="GOALS",
        ),
    ] = None
    stage_values: Annotated[
        tuple[Fraction, ...] | None,
        Parameter(Listed(WORTH), "What each of the goals in order is worth.", usual="1 each"),
    ] = None
    worth: Annotated[
        bool,
        Parameter(Flag(), "Gain the most on average, by the four values below."),
    ] = False
    territory_value: Annotated[
        Fraction | None,
        Parameter(WORTH, "What a territory is worth.", usual=str(USUAL_WORTH["territory_value"])),
    ] = None
    bonus_value: Annotated[
        Fraction | None,
        Parameter(
            WORTH, "What each army of a bonus is worth.", usual=str(USUAL_WORTH["bonus_value"])
        ),
    ] = None
    army_value: Annotated[
        Fraction | None,
        Parameter(WORTH, "What each army left is worth.", usual=str(USUAL_WORTH["army_value"])),
    ] = None
    prizes: Annotated[
        tuple[tuple[str, Fraction], ...] | None,
        Parameter(Prizes(), "What goals are worth, such as 'Africa:5;eliminate green:10'."),
    ] = None
    keep: Annotated[
        tuple[tuple[str, int], ...] | None,
        Parameter(Garrisons(), "Larger garrisons, such as Brazil:3,Egypt:2."),
    ] = None
    rules_of: Annotated[
        tuple[tuple[str, str], ...] | None,
        Parameter(
            RulesOf(),
            "Territories defended by rules of their own, such as Ukraine:capital,Egypt:wall.",
        ),
    ] = None
    stay: Annotated[
        str | None, Parameter(Name(), "Territories whose armies may not attack.", metavar="NAMES")
    ] = None
    reinforce: Annotated[
        int | None,
        Parameter(
            Whole(least=1, most=MOST_NEW), "New armies to place first, where they help most."
        ),
    ] = None
    play: Annotated[
        str | None,
        Parameter(
            Choice(PLAYS),
            "How to play: deciding after each of the rolls, or fighting battles to their ends.",
            usual=PLAYS[0],
        ),
    ] = None
    prove: Annotated[
        Fraction | None,
        Parameter(
            Chance(),
            "Search until no play can be better by more than this, or the time is over.",
            metavar="GAP",
        ),
    ] = None
    alternatives: Annotated[
        bool, Parameter(Flag(), "Tell what plans are worth that begin differently.")
    ] = False
    cards: Annotated[
        tuple[tuple[str, int], ...] | None,
        Parameter(
            Garrisons(example="blue=4"),
            "Cards of the player to eliminate, and your own, such as blue=4,red=1.",
            metavar="PLAYERS",
        ),
    ] = None
    trade: Annotated[
        Trade | None,
        Parameter(
            Sets(),
            "What the next sets of cards bring, then as usual; or fixed.",
            usual="4,6,8,10,12,15",
        ),
    ] = None
    hold: Annotated[
        bool,
        Parameter(Flag(), "Tell the chance to hold it until your next turn too."),
    ] = False
    opponents_get: Annotated[
        int | tuple[tuple[str, int], ...] | None,
        Parameter(
            NewArmies(example="blue=5,green=3"),
            "New armies of each opponent with hold, such as 5 or blue=5,green=3.",
            usual="by the usual rule",
        ),
    ] = None
    fortify: Annotated[
        str | None,
        Parameter(
            Choice(FORTIFY),
            "Where armies may be moved at the end with hold: connected, adjacent or none.",
            usual=FORTIFY[0],
        ),
    ] = None
    time_limit: Annotated[
        Fraction | None,
        Parameter(Number(least=0, unit="seconds"), "How long to search.", metavar="SECONDS"),
    ] = None
    need: Annotated[
        Fraction | None,
        Parameter(
            Chance(),
            "Find the fewest armies for this chance too, new ones with reinforce.",
            metavar="CHANCE",
        ),
    ] = None
    source: Annotated[
        str | None,
        Parameter(
            Name(),
            "The territory where the fewest armies are asked for.",
            usual="the largest stack",
            metavar="NAME",
        ),
    ] = None
    check: Annotated[
        int | None,
        Parameter(
            Runs(most=MOST_RUNS), "Play the plan this many times with real dice.", metavar="RUNS"
        ),
    ] = None
    seed: Seed = None

    def __post_init__(self) -> None:
        super().__post_init__()
        goals = {name for name in ("take", "take_any", "eliminate") if self._has(name)}
        if len(goals) + self.worth != 1:
            got = "several" if goals else "none"
            raise ClashError(
                f"the goal must be one of {{take}}, {{take_any}}, {{eliminate}} or {{worth}}, "
                f"got {got}"
            )
        for name in (*USUAL_WORTH, "prizes"):
            if self._has(name) and not self.worth:
                raise ClashError(f"{{{name}}} must go with {{worth}}, got it without")
        if self.then is not None and not goals & {"take", "eliminate"}:
            raise ClashError("{then} must go with {take} or {eliminate}, got it without")
        if self.stage_values is not None and self.then is None:
            raise ClashError("{stage_values} must go with {then}, got it without")
        if self.then is not None and self.need is not None:
            raise ClashError("{need} must stand without {then}, got both")
        if self.worth and self.need is not None:
            raise ClashError("{need} must go with {take}, {take_any} or {eliminate}, got {worth}")
        if self.cards is not None and self.eliminate is None:
            raise ClashError("{cards} must go with {eliminate}, got it without")
        if self.cards is not None and self.reinforce is not None:
            raise ClashError("{cards} must stand without {reinforce}, got both")
        if self.trade is not None and self.cards is None:
            raise ClashError("{trade} must go with {cards}, got it without")
        for name in ("opponents_get", "fortify"):
            if self._has(name) and not self.hold:
                raise ClashError(f"{{{name}}} must go with {{hold}}, got it without")
        if self.hold and not goals & {"take", "eliminate"}:
            raise ClashError("{hold} must go with {take} or {eliminate}, got it without")
        if self.hold and self.cards is not None and self.then is not None:
            raise ClashError("{hold} must stand without {cards} and {then}, got all three")
        if self.source is not None and self.reinforce is not None:
            raise ClashError("{source} must stand without {reinforce}, got both")
        for name, other in (("source", "need"), ("seed", "check")):
            if name == "seed" and (self.hold or self.cards is not None):
                continue  # ends of the plan are drawn too
            if self._has(name) and not self._has(other):
                sentence = f"{{{name}}} must stand with {{{other}}}, got {{{name}}} {{0}} alone"
                raise ClashError(sentence, getattr(self, name))

    def _has(self, name: str) -> bool:
        return getattr(self, name) is not None

    @cached_property
    def start(self) -> Position:
        """The position."""
        if isinstance(self.position, Position):
            return self.position
        return _read_stdin() if self.position == "-" else read_position(self.position)

    @cached_property
    def goal(self) -> Goal:
        """What the plan is for."""
        if self.take_any is not None:
            return TakeAny(self._theirs("take_any", self.start.board.find_set(self.take_any)))
        if self.worth:
            given = {name: getattr(self, name) for name in USUAL_WORTH if self._has(name)}
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
        found = self.start.board.find_set(names)
        self._theirs(parameter, found)
        return TakeAll(found)

    def _theirs(self, parameter: str, names: Sequence[str]) -> tuple[str, ...]:
        """Return the territories of other players; if there are none, there is no goal."""
        player = self.start.player
        theirs = tuple(name for name in names if self.start.of(name).owner != player)
        if not theirs:
            are = "is" if len(names) == 1 else "are all"
            raise IllegalError(
                f"{parameter} must name a territory of another player, got "
                f"{', '.join(names)[:60]}, which {are} {player}'s"
            )
        return theirs

    @cached_property
    def new_armies(self) -> Distribution[int] | None:
        """The new armies that the cards of the eliminated player bring."""
        if self.cards is None:
            return None
        mine, theirs = self.start.player, self.start.of(self._eliminated().territories[0]).owner
        hand = 0
        for name, number in self.cards:
            with _called(owner="cards"):
                owner = self.start.of(self.start.owned_by(name)[0]).owner
            if owner not in (mine, theirs):
                raise IllegalError(
                    f"cards must be those of {theirs}, who is to be eliminated, and of {mine}, "
                    f"got {owner}"
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
            "may_not_move": () if self.stay is None else board.find_set(self.stay),
        }

    def check_chart(self) -> None:
        import_module("iacta.charts.board_layout").check_size(self.start.board)

    def answer(self, watch: Watch | None = None) -> "PlanAnswer":
        def progress(value: float, bound: float) -> None:
            if watch is None:
                return
            best = f"{percent(value)}, at most {percent(min(bound, 1.0))}"
            if self.worth or self.then is not None:
                best = f"{value:.2f} more than now, at most {bound:.2f}"
            watch(f"Planning; best so far {best}", None, keeps=True)

        limit = None if self.time_limit is None else float(min(self.time_limit, LONGEST_LIMIT))
        with _called(owner="eliminate", may_not_move="stay", chance="need", worths="stage_values"):
            start, goal = self.start, self.goal
            effort: dict[str, Any] = {"time_limit": limit, "progress": progress}
            prove = None if self.prove is None else float(self.prove)
            new = goes_on = None
            brought = self.new_armies
            if self.reinforce is not None:
                new = reinforce(start, goal, self.reinforce, **self.constraints, **effort)
                plan = new.plan
            elif brought is not None and isinstance(goal, InOrder):
                seed = self.seed or 0
                goes_on = go_on(start, goal, brought, seed=seed, **self.constraints, **effort)
                plan = goes_on.plan
            else:
                plan = best_plan(start, goal, **self.constraints, **effort, prove=prove)
            answer = PlanAnswer(self, plan, new=new, goes_on=goes_on)
            try:
                if self.need is not None:
                    answer = replace(answer, needed=self._needed(plan, self.need))
                if self.check is not None:
                    seed = fresh_seed() if self.seed is None else self.seed
                    checked = Checked(self.check, seed, simulate_plan(plan, self.check, seed))
                    answer = replace(answer, checked=checked)
                if self.hold:
                    answer = replace(answer, held=self._held(plan, limit))
                if self.alternatives:
                    ways = alternatives(plan, late_after(limit, 1.0))
                    answer = replace(answer, ways=ways)
            except KeyboardInterrupt:
                return replace(answer, is_whole=False)
        return answer

    def _held(self, plan: Plan, time_limit: float | None) -> Hold:
        get = self.opponents_get
        with _called(owner="opponents_get", get="opponents_get"):
            return hold(
                plan,
                dict(get) if isinstance(get, tuple) else get,
                fortify=self.fortify or FORTIFY[0],
                seed=self.seed or 0,
                time_limit=time_limit,
                **self.constraints,
            )

    def _needed(self, plan: Plan, chance: Fraction) -> "Needed | NeededNew":
        if self.reinforce is not None:
            text = Chance().text(chance)
            found = reinforcements_needed(self.start, self.goal, text, **self.constraints)
            return NeededNew(chance, found.armies, found.placement)
        source = _largest(plan) if self.source is None else self.start.board.find(self.source)
        number = armies_needed_for_plan(
            self.start, self.goal, Chance().text(chance), source, **self.constraints
        )
        return Needed(chance, source, number)


@contextmanager
def _called(**names: str) -> Iterator[None]:
    """Let a refusal call a parameter of the library what the question calls it.

    names: the parameters of the question by those of the library.
    """
    try:
        yield
    except IactaError as error:
        name, must, rest = str(error).partition(" must ")
        if name not in names:
            raise
        raise type(error)(f"{names[name]}{must}{rest}") from None


def _read_stdin() -> Position:
    content = sys.stdin.buffer.read(MOST_BYTES + 1)
    try:
        if len(content) > MOST_BYTES:
            raise TooLargeError(f"the text must have at most {MOST_BYTES} bytes, got more")
        return read_position(read_table(decode(content)).entries)
    except IactaError as error:
        raise type(error)(f"position on standard input: {error}") from None


def _largest(plan: Plan) -> str:
    """Return the player's territory with the most armies, of those that may attack if any may."""
    board = plan.position.board
    mine = plan.position.owned_by(plan.position.player)
    near = [each for each in mine if any(n not in mine for n in board.neighbours(each))]
    resting = plan.problem.resting
    able = [each for each in near if not resting >> board.territories.index(each) & 1]
    return max(able or mine, key=lambda each: plan.position.of(each).armies)


def _is_hopeless(plan: Plan) -> bool:
    """Return whether a plan never reaches its goal, nor the first of several."""
    return not isinstance(plan.goal, Worth) and not max(plan.win_probability, *plan.stages, 0.0)


def _wanted(plan: Plan) -> int:
    """Return the set that a plan is to take, of several goals the first."""
    goal = plan.goal.goals[0] if isinstance(plan.goal, InOrder) else plan.goal
    if isinstance(goal, Worth):
        return 0
    return mask_of(map(plan.position.board.territories.index, names_in(goal)))


def _why(plan: Plan) -> str:
    """Return why a goal was not reached: what makes it impossible, or that no plan was found."""
    problem, position = plan.problem, plan.position
    stacks = problem.stacks()
    if not stacks:
        return (
            f"{position.player} has no stack that may attack, as each has too few armies, no enemy "
            "beside it, or must stay"
        )
    goal = _wanted(plan)
    open_to = mask_of(t for t in bits(problem.enemy) if problem.armies[t])
    reached = problem.borders.reachable_from((v for v, _ in stacks), open_to)
    away = goal & problem.enemy & ~reached
    if away and (isinstance(plan.goal, TakeAll | InOrder) or away == goal & problem.enemy):
        return f"no way leads to {problem.name(next(bits(away)))}"
    if plan.upper_bound <= 0.0:
        total = sum(number for _, number in stacks)
        return (
            f"the {armies(total)} in all stacks that may attack are too few, whatever the dice show"
        )
    return ""


class Needed(NamedTuple):
    """The fewest armies on a territory for a wanted chance."""

    chance: Fraction
    source: str
    armies: int


class NeededNew(NamedTuple):
    """The fewest new armies for a wanted chance, and where they stand."""

    chance: Fraction
    armies: int
    placement: Placement


class Checked(NamedTuple):
    """A plan carried out with real dice."""

    runs: int
    seed: int
    simulated: SimulatedPlan

    @property
    def interval(self) -> Interval:
        """The interval for the true chance."""
        return self.simulated.won.interval(LEVEL)


@dataclass(frozen=True, repr=False)
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
    needed: Needed | NeededNew | None = None
    checked: Checked | None = None
    new: Reinforcement | None = None
    goes_on: Continuation | None = None
    held: Hold | None = None
    ways: tuple[Alternative, ...] = ()

    def record(self) -> dict[str, Any]:
        plan, needed, checked = self.plan, self.needed, self.checked
        found: dict[str, Any] = {
            "goal": _goal(plan.goal),
            "rules": self.question.rule_set.name,
            "win_probability": None if isinstance(plan.goal, Worth) else plan.win_probability,
            "upper_bound": plan.upper_bound,
            "proven": plan.proven,
            "steps": [
                {
                    "from": step.start,
                    "to": step.to,
                    "reach_probability": step.reach_probability,
                    "conquer_probability": step.conquer_probability,
                    "expected_armies": step.expected_armies,
                }
                for step in plan.steps
            ],
            "territories": [
                {
                    "name": each.name,
                    "own_probability": each.own_probability,
                    "expected_armies": each.expected_armies,
                }
                for each in plan.territories
            ],
            "seconds": plan.seconds,
            "value": plan.value,
            "play": plan.play,
            "interval": _interval(plan.interval),
            "battles_value": plan.battles_value,
            "advances": [
                {
                    "from": each.start,
                    "to": each.to,
                    "probability": each.probability,
                    "least": each.least,
                    "most": each.most,
                    "usual": each.usual,
                }
                for each in rearguards(plan)
            ],
            "endings": [
                {"from": each.start, "to": each.to, "probability": each.chance}
                for each in plan.endings
            ],
        }
        if isinstance(plan.goal, InOrder):
            found["stages"] = list(plan.stages)
        if self.ways:
            found["alternatives"] = [
                {"from": each.start, "to": each.to, "dice": each.dice, "value": each.value}
                for each in self.ways
            ]
        if _is_hopeless(plan):
            found["why"] = _why(plan) or None
        if self.new:
            found["reinforce"] = {
                "armies": self.new.armies,
                "placement": dict(self.new.placement),
                "value_without": self.new.before.value,
                "quick_value_without": self.new.quick,
                "territories": [
                    {"name": each.territory, "one": each.one, "all": each.all}
                    for each in self.new.marginals
                ],
            }
        brought = self.question.new_armies
        if brought is not None:
            found["cards"] = {
                "armies": [
                    {"armies": number, "probability": float(brought[number])}
                    for number in sorted(brought)
                ]
            }
        if self.goes_on:
            low, high = self.goes_on.interval
            found["cards"] |= {
                "first_probability": self.goes_on.first,
                "win_probability": self.goes_on.win_probability,
                "interval": {"level": float(LEVEL), "low": low, "high": high},
                "win_probability_without": self.goes_on.without,
                "ends": self.goes_on.ends,
            }
        if self.held:
            low, high = self.held.interval
            found["hold"] = {
                "win_probability": self.held.win_probability,
                "interval": {"level": float(LEVEL), "low": low, "high": high},
                "win_probability_unfortified": self.held.unfortified,
                "threats": [each._asdict() for each in self.held.threats],
                "moves": [
                    {"from": each.start, "to": each.to, "part": each.part, "armies": each.armies}
                    for each in self.held.moves
                    if each.start
                ],
                "ends": self.held.ends,
            }
        if needed:
            found["need"] = {**needed._asdict(), "chance": float(needed.chance)}
        if isinstance(needed, NeededNew):
            found["need"]["placement"] = dict(needed.placement)
        if checked:
            low, high = checked.interval
            found["check"] = {
                "runs": checked.runs,
                "seed": checked.seed,
                "won": checked.simulated.won.successes,
                "win_probability": float(checked.simulated.won.probability),
                "interval": {"level": float(LEVEL), "low": low, "high": high},
                "value": checked.simulated.value,
                "error": checked.simulated.error,
            }
        return found

    def rows(self) -> Iterator[Sequence[object]]:
        yield "from", "to", "reach_probability", "conquer_probability", "expected_armies"
        for step in self.plan.steps:
            numbers = step.reach_probability, step.conquer_probability, step.expected_armies
            yield step.start, step.to, *map(all_digits, numbers)

    def draw(self, charts: ModuleType) -> Any:
        return (
            charts.plan_map(self.plan) if self.new is None else charts.reinforcement_map(self.new)
        )

    def sections(self) -> Iterator[Section]:
        plan = self.plan
        found = self._found()
        if self.new:
            found = f"With {_new_armies(self.new.placement)}, {found[0].lower()}{found[1:]}"
        lines = [f"{found}{under(self.question.rule_set.name)}{self._proof()}"]
        lines += self._other_play()
        if self.goes_on:
            lines = list(self._with_cards(self.goes_on))
        elif self.question.new_armies is not None:
            lines.append(f"{_cards_words(self.question.new_armies)} {DEALT}")
        if self.new:
            lines.append(self._without(self.new))
        if isinstance(self.needed, NeededNew):
            lines.append(_need_new_sentence(self.needed))
        elif self.needed:
            lines.append(_need_sentence(plan, self.needed))
        if self.checked:
            lines.append(_check_sentence(plan, self.checked))
        if self.held:
            lines += self._holding(self.held)
        yield Section(lines)
        if self.held and self.held.threats:
            yield self._threats(self.held)
        if self.new and self.new.marginals:
            yield self._marginals(self.new)
        if self.ways:
            yield self._beginnings()
        if not plan.steps or _is_hopeless(plan):
            return
        way = usual_way(plan)
        rows = [self._usual_row(battle) for battle in way]
        columns: tuple[str, ...] = ("", "chance to take", "armies arriving", "go on with")
        if not any(row[-1] for row in rows):
            columns, rows = columns[:-1], [row[:-1] for row in rows]
        yield Section([Table(columns, rows)], title="The usual way:")
        branches = [
            f"{battle.step.start} to {battle.step.to} won with {_numbers(branch.armies)} left: "
            f"go on from {branch.start} to {branch.to}"
            for battle in way
            for branch in battle.branches
        ]
        if branches:
            yield Section(branches[:MOST_LINES], title="Where it branches:")
        yield from self._others([battle.step for battle in way])
        yield _advances(plan)
        if plan.endings and not isinstance(plan.goal, Worth):
            lost = [
                (f"{each.start} to {each.to}", self._share(each.chance))
                for each in plan.endings[:MOST_ENDINGS]
            ]
            yield Section([Table(("", "chance"), lost)], title="Where it may fail:")
        owned = Table(("", "chance to own", "armies on average"), list(self._afterwards()))
        told = [COUNTED.format(len(plan.games))] if plan.games else []
        yield Section([owned, *told], title="Afterwards:")

    def _found(self) -> str:
        """Return what the plan achieves."""
        plan = self.plan
        if isinstance(plan.goal, Worth):
            stay = held_worth(plan.problem, plan.goal)
            if not plan.steps:
                return f"No attack pays: stay. That is worth {stay:.2f}"
            return f"The plan is worth {plan.value:.2f} on average, against {stay:.2f} if you stay"
        verb = deed(plan.position, plan.goal)
        if _is_hopeless(plan):
            return f"You cannot {verb}" if _why(plan) else f"No plan to {verb} was found"
        if isinstance(plan.goal, InOrder):
            parts = [
                f"{deed(plan.position, goal)} with {percent(self._settled(chance))}"
                for goal, chance in zip(plan.goal.goals, plan.stages, strict=True)
            ]
            first = parts[0].replace(" with ", " with a chance of ", 1)
            return f"You {', then '.join([first, *parts[1:]])}"
        chance = percent(self._settled(plan.win_probability))
        return f"You {verb} with a chance of {chance}{_range(plan.interval)}"

    def _other_play(self) -> Iterator[str]:
        """Yield what the simpler play would be worth, where that is less."""
        plan = self.plan
        if _is_hopeless(plan) or not plan.steps:
            return
        if plan.play == "battles" and self.question.play != "battles" and not plan.proven:
            yield BY_BATTLES if plan.has_tried_rolls else NOT_BY_ROLLS
        if plan.play != "rolls" or plan.battles_value is None:
            return
        if plan.value - plan.battles_value > SEEN:
            yield (
                f"If each battle is fought to its end it is "
                f"{self._valued(plan.battles_value)}: this plan decides after each roll."
            )

    def _with_cards(self, goes_on: Continuation) -> Iterator[str]:
        """Yield how the turn goes on with the cards of an eliminated player."""
        position, goal = self.plan.position, self.question.goal
        first, *others = goal.goals if isinstance(goal, InOrder) else ()
        then = ", then ".join(deed(position, each) for each in others)
        yield (
            f"You {deed(position, first)} with a chance of "
            f"{percent(self._settled(goes_on.first))}{under(self.question.rule_set.name)}, then "
            f"{then} with {percent(self._settled(goes_on.win_probability))}, with the armies that "
            "the cards bring."
        )
        low, high = goes_on.interval
        yield (
            f"{_cards_words(goes_on.armies)} Without them it would be "
            f"{percent(self._settled(goes_on.without))}."
        )
        yield (
            f"The last two chances are estimated from {goes_on.ends} ends of the first plan; the "
            f"95 % interval of the first of them is {100 * low:.2f} % to {100 * high:.2f} %. "
            f"{DEALT}"
        )

    def _holding(self, held: Hold) -> Iterator[str]:
        """Yield the chance to hold what is taken."""
        if not held.ends:
            return
        low, high = held.interval
        yield (
            f"You still have it at your next turn with {percent(held.win_probability)}: the 95 % "
            f"interval, from {held.ends} ends of the plan, is {100 * low:.2f} % to "
            f"{100 * high:.2f} %."
        )
        moves = [each for each in held.moves if each.start]
        if moves:
            best = moves[0]
            often = "" if best.part > OFTEN else f" (in {short_percent(best.part)} of the ends)"
            yield (
                f"At the end move some {best.armies:.0f} armies from {best.start} to {best.to}"
                f"{often}; without such a move it would be {percent(held.unfortified)}."
            )

    def _threats(self, held: Hold) -> Section:
        """Return what opponents may take back."""
        rows = [
            (each.player, f"{each.armies:.1f}", short_percent(each.chance)) for each in held.threats
        ]
        table = Table(("", "new armies", "chance to take some of it"), rows)
        return Section([table, ALONE], title="What the others do:")

    def _valued(self, value: float) -> str:
        """Return the value of a plan, as a chance where it is one."""
        is_chance = isinstance(self.plan.goal, TakeAll | TakeAny)
        return short_percent(self._settled(value)) if is_chance else f"{value:.2f}"

    def _without(self, new: Reinforcement) -> str:
        """Return what the plan without new armies achieves."""
        if isinstance(new.before.goal, TakeAll | TakeAny):
            return f"Without them the chance is {percent(self._settled(new.before.value))}."
        return f"Without them the plan is worth {new.before.value:.2f}."

    def _beginnings(self) -> Section:
        """Return what plans are worth that begin differently."""
        rows = [
            (f"{each.start} to {each.to}", str(each.dice), self._valued(each.value))
            for each in self.ways[:MOST_LINES]
        ]
        is_chance = isinstance(self.plan.goal, TakeAll | TakeAny)
        columns = ("", "dice", "chance" if is_chance else "worth")
        table = Table(columns, rows)
        told = [] if self.plan.interval is None else [LOOKED_AHEAD]
        return Section([table, *told], title="How it may begin, by the first roll:")

    def _marginals(self, new: Reinforcement) -> Section:
        """Return what new armies are worth on each territory."""
        rows = [
            (each.territory, self._valued(each.one), self._valued(each.all))
            for each in new.marginals[:MOST_LINES]
        ]
        columns: tuple[str, ...] = ("", "with 1 more", f"with {new.armies} more")
        if new.armies == 1:
            columns, rows = columns[:2], [row[:2] for row in rows]  # type: ignore[misc] # shorter
        without = f"without new armies: {self._valued(new.quick)}"
        return Section([Table(columns, rows), without], title="Where they help, by quick plans:")

    def _proof(self) -> str:
        """Return how near the plan is to the best possible one."""
        plan = self.plan
        if _is_hopeless(plan) and (why := _why(plan)):
            return f": {why}."
        if _is_hopeless(plan) and not isinstance(plan.goal, InOrder):
            if plan.upper_bound > NO_BOUND:
                return "; it is not known whether there is one."
            return f"; no plan has a chance above {percent(plan.upper_bound)}."
        if plan.proven:
            return ": proven best." if plan.steps or isinstance(plan.goal, Worth) else "."
        if isinstance(plan.goal, InOrder):
            return (
                f"; that is worth {plan.value:.2f} on average, at most "
                f"{ceil(100 * plan.gap - 1e-7) / 100:.2f} below the best possible."
            )
        if isinstance(plan.goal, Worth):
            return f"; it is at most {plan.gap:.2f} below the best possible."
        if plan.upper_bound > NO_BOUND > plan.win_probability:
            return "; it is not known whether another plan is better."
        if plan.gap <= NEAR:
            return f", at most {_points(plan.gap)} below the best possible."
        return f"; no play can be better than {_at_most(plan.upper_bound)}."

    def _settled(self, chance: float) -> Probability:
        return settled(chance, [self.plan.rules])

    def _share(self, chance: float) -> str:
        """Return a chance of the plan for a table: rounded, where it is counted in games."""
        if not self.plan.games:
            return short_percent(self._settled(chance))
        return f"{100 * chance:.0f} %"

    def _row(self, step: Step) -> tuple[str, str, str, str]:
        """Return a step: its border, the chances to fight and to take it, and who arrives."""
        reached = step.reach_probability
        return (
            f"{step.start} to {step.to}",
            "100 %" if reached == 1.0 else self._share(reached),
            self._share(step.conquer_probability),
            f"{step.expected_armies:.1f}" if step.conquer_probability else "",
        )

    def _usual_row(self, battle: UsualBattle) -> tuple[str, ...]:
        border, _, *numbers = self._row(battle.step)
        return border, *numbers, "" if battle.fewest is None else f"{battle.fewest} or more"

    def _others(self, usual: Sequence[Step]) -> Iterator[Section]:
        """Yield the battles that are not on the usual way."""
        others = [step for step in self.plan.steps if step not in usual]
        likely = [step for step in others if step.reach_probability >= RARE][:MOST_LINES]
        rest = len(others) - len(likely)
        if likely:
            columns = ("", "chance to fight", "chance to take", "armies arriving")
            table = Table(columns, [self._row(step) for step in likely])
            more = [f"and {rest} more, rarely fought"] if rest else []
            yield Section([table, *more], title="Other battles that may be fought:")
        elif rest:
            yield Section([f"{count(rest, 'other battle is', 'other battles are')} rarely fought."])

    def _afterwards(self) -> Iterator[Sequence[str]]:
        """Yield what the player owns at the end, as far as the plan has to do with it."""
        plan = self.plan
        touched = {name for step in plan.steps for name in (step.start, step.to)}
        for each in plan.territories:
            if each.name in touched and each.own_probability >= RARE:
                owned = plan.position.of(each.name).owner == plan.position.player
                chance = self._share(each.own_probability)
                yield each.name, "100 %" if owned else chance, f"{each.expected_armies:.1f}"


def _goal(goal: Goal) -> dict[str, Any]:
    if isinstance(goal, Worth):
        values = {"territory": goal.territories, "bonus": goal.bonus, "army": goal.army}
        prizes = [{**_goal(each), "worth": worth} for each, worth in goal.prizes]
        return {"kind": goal_words(goal), **values, **({"prizes": prizes} if prizes else {})}
    if isinstance(goal, InOrder):
        goals = [
            {**_goal(each), "worth": worth}
            for each, worth in zip(goal.goals, goal.worths, strict=True)
        ]
        return {"kind": goal_words(goal), "goals": goals}
    found = {"kind": goal_words(goal), "territories": list(goal.territories)}
    if isinstance(goal, TakeAll) and goal.owner:
        found["eliminates"] = goal.owner
    return found


def _at_most(bound: float) -> str:
    """Return a bound on a chance, rounded up.

    >>> _at_most(0.01231), _at_most(0.99999)
    ('1.24 %', '100 %')
    """
    percents = ceil(bound * 10_000 - 1e-9) / 100
    return "100 %" if percents >= 100 else f"{percents:.2f} %"


def _points(gap: float) -> str:
    """Return a difference of chances, rounded up.

    >>> _points(0.01231), _points(1e-7)
    ('1.24 percentage points', '0.01 percentage points')
    """
    return f"{max(ceil(gap * 10_000 - 1e-9), 1) / 100:.2f} percentage points"


def _range(interval: tuple[float, float] | None) -> str:
    """Return an interval in parentheses, nothing where a number is exact to all digits shown.

    >>> _range((0.6163, 0.6261)), _range((0.61631, 0.61632)), _range(None)
    (' (61.63 to 62.61)', '', '')
    """
    if interval is None or interval[1] - interval[0] <= SEEN:
        return ""
    return f" ({100 * interval[0]:.2f} to {100 * interval[1]:.2f})"


def _interval(interval: tuple[float, float] | None) -> dict[str, float] | None:
    if interval is None:
        return None
    return {"level": float(LEVEL), "low": interval[0], "high": interval[1]}


def _cards_words(armies: Distribution[int]) -> str:
    """Return what cards bring, as a sentence.

    >>> _cards_words(traded_armies(4)), _cards_words(traded_armies(5))
    ('The cards bring 4 armies with 81.70 % and none with 18.30 %.', 'The cards bring 4 armies.')
    """
    if len(armies) == 1:
        (number,) = armies
        return f"The cards bring {count(number, 'army', 'armies') if number else 'no armies'}."
    parts = [
        f"{number or 'none'}{' armies' if number and not k else ''} with {percent(armies[number])}"
        for k, number in enumerate(sorted(armies, reverse=True))
    ]
    return f"The cards bring {', '.join(parts[:-1])} and {parts[-1]}."


def _new_armies(placement: Placement) -> str:
    """Return how many new armies stand where.

    >>> _new_armies((("Ukraine", 4), ("Egypt", 2)))
    '6 new armies, 4 on Ukraine and 2 on Egypt'
    """
    total = count(sum(number for _, number in placement), "new army", "new armies")
    if len(placement) == 1:
        return f"{total} on {placement[0][0]}"
    places = [f"{number} on {name}" for name, number in placement]
    return f"{total}, {', '.join(places[:-1])} and {places[-1]}"


def _need_new_sentence(needed: NeededNew) -> str:
    chance = plain_percent(needed.chance)
    if not needed.armies:
        return f"You have a chance of at least {chance} without new armies."
    return (
        f"For a chance of at least {chance} you need {_new_armies(needed.placement)}: the fewest "
        "for which a plan with that chance was found."
    )


def _need_sentence(plan: Plan, needed: Needed) -> str:
    return (
        f"For a chance of at least {plain_percent(needed.chance)} you need "
        f"{armies(needed.armies)} on {needed.source}, which has "
        f"{plan.position.of(needed.source).armies}: the fewest for which a plan with that "
        "chance was found."
    )


def _check_sentence(plan: Plan, checked: Checked) -> str:
    games = f"In {checked.runs:,} games with real dice"
    if not find_kernel(plan.rules).rolled:
        games = f"In {checked.runs:,} games, with battles drawn from their distributions,"
    simulated, seed = checked.simulated, f"(seed {checked.seed})"
    if isinstance(plan.goal, Worth):
        return (
            f"{games} it was worth {simulated.value:.3f} on average, give or take "
            f"{2 * simulated.error:.3f} {seed}."
        )
    low, high = checked.interval
    told = "exact" if plan.interval is None else "estimated"
    inside = "inside" if low <= plan.win_probability <= high else "outside"
    return (
        f"{games} it succeeded in {percent(float(simulated.won.probability))}; the 95 % interval "
        f"is {100 * low:.2f} % to {100 * high:.2f} %, and the {told} chance is {inside} {seed}."
    )


def _numbers(numbers: Sequence[int]) -> str:
    """Return numbers as a player reads them.

    >>> _numbers([7, 8, 9, 12, 14, 15])
    '7 to 9, 12 or 14 to 15'
    """
    runs: list[list[int]] = []
    for number in numbers:
        if runs and runs[-1][-1] == number - 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    texts = [str(run[0]) if len(run) == 1 else f"{run[0]} to {run[-1]}" for run in runs]
    return " or ".join(filter(None, [", ".join(texts[:-1]), texts[-1]]))


def _advances(plan: Plan) -> Section:
    """Return how many move in, where it is not simply all."""
    partial = [each for each in rearguards(plan) if not each.is_all and each.probability >= RARE]
    lines = [f"from {each.start} to {each.to}: {_moves(each)}" for each in partial[:MOST_LINES]]
    if len(partial) > MOST_LINES:
        lines.append(f"and {len(partial) - MOST_LINES} more")
    elsewhere = "everywhere else" if partial else "everywhere"
    lines.append(f"{elsewhere}: as many as allowed")
    return Section(lines, title="How many move in:")


def _moves(each: Rearguard) -> str:
    if each.least == each.most:
        return f"move all but {each.most}"
    return f"move all but {each.least} to {each.most}, mostly {each.usual}"


@sections_of.register
def _(value: Plan) -> Iterator[Section]:
    asked = PlanQuestion(value.position, worth=True, rules=value.rules)
    return PlanAnswer(asked, value).sections()
