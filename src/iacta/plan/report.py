"""What a player asks about a plan: its main line, and how many armies stay behind."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from iacta.plan.plan import Plan, Step
from iacta.plan.problem import AttackResult, PolicyAction

Border: TypeAlias = tuple[int, int]

NEVER = 1e-9
RARE = 0.01  # of the conquests at a border, this part may be left out at either end
WELL = 0.1  # the next battle of the main line follows at least this part of the conquests
LIKELY = 0.1  # a roll on the main line has at least this chance
MOST_ROLLS = 100_000  # of an average game


@dataclass(frozen=True)
class Branch:
    """Another battle that may come next.

    start, to: the territory that attacks, and the one that is attacked.
    armies: with how many armies left after the battle before, garrison included, it comes next.
    """

    start: str
    to: str
    armies: tuple[int, ...]


@dataclass(frozen=True)
class MainBattle:
    """A battle of the main line.

    step: the battle.
    fewest: the fewest armies left, garrison included, with which the plan goes on after it;
        `None` where it does so with any, or where nothing is left to do.
    branches: the battles other than that of the main line that may come next.
    """

    step: Step
    fewest: int | None = None
    branches: tuple[Branch, ...] = ()


def main_line(plan: Plan) -> tuple[MainBattle, ...]:
    """Return the battles of the main line of a plan, in their order.

    A plan that decides after each roll is followed through a game whose losses are as on average.
    In one that fights battles to their end each battle is won, and of the next battles that are
    likely enough then, the one follows that is fought most often.
    """
    if plan.play == "battles":
        return _won_battles(plan)
    steps = {(step.start, step.to): step for step in plan.steps}
    name = plan.problem.name
    taken = ((name(made.start), name(made.to)) for made in _average_game(plan))
    return tuple(MainBattle(steps[border]) for border in taken if border in steps)


def _average_game(plan: Plan) -> Iterator[PolicyAction]:
    """Yield the rolls that conquer in a game whose losses are as on average."""
    state, due = plan.problem.start, 0.0
    for _ in range(MOST_ROLLS):
        made = plan.policy.decide(state)
        if not made.dice:
            return
        due += sum(each.chance * (each.attackers - each.defenders) for each in made.outcomes)
        likely = [each for each in made.outcomes if each.chance >= LIKELY] or made.outcomes
        fallen = min(likely, key=lambda each: abs(due - each.attackers + each.defenders))
        due -= fallen.attackers - fallen.defenders
        state = state.after(made, fallen)
        if fallen.moved:
            yield made


def _won_battles(plan: Plan) -> tuple[MainBattle, ...]:
    """Return the main line of a plan that fights each battle to its end."""
    policy, problem = plan.policy, plan.problem
    steps = {(problem.place(step.start), problem.place(step.to)): step for step in plan.steps}
    state, line = problem.start, dict[Border, MainBattle]()
    made = policy.decide(state)
    while made.dice and (border := (made.start, made.to)) in steps and border not in line:
        won = [each for each in made.outcomes if each.moved]
        # By the armies left, garrison included, before any move in.
        after = {state.armies[made.start] - each.attackers: each for each in won}
        next_made = {left: policy.decide(state.after(made, each)) for left, each in after.items()}
        following = {
            left: (each.start, each.to) if each.dice else None for left, each in next_made.items()
        }
        main = _main(following, {left: each.chance for left, each in after.items()}, steps)
        line[border] = MainBattle(
            steps[border], _fewest(following), _branches(plan, following, after, main)
        )
        going = [left for left, each in following.items() if each is not None and each == main]
        if not going:
            break
        usual = max(going, key=lambda left: after[left].chance)
        state, made = state.after(made, after[usual]), next_made[usual]
    return tuple(line.values())


def _main(
    following: Mapping[int, Border | None],
    chances: Mapping[int, float],
    steps: Mapping[Border, Step],
) -> Border | None:
    """Return the next battle that is fought most often, of those that are likely enough."""
    weights: dict[Border | None, float] = defaultdict(float)
    for left, border in following.items():
        weights[border] += chances[left]
    likely = [border for border in weights if weights[border] > WELL * sum(weights.values())]

    def reached(border: Border | None) -> float:
        step = None if border is None else steps.get(border)
        return step.reach_probability if step else 0.0

    return max(likely, key=reached, default=None)


def _fewest(following: Mapping[int, Border | None]) -> int | None:
    going = [left for left, border in following.items() if border is not None]
    return min(going) if going and len(going) < len(following) else None


def _branches(
    plan: Plan,
    following: Mapping[int, Border | None],
    after: Mapping[int, AttackResult],
    main: Border | None,
) -> tuple[Branch, ...]:
    found: dict[Border, list[int]] = defaultdict(list)
    for left in sorted(following):
        border = following[left]
        if border not in (None, main) and after[left].chance > NEVER:
            found[border].append(left)
    name = plan.problem.name
    return tuple(Branch(name(v), name(c), tuple(left)) for (v, c), left in found.items())


@dataclass(frozen=True)
class Rearguard:
    """How many armies stay behind when a plan has taken a territory, garrison included.

    start, to: the territory that attacked, and the one that is taken.
    probability: the chance that it is taken from there.
    least, most: the range of armies that stay behind, in nearly all cases.
    usual: how many most often stay behind.
    garrison: how many must stay behind.
    """

    start: str
    to: str
    probability: float
    least: int
    most: int
    usual: int
    garrison: int

    @property
    def is_all(self) -> bool:
        """Whether all move in that may."""
        return self.most <= self.garrison


def rearguards(plan: Plan) -> tuple[Rearguard, ...]:
    """Return how many armies stay behind at each border that a plan may attack over.

    They are in the order of `plan.steps`, without the borders over which nothing is ever taken. In
    1 of 100 cases fewer may stay behind than `least`, in as many more than `most`.
    """
    problem, found = plan.problem, []
    for step in plan.steps:
        garrison = problem.garrisons[problem.place(step.start)]
        stays: dict[int, float] = defaultdict(float)
        for able, chance, moved in step.advances:
            stays[round(able - moved) + garrison] += chance
        total = sum(stays.values())
        if total > 0.0:
            rising = sorted(stays.items())
            least, most = _first(rising, total), _first(rising[::-1], total)
            usual = max(rising, key=lambda each: each[1])[0]
            chance = min(total, 1.0)
            found.append(Rearguard(step.start, step.to, chance, least, most, usual, garrison))
    return tuple(found)


def _first(distribution: list[tuple[int, float]], total: float) -> int:
    passed = 0.0
    for number, chance in distribution:
        passed += chance
        if passed > RARE * total:
            return number
    return distribution[-1][0]
