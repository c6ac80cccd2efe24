"""Markov: a battle as a Markov chain in which armies may grow; see also `iacta.Chain`.

Let (a, d) be the state with a attackers (garrison excluded) and d defenders. A roll that compares m
pairs of dice leads from (a, d) to (a − m + k, d − k) with the probability p_k that the defenders
lose k armies. If armies can grow, it may also lead to (a + g, d + g). States with a = 0 or d = 0
are absorbing, all others are transient. With the transient states first, the transition matrix has
the canonical form

    P = [[Q, R], [0, I]]

and (P^n)_ij is the probability of being in state j after n rolls from state i. The absorption
probabilities and the expected number of rolls to the end are

    F = Σ_{n≥0} Q^n R = (I − Q)⁻¹ R,      t = Σ_{n≥0} Q^n 1 = (I − Q)⁻¹ 1.

The backward pass solves x = (I − Q)⁻¹ R v for a value function v and all starts at once. The
forward pass computes y R, where s is the distribution of the start and y = s + y Q are the expected
numbers of visits.

Order. The transient states are sorted by defenders, then by attackers. Losses lead only to earlier
states and form a strictly lower triangular matrix L. Substitution solves (I − L) x = b by
x_i = b_i + Σ_j L_ij x_j, which never subtracts. Gains lead to later states and form a matrix G, so
Q = L + G. Then the program iterates x = (I − L)⁻¹ (b + G x) from x = 0. The n-th x includes the
battles with fewer than n gains, so it increases towards the solution.

Error, if armies cannot grow. Substitution only adds and multiplies non-negative numbers. The
relative error therefore grows by at most u = 2⁻⁵³ for each rounding between a state and the end.
`Markov.error` counts the roundings. (Probabilities below 1e-150 may lose digits, or become 0.)

Error, if armies can grow. There are infinitely many states. The chain contains the states up to
(a + h, d + h), and one absorbing state for all others. Let W be the chance to win without leaving
these states, and B the chance to leave them. Then the chance to win V satisfies W ≤ V ≤ W + B. The
program doubles the room h until B is small enough.

The residual r = R v − (I − Q) x bounds the rounding error of a computed x, because
(I − Q)⁻¹ = I + Q + Q² + ... has no negative entry, and its rows sum to the expected rolls t:

    |x − (I − Q)⁻¹ R v| = |(I − Q)⁻¹ r| ≤ max|r| · max t.

A computed t with |1 − (I − Q) t| ≤ ρ < 1 is at least (1 − ρ) times the true t, so the true t is at
most t / (1 − ρ). A bound on its own rounding error is added to each residual. For the distribution
of the outcome the residual is r = s − y (I − Q), and the errors of all probabilities sum to at most
Σ|r|, because the rows of (I − Q)⁻¹ R sum to 1.

Sources: Höhle (2025), the repeated battle and appendix 3; Osborne,
"Markov Chains for the RISK Board Game Revisited" (Mathematics Magazine 76, 2003);
Grinstead and Snell, "Introduction to Probability" (1997), section 11.2. The rule that makes the
chain infinite is from Norvig, "The Unfinished Game ... of Risk" (2020), which leaves it to
simulation.
"""

from collections.abc import Iterator
from importlib import import_module
from itertools import product
from math import inf, log, sqrt
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from iacta.inputs.errors import TooLargeError, missing_error
from iacta.methods.counting import Ends, UnitKernel
from iacta.methods.kernel import (
    OUTCOME_BYTES,
    UNIT_ROUNDOFF,
    Chances,
    Error,
    Floats,
    RollKernel,
    State,
    Values,
    list_roll_results,
    read_battle,
)
from iacta.probability.distribution import Distribution
from iacta.rules.modes import ArmiesGrow, TrueRandom
from iacta.rules.roll import compute_gain
from iacta.rules.rules import Rules

Whole: TypeAlias = npt.NDArray[np.int64]
Moves: TypeAlias = Iterator[tuple[Whole, Whole, float]]

MARKOV = "markov"
MAX_ERROR = 1e-12  # maximum absolute error of results if armies can grow
FIRST_ROOM = 4  # first value of the room h, in gains
MAX_GROWN_STATES = 10**6  # takes a few hundred megabytes
MAX_ITERATIONS = 1000
MAX_DENSE = 500  # maximum number of states for a dense matrix, without importing SciPy
MOVE_BYTES = 120


class BattleChains(NamedTuple):
    """The Markov chain of all battles up to a size.

    able, defenders: the largest numbers of attackers (garrison excluded) and of defenders.
    rules: the rules of the battles.
    matrix: P, the transition matrix.
    """

    able: int
    defenders: int
    rules: Rules
    matrix: Any

    @property
    def ends(self) -> list[State | None]:
        """The final states: victories by attackers left, then defeats by defenders left.

        If armies can grow, a last entry `None` stands for all states outside the chain.
        """
        won = [State(a, 0) for a in range(1, self.able + 1)]
        lost = [State(0, d) for d in range(1, self.defenders + 1)]
        return [*won, *lost, *([None] if compute_gain(self.rules) else [])]

    def blocks(self) -> tuple[Any, Any]:
        transient = self.able * self.defenders
        return self.matrix[:transient, :transient], self.matrix[:transient, transient:]

    def row(self, able: int, defenders: int) -> int:
        """Return the row of the transient state with these numbers of armies."""
        return (defenders - 1) * self.able + able - 1


def build_transition_matrix(able: int, defenders: int, rules: Rules) -> Any:
    """Return P as a sparse matrix. If armies can grow, the last state stands for larger armies."""
    count, entries, chances = _list_entries(able, defenders, rules)
    return load_scipy("scipy.sparse").csr_array((chances, entries), shape=(count, count))


def _list_entries(
    able: int, defenders: int, rules: Rules
) -> tuple[int, tuple[Whole, Whole], Floats]:
    transient = able * defenders
    count = transient + able + defenders + (compute_gain(rules) > 0)
    over = np.arange(transient, count)
    moves = [*_list_moves(able, defenders, rules), (over, over, 1.0)]
    rows = np.concatenate([source for source, _, _ in moves])
    columns = np.concatenate([target for _, target, _ in moves])
    chances = np.concatenate([np.full(len(source), chance) for source, _, chance in moves])
    return count, (rows, columns), chances


def _list_moves(able: int, defenders: int, rules: Rules) -> Moves:
    """For each result of each roll, yield the states before and after it, and its chance."""
    numbers = _number_states(able, defenders, compute_gain(rules))
    most_attack, most_defence = rules.full_roll
    attack_dice, defence_dice = min(able, most_attack), min(defenders, most_defence)
    for i, j in product(range(1, attack_dice + 1), range(1, defence_dice + 1)):
        a = np.arange(i, (able if i == most_attack else i) + 1)[:, np.newaxis]
        d = np.arange(j, (defenders if j == most_defence else j) + 1)
        source = numbers[a, d].ravel()
        for chance, attackers, killed in list_roll_results(i, j, rules):
            yield source, numbers[a - attackers, d - killed].ravel(), chance


def _number_states(able: int, defenders: int, gain: int) -> Whole:
    """Return a table `[a, d]` with the index of each state; outside the chain, the last index."""
    transient = able * defenders
    last = transient + able + defenders
    numbers = np.full((able + gain + 1, defenders + gain + 1), last)
    numbers[1 : able + 1, 1 : defenders + 1] = np.arange(transient).reshape(defenders, able).T
    numbers[1 : able + 1, 0] = np.arange(transient, transient + able)
    numbers[0, 1 : defenders + 1] = np.arange(transient + able, last)
    return numbers


def solve(transient: Any, right: Floats, *, transposed: bool = False) -> Floats:
    """Return the solution x of (I − Q) x = b, or of (I − Q)ᵀ x = b.

    transient: the matrix Q, sparse or dense.
    right: b, without negative entries: a vector, or a matrix with one vector per column.
    transposed: whether to transpose Q first.

    A sparse Q without gains takes one substitution. With gains, substitution is repeated until x no
    longer increases, at most 1000 times. The caller must bound the error of x.
    """
    if not transient.shape[0]:
        return right.copy()
    if isinstance(transient, np.ndarray):
        system = np.eye(len(transient)) - transient
        return np.asarray(np.linalg.solve(system.T if transposed else system, right)).clip(min=0)
    sparse, linalg = load_scipy("scipy.sparse"), load_scipy("scipy.sparse.linalg")
    losses, gains = sparse.tril(transient), sparse.csr_array(sparse.triu(transient))
    system = sparse.csr_array(sparse.identity(transient.shape[0]) - losses)
    if transposed:
        system, gains = sparse.csr_array(system.T), sparse.csr_array(gains.T)

    def substitute(known: Floats) -> Floats:
        """Return x with (I − L) x = `known` by substitution."""
        solved: Floats = linalg.spsolve_triangular(
            system, known, lower=not transposed, unit_diagonal=True
        )
        return solved

    solution = substitute(right)
    for _ in range(MAX_ITERATIONS if gains.nnz else 0):
        before, solution = solution, substitute(right + gains @ solution)
        if np.all(solution - before <= UNIT_ROUNDOFF * solution):
            break
    return solution


def load_scipy(part: str) -> Any:
    """Import a module of SciPy when it is first needed.

    part: the name of the module, such as `"scipy.sparse"`.

    Raises `IactaError` if SciPy is not installed.
    """
    try:
        return import_module(part)
    except ImportError:
        raise missing_error(
            f"the method {MARKOV!r} needs SciPy, which is not installed", "methods"
        ) from None


class _Solution(NamedTuple):
    """A chain, with the chance to win and the chance to leave the chain for every transient state.

    beyond: bounds on the chances to leave the chain, rounding included; 0 if armies cannot grow.
    error: a bound on the absolute rounding error of the entries of `won`; 0 if armies cannot grow,
        because the bound is then relative.
    """

    chain: BattleChains
    won: Floats
    beyond: Floats
    error: float


class Markov(UnitKernel, RollKernel):
    """A kernel in floats that solves a Markov chain; armies may grow.

    >>> from iacta.rules.rules import CLASSIC
    >>> round(Markov(CLASSIC).win_probability(2, 1), 6)
    0.754244
    """

    name = MARKOV
    quick_states = 250_000
    modes = (TrueRandom, ArmiesGrow)
    is_vectorised = True

    @property
    def gain(self) -> int:
        """The number of armies that each side may gain in a roll; 0 if armies cannot grow."""
        return compute_gain(self.rules)

    def refuse(self, attackers: int, defenders: int) -> None:
        """Raise `IactaError` if the chain is too large, or SciPy is needed and missing."""
        room = FIRST_ROOM * self.gain
        states = (max(attackers, 0) + room + 1) * (defenders + room + 1)
        memory = MOVE_BYTES * (self._compute_most_lost(attackers, defenders) + 2) * states
        self.refuse_too_large(attackers, defenders, memory=memory)
        if self.gain and states > MAX_GROWN_STATES:
            raise TooLargeError(
                f"a battle of {attackers + self.garrison} against {defenders} whose armies can "
                f"grow has {states:.0e} states for the method {MARKOV!r}, expected at most "
                f"{MAX_GROWN_STATES:.0e}"
            )
        if states > MAX_DENSE:
            load_scipy("scipy.sparse")

    def error(self, attackers: int, defenders: int) -> Error:
        """Return a relative bound from the number of roundings, or 1e-12 (absolute) with growth.

        A battle has at most attackers + defenders rolls. A roll has two roundings, in its
        probability and its product, and a rounding for each term that is added to a state, at most
        the number of states from which a roll leads there. If armies can grow, the errors of all
        probabilities of a distribution sum to at most 1e-12.
        """
        if self.gain:
            return Error(0.0, MAX_ERROR)
        most = self._compute_most_lost(attackers, defenders)
        roundings = (attackers + defenders) * (2 + (most + 1) * (most + 2) // 2)
        # A campaign adds at most eight roundings between two battles.
        return Error((roundings + 8) * UNIT_ROUNDOFF * 1.001)  # (1 + u)^n − 1 < 1.001 n u

    def _compute_most_lost(self, attackers: int, defenders: int) -> int:
        return min(max(attackers, 0), defenders, *self.rules.full_roll)

    def most_left(self, attackers: int, defenders: int) -> State:
        """Return the largest state in the chain, which battles rarely leave."""
        if not self.gain or attackers <= 0 or not defenders:
            return State(attackers, defenders)
        grown = self._solve(attackers, defenders).chain
        return State(grown.able, grown.defenders)

    def ends(self, able: dict[int, float], defenders: int) -> Ends:
        """Return the final states as `UnitKernel.ends` does.

        If armies can grow, battles that leave the chain are missing, so the probabilities sum to
        slightly less than 1.
        """
        most = max(able)
        self.refuse_too_large(most, defenders, memory=(most + defenders) * OUTCOME_BYTES)
        self.refuse(most, defenders)
        whole = (
            self._solve(most, defenders).chain if self.gain else self._build_chain(most, defenders)
        )
        transient, absorbing = whole.blocks()
        start = np.zeros(transient.shape[0])
        for attackers, probability in able.items():
            start[whole.row(attackers, defenders)] = probability
        visits = solve(transient, start, transposed=True)
        ends = dict(zip(whole.ends, (visits @ absorbing).tolist(), strict=True))
        if self.gain:
            rounding = _bound_distribution_error(transient, start, visits, self.rules)
            self._refuse_error(most, defenders, 1.01 * ends[None] + rounding)
        return 1, ((end, probability, 0) for end, probability in ends.items() if end is not None)

    def _build_chain(self, attackers: int, defenders: int, room: int = 0) -> BattleChains:
        size = attackers + room, defenders + room
        if size[0] * size[1] > MAX_DENSE:
            return BattleChains(*size, self.rules, build_transition_matrix(*size, self.rules))
        count, entries, chances = _list_entries(*size, self.rules)
        matrix = np.zeros((count, count))
        np.add.at(matrix, entries, chances)
        return BattleChains(*size, self.rules, matrix)

    def run_backward(self, values: Values) -> Iterator[Floats]:
        """For 1, 2 ... defenders, yield a row of expected values by number of attackers.

        If armies can grow, the value function needs entries up to `most_left`. The value is NaN for
        battles that leave this range with a chance of more than 1e-12.
        """
        won, lost = (np.asarray(each, dtype=float) for each in (values.won, values.lost))
        most, defenders = len(won) - 1, len(lost) - 1
        rows = np.repeat(lost[1:, np.newaxis], len(won), axis=1)
        if most and defenders:
            self.refuse(most, defenders)
            transient, absorbing = self._build_chain(most, defenders).blocks()
            beyond = np.zeros((1 if self.gain else 0, *won.shape[1:]))
            ends = np.concatenate([won[1:], lost[1:], beyond])
            found = solve(transient, absorbing @ ends)
            if self.gain:
                grown = solve(transient, absorbing @ np.eye(len(ends))[-1])
                found[grown > MAX_ERROR] = np.nan
            rows[:, 1:] = found.reshape(defenders, most, *won.shape[1:])
        yield from rows

    def win_probability(self, attackers: int, defenders: int) -> float:
        if attackers <= 0 or not defenders:
            return float(not defenders)
        self.refuse(attackers, defenders)
        solved = self._solve(attackers, defenders)
        return float(solved.won[solved.chain.row(attackers, defenders)])

    def chances(self, attackers: int, defenders: int, min_survivors: int = 0) -> Chances:
        if not self.gain or attackers <= 0 or not defenders:
            return super().chances(attackers, defenders, min_survivors)
        won = self.win_probability(attackers, defenders)
        if min_survivors > 1:
            ends = self.run_forward(Distribution([attackers]), defenders).items()
            won = float(
                sum(p for end, p in ends if not end.defenders and end.attackers >= min_survivors)
            )
        return Chances(won, 1 - won)

    def win_table(self, attackers: int, defenders: int, staying: int = 0) -> Floats:
        """Return the chances to win for all battles up to a size, by solving one chain."""
        self.refuse(attackers, defenders)
        table = np.zeros((staying + attackers, defenders))
        if attackers and defenders:
            solved = self._solve(attackers, defenders)
            by_state = solved.won.reshape(solved.chain.defenders, solved.chain.able)
            table[staying:] = by_state[:defenders, :attackers].T
        return table

    def _solve(self, attackers: int, defenders: int) -> "_Solution":
        if self.gain:
            return self._solve_with_room(attackers, defenders)
        whole = self._build_chain(attackers, defenders)
        transient, absorbing = whole.blocks()
        won = solve(transient, absorbing @ _is_won(whole))
        return _Solution(whole, np.minimum(won, 1.0), np.zeros(len(won)), 0.0)

    def _solve_with_room(self, attackers: int, defenders: int) -> "_Solution":
        """Solve ever larger chains until battles almost never grow beyond the chain."""
        room = FIRST_ROOM * self.gain
        while True:
            solved = _solve_with_bound(self._build_chain(attackers, defenders, room))
            self._refuse_error(attackers, defenders, solved.error)
            by_state = solved.beyond.reshape(solved.chain.defenders, solved.chain.able)
            left_out = float(by_state[:defenders, : solved.chain.able - room].max())
            if left_out + solved.error <= MAX_ERROR:
                return solved
            self._refuse_growth(solved.chain, room, left_out)
            room *= 2

    def _refuse_error(self, attackers: int, defenders: int, error: float) -> None:
        if not error <= MAX_ERROR:
            raise TooLargeError(
                f"a battle of {attackers + self.garrison} against {defenders} is too large for "
                f"the method {MARKOV!r}: its error may be {error:.1e}, expected at most "
                f"{MAX_ERROR:.0e}"
            )

    def _refuse_growth(self, whole: BattleChains, room: int, left_out: float) -> None:
        """Raise `TooLargeError` early if the armies would need too much room to grow.

        The forecast assumes that the chance to leave the chain falls like exp(−c · room²). This is
        optimistic: it is true of a walk without drift, but with a drift the chance eventually falls
        only like exp(−c · room).
        """
        further = sqrt(log(MAX_ERROR) / log(left_out)) if left_out < 1 else inf
        needed = max(2.0, further) * room
        able, defenders = whole.able - room + needed, whole.defenders - room + needed
        if able * defenders > MAX_GROWN_STATES:
            raise TooLargeError(
                f"a battle of {whole.able - room + self.garrison} against "
                f"{whole.defenders - room} is too large for the method {MARKOV!r}: its armies grow "
                f"past {whole.able + self.garrison} against {whole.defenders} with a chance of up "
                f"to {left_out:.1e}, expected at most {MAX_ERROR:.0e}"
            )


def _solve_with_bound(whole: BattleChains) -> _Solution:
    """Solve a chain in which armies can grow, and bound the rounding error."""
    transient, absorbed = whole.blocks()
    is_won = _is_won(whole)
    is_beyond = np.zeros(len(is_won))
    is_beyond[-1] = 1.0
    ones = np.ones(transient.shape[0])
    right = np.column_stack([absorbed @ is_won, absorbed @ is_beyond, ones])
    solution = solve(transient, right)
    residuals = _bound_residuals(transient, right, solution, terms=min(whole.rules.full_roll) + 2)
    in_won, in_beyond, in_rolls = residuals.max(axis=0).tolist()
    most_rolls = float(solution[:, 2].max()) / (1 - in_rolls) if in_rolls < 1 else inf
    won = np.minimum(solution[:, 0], 1.0)
    beyond = np.minimum(solution[:, 1] + in_beyond * most_rolls, 1.0)
    return _Solution(whole, won, beyond, in_won * most_rolls)


def _is_won(whole: BattleChains) -> Floats:
    """Return an array over the final states: 1 for victories and 0 for all others."""
    is_won = np.zeros(whole.matrix.shape[0] - whole.able * whole.defenders)
    is_won[: whole.able] = 1.0
    return is_won


def _bound_residuals(transient: Any, right: Floats, solution: Floats, terms: int) -> Floats:
    """Return bounds on |b − (I − Q) x| for the exact b and Q.

    transient, right, solution: the rounded Q and b, and x.
    terms: the largest number of terms in a row of Q.

    In the computed residual, b and Q x have a rounding for each term and for each chance. The
    difference b − x has another rounding, of at most u (|residual| + Q x).
    """
    carried = transient @ solution
    hidden = (terms + 2) * UNIT_ROUNDOFF * (right + carried)
    return 1.01 * np.asarray(np.abs(right - solution + carried) + hidden)


def _bound_distribution_error(transient: Any, start: Floats, visits: Floats, rules: Rules) -> float:
    """Bound the sum of the rounding errors of all probabilities in a distribution."""
    carried = visits @ transient
    residual = np.abs(start - visits + carried).sum()
    roundings = min(rules.full_roll) ** 2 + 6  # (m + 1)(m + 2) / 2 + 1 terms, and three more
    hidden = roundings * UNIT_ROUNDOFF * (1 + (start + carried).sum())
    return float(residual + hidden) * 1.01


class BoundedProbability(NamedTuple):
    """A chance with a proven error bound.

    probability: the chance.
    error: a proven bound on the absolute error, at most 1e-12.
    """

    probability: float
    error: float


def bound_win_probability(
    attackers: int, defenders: int, rules: Rules | str = "classic"
) -> BoundedProbability:
    """Return the chance that the attackers conquer the territory, with a proven error bound.

    attackers: armies on the attacking territory, garrison included.
    defenders: armies on the defended territory.
    rules: `Rules`, or the name of a rule set; armies may grow.

    The bound is absolute and at most 1e-12. It includes all rounding and the truncation of an
    infinite chain. If it cannot be reached, `IactaError` is raised.

    >>> from iacta.rules.variants import find_rules
    >>> chance, error = bound_win_probability(12, 10, find_rules("five ones"))
    >>> round(chance, 10), error <= 1e-12
    (0.6540175482, True)
    """
    attackers, defenders, rules = read_battle(attackers, defenders, rules, fewest=0)
    kernel, able = Markov(rules), attackers - rules.garrison
    if able <= 0 or not defenders:
        return BoundedProbability(0.0 if defenders else 1.0, 0.0)
    kernel.refuse(able, defenders)
    solved = kernel._solve(able, defenders)
    row = solved.chain.row(able, defenders)
    won, beyond = float(solved.won[row]), float(solved.beyond[row])
    if kernel.gain:
        return BoundedProbability(won, beyond + solved.error)
    error = won * kernel.error(able, defenders).relative * 1.001
    kernel._refuse_error(able, defenders, error)
    return BoundedProbability(won, error)
