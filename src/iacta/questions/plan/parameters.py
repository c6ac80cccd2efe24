"""The parameters of the question `plan`, and the turn and the goal that they describe."""

from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from functools import cached_property
from typing import ClassVar, cast

from iacta.board.board import Board, fold_name
from iacta.board.files import read_board
from iacta.board.position import Position
from iacta.forms.card_kinds import Trades
from iacta.forms.form import parameter
from iacta.forms.moment import (
    FROM,
    LEVEL,
    OTHERS,
    VictoryForm,
    make_position,
    resolve_board,
)
from iacta.forms.parameter_kinds import (
    Chance,
    CommaList,
    Flag,
    Name,
    NewArmies,
    Number,
    OneOf,
    OwnRules,
    Pairs,
    Source,
    TerritoryRules,
    Whole,
)
from iacta.forms.question import Question
from iacta.forms.shared_parameters import (
    ELIMINATE,
    SEED,
    TAKE,
    TAKE_ANY,
    TIME_LIMIT,
    RulesForm,
)
from iacta.game import Sets, Turn, traded_armies
from iacta.game.moment import read_moment
from iacta.game.state import FORTIFY, FortifyReach
from iacta.inputs.checks import quote, set_field
from iacta.inputs.errors import IactaError, IllegalError
from iacta.plan import (
    Goal,
    InOrder,
    TakeAll,
    Worth,
)
from iacta.plan.goals import MAX_WORTH
from iacta.plan.levels import USUAL
from iacta.plan.margin import MARGIN
from iacta.plan.named_goals import GOAL_KINDS, read_goal
from iacta.plan.reinforcement import MAX_PLACED_ARMIES
from iacta.plan.simulated import MAX_PLAN_RUNS
from iacta.probability.distribution import Distribution
from iacta.rules.variants import RuleSet, find_rules, rules_name

PLAYS = ("rolls", "battles")
MAX_ERROR_TERRITORIES = 3  # maximum number of territories to name in an error message
WORTH = Number(minimum=0, maximum=int(MAX_WORTH))
USUAL_WORTH = {"territory_value": 1, "bonus_value": 1, "army_value": 0}


class PlanParameters(VictoryForm, RulesForm, Question):
    """The parameters of the question `plan`."""

    one_of: ClassVar = (
        "position or from_",
        " or ".join(GOAL_KINDS),
    )

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
    own_any: int | None = parameter(Whole(minimum=1), "Own any N more territories.", default=None)
    armies: int | None = parameter(
        Whole(minimum=1),
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
        Whole(minimum=1, maximum=MAX_PLACED_ARMIES),
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
    margin: Fraction | None = parameter(
        Chance(certain=True, impossible=True),
        "Chance to give up for fewer losses.",
        usual="0.5%",
        excludes="worth or hold or need",
        default=None,
    )
    price: Fraction | None = parameter(
        Number(minimum=0),
        "The price of a lost army, from an earlier plan.",
        excludes="margin or worth or hold or need",
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
        "With --hold: 5 or blue=5,green=3.",
        usual="as usual",
        needs="hold",
        default=None,
    )
    fortify: FortifyReach | None = parameter(
        OneOf(FORTIFY),
        "With --hold: adjacent or none.",
        usual=FORTIFY[0],
        needs="hold",
        default=None,
    )
    level: str = parameter(*LEVEL, default=USUAL.name)
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
        Whole(minimum=1, maximum=MAX_PLAN_RUNS),
        "Play the plan this many times with random dice.",
        metavar="RUNS",
        default=None,
    )
    seed: int | None = parameter(*SEED, needs="check or hold or cards", default=None)

    def complete(self) -> None:
        if self.position is not None:
            board, garrison = resolve_board(self.board), self.garrison
            if garrison is None and self.has_rules:
                garrison = super()._find_rule_set().rules.garrison
            set_field(self, "position", read_moment(self.position, board, garrison))
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

    @property
    def has_rules(self) -> bool:
        """Whether the question names its rules."""
        return self.rules is not None or self.rules_file is not None

    def _find_rule_set(self) -> RuleSet:
        if not self.has_rules:
            rules, board = self._moment.rules, self._moment.board
            return RuleSet(rules_name(rules, board.name), rules, "", "")
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
        with rename_parameters(owner="eliminate"):
            goal = read_goal(moment, "eliminate", self.eliminate)
        if goal is None or (self.hold and self.then is not None):
            return {}
        victim = moment.owner_of(goal.names[0])
        hands = {name: hand.number for name, hand in moment.cards.items()}
        return {name: hands[name] for name in hands if name in (victim, moment.player)}

    @property
    def largest_sacrifice(self) -> float:
        """How much chance the plan may give up to lose fewer armies."""
        if self.hold or self.need is not None:
            return 0.0
        return MARGIN if self.margin is None else float(self.margin)

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
        with rename_parameters(owner="eliminate"):
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
        with rename_parameters(owner=parameter):
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
        return traded_armies(hand, self.sets)

    @property
    def sets(self) -> Sets:
        """The armies for sets: those of the turn, unless other cards or armies are given."""
        moment = self._moment.trade if self.trade is None and not self.cards else self.trade
        return moment or Sets()


@contextmanager
def rename_parameters(**names: str) -> Iterator[None]:
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
