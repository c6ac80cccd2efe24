"""Reports on a plan: its most likely course (the main line) and the armies that stay behind."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from iacta.plan.plan import Plan, Step
from iacta.plan.problem import AttackResult, PolicyAction

Border: TypeAlias = tuple[int, int]

MAX_ZERO_CHANCE = 1e-9  # chances up to this limit are treated as 0
# A range of armies ignores this fraction of the conquests at its lower and upper end.
IGNORED_TAIL = 0.01
# A battle is on the main line if more than this fraction of conquests lead to it.
MIN_MAIN_LINE_SHARE = 0.1
MIN_RESULT_CHANCE = 0.1  # the main line uses only results of rolls with at least this chance
MAX_MAIN_LINE_ROLLS = 100_000  # the main line ends after this many rolls


@dataclass(frozen=True)
class Branch:
    """A battle that may follow a battle of the main line, instead of the line's next battle."""

    start: str  # the attacking territory
    to: str  # the attacked territory
    # The numbers of armies left by the previous battle, garrison included, after which the plan
    # fights this battle.
    armies: tuple[int, ...]


@dataclass(frozen=True)
class MainBattle:
    """A battle of the main line (the most likely course) of a plan."""

    step: Step
    # The plan fights another battle if this battle leaves at least this many armies, garrison
    # included; `None` if the number does not matter or the plan is over.
    fewest: int | None = None
    branches: tuple[Branch, ...] = ()  # battles that may follow instead of the line's next battle


def list_main_line(plan: Plan) -> tuple[MainBattle, ...]:
    """Return the battles of the main line of a plan, in order.

    If the plan decides after each roll, the main line is a game in which losses stay close to
    average. If it fights each battle to the end, the player wins each battle of the main line, and
    the most frequent next battle follows.
    """
    if plan.turn.whole_battles:
        return _list_won_battles(plan)
    steps = {(step.start, step.to): step for step in plan.steps}
    rolls, name = [*_play_average_game(plan)], plan.problem.name
    taken = {made[:2] for made, conquers in rolls if conquers} | {made[:2] for made, _ in rolls[:1]}
    begun = dict.fromkeys(made[:2] for made, _ in rolls if made[:2] in taken)
    line = ((name(v), name(c)) for v, c in begun)
    return tuple(MainBattle(steps[border]) for border in line if border in steps)


def _play_average_game(plan: Plan) -> Iterator[tuple[PolicyAction, bool]]:
    """Play a game in which losses stay close to average; yield the attack of each roll.

    The second value tells whether the roll conquers a territory.
    """
    state, due = plan.problem.start, 0.0
    for _ in range(MAX_MAIN_LINE_ROLLS):
        made = plan.policy.decide(state)
        if not made.dice:
            return
        due += sum(
            outcome.chance * (outcome.attackers - outcome.defenders) for outcome in made.outcomes
        )
        likely = [
            outcome for outcome in made.outcomes if outcome.chance >= MIN_RESULT_CHANCE
        ] or made.outcomes
        fallen = min(likely, key=lambda each: abs(due - each.attackers + each.defenders))
        due -= fallen.attackers - fallen.defenders
        state = state.after(made, fallen)
        yield made, fallen.moved > 0


def _list_won_battles(plan: Plan) -> tuple[MainBattle, ...]:
    """Return the main line of a plan that fights each battle to the end."""
    policy, problem = plan.policy, plan.problem
    steps = {(problem.place(step.start), problem.place(step.to)): step for step in plan.steps}
    state, made, line = problem.start, policy.decide(problem.start), dict[Border, MainBattle]()

    def likelihood(border: Border | None) -> float:
        return steps[border].reach_probability if border in steps else 0.0

    while made.dice and (border := (made.start, made.to)) in steps and border not in line:
        # The results that win the battle, by the number of attackers left (garrison included).
        won = {
            state.armies[made.start] - outcome.attackers: outcome
            for outcome in made.outcomes
            if outcome.moved
        }
        next_made = {left: policy.decide(state.after(made, each)) for left, each in won.items()}
        following = defaultdict[Border | None, list[int]](list)
        for left, each in next_made.items():
            following[(each.start, each.to) if each.dice else None].append(left)
        chances = {
            each: sum(won[left].chance for left in lefts) for each, lefts in following.items()
        }
        enough = MIN_MAIN_LINE_SHARE * sum(chances.values())
        likely = (each for each, chance in chances.items() if chance > enough)
        main = max(likely, key=likelihood, default=None)
        going = won.keys() - following.get(None, [])
        fewest = min(going) if going and None in following else None
        line[border] = MainBattle(steps[border], fewest, _list_branches(plan, following, won, main))
        if main is None:
            break
        usual = max(following[main], key=lambda left: won[left].chance)
        state, made = state.after(made, won[usual]), next_made[usual]
    return tuple(line.values())


def _list_branches(
    plan: Plan,
    following: Mapping[Border | None, list[int]],
    won: Mapping[int, AttackResult],
    main: Border | None,
) -> tuple[Branch, ...]:
    found = list[Branch]()
    for border, lefts in following.items():
        left = tuple(each for each in sorted(lefts) if won[each].chance > MAX_ZERO_CHANCE)
        if border is not None and border != main and left:
            found.append(Branch(plan.problem.name(border[0]), plan.problem.name(border[1]), left))
    return tuple(sorted(found, key=lambda branch: branch.armies))


@dataclass(frozen=True)
class Rearguard:
    """How many armies a plan leaves on the attacking territory after a conquest.

    All numbers include the garrison.

    start: the attacking territory.
    to: the conquered territory.
    probability: the chance that the plan conquers the territory over this border.
    least: the smallest number of armies left, ignoring the lowest 1% of the conquests.
    most: the largest number of armies left, ignoring the highest 1% of the conquests.
    usual: the most frequent number of armies left.
    garrison: the number of armies that must stay.
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
        """Whether the plan moves in as many armies as possible, and only the garrison stays."""
        return self.most <= self.garrison


def list_rearguards(plan: Plan) -> tuple[Rearguard, ...]:
    """Return how many armies a plan leaves behind after a conquest over each border.

    The order is that of `plan.steps`, without borders where no conquest is possible. Armies that
    may not move in by the rules do not count. For each number of armies able to move, the mean
    number left is rounded and counted. At most about 1% of
    the conquests therefore leave fewer armies than `least`, and at most about 1% more than `most`.
    """
    problem, found = plan.problem, []
    for step in plan.steps:
        v, c = problem.place(step.start), problem.place(step.to)
        garrison = problem.garrisons[v]
        stays: dict[int, float] = defaultdict(float)
        for able, chance, moved in step.advances:
            limit = problem.turn.setting.kernels[c].rules.limit_advance(able)
            stays[garrison + (round(able - moved) if round(moved) < limit else 0)] += chance
        total = sum(stays.values())
        if total > 0.0:
            rising = sorted(stays.items())
            least, most = _compute_quantile(rising, total), _compute_quantile(rising[::-1], total)
            usual = max(rising, key=lambda each: each[1])[0]
            chance = min(total, 1.0)
            found.append(Rearguard(step.start, step.to, chance, least, most, usual, garrison))
    return tuple(found)


def _compute_quantile(distribution: list[tuple[int, float]], total: float) -> int:
    passed = 0.0
    for number, chance in distribution:
        passed += chance
        if passed > IGNORED_TAIL * total:
            return number
    return distribution[-1][0]
