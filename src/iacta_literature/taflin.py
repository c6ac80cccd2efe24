"""Taflin, "The Probability Distribution of Risk Battles": armies with their garrison of one."""

from collections.abc import Callable
from fractions import Fraction
from functools import cache

from iacta.battle.battle import Battle
from iacta.distribution import Probability
from iacta.methods import path_tree
from iacta.methods.outcome import Outcome
from iacta.rules.roll import Roll, break_even_ratio
from iacta_literature import as_printed, taflin_2001, taflin_strips
from iacta_literature.data import Row
from iacta_literature.rolls import roll_chance
from iacta_literature.tables import Source, Table
from iacta_literature.taflin_strips import Point, RollChances
from iacta_literature.verdict import Number

__all__ = ["SOURCE"]

START = Point(12, 10)


@cache
def _chances() -> RollChances:
    return taflin_strips.roll_chances("classic")


def _expected_losses(row: Row) -> Fraction:
    attackers, defenders = Roll(int(row["attack_dice"]), int(row["defence_dice"])).expected_losses()
    return attackers if row["side"] == "attackers" else defenders


def _ways(row: Row) -> str:
    """Return the good and the bad rolls that go with so many neutral ones."""
    found = taflin_2001.ways(int(row["advantage"]), int(row["rolls"]))
    path = next(path for path in found if path.neutral == int(row["neutral"]))
    return f"{path.good} and {path.bad}"


def _chain(row: Row) -> Fraction:
    battle = Battle(int(row["m"]), int(row["n"]))
    return Fraction(battle.win_probability(exact=True, method="counting"))


def _equation(row: Row) -> Number:
    """Return the chance that an equation gives for a point."""
    return EQUATIONS[row["equation"]](Point(int(row["m"]), int(row["n"])), _chances())


def _from_substitution(point: Point, f: RollChances) -> Number:
    """Return Q_b(3, n) from the y_n that eq. (12) puts in its place, with its square root."""
    power: float = float(f.f22[0]) ** (point.n / 2)
    return taflin_strips.substituted_sum(point.n, f) * power


def _from_motion(point: Point, f: RollChances) -> Number:
    n = point.n
    before = taflin_strips.strip_win(Point(3, n - 2), f)
    return taflin_strips.three_against_motion(taflin_strips.two_against(n - 1, f), before, f)


def _from_strip(point: Point, f: RollChances) -> Number:
    before = taflin_strips.strip_win(Point(3, point.n - 2), f)
    return taflin_strips.three_against_step(before, point.n, f)


def _from_step(point: Point, f: RollChances) -> Number:
    """Return Q_b(3, n) from the y_n to which eq. (11) steps."""
    n = point.n
    before = taflin_strips.substituted(taflin_strips.strip_win(Point(3, n - 2), f), n - 2, f)
    y = taflin_strips.substituted_step(before, n, taflin_strips.substitution(f))
    power: float = float(f.f22[0]) ** (n / 2)
    return y * power


def _from_definition(point: Point, f: RollChances) -> Number:
    """Return Q_b(3, n) retrieved from the y_n that eq. (12) makes of eq. (14)."""
    y = taflin_strips.substituted(taflin_strips.three_against(point.n, f), point.n, f)
    power: float = float(f.f22[0]) ** (point.n / 2)
    return y * power


EQUATIONS: dict[str, Callable[[Point, RollChances], Number]] = {
    "(6)": lambda _, f: taflin_strips.two_against_one(f),
    "(7)": lambda point, f: taflin_strips.against_one(point.m, f),
    "(8)": lambda point, f: taflin_strips.two_against(point.n, f),
    "(9)": _from_motion,
    "(10)": _from_strip,
    "(11)": _from_step,
    "(12)": _from_definition,
    "(13)": _from_substitution,
    "(14)": lambda point, f: taflin_strips.three_against(point.n, f),
    "(17)": taflin_2001.win,
}


def _free(row: Row) -> tuple[Point, int]:
    return Point(int(row["m"]), int(row["n"])), int(row["rolls"])


def _by_motion(row: Row) -> Number:
    """Return what eq. (1), taken roll by roll, gives for a point."""
    point, rolls = _free(row)
    chances: dict[Point, Probability] = {START: Fraction(1)}
    for _ in range(rolls):
        chances = taflin_2001.equation_of_motion(chances, _chances())
    return chances[point]


def _by_relative_motion(row: Row) -> Number:
    """Return what eq. (2), taken roll by roll, gives for the difference at a point."""
    point, rolls = _free(row)
    chances: dict[int, Probability] = {START.m - START.n: Fraction(1)}
    for _ in range(rolls):
        chances = taflin_2001.relative_motion(chances, _chances())
    return chances[point.m - point.n]


def _path(row: Row) -> taflin_2001.Ways:
    """Return the path to a point with the most neutral rolls."""
    point, rolls = _free(row)
    return next(taflin_2001.ways(point.m - point.n - (START.m - START.n), rolls))


def _by_counting(row: Row) -> Number:
    point, rolls = _free(row)
    return taflin_2001.free_space(START, point, rolls, _chances())


FREE_EQUATIONS: dict[str, Callable[[Row], Number]] = {
    "(1)": _by_motion,
    "(2)": _by_relative_motion,
    "(4)": lambda row: taflin_2001.path_chance(_path(row), _chances()),
    "(5)": _by_counting,
}


@cache
def _visits() -> dict[Outcome, Fraction]:
    """Return the chance that the chain comes by each state, summed over its branches."""
    return {node.state: node.probability for node in path_tree.nodes(path_tree.tree(*START))}


def _walked(path: taflin_2001.Ways) -> Fraction:
    """Return the chance of one path in the chain, branch by branch."""
    node, chance = path_tree.tree(*START), Fraction(1)
    for lost, rolls in enumerate((path.good, path.neutral, path.bad)):
        for _ in range(rolls):
            branch = next(each for each in node.branches if each.losses.attackers == lost)
            node, chance = branch.node, chance * branch.probability
    return chance


def _in_free_space(row: Row) -> Fraction:
    """Return what the chain gives: the chance of a point, or for eq. (4) of one path to it."""
    if row["equation"] == "(4)":
        return _walked(_path(row))
    return _visits()[Outcome(int(row["m"]), int(row["n"]))]


def _points(rolls: int) -> int:
    """Return at how many points a battle can be after so many rolls with all dice."""
    most = sum(START) - 2 * rolls
    return sum(sum(state) == most for state in _visits())


def _first_passage() -> Fraction:
    return Fraction(sum(taflin_2001.first_passage(START, _chances()).values()))


def _free_space(rolls: int) -> Fraction:
    """Return the sum of equation (5), mended, over all points after so many rolls."""
    start = Point(50, 50)
    points = [Point(50 - i, 50 - 2 * rolls + i) for i in range(2 * rolls + 1)]
    chances = (taflin_2001.free_space(start, point, rolls, _chances()) for point in points)
    return Fraction(sum(chances))


def _advantage_of_a_full_roll() -> Fraction:
    ratio = break_even_ratio("classic")
    return 1 - ratio if ratio is not None else Fraction(0)


VALUES: dict[str, Callable[[], Number]] = {
    "places after one roll": lambda: _points(1),
    "places after two rolls": lambda: _points(2),
    "attackers lost more slowly than defenders in a roll of all dice": _advantage_of_a_full_roll,
    "chances of first reaching the boundary from (12, 10), by (15)-(16) as printed": lambda: sum(
        as_printed.first_passage(START, _chances()).values(), Fraction(0)
    ),
    "chances of first reaching the boundary from (12, 10)": _first_passage,
    "chance to win at (12, 10), by (15)-(17) as printed": lambda: as_printed.win(START, _chances()),
    "chance to win at (12, 10)": lambda: Fraction(taflin_2001.win(START, _chances())),
    "chances of all points after 4 rolls, by (5) as printed": lambda: as_printed.free_space_mass(
        4, _chances()
    ),
    "chances of all points after 4 rolls": lambda: _free_space(4),
}

SOURCE = Source(
    "taflin",
    "Daniel C. Taflin, “The Probability Distribution of Risk Battles” (2001)",
    (
        Table(
            "taflin_roll_losses",
            "Table 1: armies that a roll costs",
            "{attack_dice} dice against {defence_dice}: {attackers_lost} attackers and "
            "{defenders_lost} defenders",
            roll_chance,
        ),
        Table(
            "taflin_expected_losses",
            "Table 1: expected losses of a roll",
            "{attack_dice} dice against {defence_dice}: {side}",
            _expected_losses,
        ),
        Table(
            "taflin_ways",
            "Equation (3): good and bad rolls",
            "L = {advantage}, s = {rolls}, {neutral} neutral",
            _ways,
        ),
        Table(
            "taflin_equations",
            "The equations, and the chain that they solve",
            "equation {equation} at ({m}, {n})",
            _chain,
            _equation,
        ),
        Table(
            "taflin_free_space",
            "The equations of the free space, and the chain",
            "equation {equation} at ({m}, {n}) after {rolls} rolls from (12, 10)",
            _in_free_space,
            lambda row: FREE_EQUATIONS[row["equation"]](row),
        ),
        Table("taflin_values", "Single values", "{quantity}", lambda r: VALUES[r["quantity"]]()),
    ),
)
