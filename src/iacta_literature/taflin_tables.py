"""Taflin's tables and values, recomputed; `iacta_literature.taflin` contains the equations.

Armies include their garrison of one. The first functions are WRONG ON PURPOSE: they are equations
(5) and (15)-(17) exactly as printed, and show the effect of their errata.
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
    Equation,
    Figure,
    Number,
    PrintedSource,
    Row,
    roll_chance,
)
from iacta_literature.taflin import Point, RollChances
from iacta_literature.tree import nodes, tree

START = Point(12, 10)
F = taflin.roll_chances()

# --- WRONG ON PURPOSE: equations (5) and (15)-(17) exactly as printed


def _first_passage_as_printed(start: Point, f: RollChances) -> dict[Point, Probability]:
    """Return P* without the condition on inside points, which counts some paths twice."""

    def p(m: int, n: int) -> Probability:
        rolls, odd = divmod(sum(start) - m - n, 2)
        return Fraction(0) if odd else taflin.free_space(start, Point(m, n), rolls, f)

    good, neutral, bad = f.f32
    passages = {Point(m, 1): good * p(m, 3) for m in range(3, start.m + 1)}
    passages |= {Point(m, 2): neutral * p(m + 1, 3) + good * p(m, 4) for m in range(3, start.m + 1)}
    passages |= {Point(3, n): bad * p(5, n) for n in range(2, start.n + 1)}
    passages |= {Point(4, n): neutral * p(5, n + 1) + bad * p(6, n) for n in range(2, start.n + 1)}
    return passages


def _win_as_printed(start: Point, f: RollChances) -> Probability:
    passages = _first_passage_as_printed(start, f)
    return sum((p * taflin.strip_win(point, f) for point, p in passages.items()), Fraction(0))


def _free_space_as_printed(half: int, s: int, f: RollChances) -> Fraction:
    """Return eq. (5) for L = 2 · `half`, with infinite factorials of negative numbers."""
    good, neutral, bad = (Fraction(chance) for chance in f.f32)
    total = Fraction(0)
    for k in range((s - half) // 2 + 1):
        if half + k >= 0 and s - half - k >= 0:
            divisor = factorial(k) * factorial(half + k) * factorial(s - half - k)
            more, fewer = (good, bad) if half >= 0 else (bad, good)
            powers = more ** (half + k) * neutral ** (s - half - 2 * k) * fewer**k
            total += Fraction(factorial(s), divisor) * powers
    return total


# --- The tables and values


def _expected_losses(row: Row) -> Fraction:
    attackers, defenders = Roll(int(row["attack_dice"]), int(row["defence_dice"])).expected_losses()
    return attackers if row["side"] == "attackers" else defenders


def _ways(row: Row) -> str:
    """Return the numbers of good and bad rolls for a number of neutral rolls."""
    ways = taflin.ways(int(row["advantage"]), int(row["rolls"]))
    path = next(path for path in ways if path.neutral == int(row["neutral"]))
    return f"{path.good} and {path.bad}"


def _resubstitute(y: float, n: int) -> float:
    """Return Q_b(3, n) from y_n."""
    power: float = float(F.f22[0]) ** (n / 2)
    return y * power


# The chance to win at (m, n) by each equation.
EQUATIONS: dict[str, Callable[[int, int], Number]] = {
    "(6)": lambda m, n: taflin.two_against_one(F),
    "(7)": lambda m, n: taflin.against_one(m, F),
    "(8)": lambda m, n: taflin.two_against(n, F),
    "(9)": lambda m, n: taflin.three_against_motion(
        taflin.two_against(n - 1, F), taflin.strip_win(Point(3, n - 2), F), F
    ),
    "(10)": lambda m, n: taflin.three_against_step(taflin.strip_win(Point(3, n - 2), F), n, F),
    "(11)": lambda m, n: _resubstitute(
        taflin.substituted_step(
            taflin.substitute(taflin.strip_win(Point(3, n - 2), F), n - 2, F),
            n,
            taflin.substitution(F),
        ),
        n,
    ),
    "(12)": lambda m, n: _resubstitute(taflin.substitute(taflin.three_against(n, F), n, F), n),
    "(13)": lambda m, n: _resubstitute(taflin.substituted_sum(n, F), n),
    "(14)": lambda m, n: taflin.three_against(n, F),
    "(17)": lambda m, n: taflin.win(Point(m, n), F),
}


def _equation(row: Row) -> Equation:
    m, n = int(row["m"]), int(row["n"])
    battle = Battle(m, n)
    won = Fraction(battle.win_probability(exact=True, method="counting"))
    return Equation(EQUATIONS[row["equation"]](m, n), won)


def _apply_motion(point: Point, rolls: int) -> Number:
    """Return the result of eq. (1) for a point, applied roll by roll."""
    chances: dict[Point, Probability] = {START: Fraction(1)}
    for _ in range(rolls):
        chances = taflin.equation_of_motion(chances, F)
    return chances[point]


def _apply_relative_motion(point: Point, rolls: int) -> Number:
    """Return the result of eq. (2) for the difference at a point, applied roll by roll."""
    chances: dict[int, Probability] = {START.m - START.n: Fraction(1)}
    for _ in range(rolls):
        chances = taflin.relative_motion(chances, F)
    return chances[point.m - point.n]


def _path(point: Point, rolls: int) -> taflin.Ways:
    """Return the path with the most neutral rolls among all paths to a point."""
    return next(taflin.ways(point.m - point.n - (START.m - START.n), rolls))


FREE_EQUATIONS: dict[str, Callable[[Point, int], Number]] = {
    "(1)": _apply_motion,
    "(2)": _apply_relative_motion,
    "(4)": lambda point, rolls: taflin.path_chance(_path(point, rolls), F),
    "(5)": lambda point, rolls: taflin.free_space(START, point, rolls, F),
}


@cache
def _visits() -> dict[Outcome, Fraction]:
    """Return the probability that the chain visits each state, summed over its branches."""
    return {node.state: node.probability for node in nodes(tree(*START))}


def _find_path_probability(path: taflin.Ways) -> Fraction:
    """Return the probability of one path in the chain, branch by branch."""
    node, chance = tree(*START), Fraction(1)
    for lost, rolls in enumerate((path.good, path.neutral, path.bad)):
        for _ in range(rolls):
            branch = next(branch for branch in node.branches if branch.losses.attackers == lost)
            node, chance = branch.node, chance * branch.probability
    return chance


def _free_equation(row: Row) -> Equation:
    point, rolls = Point(int(row["m"]), int(row["n"])), int(row["rolls"])
    is_one_path = row["equation"] == "(4)"
    ours = (
        _find_path_probability(_path(point, rolls)) if is_one_path else _visits()[Outcome(*point)]
    )
    return Equation(FREE_EQUATIONS[row["equation"]](point, rolls), ours)


def _points(rolls: int) -> int:
    """Return the number of states that can be reached in some rolls with all dice."""
    return sum(sum(state) == sum(START) - 2 * rolls for state in _visits())


def _advantage_of_a_full_roll() -> Fraction:
    ratio = break_even_ratio("classic")
    return 1 - ratio if ratio is not None else Fraction(0)


VALUES: dict[str, Callable[[], Number]] = {
    "places after one roll": lambda: _points(1),
    "places after two rolls": lambda: _points(2),
    "attackers lost more slowly than defenders in a roll of all dice": _advantage_of_a_full_roll,
    "chances of first reaching the boundary from (12, 10), by (15)-(16) as printed": lambda: sum(
        _first_passage_as_printed(START, F).values()
    ),
    "chances of first reaching the boundary from (12, 10)": lambda: sum(
        taflin.first_passage(START, F).values()
    ),
    "chance to win at (12, 10), by (15)-(17) as printed": lambda: _win_as_printed(START, F),
    "chance to win at (12, 10)": lambda: taflin.win(START, F),
    "chances of all points after 4 rolls, by (5) as printed": lambda: sum(
        _free_space_as_printed(half, 4, F) for half in range(-4, 5)
    ),
    "chances of all points after 4 rolls": lambda: sum(
        taflin.free_space(Point(50, 50), Point(42 + i, 50 - i), 4, F) for i in range(9)
    ),
}

SOURCE = PrintedSource(
    "taflin",
    "Daniel C. Taflin, “The Probability Distribution of Risk Battles” (2001)",
    {
        "roll_losses": roll_chance,
        "expected_losses": _expected_losses,
        "ways": _ways,
        "equations": _equation,
        "free_space": _free_equation,
        "values": lambda row: VALUES[row["quantity"]](),
    },
    (
        Figure(
            "after_rolls",
            "Figure 1: the states of a battle after one roll and after two. The source names no "
            "armies; ours are 12 against 10.",
            lambda: after_rolls(12, 10, (0, 1, 2)),
        ),
        Figure(
            "first_passages",
            "Figure 2: the boundary region, where fewer dice are thrown. The source draws some "
            "ways into it; ours shows the chance of each point at which 12 against 10 first "
            "reaches it.",
            lambda: first_passages(12, 10),
        ),
    ),
)
