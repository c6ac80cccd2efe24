"""What `iacta plan` prints: the chance, the way, what to do at each branch, and how it ends."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from iacta.cli import show
from iacta.estimate import Interval
from iacta.plan import Goal, Plan, SimulatedPlan, Step, Worth
from iacta.plan.goals import deed, goal_words, held_worth
from iacta.plan.simulated import has_real_dice
from iacta.plan.way import Rearguard, UsualBattle, rearguards, usual_way

if TYPE_CHECKING:
    from fractions import Fraction

    from rich.console import Console

    from iacta.distribution import Probability

__all__ = ["Answer", "Check", "Need", "record", "rows", "tell"]

LEVEL = "0.95"
SELDOM = 0.001
NO_BOUND = 0.999  # a chance that proves nothing as a bound
MOST_LINES = 40
MOST_ENDINGS = 3
WAY = ("", "chance to take", "armies arriving", "go on with")
OTHERS = ("", "chance to fight", "chance to take", "armies arriving")
AFTERWARDS = ("", "chance to own", "armies in the mean")


class Need(NamedTuple):
    """The fewest armies on a territory for a wanted chance."""

    chance: "Fraction"
    source: str
    armies: int


class Check(NamedTuple):
    """A plan carried out with real dice."""

    runs: int
    seed: int
    simulated: SimulatedPlan

    @property
    def interval(self) -> Interval:
        """The interval that holds the true chance."""
        return self.simulated.won.interval(LEVEL)


class Answer(NamedTuple):
    """All that is told."""

    plan: Plan
    rules: str
    need: Need | None
    check: Check | None


def record(answer: Answer) -> dict[str, object]:
    """Return the answer for `--json`."""
    plan = answer.plan
    return {
        "goal": _goal(plan.goal),
        "rules": answer.rules,
        "win_probability": None if isinstance(plan.goal, Worth) else plan.win_probability,
        "upper_bound": plan.upper_bound,
        "proven": plan.proven,
        "steps": [_step(step) for step in plan.steps],
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
            {"from": each.start, "to": each.to, "probability": each.chance} for each in plan.endings
        ],
        **({"need": _need(answer.need)} if answer.need else {}),
        **({"check": _check(answer.check)} if answer.check else {}),
    }


def _goal(goal: Goal) -> dict[str, object]:
    if isinstance(goal, Worth):
        values = {"territory": goal.territories, "bonus": goal.bonus, "army": goal.army}
        return {"kind": goal_words(goal), **values}
    return {"kind": goal_words(goal), "territories": list(goal.territories)}


def _step(step: Step) -> dict[str, object]:
    return {
        "from": step.start,
        "to": step.to,
        "reach_probability": step.reach_probability,
        "conquer_probability": step.conquer_probability,
        "expected_armies": step.expected_armies,
    }


def _need(need: Need) -> dict[str, object]:
    return {"chance": float(need.chance), "source": need.source, "armies": need.armies}


def _check(check: Check) -> dict[str, object]:
    low, high = check.interval
    return {
        "runs": check.runs,
        "seed": check.seed,
        "won": check.simulated.won.successes,
        "win_probability": float(check.simulated.won.probability),
        "interval": {"level": float(LEVEL), "low": low, "high": high},
        "value": check.simulated.value,
        "error": check.simulated.error,
    }


def rows(plan: Plan) -> Iterator[Sequence[object]]:
    """Yield the way for `--csv`, heading first."""
    yield "from", "to", "reach_probability", "conquer_probability", "expected_armies"
    for step in plan.steps:
        numbers = step.reach_probability, step.conquer_probability, step.expected_armies
        yield step.start, step.to, *map(show.all_digits, numbers)


def tell(console: "Console", answer: Answer) -> None:
    """Print the answer for people."""
    plan = answer.plan
    show.say(console, f"{_sentence(plan)}{show.under(answer.rules)}{_proof(plan)}")
    if answer.need:
        show.say(console, _needed(plan, answer.need))
    if answer.check:
        show.say(console, _checked(plan, answer.check))
    if not plan.steps:
        return
    _tell_way(console, plan)
    _tell_advances(console, plan)
    _tell_endings(console, plan)
    show.heading(console, "Afterwards:")
    show.print_table(console, AFTERWARDS, _afterwards(plan))


def _tell_way(console: "Console", plan: Plan) -> None:
    """Tell the usual way in its order, and then the other battles that may be fought."""
    way = usual_way(plan)
    usual = [turn.step for turn in way]
    others = [step for step in plan.steps if step not in usual]
    likely = [step for step in others if step.reach_probability >= SELDOM]
    show.heading(console, "The way, if all goes as usual:")
    show.print_table(console, WAY, [_turn_line(plan, turn) for turn in way])
    _tell_branches(console, way)
    if likely:
        show.heading(console, "Other battles that it may come to:")
        show.print_table(console, OTHERS, [_line(plan, step) for step in likely[:MOST_LINES]])
    if len(others) > len(likely[:MOST_LINES]):
        rest = len(others) - len(likely[:MOST_LINES])
        show.say(console, f"and {rest} more, seldom fought")


def _sentence(plan: Plan) -> str:
    if isinstance(plan.goal, Worth):
        stay = held_worth(plan.policy.game.problem, plan.goal)
        if not plan.steps:
            return f"No attack pays: stay. That is worth {stay:.2f}"
        return f"The best way is worth {plan.value:.2f} in the mean, and to stay {stay:.2f}"
    verb = deed(plan.position, plan.goal)
    if not plan.win_probability:
        return f"You cannot {verb}"
    return f"You {verb} with a chance of {show.percent(_told(plan, plan.win_probability))}"


def _told(plan: Plan, chance: float) -> "Probability":
    return show.told(chance, [plan.rules])


def _proof(plan: Plan) -> str:
    if plan.proven:
        return ": proven best." if plan.steps or isinstance(plan.goal, Worth) else "."
    if isinstance(plan.goal, Worth):
        return f"; no way can be better by more than {plan.gap:.2f}."
    if plan.upper_bound > NO_BOUND > plan.win_probability:
        return "; whether another way is better is not known."
    return f"; no way can be better by more than {_points(plan.gap)}."


def _points(gap: float) -> str:
    """Return a difference of chances, rounded up.

    >>> _points(0.01231), _points(1e-7)
    ('1.24 %', '0.01 %')
    """
    from math import ceil

    return f"{ceil(gap * 10_000 - 1e-9) / 100:.2f} %"


def _needed(plan: Plan, need: Need) -> str:
    there = plan.position.of(need.source).armies
    return (
        f"For a chance of at least {show.plain_percent(need.chance)} you need {need.armies} "
        f"{show.armies(need.armies)} on {need.source}, which has {there}: the fewest with which "
        f"the best way that is found has that chance."
    )


def _checked(plan: Plan, check: Check) -> str:
    games = f"In {check.runs:,} games with real dice"
    if not has_real_dice(plan.rules):
        games = (
            f"In {check.runs:,} games, with battles drawn from their laws and not with real dice,"
        )
    if isinstance(plan.goal, Worth):
        return (
            f"{games} it was worth {check.simulated.value:.3f} in "
            f"the mean, give or take {2 * check.simulated.error:.3f} (seed {check.seed})."
        )
    low, high = check.interval
    inside = "inside" if low <= plan.win_probability <= high else "outside"
    return (
        f"{games} it came true in "
        f"{show.percent(float(check.simulated.won.probability))}; the 95 % interval is "
        f"{100 * low:.2f} % to {100 * high:.2f} %, and the exact chance is {inside} "
        f"(seed {check.seed})."
    )


def _line(plan: Plan, step: Step) -> Sequence[str]:
    return (
        f"{step.start} to {step.to}",
        "100 %" if step.reach_probability == 1.0 else show.short_percent(step.reach_probability),
        show.short_percent(_told(plan, step.conquer_probability)),
        f"{step.expected_armies:.1f}" if step.conquer_probability else "",
    )


def _turn_line(plan: Plan, turn: UsualBattle) -> Sequence[str]:
    name, _, *numbers = _line(plan, turn.step)
    return name, *numbers, "" if turn.fewest is None else f"{turn.fewest} or more"


def _tell_branches(console: "Console", way: Sequence[UsualBattle]) -> None:
    """Tell after which battles the way is another one, and with how many armies left."""
    branches = [(turn.step, branch) for turn in way for branch in turn.branches]
    if not branches:
        return
    show.heading(console, "Where it branches:")
    for step, branch in branches[:MOST_LINES]:
        show.say(
            console,
            f"{step.start} to {step.to} won with {_numbers(branch.armies)} left: go on from "
            f"{branch.start} to {branch.to}",
        )


def _numbers(armies: Sequence[int]) -> str:
    """Return numbers as a player reads them.

    >>> _numbers([7, 8, 9, 12, 14, 15])
    '7 to 9, 12 or 14 to 15'
    """
    runs: list[list[int]] = []
    for number in armies:
        if runs and runs[-1][-1] == number - 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    texts = [str(run[0]) if len(run) == 1 else f"{run[0]} to {run[-1]}" for run in runs]
    return " or ".join(filter(None, [", ".join(texts[:-1]), texts[-1]]))


def _tell_advances(console: "Console", plan: Plan) -> None:
    """Tell how many move in, where it is not simply all."""
    branches = [each for each in rearguards(plan) if not each.is_all and each.probability >= SELDOM]
    show.heading(console, "How many move in:")
    for each in branches[:MOST_LINES]:
        show.say(console, f"from {each.start} to {each.to}: {_moves(each)}")
    if len(branches) > MOST_LINES:
        show.say(console, f"and {len(branches) - MOST_LINES} more")
    show.say(console, "everywhere else: all that may" if branches else "everywhere: all that may")


def _moves(each: Rearguard) -> str:
    if each.least == each.most:
        return f"move all but {each.most}"
    return f"move all but {each.least} to {each.most}, mostly {each.usual}"


def _tell_endings(console: "Console", plan: Plan) -> None:
    if isinstance(plan.goal, Worth) or not plan.endings:
        return
    show.heading(console, "Where it fails, if it does:")
    lines = [
        (f"{each.start} to {each.to}", show.short_percent(each.chance))
        for each in plan.endings[:MOST_ENDINGS]
    ]
    show.print_table(console, ("", "chance"), lines)


def _afterwards(plan: Plan) -> Iterator[Sequence[str]]:
    """Yield what the player owns at the end, as far as the plan has to do with it."""
    touched = {name for step in plan.steps for name in (step.start, step.to)}
    for each in plan.territories:
        if each.name in touched and each.own_probability >= SELDOM:
            own = plan.position.of(each.name).owner == plan.position.player
            told = show.short_percent(_told(plan, each.own_probability))
            chance = "100 %" if own else told
            yield each.name, chance, f"{each.expected_armies:.1f}"
