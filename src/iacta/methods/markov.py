"""Markov: float64 odds from the Markov chain of a battle, whose armies may even grow.

With the canonical form of the chain (see `iacta.methods.chain`), let w be the vector that is 1 in
the absorbing states that are won. The chance to win from each transient state is

    x = (I − Q)⁻¹ R w,

all starts in one solve, and the law of the outcome from the law s of the start is y R with

    y = s + y Q,

where y counts the mean visits to each transient state.

Error, where armies cannot grow. Both are solved by substitution: sums and products of numbers that
are not negative. So errors are relative and merely add up, at most u = 2⁻⁵³ for each rounding on
the way from a state to the end. `relative_error` counts them. (Probabilities below 1e-150 may lose
digits, or become 0.)

Error, where armies can grow. The chain has the states up to (a + g, d + g), and `BEYOND`. Let W be
the chance to win before the battle leaves these states, and B the chance that it leaves them. A
battle that is won is won without leaving them or after it, so the chance to win P lies between:
W ≤ P ≤ W + B. The room g is doubled until B is small enough.

What rounding does to a computed x is read off its residual r = R w − (I − Q) x, because
(I − Q)⁻¹ = I + Q + Q² + ... has no negative entry, and its rows sum to the mean numbers of rolls t:

    |x − (I − Q)⁻¹ R w| = |(I − Q)⁻¹ r| ≤ max|r| · max t.

A computed t with |1 − (I − Q) t| ≤ ρ < 1 is at least (1 − ρ) times the true one, so the true one
is at most t / (1 − ρ). To each residual is added what rounding may have hidden in it. For the law
of the outcome, whose residual is r = s − y (I − Q), the errors of all probabilities together are
at most Σ|r|, because the rows of (I − Q)⁻¹ R sum to 1.

Sources: Höhle (2025), appendix 3; Osborne (2003); Grinstead and Snell
(1997), section 11.2. The rule that makes the chain infinite is Norvig's, "The Unfinished Game ...
of Risk" (2020), who leaves it to simulation.
"""

from math import inf, log, sqrt
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from iacta.distribution import Distribution
from iacta.errors import TooLargeError
from iacta.methods.chain import BEYOND, NAME, Chain, build_chain, load_scipy, solve_transient
from iacta.methods.limits import (
    OUTCOME_BYTES,
    read_battle,
    refuse_dice_mode,
    refuse_too_large,
)
from iacta.methods.outcome import Outcome
from iacta.rules.rules import Rules

__all__ = [
    "NAME",
    "BoundedProbability",
    "chain",
    "outcomes",
    "refuse",
    "relative_error",
    "win_probability",
    "win_probability_bounded",
    "win_table",
]

Floats: TypeAlias = npt.NDArray[np.float64]

UNIT_ROUNDOFF = 2.0**-53
MOST_ERROR = 1e-12
FIRST_ROOM = 4  # gains
MOST_GROWN_STATES = 10**6
MOVE_BYTES = 120


class BoundedProbability(NamedTuple):
    """A chance with the proof of how near it is.

    probability: the chance.
    error: a proven bound on its absolute error, at most 1e-12.
    """

    probability: float
    error: float


class _Solved(NamedTuple):
    """A chain, with the chances to win it and to leave it, for every transient state.

    beyond: a bound on the chance to leave it, rounding included; 0 where armies cannot grow.
    error: a bound on what rounding does to an entry of `won`, in absolute terms; 0 where armies
        cannot grow, because `relative_error` is the bound then.
    """

    chain: Chain
    won: Floats
    beyond: Floats
    error: float


def chain(attackers: int, defenders: int, rules: Rules | str = "classic") -> Chain:
    """Return the Markov chain of a battle, with its labelled states and its matrix.

    attackers: armies on the attacking territory, garrison included, at least 1.
    defenders: armies on the defended territory, at least 1.
    rules: the rules of the battle.

    Where armies can grow, the chain has so many states that the chance to leave them for `BEYOND`,
    from any start of at most these sizes, is at most 1e-12. A battle that is too large is refused.

    >>> from iacta.rules.rules import CLASSIC
    >>> ten = chain(11, 10, CLASSIC)
    >>> ten.start, len(ten.states), ten.matrix.nnz
    (Outcome(attackers=11, defenders=10), 120, 301)
    >>> law = ten.after(20)
    >>> round(law.prob(lambda state: state.defenders == 0), 7)
    0.5675929

    Source: Höhle (2025), whose battle of 10 against 10 leaves out the garrison.
    """
    attackers, defenders, rules = read_battle(attackers, defenders, rules)
    refuse(attackers, defenders, rules)
    if rules.all_ones_gain and attackers > rules.garrison:
        return _solved(attackers, defenders, rules).chain
    return build_chain(Outcome(attackers, defenders), 0, rules)


def refuse(attackers: int, defenders: int, rules: Rules) -> None:
    """Refuse a battle that is too large for this method, or if SciPy is not installed.

    attackers: armies on the attacking territory, garrison included.
    defenders: armies on the defended territory.
    rules: the rules of the battle.
    """
    refuse_dice_mode(rules, NAME)
    room = FIRST_ROOM * rules.all_ones_gain
    able, most = max(attackers - rules.garrison, 0) + room, _most_lost(attackers, defenders, rules)
    states = (able + 1) * (defenders + room + 1)
    memory = MOVE_BYTES * (most + 2) * states
    refuse_too_large(attackers, defenders, memory=memory, method=NAME)
    if rules.all_ones_gain and states > MOST_GROWN_STATES:
        raise TooLargeError(
            f"a battle of {attackers} against {defenders} whose armies can grow has {states:.0e} "
            f"states for the method {NAME!r}, expected at most {MOST_GROWN_STATES:.0e}"
        )
    load_scipy("scipy.sparse")


def relative_error(attackers: int, defenders: int, rules: Rules) -> float:
    """Return a bound on the relative error of the answers, absolute where armies can grow.

    attackers: armies on the attacking territory, garrison included or not: the bound holds.
    defenders: armies on the defended territory.
    rules: the rules of the battle.

    Where armies can grow, it is 1e-12: the absolute error of a chance to win, and the sum of those
    of a law. Else a battle has at most attackers + defenders rolls. A roll costs two roundings, in
    its chance and its product, and one for each term that is added to a state: no more than there
    are states from which a roll leads there.

    >>> from iacta.rules.rules import CLASSIC
    >>> relative_error(100, 100, CLASSIC) < 1e-12
    True
    """
    if rules.all_ones_gain:
        return MOST_ERROR
    most = _most_lost(attackers, defenders, rules)
    roundings = (attackers + defenders) * (2 + (most + 1) * (most + 2) // 2)
    # A campaign weighs the law that one battle leaves before the next: eight roundings at most.
    return (roundings + 8) * UNIT_ROUNDOFF * 1.001  # (1 + u)^n − 1 < 1.001 n u while n u < 0.001


def _most_lost(attackers: int, defenders: int, rules: Rules) -> int:
    return min(attackers, defenders, *rules.full_roll)


def win_probability(attackers: int, defenders: int, rules: Rules) -> float:
    """Return the chance that the territory is taken.

    attackers: armies on the attacking territory, garrison included.
    defenders: armies on the defended territory.
    rules: the rules of the battle.

    Its error is at most `relative_error`.

    >>> from iacta.rules.rules import CLASSIC
    >>> round(win_probability(3, 1, CLASSIC), 6)
    0.754244
    """
    if attackers <= rules.garrison or not defenders:
        return 0.0 if defenders else 1.0
    refuse(attackers, defenders, rules)
    solved = _solved(attackers, defenders, rules)
    return float(solved.won[_row(solved.chain, attackers, defenders)])


def win_probability_bounded(
    attackers: int, defenders: int, rules: Rules | str = "classic"
) -> BoundedProbability:
    """Return the chance that the territory is taken, with a proven bound on its error.

    attackers: armies on the attacking territory, garrison included.
    defenders: armies on the defended territory.
    rules: the rules of the battle; armies may grow.

    The bound is absolute and at most 1e-12; it covers what the truncation of an infinite chain
    leaves out, and all rounding. A battle for which this cannot be had is refused.

    >>> from iacta.rules.variants import find_rules
    >>> chance, error = win_probability_bounded(12, 10, find_rules("five ones"))
    >>> round(chance, 10), error <= 1e-12
    (0.6540175482, True)
    """
    attackers, defenders, rules = read_battle(attackers, defenders, rules, fewest=0)
    if attackers <= rules.garrison or not defenders:
        return BoundedProbability(0.0 if defenders else 1.0, 0.0)
    refuse(attackers, defenders, rules)
    solved = _solved(attackers, defenders, rules)
    row = _row(solved.chain, attackers, defenders)
    won, beyond = float(solved.won[row]), float(solved.beyond[row])
    if rules.all_ones_gain:
        return BoundedProbability(won, beyond + solved.error)
    error = won * relative_error(attackers, defenders, rules) * 1.001
    _refuse_error(attackers, defenders, error)
    return BoundedProbability(won, error)


def win_table(attackers: int, defenders: int, rules: Rules) -> Floats:
    """Return the chances to win of all battles up to a size, by one solve.

    attackers: the most armies on the attacking territory, garrison included.
    defenders: the most armies on the defended territory.
    rules: the rules of the battles.

    Entry `[a - 1, d - 1]` is for a attackers against d defenders; its error is at most
    `relative_error` of that battle.

    >>> from iacta.rules.rules import CLASSIC
    >>> win_table(3, 1, CLASSIC).round(6).tolist()
    [[0.0], [0.416667], [0.754244]]
    """
    refuse(attackers, defenders, rules)
    table = np.zeros((attackers, defenders))
    if attackers > rules.garrison and defenders:
        solved = _solved(attackers, defenders, rules)
        by_state = solved.won.reshape(solved.chain.defenders, solved.chain.able)
        table[rules.garrison :] = by_state[:defenders, : attackers - rules.garrison].T
    return table


def outcomes(stack: Distribution[int], defenders: int, rules: Rules) -> Distribution[Outcome]:
    """Return the float law of the outcome of a battle.

    stack: the law of the number of attackers on the territory, garrison included.
    defenders: armies on the defended territory.
    rules: the rules of the battle.

    The relative error of each probability is at most `relative_error` of the largest stack. Where
    armies can grow, the errors of all probabilities together are at most 1e-12 instead: what goes
    on past the chain is in no outcome, so that they sum to so much less than 1.

    >>> from iacta.rules.rules import CLASSIC
    >>> law = outcomes(Distribution([3]), 1, CLASSIC)
    >>> round(law[Outcome(attackers=3, defenders=0)], 6)
    0.578704
    """
    weights = {n: float(probability) for n, probability in stack.items()}
    strongest = max(weights)
    if strongest <= rules.garrison or not defenders:
        return stack.to_float().map(lambda attackers: Outcome(attackers, defenders))
    memory = (strongest + defenders) * OUTCOME_BYTES
    refuse_too_large(strongest, defenders, memory=memory, method=NAME)
    ends = _ends({n: p for n, p in weights.items() if n > rules.garrison}, defenders, rules)
    for n, probability in weights.items():
        if n <= rules.garrison:
            stays = Outcome(n, defenders)
            ends[stays] = ends.get(stays, 0.0) + probability
    return Distribution.from_probabilities(ends)


def _ends(weights: dict[int, float], defenders: int, rules: Rules) -> dict[Outcome, float]:
    """Return the chance of each end, from the weights of attackers who can attack."""
    whole = chain(max(weights), defenders, rules)
    transient, absorbed = whole.blocks()
    start = np.zeros(transient.shape[0])
    for attackers, probability in weights.items():
        start[_row(whole, attackers, defenders)] = probability
    visits = solve_transient(transient, start, transposed=True)
    ends = dict(zip(whole.ends, (visits @ absorbed).tolist(), strict=True))
    if rules.all_ones_gain:
        error = 1.01 * ends.pop(BEYOND) + _law_error(transient, start, visits, rules)
        _refuse_error(max(weights), defenders, error)
    return ends


def _law_error(transient: Any, start: Floats, visits: Floats, rules: Rules) -> float:
    """Bound what rounding does to a law, all probabilities together."""
    carried = visits @ transient
    residual = np.abs(start - visits + carried).sum()
    roundings = min(rules.full_roll) ** 2 + 6  # of at most (m + 1)(m + 2) / 2 + 1 terms, three more
    hidden = roundings * UNIT_ROUNDOFF * (1 + (start + carried).sum())
    return float(residual + hidden) * 1.01


def _row(whole: Chain, attackers: int, defenders: int) -> int:
    return (defenders - 1) * whole.able + attackers - whole.rules.garrison - 1


def _solved(attackers: int, defenders: int, rules: Rules) -> _Solved:
    """Solve the chain of a battle in which the attackers can attack."""
    start = Outcome(attackers, defenders)
    if rules.all_ones_gain:
        return _solved_with_room(start, rules)
    whole = build_chain(start, 0, rules)
    transient, absorbed = whole.blocks()
    won = solve_transient(transient, absorbed @ _is_won(whole))
    return _Solved(whole, np.minimum(won, 1.0), np.zeros(len(won)), 0.0)


def _is_won(whole: Chain) -> Floats:
    """Return w: 1 for the ends that are won, which come first, and 0 for the others."""
    is_won = np.zeros(whole.matrix.shape[0] - whole.able * whole.defenders)
    is_won[: whole.able] = 1.0
    return is_won


def _solved_with_room(start: Outcome, rules: Rules) -> _Solved:
    """Give the armies room to grow, until the chance to need more is small enough."""
    room = FIRST_ROOM * rules.all_ones_gain
    while True:
        solved = _solved_with_bound(build_chain(start, room, rules))
        _refuse_error(*start, solved.error)
        by_state = solved.beyond.reshape(solved.chain.defenders, solved.chain.able)
        left_out = float(by_state[: start.defenders, : solved.chain.able - room].max())
        if left_out + solved.error <= MOST_ERROR:
            return solved
        _refuse_growth(solved.chain, room, left_out)
        room *= 2


def _solved_with_bound(whole: Chain) -> _Solved:
    """Solve a chain whose armies can grow, and bound what rounding does to the solution."""
    transient, absorbed = whole.blocks()
    is_won = _is_won(whole)
    is_beyond = np.zeros(len(is_won))
    is_beyond[-1] = 1.0
    ones = np.ones(transient.shape[0])
    right = np.column_stack([absorbed @ is_won, absorbed @ is_beyond, ones])
    solution = solve_transient(transient, right)
    residuals = _residuals(transient, right, solution, terms=min(whole.rules.full_roll) + 2)
    in_won, in_beyond, in_rolls = residuals.max(axis=0).tolist()
    most_rolls = float(solution[:, 2].max()) / (1 - in_rolls) if in_rolls < 1 else inf
    won = np.minimum(solution[:, 0], 1.0)
    beyond = np.minimum(solution[:, 1] + in_beyond * most_rolls, 1.0)
    return _Solved(whole, won, beyond, in_won * most_rolls)


def _residuals(transient: Any, right: Floats, solution: Floats, terms: int) -> Floats:
    """Bound |b − (I − Q) x| for the exact b and Q, of which each row has at most so many terms.

    Of the computed residual, b and Q x carry a rounding for each term and for each chance, and
    b − x one more, which is at most u (|residual| + Q x).
    """
    carried = transient @ solution
    hidden = (terms + 2) * UNIT_ROUNDOFF * (right + carried)
    return 1.01 * np.asarray(np.abs(right - solution + carried) + hidden)


def _refuse_error(attackers: int, defenders: int, error: float) -> None:
    if not error <= MOST_ERROR:
        raise TooLargeError(
            f"a battle of {attackers} against {defenders} must be smaller for the method "
            f"{NAME!r}: its error may be {error:.1e}, expected at most {MOST_ERROR:.0e}"
        )


def _refuse_growth(whole: Chain, room: int, left_out: float) -> None:
    """Refuse armies that grow too far, as soon as it can be foreseen.

    It is foreseen by letting the chance to need more room fall as exp(−c · room²), which is fast:
    so it does for a walk without drift, and a drift makes it exp(−c · room) in the end.
    """
    further = sqrt(log(MOST_ERROR) / log(left_out)) if left_out < 1 else inf
    needed = max(2.0, further) * room
    able, defenders = whole.able - room + needed, whole.defenders - room + needed
    if able * defenders > MOST_GROWN_STATES:
        raise TooLargeError(
            f"a battle of {whole.start.attackers} against {whole.start.defenders} is too large "
            f"for the method {NAME!r}: with a chance of up to {left_out:.1e} its armies grow past "
            f"{whole.attackers} against {whole.defenders}, expected at most {MOST_ERROR:.0e}"
        )
