"""Taflin's tables and values, recomputed with the equations in `iacta_literature.taflin`.

Attackers include a garrison of one. The first functions are WRONG ON PURPOSE: they compute
equations (5) and (15)-(17) exactly as printed, to show the effect of the errata.
"""

from collections.abc import Callable
from fractions import Fraction
from functools import cache
from math import factorial

from iacta import Battle, Outcome, Roll, break_even_ratio
from iacta.probability.distribution import Probability
from iacta_literature import taflin
from iacta_literature.charts import after_rolls, first_passages
from iacta_literature.published import (
    EquationResult,
    Figure,
    Number,
    PrintedSource,
    Row,
    compute_roll_chance,
)
from iacta_literature.taflin import Point, RollChances
from iacta_literature.tree import nodes, tree

START = Point(12, 10)
F = taflin.roll_chances()

# --- WRONG ON PURPOSE: equations (5) and (15)-(17) exactly as printed


def _compute_printed_first_passage(start: Point, f: RollChances) -> dict[Point, Probability]:
    """Return P* as printed: without the condition that points are inside, paths count twice."""

    def p(m: int, n: int) -> Probability:
        rolls, odd = divmod(sum(start) - m - n, 2)
        return Fraction(0) if odd else taflin.free_space(start, Point(m, n), rolls, f)

    good, neutral, bad = f.f32
    passages = {Point(m, 1): good * p(m, 3) for m in range(3, start.m + 1)}
    passages |= {Point(m, 2): neutral * p(m + 1, 3) + good * p(m, 4) for m in range(3, start.m + 1)}
    passages |= {Point(3, n): bad * p(5, n) for n in range(2, start.n + 1)}
    passages |= {Point(4, n): neutral * p(5, n + 1) + bad * p(6, n) for n in range(2, start.n + 1)}
    return passages


def _compute_printed_win(start: Point, f: RollChances) -> Probability:
    passages = _compute_printed_first_passage(start, f)
    return sum((p * taflin.win_on_strip(point, f) for point, p in passages.items()), Fraction(0))


def _compute_printed_free_space(half_advantage: int, rolls: int, f: RollChances) -> Fraction:
    """Return P by the printed eq. (5), without the terms with factorials of negative numbers.

    half_advantage: L / 2.
    rolls: s.
    """
    good, neutral, bad = (Fraction(chance) for chance in f.f32)
    total = Fraction(0)
    for k in range((rolls - half_advantage) // 2 + 1):
        more_rolls, rest = half_advantage + k, rolls - half_advantage - k
        if more_rolls >= 0 and rest >= 0:
            divisor = factorial(k) * factorial(more_rolls) * factorial(rest)
            more, fewer = (good, bad) if half_advantage >= 0 else (bad, good)
            powers = more**more_rolls * neutral ** (rest - k) * fewer**k
            total += Fraction(factorial(rolls), divisor) * powers
    return total


# --- The tables and values


def _compute_expected_losses(row: Row) -> Fraction:
    attackers, defenders = Roll(int(row["attack_dice"]), int(row["defence_dice"])).expected_losses()
    return attackers if row["side"] == "attackers" else defenders


def _count_rolls(row: Row) -> str:
    """Return the numbers of good and bad rolls on the path with a row's neutral rolls."""
    ways = taflin.ways(int(row["advantage"]), int(row["rolls"]))
    path = next(path for path in ways if path.neutral == int(row["neutral"]))
    return f"{path.good} and {path.bad}"


def _resubstitute(y: float, n: int) -> float:
    """Convert y_n back to Q_b(3, n)."""
    power: float = float(F.f22[0]) ** (n / 2)
    return y * power


# For each equation, a function that computes the chance to win from the point (m, n).
EQUATIONS: dict[str, Callable[[int, int], Number]] = {
    "(6)": lambda m, n: taflin.win_two_against_one(F),
    "(7)": lambda m, n: taflin.win_against_one(m, F),
    "(8)": lambda m, n: taflin.win_with_two(n, F),
    "(9)": lambda m, n: taflin.win_three_by_motion(
        taflin.win_with_two(n - 1, F), taflin.win_on_strip(Point(3, n - 2), F), F
    ),
    "(10)": lambda m, n: taflin.win_three_by_step(taflin.win_on_strip(Point(3, n - 2), F), n, F),
    "(11)": lambda m, n: _resubstitute(
        taflin.step_substituted(
            taflin.substitute(taflin.win_on_strip(Point(3, n - 2), F), n - 2, F),
            n,
            taflin.substitution(F),
        ),
        n,
    ),
    "(12)": lambda m, n: _resubstitute(taflin.substitute(taflin.win_with_three(n, F), n, F), n),
    "(13)": lambda m, n: _resubstitute(taflin.sum_substituted(n, F), n),
    "(14)": lambda m, n: taflin.win_with_three(n, F),
    "(17)": lambda m, n: taflin.win(Point(m, n), F),
}


def _compute_equation_and_exact_value(row: Row) -> EquationResult:
    m, n = int(row["m"]), int(row["n"])
    battle = Battle(m, n)
    won = Fraction(battle.win_probability(exact=True, method="counting"))
    return EquationResult(EQUATIONS[row["equation"]](m, n), won)


def _apply_motion(point: Point, rolls: int) -> Number:
    """Return P_{m,n}(s) for a point, by applying eq. (1) once per roll."""
    chances: dict[Point, Probability] = {START: Fraction(1)}
    for _ in range(rolls):
        chances = taflin.equation_of_motion(chances, F)
    return chances[point]


def _apply_relative_motion(point: Point, rolls: int) -> Number:
    """Return R_k(s) for the difference k of a point, by applying eq. (2) once per roll."""
    chances: dict[int, Probability] = {START.m - START.n: Fraction(1)}
    for _ in range(rolls):
        chances = taflin.relative_motion(chances, F)
    return chances[point.m - point.n]


def _choose_path(point: Point, rolls: int) -> taflin.Ways:
    """Return the path to a point with the largest number of neutral rolls."""
    return next(taflin.ways(point.m - point.n - (START.m - START.n), rolls))


FREE_EQUATIONS: dict[str, Callable[[Point, int], Number]] = {
    "(1)": _apply_motion,
    "(2)": _apply_relative_motion,
    "(4)": lambda point, rolls: taflin.path_chance(_choose_path(point, rolls), F),
    "(5)": lambda point, rolls: taflin.free_space(START, point, rolls, F),
}


@cache
def _compute_visits() -> dict[Outcome, Fraction]:
    """Return the probability of visiting each state, computed by the tree of the battle."""
    return {node.state: node.probability for node in nodes(tree(*START))}


def _compute_path_probability(path: taflin.Ways) -> Fraction:
    """Return the probability of a path in the tree: the product over its branches."""
    node, chance = tree(*START), Fraction(1)
    for lost, rolls in enumerate((path.good, path.neutral, path.bad)):
        for _ in range(rolls):
            branch = next(branch for branch in node.branches if branch.losses.attackers == lost)
            node, chance = branch.node, chance * branch.probability
    return chance


def _compute_free_equation_and_exact_value(row: Row) -> EquationResult:
    point, rolls = Point(int(row["m"]), int(row["n"])), int(row["rolls"])
    is_one_path = row["equation"] == "(4)"
    ours = (
        _compute_path_probability(_choose_path(point, rolls))
        if is_one_path
        else _compute_visits()[Outcome(*point)]
    )
    return EquationResult(FREE_EQUATIONS[row["equation"]](point, rolls), ours)


def _count_states(rolls: int) -> int:
    """Return the number of states that can follow `rolls` rolls with all dice."""
    return sum(sum(state) == sum(START) - 2 * rolls for state in _compute_visits())


def _compute_advantage() -> Fraction:
    ratio = break_even_ratio("classic")
    return 1 - ratio if ratio is not None else Fraction(0)


VALUES: dict[str, Callable[[], Number]] = {
    "points after one roll": lambda: _count_states(1),
    "points after two rolls": lambda: _count_states(2),
    "percentage by which fewer attackers than defenders fall in full rolls": _compute_advantage,
    "sum of the chances of first passage from (12, 10), by (15)-(16) as printed": lambda: sum(
        _compute_printed_first_passage(START, F).values()
    ),
    "sum of the chances of first passage from (12, 10)": lambda: sum(
        taflin.first_passage(START, F).values()
    ),
    "chance to win at (12, 10), by (15)-(17) as printed": lambda: _compute_printed_win(START, F),
    "chance to win at (12, 10)": lambda: taflin.win(START, F),
    "sum of the chances of all points after 4 rolls, by (5) as printed": lambda: sum(
        _compute_printed_free_space(half, 4, F) for half in range(-4, 5)
    ),
    "sum of the chances of all points after 4 rolls": lambda: sum(
        taflin.free_space(Point(50, 50), Point(42 + i, 50 - i), 4, F) for i in range(9)
    ),
}

SOURCE = PrintedSource(
    "taflin",
    "Daniel C. Taflin, “The Probability Distribution of Risk Battles” (2001)",
    {
        "roll_losses": compute_roll_chance,
        "expected_losses": _compute_expected_losses,
        "ways": _count_rolls,
        "equations": _compute_equation_and_exact_value,
        "free_space": _compute_free_equation_and_exact_value,
        "values": lambda row: VALUES[row["quantity"]](),
    },
    (
        Figure(
            "after_rolls",
            "Figure 1: the states of a battle after one roll and after two rolls. The source does "
            "not state the armies; this chart is for 12 against 10.",
            lambda: after_rolls(12, 10, (0, 1, 2)),
        ),
        Figure(
            "first_passages",
            "Figure 2: the boundary region, where fewer dice are rolled. The source draws some "
            "paths into the region; this chart shows the chance of each point at which 12 against "
            "10 enters it.",
            lambda: first_passages(12, 10),
        ),
    ),
)
