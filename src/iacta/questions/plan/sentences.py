"""A plan in words and tables: what it achieves, how good that is, and its main line."""

from collections.abc import Iterator, Mapping, Sequence
from math import ceil
from typing import NamedTuple

from iacta.forms.percentages import bar_percent, mark_certain, percent, short_percent
from iacta.forms.sections import Section, Table
from iacta.forms.sentences import armies, count, join_phrases
from iacta.methods import find_kernel
from iacta.native.bit_sets import bits, find_reached, make_mask
from iacta.plan import Plan, SimulatedPlan, Step, Worth
from iacta.plan.report import MainBattle, Rearguard, main_line, rearguards
from iacta.probability.distribution import Probability
from iacta.probability.estimate import Interval

RARE = 0.001
ROUNDING = 1e-12
SEEN = 5e-5  # differences of values that are shown
NEAR = 0.01  # gaps, as parts of the most, that are reported as such
INFORMATIVE = 0.2  # a bound says something if it excludes this part of what is missing to the most
MOST_LINES = 40  # of a table
MOST_ENDINGS = 3  # of the ways to fail
COUNTED = "The numbers in these tables come from {} simulated games of the plan."


def describe_result(plan: Plan) -> str:
    if plan.value is None:
        return "No estimate yet"
    if is_worth(plan):
        stay = plan.problem.held
        if not plan.steps:
            return (
                "To stay gains most, as no attack pays"
                if plan.proven
                else "The search found no attack that pays"
            )
        gained = plan.interval and (plan.interval[0] - stay, plan.interval[1] - stay)
        gain = plan.comparable_value - stay
        return f"To attack gains {gain:.2f} points on average{_range(gained, 1)}"
    verb = plan.goal.phrase(plan.position)
    if is_hopeless(plan):
        return f"You cannot {verb}" if why(plan) else f"The search found no plan to {verb}"
    if plan.stages:
        parts = [
            f"{goal.phrase(plan.position)} with {percent(plan_chance(plan, chance))}"
            for goal, chance in zip(plan.goal.sequence, plan.stages, strict=True)
        ]
        first = parts[0].replace(" with ", " with a chance of ", 1)
        return f"You {', then '.join([first, *parts[1:]])}"
    chance = percent(plan_chance(plan, plan.comparable_value))
    return f"You {verb} with a chance of {chance}{_range(plan.interval)}"


def proof(plan: Plan, has_tried_all: bool = True) -> str:
    """Return how near a plan is to the best possible one.

    has_tried_all: whether no other placement of the new armies could be better.
    """
    is_chance = plan.goal.is_chance
    if plan.value is None:
        return (
            f": at most {_at_most(plan.upper_bound) if is_chance else f'{plan.upper_bound:.2f}'}."
        )
    if is_hopeless(plan) and (reason := why(plan)):
        return f": {reason}."
    if is_hopeless(plan) and is_chance:
        if not _bound_is_informative(plan):
            return "; one may exist."
        return f"; no plan can have a chance above {_at_most(plan.upper_bound)}."
    if plan.proven and not plan.steps and not is_worth(plan):
        return "."
    worth = f"; that is {_worth_words(plan)}" if plan.stages else ""
    kind, none = "", "no play"
    if plan.play == "battles":
        kind, none = " of the plans that fight each battle to its end", "none of them"
    if plan.proven:
        placement = "" if has_tried_all else " for this placement"
        return f"{worth}: proven best{kind}{placement}."
    if not _bound_is_informative(plan):
        return f"{worth}; a better plan may exist."
    if is_chance and plan.gap <= NEAR:
        return f", at most {_points(plan.gap)} below the best possible{kind}."
    if is_chance:
        return f", the best found{kind}; {none} has a chance above {_at_most(plan.upper_bound)}."
    below = (
        f"at most {max(ceil(100 * plan.gap - 1e-7), 1) / 100:.2f} below the best possible{kind}."
    )
    return f"{worth}, {below}" if worth else f"; it is {below}"


def _bound_is_informative(plan: Plan) -> bool:
    """Return whether the bound of a plan says more than what nothing can be above."""
    most, held = plan.problem.rewards.most, plan.problem.held
    return _is_informative(plan.comparable_value - held, plan.upper_bound - held, most)


def _is_informative(value: float, bound: float, most: float = 1.0) -> bool:
    """Return whether a bound on a value says more than what nothing can be above.

    >>> _is_informative(0.25, 0.98), _is_informative(0.25, 0.75), _is_informative(0.995, 1.0)
    (False, True, True)
    """
    return bound - value <= NEAR * most or most - bound >= INFORMATIVE * (most - value)


def chance_so_far(value: float, bound: float) -> str:
    """Return a chance in words, with its bound where that says more than that it is below 1.

    >>> chance_so_far(0.25, 0.75), chance_so_far(0.25, 0.98), chance_so_far(0.9992, 0.99999)
    ('25.00%, at most 75.00%', '25.00%', '99.92%')
    >>> chance_so_far(0.94661, 0.94663)
    '94.66%'
    """
    chance, most = percent(value), percent(bound)
    is_said = _is_informative(value, bound) and not most.startswith("more") and most != chance
    return f"{chance}, at most {most}" if is_said else chance


def gain_so_far(value: float, bound: float) -> str:
    """Return a gain in words, with its bound where that is another number.

    >>> gain_so_far(4.5, 5.25), gain_so_far(4.5, 4.501)
    ('4.50 more than now, at most 5.25', '4.50 more than now')
    """
    gain, most = f"{value:.2f}", f"{bound:.2f}"
    return f"{gain} more than now, at most {most}" if most != gain else f"{gain} more than now"


def reasons(plan: Plan) -> Iterator[str]:
    """Yield what a plan that is worth something gains, and what counts."""
    goal, position = plan.goal, plan.position
    if not isinstance(goal, Worth) or plan.value is None:
        return
    taken = [
        each
        for each in plan.territories
        if position.find_holding(each.name).owner != position.player
    ]
    if plan.steps:
        lands = sum(each.own_probability for each in taken)
        paid = sum(each.own_probability * goal.find_worth(each.name) for each in taken)
        before = sum(each.armies for each in position.holdings if each.owner == position.player)
        lost = before - sum(each.expected_armies for each in plan.territories)
        other = plan.value - plan.problem.held - paid + goal.army * lost
        parts = [f"{lands:.1f} territories more"]
        if abs(other) >= 0.005:
            parts.append(
                f"{other:.2f} points of {'bonuses and goals' if goal.prizes else 'bonuses'}"
            )
        parts.append(f"{lost:.1f} armies lost")
        yield f"On average that is {join_phrases(parts)}."
    each_land = goal.territories
    numbers = [(goal.bonus, "each army of a bonus"), (goal.army, "each army left")]
    if not isinstance(each_land, tuple | Mapping):
        numbers.insert(0, (each_land, "a territory"))
    counted = [f"{number:g} for {what}" for number, what in numbers if number]
    which = f": {join_phrases(counted)}" if counted else ""
    yield f"Points are counted at the end of the turn, whatever others take back later{which}."


def is_worth(plan: Plan) -> bool:
    return not plan.goal.is_chance and not plan.stages


def is_hopeless(plan: Plan) -> bool:
    """Return whether a plan never reaches its goal, nor the first of several."""
    return not is_worth(plan) and not any(
        (plan.win_probability is None, plan.win_probability, *plan.stages)
    )


def why(plan: Plan) -> str:
    """Return why a goal was not reached: what makes it impossible, or that no plan was found."""
    problem, position = plan.problem, plan.position
    if not problem.stacks:
        return (
            f"{position.player} has no stack that can attack: each has too few armies, no enemy "
            "beside it, or must stay"
        )
    # All of the first set is wanted, or one of the territories that pay by themselves.
    wanted = problem.goal.rewards(problem.board, problem.owned)
    any_of = make_mask(t for t, paid in enumerate(wanted.lands) if paid)
    all_of = wanted.sets[0][0] if wanted.sets else 0
    within = find_reached(problem.out, problem.stacks, ~problem.owned)
    away = all_of & ~within or (any_of if not any_of & within else 0)
    if away:
        return f"no path leads to {problem.name(next(bits(away)))}"
    if plan.upper_bound <= 0.0:
        total = sum(position.holdings[v].armies for v in bits(problem.stacks))
        return f"the {armies(total)} that can attack are too few, whatever the dice show"
    return ""


def way_sections(plan: Plan) -> Iterator[Section]:
    if not plan.steps or is_hopeless(plan):
        return
    line = main_line(plan)
    rows = [_main_row(plan, battle) for battle in line]
    columns: tuple[str, ...] = ("", "chance to take", "armies arriving", "go on with")
    if not any(row[-1] for row in rows):
        columns, rows = columns[:-1], [row[:-1] for row in rows]
    yield Section([Table(columns, rows)], title="The main line:")
    branches = [
        f"{battle.step.start} to {battle.step.to} won with {_numbers(branch.armies)} left: "
        f"attack {branch.to} from {branch.start} next"
        for battle in line
        for branch in battle.branches
    ]
    if branches:
        yield Section(branches[:MOST_LINES], title="Where it branches:")
    yield from _others(plan, [battle.step for battle in line])
    yield _advances(plan)
    if plan.endings and not is_worth(plan):
        lost = [
            (f"{ending.start} to {ending.to}", share(plan, ending.chance))
            for ending in plan.endings[:MOST_ENDINGS]
        ]
        yield Section([Table(("", "chance"), lost)], title="Where it may fail:")
    owned = Table(("", "chance to own", "armies on average"), list(_afterwards(plan)))
    source = [COUNTED.format(plan.games)] if plan.games else []
    yield Section([owned, *source], title="At the end:")


def share(plan: Plan, chance: float) -> str:
    """Return a chance of the plan for a table: rounded, where it is counted in games."""
    if not plan.games:
        return short_percent(plan_chance(plan, chance))
    return bar_percent(chance, 0)


def _row(plan: Plan, step: Step) -> tuple[str, str, str, str]:
    """Return a step: its border, the chances to fight and to take it, and who arrives."""
    reached = step.reach_probability
    return (
        f"{step.start} to {step.to}",
        "100%" if reached == 1.0 else share(plan, reached),
        share(plan, step.conquer_probability),
        f"{step.expected_armies:.1f}" if step.conquer_probability else "",
    )


def _main_row(plan: Plan, battle: MainBattle) -> tuple[str, ...]:
    border, _, *numbers = _row(plan, battle.step)
    return border, *numbers, "" if battle.fewest is None else f"{battle.fewest} or more"


def _others(plan: Plan, main: Sequence[Step]) -> Iterator[Section]:
    others = [step for step in plan.steps if step not in main]
    likely = [step for step in others if step.reach_probability >= RARE][:MOST_LINES]
    rest = len(others) - len(likely)
    if likely:
        columns = ("", "chance to fight", "chance to take", "armies arriving")
        table = Table(columns, [_row(plan, step) for step in likely])
        more = [f"and {rest} more, rarely fought"] if rest else []
        yield Section([table, *more], title="Other battles:")
    elif rest:
        yield Section([f"{count(rest, 'other battle is', 'other battles are')} rarely fought."])


def _afterwards(plan: Plan) -> Iterator[Sequence[str]]:
    """Yield what the player owns at the end, as far as the plan has to do with it."""
    touched = {name for step in plan.steps for name in (step.start, step.to)}
    for territory in plan.territories:
        if territory.name in touched and territory.own_probability >= RARE:
            owned = plan.position.find_holding(territory.name).owner == plan.position.player
            chance = share(plan, territory.own_probability)
            yield territory.name, "100%" if owned else chance, f"{territory.expected_armies:.1f}"


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
    partial = [
        rearguard
        for rearguard in rearguards(plan)
        if not rearguard.is_all and rearguard.probability >= RARE
    ]
    lines = [
        f"from {rearguard.start} to {rearguard.to}: {_moves(rearguard)}"
        for rearguard in partial[:MOST_LINES]
    ]
    if len(partial) > MOST_LINES:
        lines.append(f"and {len(partial) - MOST_LINES} more")
    elsewhere = "everywhere else" if partial else "everywhere"
    lines.append(f"{elsewhere}: as many as allowed")
    return Section(lines, title="How many to move in:")


def _moves(rearguard: Rearguard) -> str:
    if rearguard.least == rearguard.most:
        return f"move all but {rearguard.most}"
    return f"move all but {rearguard.least} to {rearguard.most}, mostly {rearguard.usual}"


def format_value(plan: Plan, value: float) -> str:
    return short_percent(plan_chance(plan, value)) if plan.goal.is_chance else f"{value:.2f}"


def plan_chance(plan: Plan, chance: float) -> Probability:
    """Return a chance of a plan, certainty as a `Fraction` where its rules allow it."""
    near = float(round(chance))  # values are exact to some 1e-12
    return mark_certain(near if abs(chance - near) < ROUNDING else chance, [plan.rules])


def _at_most(bound: float) -> str:
    """Return a bound on a chance, rounded up.

    >>> _at_most(0.01231), _at_most(0.99999)
    ('1.24%', '100%')
    """
    percents = ceil(bound * 10_000 - 1e-9) / 100
    return "100%" if percents >= 100 else f"{percents:.2f}%"


def _worth_words(plan: Plan) -> str:
    return f"worth {plan.comparable_value:.2f} on average{_range(plan.interval, 1)}"


def _points(gap: float) -> str:
    """Return a difference of chances, rounded up.

    >>> _points(0.01231), _points(1e-7)
    ('1.24 percentage points', '0.01 percentage points')
    """
    return f"{max(ceil(gap * 10_000 - 1e-9), 1) / 100:.2f} percentage points"


def _range(interval: tuple[float, float] | None, scale: int = 100) -> str:
    """Return an interval in parentheses, nothing where a number is exact to all digits shown.

    scale: 100 for chances, which are shown as percentages; 1 for worths.

    >>> _range((0.6163, 0.6261)), _range((3.25, 3.75), 1), _range((0.61631, 0.61632)), _range(None)
    (' (61.63 to 62.61)', ' (3.25 to 3.75)', '', '')
    """
    if interval is None or scale * (interval[1] - interval[0]) <= 100 * SEEN:
        return ""
    return f" ({scale * interval[0]:.2f} to {scale * interval[1]:.2f})"


class Checked(NamedTuple):
    """A plan carried out with real dice."""

    runs: int
    seed: int
    simulated: SimulatedPlan

    @property
    def interval(self) -> Interval:
        return self.simulated.won.interval()

    def sentence(self, plan: Plan) -> str:
        """Return it as a sentence.

        plan: the plan that was carried out.
        """
        games = f"In {self.runs:,} games with real dice"
        if not find_kernel(plan.rules).has_fixed_dice:
            games = f"In {self.runs:,} games with simulated battles"
        seed = f"(seed {self.seed})"
        if is_worth(plan):
            return (
                f"{games} it was worth {self.simulated.value:.3f} ± {2 * self.simulated.error:.3f} "
                f"on average {seed}."
            )
        low, high = self.interval
        kind = "exact" if plan.interval is None else "estimated"
        known = plan.win_probability
        inside = "inside" if known is not None and low <= known <= high else "outside"
        return (
            f"{games} it succeeded in {percent(float(self.simulated.won.probability))}. The 95% "
            f"interval is {100 * low:.2f}% to {100 * high:.2f}%; the {kind} chance is {inside} "
            f"{seed}."
        )
