"""A plan in words and tables: its result, how good it is, and its main line."""

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import pairwise
from math import ceil
from typing import NamedTuple

from iacta.forms.percentages import (
    bar_percent,
    describe_chance,
    format_estimate,
    format_related,
    mark_certain,
    percent,
    short_percent,
    shorten_percent,
)
from iacta.forms.sections import Section, Table
from iacta.forms.sentences import add_noun, join_phrases, name_armies
from iacta.methods import choose_kernel
from iacta.native.bit_sets import bits, find_reached, make_mask
from iacta.plan import OwnAny, Plan, SimulatedPlan, Step, Worth
from iacta.plan.report import MainBattle, Rearguard, list_main_line, list_rearguards
from iacta.probability.distribution import Probability
from iacta.probability.estimate import Interval, compute_interval_of_chance

MIN_LISTED_CHANCE = 0.001  # minimum chance of a battle to list
CHANCE_ROUNDING = 1e-12  # allowance for rounding errors in chances
MIN_RANGE = 0.005  # minimum width of an interval of points to show
NOTICEABLE_CHANCE = 0.0005  # a smaller gap between a chance and its bound is not mentioned
NOTICEABLE_POINTS = 0.05  # a smaller gap between points and their bound is not mentioned
# A bound is shown if its gap to the value is at most NEAR times the maximum value, or if the bound
# rules out at least the fraction INFORMATIVE of the range between the value and the maximum.
NEAR, INFORMATIVE = 0.01, 0.2
NOTICEABLE_SACRIFICE = 0.0001  # a plan that sacrifices less counts as the best plan
MIN_MORE_CHANCE = 0.05  # the smallest increase of the chance of a battle to mention
MAX_PLAN_LINES = 40  # maximum number of rows in a table
MAX_ENDINGS = 3  # maximum number of rows in the table of failures
MAY_EXIST = "; a better plan may exist."
OTHER_WAYS = (
    "Each chance counts all courses of the plan. A later battle may be likelier than an earlier "
    "one, because other ways lead to it, too."
)
COUNTED = "The numbers in these tables come from {} simulated games of the plan."


def describe_result(plan: Plan) -> str:
    if plan.value is None:
        return "No estimate yet"
    if has_worth_goal(plan):
        stay = plan.problem.held
        if not plan.steps:
            return (
                "Not attacking gains most, as no attack pays"
                if plan.proven
                else "The search found no attack that pays"
            )
        gained = plan.interval and (plan.interval[0] - stay, plan.interval[1] - stay)
        gain = plan.comparable_value - stay
        return f"Attacking gains about {gain:.1f} points{_format_range(gained)}"
    verb = plan.goal.phrase(plan.position)
    if is_hopeless(plan):
        return (
            f"You cannot {verb}"
            if explain_impossibility(plan)
            else f"The search found no plan to {verb}"
        )
    if plan.stages:
        stages = zip(
            plan.goal.sequence, plan.goal.stages(plan.problem.board), plan.stages, strict=True
        )
        parts = [
            f"{goal.phrase(plan.position)} with {_format_stage(plan, lands, chance)}"
            for goal, lands, chance in stages
        ]
        first = parts[0].replace(" with ", " with a chance of ", 1)
        return f"You {', then '.join([first, *parts[1:]])}"
    chance = mark_certain_chance(plan, plan.comparable_value)
    return f"You {verb} with {describe_chance(format_estimate(chance, plan.interval))}"


def _format_stage(plan: Plan, lands: int, chance: float) -> str:
    if plan.problem.is_out_of_reach(lands):
        return percent(Fraction(0))
    interval = compute_interval_of_chance(chance, plan.games) if plan.games else None
    return format_estimate(mark_certain_chance(plan, chance), interval)


def describe_proof(plan: Plan, has_tried_all: bool = True) -> str:
    """Return the end of the sentence on a plan: its proof, or the possible improvement.

    has_tried_all: whether the proof covers all placements of new armies.
    """
    is_chance = plan.goal.is_chance
    if plan.value is None:
        most = _format_bound(plan.upper_bound) if is_chance else f"{plan.upper_bound:.2f}"
        return f": at most {most}."
    if is_hopeless(plan) and (reason := explain_impossibility(plan)):
        return f": {reason}."
    if is_hopeless(plan) and is_chance:
        if not _has_informative_bound(plan):
            return "; one may exist."
        return f"; no plan can have a chance above {_format_bound(plan.upper_bound)}."
    if plan.proven and not plan.steps and not has_worth_goal(plan):
        return "."
    worth = f"; the goals reached are {_describe_worth(plan)}" if plan.stages else ""
    kind = " that fights each battle to its end" if plan.turn.whole_battles else ""
    if isinstance(plan.goal, OwnAny) and plan.goal.armies > 1:
        kind = f" of attacks{kind}"  # the fortifying move may give a territory enough armies
    if plan.proven:
        placement = "" if has_tried_all else " for this placement"
        if plan.sacrifice < NOTICEABLE_SACRIFICE:
            return f"{worth}; no plan{kind} is better{placement}."
        points = _round_up(100 * plan.sacrifice if is_chance else plan.sacrifice, 1)
        better = (
            f"more likely to succeed by more than {points} points"
            if is_chance
            else f"better by more than {_round_up(plan.sacrifice, 2)} points"
        )
        return f"{worth}; no plan{kind} is {better}{placement}."
    if plan.gap < (NOTICEABLE_CHANCE if is_chance else NOTICEABLE_POINTS):
        return f"{worth}; no plan{kind} is noticeably better."
    if has_worth_goal(plan) or plan.gap > NEAR * plan.problem.rewards.most:
        return f"{worth}{MAY_EXIST}"
    points = f"{_round_up(100 * plan.gap if is_chance else plan.gap, 2)} points"
    return f"{worth}; no plan{kind} is more than {points} better."


def describe_sacrifice(plan: Plan) -> Iterator[str]:
    """Yield a sentence on the plan with the greatest chance, if it is noticeably another plan."""
    other = plan.greatest
    if other is None or other.value is None or plan.sacrifice < NOTICEABLE_SACRIFICE:
        return
    value = format_value(other, other.value)
    fought = {(step.start, step.to): step.reach_probability for step in plan.steps}
    more = {
        (step.start, step.to): step.reach_probability - fought.get((step.start, step.to), 0.0)
        for step in other.steps
    }
    start, to = border = max(more, key=lambda each: more[each])
    if more[border] < MIN_MORE_CHANCE:
        change = "if you roll more often"
    elif fought.get(border, 0.0) < MIN_LISTED_CHANCE:
        change = f"if you also attack {to} from {start}"
    else:
        change = f"if you attack {to} from {start} more often"
    lost = other.expected_losses - plan.expected_losses
    yield f"{value} {change}, for {lost:.1f} armies more."


def _list_bounds(plan: Plan) -> Iterator[str]:
    """Yield a sentence on the upper bound of a plan whose sentence says that a better may exist."""
    if plan.value is None or plan.proven or not describe_proof(plan).endswith(MAY_EXIST):
        return
    if not _has_informative_bound(plan):
        return
    kind = " that fights each battle to its end" if plan.turn.whole_battles else ""
    if has_worth_goal(plan):
        most = f"gains more than {_round_up(plan.upper_bound - plan.problem.held, 1)} points"
    elif plan.goal.is_chance:
        most = f"has a chance above {_format_bound(plan.upper_bound)}"
    else:
        most = f"is worth more than {_round_up(plan.upper_bound, 2)} points"
    yield f"No plan{kind} {most}."


def _has_informative_bound(plan: Plan) -> bool:
    most, held = plan.problem.rewards.most, plan.problem.held
    return _is_informative(plan.comparable_value - held, plan.upper_bound - held, most)


def _is_informative(value: float, bound: float, maximum: float = 1.0) -> bool:
    """Return whether a bound is worth showing: well below the maximum, or close to the value.

    >>> _is_informative(0.25, 0.98), _is_informative(0.25, 0.75), _is_informative(0.995, 1.0)
    (False, True, True)
    """
    return bound - value <= NEAR * maximum or maximum - bound >= INFORMATIVE * (maximum - value)


def explain_gain(plan: Plan) -> Iterator[str]:
    """Yield sentences on the sources of the points of a plan."""
    goal, turn = plan.goal, plan.turn
    if not isinstance(goal, Worth) or plan.value is None:
        return
    taken = [
        territory for territory in plan.territories if turn.owner_of(territory.name) != turn.player
    ]
    if plan.steps:
        lands = sum(each.own_probability for each in taken)
        paid = sum(each.own_probability * goal.compute_worth(each.name) for each in taken)
        before = plan.problem.start.total
        lost = before - sum(territory.expected_armies for territory in plan.territories)
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
    yield f"Points count at the end of your turn, even if others take territories back{which}."


def has_worth_goal(plan: Plan) -> bool:
    return not plan.goal.is_chance and not plan.stages


def is_hopeless(plan: Plan) -> bool:
    """Return whether a plan can never reach its goal, or the first of several goals."""
    return not has_worth_goal(plan) and not any(
        (plan.win_probability is None, plan.win_probability, *plan.stages)
    )


def explain_impossibility(plan: Plan) -> str:
    """Return the reason why a goal is impossible, or an empty text if it may be possible."""
    problem, position = plan.problem, plan.position
    if not problem.stacks:
        return (
            f"{position.player} has no stack that can attack: each has too few armies, no enemy "
            "beside it, or must stay"
        )
    # To score, the player must take a whole set of territories, or one territory that has a value.
    wanted = problem.goal.rewards(problem.board, problem.owned)
    any_of = make_mask(t for t, paid in enumerate(wanted.lands) if paid)
    all_of = wanted.sets[0][0] if wanted.sets else 0
    within = find_reached(problem.out, problem.stacks, ~problem.owned)
    away = all_of & ~within or (any_of if not any_of & within else 0)
    empty = next((t for t in bits(away) if not position.holdings[t].armies), None)
    if empty is not None:
        return f"{problem.name(empty)} has no armies, and nobody can attack an empty territory"
    if away:
        return f"no path leads to {problem.name(next(bits(away)))}"
    if plan.upper_bound <= 0.0 and problem.perils:
        return "another player would win first, or the armies that can attack are too few"
    if plan.upper_bound <= 0.0:
        total = sum(position.holdings[v].armies for v in bits(problem.stacks))
        few = f"the {name_armies(total)} that can attack are too few"
        every_rules = (plan.turn.rules, *plan.turn.rules_of.values())
        if any(rules.mode.may_forbid for rules in every_rules):
            return f"{few}, or the rules forbid their attacks"
        return f"{few}, whatever the dice show"
    return ""


def list_sections(plan: Plan) -> Iterator[Section]:
    if is_hopeless(plan):
        return
    if not plan.steps:
        if bounds := [*_list_bounds(plan)]:
            yield Section(bounds)
        return
    line = list_main_line(plan)
    rows = [_make_main_row(plan, battle) for battle in line]
    columns: tuple[str, ...] = ("", "chance to take", "armies arriving", "go on with")
    if not any(row[-1] for row in rows):
        columns, rows = columns[:-1], [row[:-1] for row in rows]
    chances = [battle.step.conquer_probability for battle in line]
    is_joined = any(later > earlier + NOTICEABLE_CHANCE for earlier, later in pairwise(chances))
    yield Section([Table(columns, rows), *[OTHER_WAYS] * is_joined], title="The main line:")
    branches = [
        f"{battle.step.start} to {battle.step.to} won with {_format_numbers(branch.armies)} left: "
        f"attack {branch.to} from {branch.start} next"
        for battle in line
        for branch in battle.branches
    ]
    if branches:
        yield Section(branches[:MAX_PLAN_LINES], title="Branches of the main line:")
    yield from _list_other_battles(plan, [battle.step for battle in line])
    yield _make_advances_section(plan)
    if plan.endings and not has_worth_goal(plan):
        lost = [
            (f"{ending.start} to {ending.to}", format_step_chance(plan, ending.probability))
            for ending in plan.endings[:MAX_ENDINGS]
        ]
        yield Section([Table(("", "chance"), lost)], title="Where the plan may fail:")
    owned = Table(("", "chance to own", "armies on average"), list(_list_final_territories(plan)))
    source = [COUNTED.format(plan.games)] if plan.games else []
    yield Section([owned, *source, *_list_bounds(plan)], title="At the end:")


def format_step_chance(plan: Plan, chance: float) -> str:
    """Return a chance for a table, as a whole percentage if it is estimated from games."""
    if not plan.games:
        return short_percent(mark_certain_chance(plan, chance))
    return bar_percent(chance, 0)


def _make_row(plan: Plan, step: Step) -> tuple[str, str, str, str]:
    """Return table cells for a battle: border, chances to fight and to win it, armies moving in."""
    reached = step.reach_probability
    return (
        f"{step.start} to {step.to}",
        "100%" if reached == 1.0 else format_step_chance(plan, reached),
        format_step_chance(plan, step.conquer_probability),
        f"{step.expected_armies:.1f}" if step.conquer_probability else "",
    )


def _make_main_row(plan: Plan, battle: MainBattle) -> tuple[str, ...]:
    border, _, *numbers = _make_row(plan, battle.step)
    return border, *numbers, "" if battle.fewest is None else f"{battle.fewest} or more"


def _list_other_battles(plan: Plan, main: Sequence[Step]) -> Iterator[Section]:
    others = [step for step in plan.steps if step not in main]
    likely = [step for step in others if step.reach_probability >= MIN_LISTED_CHANCE][
        :MAX_PLAN_LINES
    ]
    rest = len(others) - len(likely)
    if likely:
        columns = ("", "chance to fight", "chance to take", "armies arriving")
        table = Table(columns, [_make_row(plan, step) for step in likely])
        more = [f"and {rest} more, rarely fought"] if rest else []
        yield Section([table, *more], title="Other battles:")
    elif rest:
        yield Section([f"{add_noun(rest, 'other battle is', 'other battles are')} rarely fought."])


def _list_final_territories(plan: Plan) -> Iterator[Sequence[str]]:
    """Yield table rows for the territories at the end of the plan: chance to own, and armies."""
    touched = {name for step in plan.steps for name in (step.start, step.to)}
    for territory in plan.territories:
        if territory.name in touched and territory.own_probability >= MIN_LISTED_CHANCE:
            owned = plan.turn.owner_of(territory.name) == plan.turn.player
            chance = format_step_chance(plan, territory.own_probability)
            yield territory.name, "100%" if owned else chance, f"{territory.expected_armies:.1f}"


def _format_numbers(numbers: Sequence[int]) -> str:
    """Return ascending numbers as text, with ranges where possible.

    >>> _format_numbers([7, 8, 9, 12, 14, 15])
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


def _make_advances_section(plan: Plan) -> Section:
    """Return the advances after conquests, where armies that may move should stay behind."""
    partial = [
        rearguard
        for rearguard in list_rearguards(plan)
        if not rearguard.is_all and rearguard.probability >= MIN_LISTED_CHANCE
    ]
    lines = [
        f"from {rearguard.start} to {rearguard.to}: {_describe_advance(rearguard)}"
        for rearguard in partial[:MAX_PLAN_LINES]
    ]
    if len(partial) > MAX_PLAN_LINES:
        lines.append(f"and {len(partial) - MAX_PLAN_LINES} more")
    elsewhere = "everywhere else" if partial else "everywhere"
    lines.append(f"{elsewhere}: as many as allowed")
    return Section(lines, title="How many to move in:")


def _describe_advance(rearguard: Rearguard) -> str:
    if rearguard.least == rearguard.most:
        return f"move all but {rearguard.most}"
    return f"move all but {rearguard.least} to {rearguard.most}, mostly {rearguard.usual}"


def format_value(plan: Plan, value: float) -> str:
    """Return a value of a plan, or of a change of the plan, as text."""
    if not plan.goal.is_chance:
        return f"{value:.2f}"
    chance = mark_certain_chance(plan, value)
    return shorten_percent(format_related(chance, plan.comparable_value, plan.interval))


def mark_certain_chance(plan: Plan, chance: float) -> Probability:
    """Return a chance of a plan; exactly 0 and 1 become a `Fraction`."""
    if plan.upper_bound <= 0.0:  # the sentence says that the goal is impossible
        return Fraction(0)
    near = float(round(chance))
    return mark_certain(near if abs(chance - near) < CHANCE_ROUNDING else chance, [plan.turn.rules])


def _format_bound(bound: float) -> str:
    """Return an upper bound on a chance in percent, rounded up.

    >>> _format_bound(0.01231), _format_bound(0.99999)
    ('1.24%', '100%')
    """
    percents = ceil(bound * 10_000 - 1e-9) / 100
    return "100%" if percents >= 100 else f"{percents:.2f}%"


def _describe_worth(plan: Plan) -> str:
    return f"worth {plan.comparable_value:.2f} on average{_format_range(plan.interval)}"


def _round_up(number: float, digits: int) -> str:
    """Return a number rounded up, as text without trailing zeros.

    >>> _round_up(1.231, 2), _round_up(3.0, 2), _round_up(14.84, 1)
    ('1.24', '3', '14.9')
    """
    return f"{ceil(number * 10**digits - 1e-7) / 10**digits:.{digits}f}".rstrip("0").rstrip(".")


def _format_range(interval: tuple[float, float] | None) -> str:
    """Return an interval of points in parentheses, or nothing if it is too narrow to show.

    >>> _format_range((3.25, 3.75)), _format_range((3.251, 3.252)), _format_range(None)
    (' (3.25 to 3.75)', '', '')
    """
    if interval is None or interval[1] - interval[0] <= MIN_RANGE:
        return ""
    return f" ({interval[0]:.2f} to {interval[1]:.2f})"


class Checked(NamedTuple):
    """Simulated games of a plan, compared with its value."""

    runs: int
    seed: int
    simulated: SimulatedPlan

    @property
    def interval(self) -> Interval:
        return self.simulated.won.interval()

    def describe(self, plan: Plan) -> str:
        games = f"In {self.runs:,} games with random dice"
        if not choose_kernel(plan.turn.rules).is_rolled:
            games = f"In {self.runs:,} games with simulated battles"
        seed = f"(seed {self.seed})"
        if has_worth_goal(plan):
            return (
                f"{games} the plan was worth {self.simulated.value:.3f} ± "
                f"{2 * self.simulated.error:.3f} on average {seed}."
            )
        low, high = self.interval
        kind = "exact" if plan.interval is None else "estimated"
        known = plan.win_probability
        inside = "inside" if known is not None and low <= known <= high else "outside"
        return (
            f"{games} the plan succeeded in {percent(float(self.simulated.won.probability))}. The "
            f"95% interval is {100 * low:.2f}% to {100 * high:.2f}%; the {kind} chance is {inside} "
            f"{seed}."
        )
