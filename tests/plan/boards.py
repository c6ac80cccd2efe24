"""Boards for the tests of plans: the classic one, entered by hand, and random small ones."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import combinations, pairwise
from pathlib import Path
from random import Random
from typing import Any, NamedTuple, TypeVar

import numpy as np
from hypothesis import strategies as st

from iacta import Dice, Rules, read_position
from iacta.board import Board, Continent, Holding, Position
from iacta.game import Advance, Attack, Turn
from iacta.native.deadline import Deadline
from iacta.plan import Goal, InOrder, Plan, TakeAll, TakeAny, Worth, best_plan
from iacta.plan.best import make_plan
from iacta.plan.goals import Rewards
from iacta.plan.planner import Found
from iacta.plan.policy import Policy
from iacta.plan.problem import Problem, pose_problem
from iacta.plan.simulated import play_games
from iacta.rules.modes import BalancedBlitz, DefenderSeesFirst
from iacta.rules.variants import find_rules

CLASSIC_FILE = Path(__file__).with_name("classic.txt")


Value = TypeVar("Value")


def assert_known(value: Value | None) -> Value:
    """Return a value after asserting that it is not `None`."""
    assert value is not None
    return value


def draw_ends(plan: Plan, rng: "np.random.Generator", until: int = 0) -> Iterator[Position]:
    """Play a plan at random; yield the positions where it ends or has just conquered a set."""
    ends = (end for end, _ in play_games(plan.policy, rng, until))
    return (plan.problem.make_turn(end).position for end in ends)


def find_payoff(rewards: Rewards, c: int, left: int) -> float:
    """Return the payoff of a conquest: that of the territory and of each set that it completes."""
    whole = (paid for mask, paid in rewards.sets if mask >> c & 1 and not mask & left & ~(1 << c))
    return rewards.lands[c] + sum(whole)


def make_board(name: str, pairs: Iterable[tuple[str, str]], names: Iterable[str]) -> Board:
    """Return a board with the given undirected borders."""
    return board_of_ways(name, (way for a, b in pairs for way in ((a, b), (b, a))), names)


def board_of_ways(name: str, ways: Iterable[tuple[str, str]], names: Iterable[str]) -> Board:
    """Return a board with the given directed borders."""
    order = {territory: place for place, territory in enumerate(names)}
    borders = sorted(set(ways), key=lambda pair: (order[pair[0]], order[pair[1]]))
    return Board(name, tuple(order), tuple(borders))


def _classic() -> Board:
    continents: list[Continent] = []
    names: list[str] = []
    pairs = []
    for line in CLASSIC_FILE.read_text("utf-8").splitlines()[1:]:
        if ":" not in line:
            title, bonus = line.rsplit(" ", 1)
            continents.append(Continent(title, int(bonus), ()))
            continue
        start, others = line.split(":")
        names.append(start)
        last = continents[-1]
        continents[-1] = Continent(last.name, last.bonus, (*last.territories, start))
        pairs += [(start, other.strip()) for other in others.split(",") if other.strip()]
    bare = make_board("classic", pairs, names)
    return Board("classic", bare.territories, bare.borders, tuple(continents))


CLASSIC_BOARD = _classic()
BLUE = read_position("examples/eliminate-blue.json")


def make_position(
    board: Board, mine: Mapping[str, int], theirs: Mapping[str, int], other: str = "blue"
) -> Position:
    """Return a position in which red owns `mine` and `other` the rest, by default with 1 army."""
    holdings = tuple(
        Holding("red", mine[name]) if name in mine else Holding(other, theirs.get(name, 1))
        for name in board.territories
    )
    return Position(board, "red", holdings)


def chain(armies: int, defenders: Iterable[int]) -> Position:
    """Return a stack in front of a chain of territories."""
    garrisons = list(defenders)
    names = ["start", *(f"t{k}" for k in range(1, len(garrisons) + 1))]
    board = make_board("chain", pairwise(names), names)
    return make_position(board, {"start": armies}, dict(zip(names[1:], garrisons, strict=True)))


def make_scattered_board() -> Position:
    """Return a large board with three stacks that are far apart."""
    mine = {"Ukraine": 25, "Brazil": 20, "Alaska": 22, "Argentina": 1}
    theirs = {name: 1 + k % 3 for k, name in enumerate(CLASSIC_BOARD.territories)}
    return make_position(CLASSIC_BOARD, mine, theirs)


@st.composite
def positions(draw: st.DrawFn, most: int = 4) -> Position:
    """Draw a small board with two stacks and a continent."""
    count = draw(st.integers(2, most))
    names = ["s", "z", *(f"t{k}" for k in range(count))]
    every = [(a, b) for k, a in enumerate(names) for b in names[k + 1 :]]
    board = make_board("small", [pair for pair in every if draw(st.booleans())], names)
    board = replace(board, continents=(Continent("K", 3, ("t0", "s")), Continent("L", 2, ("t1",))))
    mine = {"s": draw(st.integers(1, 7)), "z": draw(st.integers(1, 5))}
    return make_position(board, mine, {name: draw(st.integers(1, 3)) for name in names[2:]})


GOALS: st.SearchStrategy[Goal] = st.one_of(
    st.just(TakeAll("t0,t1")),
    st.just(TakeAny("t0,t1")),
    st.builds(Worth, st.integers(0, 2), st.just(1.0), st.sampled_from([0.0, 0.5])),
)

ROLLED = (
    Rules(),
    Rules(least_advance=False),
    Rules(garrison=0),
    Rules(garrison=2, least_advance=False),
    find_rules("capital"),
    find_rules("capital+wall"),
    find_rules("zombie attacker"),
    find_rules("zombie defender"),
    Rules(defence=Dice((8, 8)), least_advance=False),
    Rules(attack=Dice((6,) * 4, keep=2)),
    Rules(mode=DefenderSeesFirst()),
    Rules(most_advance=2),
    Rules(least_advance=False, most_advance=1),
)
BLITZ = Rules(mode=BalancedBlitz())
EVERY_RULES = (*ROLLED, BLITZ, Rules(mode=BalancedBlitz(), least_advance=False))


FREE = Rules(least_advance=False)


def parse_position(mine: dict[str, int], theirs: dict[str, int], borders: str) -> Position:
    """Return a position on a board given by borders such as `"A: c d; B: c"`."""
    pairs = [
        (start, to)
        for line in borders.split("; ")
        for start, others in [line.split(": ")]
        for to in others.split()
    ]
    return make_position(make_board("case", pairs, [*mine, *theirs]), mine, theirs)


# Stacks that help or block each other. These boards have revealed bugs in the search.
TWO_STACKS = parse_position({"A": 8, "B": 8}, {"c": 3, "d": 3}, "A: c; B: c; c: d")
BLOCKED = parse_position({"A": 8, "B": 7}, {"c": 4, "x": 2, "e": 4}, "A: c x; B: x; c: x e")
WALLS = parse_position(
    {"T0": 9, "T1": 10},
    {"T2": 3, "T3": 1, "T4": 3, "T5": 3, "T6": 1},
    "T0: T6; T1: T2 T3 T6; T2: T3 T4; T3: T4 T6; T4: T5",
)
THREE_STACKS = parse_position(
    {"T0": 6, "T1": 6, "T2": 4},
    {"T3": 3, "T4": 2, "T5": 3, "T6": 1, "T7": 1},
    "T0: T3 T4 T6; T1: T4 T7; T2: T3 T7; T3: T4 T5 T7; T4: T6; T6: T7",
)


@dataclass(frozen=True)
class SmallGame:
    """A small board, with the arguments of a plan."""

    position: Position
    goal: Goal
    rules: Rules
    rules_of: Mapping[str, Rules] = field(default_factory=dict)
    keep: Mapping[str, int] = field(default_factory=dict)
    stay: tuple[str, ...] = ()

    @property
    def options(self) -> dict[str, Any]:
        """The keyword arguments of the plan."""
        return {"rules_of": self.rules_of, "keep": self.keep, "stay": self.stay}

    def turn(self, play: str = "rolls") -> Turn:
        """Return the turn of the game."""
        return Turn(self.position, self.rules, whole_battles=play == "battles", **self.options)

    def problem(self, play: str = "rolls") -> Problem:
        """Return the problem of the game."""
        return pose_problem(self.turn(play), self.goal)

    def plan(self, play: str = "rolls", **options: Any) -> Plan:
        """Return the best plan; `options` limits the search."""
        return best_plan(self.turn(play), self.goal, **options)

    @property
    def replies(self) -> bool:
        """Whether a defender chooses dice after seeing the attack."""
        return not all(
            each.mode.dice_chosen_first for each in (self.rules, *self.rules_of.values())
        )


def small_game(
    seed: int,
    *,
    most_targets: int = 4,
    most_stacks: int = 3,
    most_armies: int = 9,
    rules: Rules | None = None,
) -> SmallGame:
    """Draw a small board with targets and stacks, rules, constraints and a goal.

    seed: the random seed, which determines the game.
    most_armies: the largest total number of armies able to attack.
    rules: the rules of all battles; `None` to draw them.
    """
    rng = Random(seed)  # noqa: S311 # draws games, no secrets
    stacks = [f"s{k}" for k in range(rng.randint(1, most_stacks))]
    targets = [f"t{k}" for k in range(rng.randint(2, most_targets))]
    names = [*stacks, *targets]
    dense = rng.uniform(0.3, 0.8)
    pairs = [pair for pair in combinations(names, 2) if pair[1] in targets and rng.random() < dense]
    ways = [way for a, b in pairs for way in ((a, b), (b, a)) if rng.random() < 0.97]
    board = board_of_ways("small", ways, names)
    if rng.random() < 0.5:
        owned = tuple(rng.sample(names, rng.randint(1, len(names) - 1)))
        board = Board(
            "small",
            board.territories,
            board.borders,
            (Continent("K", rng.randint(1, 4), owned), Continent("L", 2, tuple(targets[:2]))),
        )
    drawn = rng.choice(EVERY_RULES)
    is_given, rules = rules is not None, drawn if rules is None else rules
    armies = dict.fromkeys(stacks, 1 + rules.garrison)
    for _ in range(rng.randint(1, most_armies - len(stacks))):
        armies[rng.choice(stacks)] += 1
    defenders = {name: rng.choice((1, 1, 1, 2, 2, 3, 4)) for name in targets}
    rules_of: dict[str, Rules] = {}
    if rng.random() < 0.15 and rules.mode.rolls and not is_given:
        rules_of[rng.choice(targets)] = rng.choice(
            [each for each in ROLLED if each.garrison == rules.garrison]
        )
    keep = {}
    if rng.random() < 0.2:
        keep[rng.choice(stacks)] = rng.randint(1, 4)
    resting = (rng.choice(stacks),) if len(stacks) > 1 and rng.random() < 0.08 else ()
    return SmallGame(
        make_position(board, armies, defenders), _goal(rng, targets), rules, rules_of, keep, resting
    )


def _goal(rng: Random, targets: list[str]) -> Goal:
    some = tuple(sorted(rng.sample(targets, rng.randint(1, len(targets)))))
    kind = rng.random()
    if kind < 0.4:
        return TakeAll(tuple(targets))
    if kind < 0.6:
        return TakeAll(some)
    if kind < 0.7:
        return TakeAny(some)
    if kind < 0.8:
        return InOrder((TakeAll(some), TakeAll(tuple(targets))), (rng.choice((0.0, 1.0)), 2.0))
    lands = {name: round(rng.uniform(0, 3), 1) for name in targets}
    prizes = ((TakeAll(some), 2.0),) if rng.random() < 0.3 else ()
    army = rng.choice((0.0, 0.1, 0.5, 1.0))
    return Worth(lands, bonus=rng.choice((0.0, 1.0)), army=army, prizes=prizes)


class Move(NamedTuple):
    """The next attack of a plan, with the armies that move in for each number able to move."""

    start: str
    to: str
    dice: int
    advance: dict[int, int]


def find_move(plan: Plan, position: Position | None = None) -> Move | None:
    """Return the attack of a plan's policy, or `None` if the plan makes no more attacks.

    position: a position of the plan's turn; `None` for its start.
    """
    turn = plan.turn
    if position is not None:
        held = position.holdings
        owners = tuple(each.owner for each in held)
        turn = turn.replace_armies(owners, tuple(each.armies for each in held))
    action, advance = plan.policy(turn), dict[int, int]()
    if not isinstance(action, Attack):
        return None
    afters = [turn.after(action, result) for result in turn.results(action)]
    while afters:
        after = afters.pop()
        if after.phase == "defend":
            replies = [(each, result) for each in after.actions() for result in after.results(each)]
            afters += (after.after(*reply) for reply in replies)
        elif after.phase == "advance":
            moved = plan.policy(after)
            assert isinstance(moved, Advance)
            able = after.armies_on(action.to) + after.count_spare(turn.setting.index[action.start])
            advance[able] = moved.armies
    return Move(action.start, action.to, action.dice, dict(sorted(advance.items())))


def plan_policy(policy: Policy) -> Plan:
    """Return the plan of a policy with its exact value."""
    report = policy.search.flow(Deadline())
    assert report is not None
    return make_plan(Found(policy, report.value, None, report.value, report, 0), 0.0)
