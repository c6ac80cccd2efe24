"""Markov: a battle as a Markov chain, with its states and matrix to look at; armies may even grow.

Let (a, d) be the state with a attackers able to attack and d defenders. A roll that compares m
pairs of dice leads from (a, d) to (a − m + k, d − k) with the probability p_k that it costs the
defenders k armies; under rules that let armies grow, it may also lead to (a + g, d + g). States
with a = 0 or d = 0 are absorbing: the battle is over. With the other, transient, states written
first, the transition matrix has the canonical form

    P = | Q  R |
        | 0  I |

and (P^n)_ij is the probability of being in state j after n rolls from state i. From it follow the
absorption probabilities, and the expected number of rolls to the end,

    F = Σ_n Q^n R = (I − Q)⁻¹ R,      t = Σ_n Q^n 1 = (I − Q)⁻¹ 1.

The backward pass solves x = (I − Q)⁻¹ R v for a value function v, all starts at once. The forward
pass is y R from the distribution s of the start, where y = s + y Q counts the expected visits.

Order. The transient states are sorted by their defenders, and those with equally many by their
attackers. Losses lead to earlier states only: they are a strictly lower triangular matrix L, and
(I − L) x = b is solved by substitution, x_i = b_i + Σ_j L_ij x_j, which never subtracts. Gains
lead to later states: Q = L + G. Then x = (I − L)⁻¹ (b + G x) is iterated from x = 0; the n-th x
counts the battles with fewer than n gains, so it rises towards the solution.

Error, where armies cannot grow. Substitution only adds and multiplies numbers that are not
negative. So errors are relative and merely add up, at most u = 2⁻⁵³ for each rounding on the way
from a state to the end. `Markov.error` counts them. (Probabilities below 1e-150 may lose digits, or
become 0.)

Error, where armies can grow. There are infinitely many states. The chain has those up to
(a + g, d + g), and one absorbing state `BEYOND`, for all the others. Let W be the
chance to win before the battle leaves these states, and B the chance that it leaves them. A battle
that is won is won without leaving them or after it, so the chance to win P lies between:
W ≤ P ≤ W + B. The room g is doubled until B is small enough.

What rounding does to a computed x is read off its residual r = R v − (I − Q) x, because
(I − Q)⁻¹ = I + Q + Q² + ... has no negative entry, and its rows sum to the expected rolls t:

    |x − (I − Q)⁻¹ R v| = |(I − Q)⁻¹ r| ≤ max|r| · max t.

A computed t with |1 − (I − Q) t| ≤ ρ < 1 is at least (1 − ρ) times the true one, so the true one
is at most t / (1 − ρ). To each residual is added what rounding may have hidden in it. For the
distribution of the outcome, whose residual is r = s − y (I − Q), the errors of all probabilities
together are at most Σ|r|, because the rows of (I − Q)⁻¹ R sum to 1.

Sources: Höhle (2025), the repeated battle and appendix 3; Osborne,
"Markov Chains for the RISK Board Game Revisited" (Mathematics Magazine 76, 2003); Grinstead and
Snell, "Introduction to Probability" (1997), section 11.2. The rule that makes the chain infinite is
Norvig's, "The Unfinished Game ... of Risk" (2020), who leaves it to simulation.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from itertools import product
from math import inf, log, sqrt
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from iacta.checks import shown, whole_number
from iacta.distribution import Distribution
from iacta.errors import IllegalError, TooLargeError, missing
from iacta.methods.kernel import (
    OUTCOME_BYTES,
    Chances,
    Error,
    Floats,
    Outcome,
    RollKernel,
    State,
    Values,
    read_battle,
    refuse_too_large,
)
from iacta.rules.modes import ArmiesGrow, TrueRandom
from iacta.rules.roll import LossCounts, loss_counts
from iacta.rules.rules import Rules

__all__ = [
    "BEYOND",
    "BoundedProbability",
    "CanonicalForm",
    "Chain",
    "Markov",
    "build_chain",
    "chain",
    "win_probability_bounded",
]

Whole: TypeAlias = npt.NDArray[np.int64]
Moves: TypeAlias = Iterator[tuple[Whole, Whole, float]]

# The one absorbing state for armies that have grown past the chain: it is no outcome of a battle.
BEYOND = Outcome(attackers=-1, defenders=-1)

NAME = "markov"
UNIT_ROUNDOFF = 2.0**-53
MOST_ERROR = 1e-12
FIRST_ROOM = 4  # gains
MOST_GROWN_STATES = 10**6
MOST_ROLLS = 10**9
MOST_ITERATIONS = 1000
MOVE_BYTES = 120
ENTRY_BYTES = 16
NEGLIGIBLE = 1e-300


class CanonicalForm(NamedTuple):
    """The blocks of the transition matrix, with their states.

    transient: the states in which the battle goes on; they number the rows of Q and R.
    absorbing: the states in which it is over; they number the columns of R.
    Q: the sparse matrix of the chances from transient to transient states in one roll.
    R: the sparse matrix of the chances from transient to absorbing states in one roll.

    Source: Grinstead and Snell (1997), section 11.2; Höhle (2025), appendix 3.
    """

    transient: tuple[Outcome, ...]
    absorbing: tuple[Outcome, ...]
    Q: Any
    R: Any

    def absorption(self) -> Floats:
        """Return F = (I − Q)⁻¹ R, the absorption probabilities.

        Entry `[i, j]` is the chance to end in `absorbing[j]` from `transient[i]`. Where armies
        cannot grow, its relative error is bounded by `Markov.error`. A matrix
        that does not fit into memory is refused.

        >>> from iacta.rules.rules import CLASSIC
        >>> form = chain(3, 1, CLASSIC).canonical()
        >>> form.transient[1], form.absorbing[0]
        (Outcome(attackers=3, defenders=1), Outcome(attackers=2, defenders=0))
        >>> form.absorption().round(6).tolist()
        [[0.416667, 0.0, 0.583333], [0.17554, 0.578704, 0.245756]]

        Source: Grinstead and Snell (1997), theorem 11.6.
        """
        memory = 32 * len(self.transient) * len(self.absorbing)
        attackers, defenders = self.transient[-1] if self.transient else self.absorbing[-1]
        refuse_too_large(attackers, defenders, memory=memory, method=NAME)
        return _solve(self.Q, self.R.toarray())

    def expected_rolls(self) -> Floats:
        """Return t = (I − Q)⁻¹ 1, the expected number of rolls from each transient state.

        Where armies cannot grow, its relative error is at most that of `absorption`; where they
        can, it is the expected number of rolls until the battle ends or leaves the chain.

        >>> from iacta.rules.rules import CLASSIC
        >>> chain(3, 1, CLASSIC).canonical().expected_rolls().round(6).tolist()
        [1.0, 1.421296]

        Source: Grinstead and Snell (1997), theorem 11.5.
        """
        return _solve(self.Q, np.ones(len(self.transient)))


@dataclass(frozen=True, eq=False, repr=False)
class Chain:
    """The Markov chain of a battle.

    start: the state before the first roll.
    attackers: the most attackers of any state, garrison included.
    defenders: the most defenders of any state.
    rules: the rules of the battle.
    matrix: the sparse transition matrix P; row and column i belong to `states[i]`.

    >>> from iacta.rules.rules import CLASSIC
    >>> small = chain(3, 1, CLASSIC)
    >>> [tuple(state) for state in small.states]
    [(2, 1), (3, 1), (2, 0), (3, 0), (1, 1)]
    >>> small.matrix.toarray()[1].round(4).tolist()
    [0.4213, 0.0, 0.0, 0.5787, 0.0]

    Source: Höhle (2025), "Repeated battles".
    """

    start: Outcome
    attackers: int
    defenders: int
    rules: Rules
    matrix: Any

    def __repr__(self) -> str:
        return f"<Chain of {len(self.states)} states, from {tuple(self.start)}>"

    @property
    def able(self) -> int:
        """The most attackers able to attack in any state."""
        return max(self.attackers - self.rules.garrison, 0)

    @cached_property
    def states(self) -> tuple[Outcome, ...]:
        """The states, attackers with their garrison: transient ones first, then the ends.

        Transient states are sorted by defenders, and those with equally many by attackers.
        """
        can_attack = range(self.rules.garrison + 1, self.attackers + 1)
        return (
            *(Outcome(a, d) for d in range(1, self.defenders + 1) for a in can_attack),
            *self.ends,
        )

    @cached_property
    def ends(self) -> tuple[Outcome, ...]:
        """The absorbing states: won ones by the attackers left, then lost ones by the defenders.

        Where armies can grow, `BEYOND` is the last.
        """
        garrison = self.rules.garrison
        won = (Outcome(a, 0) for a in range(garrison + 1, self.attackers + 1))
        stay = min(self.attackers, garrison)
        lost = (Outcome(stay, d) for d in range(1, self.defenders + 1))
        return (*won, *lost, *([BEYOND] if _gain(self.rules) else []))

    def after(self, rolls: int, start: Outcome | None = None) -> Distribution[Outcome]:
        """Return the distribution of the state after a number of rolls.

        rolls: how many rolls, from 0 to 10^9; a battle that is over stays as it is.
        start: the state before the first of them, (attackers, defenders); `None` for that of the
            chain.

        The probabilities are floats, with a relative error of at most that of `absorption`; they
        are carried no further when those of all transient states are below 1e-300. A state outside
        the chain is refused.

        >>> from iacta.rules.rules import CLASSIC
        >>> {tuple(state): round(p, 7) for state, p in chain(11, 10, CLASSIC).after(1).items()}
        {(9, 10): 0.2925669, (10, 9): 0.3357767, (11, 8): 0.3716564}

        Source: Höhle (2025) prints it: x_1 = x_0 P.
        """
        rolls = whole_number(rolls, "rolls", least=0, most=MOST_ROLLS)
        state = np.zeros(len(self.states))
        state[self._number(self.start if start is None else start)] = 1.0
        transient, done = self.able * self.defenders, 0
        while done < rolls and state[:transient].max(initial=0.0) > NEGLIGIBLE:
            state, done = state @ self.matrix, done + 1
        reached = np.flatnonzero(state).tolist()
        return Distribution.from_probabilities({self.states[i]: float(state[i]) for i in reached})

    def _number(self, state: Outcome) -> int:
        try:
            return self._numbers[state]
        except (KeyError, TypeError):
            sizes = f"{self.attackers} attackers and {self.defenders} defenders"
            raise IllegalError(
                f"start must be a state of the chain, of at most {sizes}, got {shown(state)}"
            ) from None

    @cached_property
    def _numbers(self) -> dict[Outcome, int]:
        return {state: number for number, state in enumerate(self.states)}

    def power(self, n: int) -> Any:
        """Return P^n, the sparse matrix of the chances to come from each state to each in n rolls.

        n: the exponent, from 0 to 10^9.

        It is made of squares P², P⁴ ... of P. One that does not fit into memory is refused.

        >>> from iacta.rules.rules import CLASSIC
        >>> chain(3, 1, CLASSIC).power(2).toarray()[1].round(4).tolist()
        [0.0, 0.0, 0.1755, 0.5787, 0.2458]
        """
        n = whole_number(n, "n", least=0, most=MOST_ROLLS)
        # Where armies cannot grow, each roll costs one at least, and all later powers are equal.
        n = n if _gain(self.rules) else min(n, self.able + self.defenders)
        refuse_too_large(self.attackers, self.defenders, memory=self._power_bytes(), method=NAME)
        sparse = _load_scipy("scipy.sparse")
        result, square = sparse.csr_array(sparse.identity(len(self.states))), self.matrix
        while n:
            if n % 2:
                result = result @ square
            square, n = square @ square if n > 1 else square, n // 2
        return result

    def _power_bytes(self) -> int:
        """Bound the memory of a power, with its factors.

        Where armies cannot grow, n rolls with all dice always lead to states with equally many
        armies in all, and others lead to states with too few armies for all dice.
        """
        entries = count = int(self.matrix.shape[0])
        if not _gain(self.rules):
            attack_dice, defence_dice = self.rules.full_roll
            few = attack_dice * (self.defenders + 1) + defence_dice * (self.able + 1)
            entries = min(count, few + min(self.able, self.defenders) + 1)
        return 3 * ENTRY_BYTES * count * entries

    def canonical(self) -> CanonicalForm:
        """Return the canonical form: transient and absorbing states apart, with Q and R.

        >>> from iacta.rules.rules import CLASSIC
        >>> form = chain(11, 10, CLASSIC).canonical()
        >>> len(form.transient), len(form.absorbing), form.Q.shape, form.R.shape
        (100, 20, (100, 100), (100, 20))
        """
        transient = self.able * self.defenders
        going_on, over = self.states[:transient], self.states[transient:]
        return CanonicalForm(going_on, over, *self.blocks())

    def blocks(self) -> tuple[Any, Any]:
        """Return Q and R alone."""
        transient = self.able * self.defenders
        return self.matrix[:transient, :transient], self.matrix[:transient, transient:]

    def row(self, able: int, defenders: int) -> int:
        """Return the row of the transient state with so many attackers able to attack."""
        return (defenders - 1) * self.able + able - 1


def build_chain(start: Outcome, room: int, rules: Rules) -> Chain:
    """Return the chain of a battle.

    start: the state before the first roll, attackers with their garrison; both sides at least 1.
    room: by how many armies either side may grow before the state counts as `BEYOND`; 0 where
        armies cannot grow.
    rules: the rules of the battle.

    >>> from iacta.rules.rules import CLASSIC
    >>> build_chain(Outcome(11, 10), 0, CLASSIC).matrix.shape
    (120, 120)
    """
    able = max(start.attackers - rules.garrison, 0)
    room = room if able else 0  # who cannot attack does not grow
    attackers, defenders = start.attackers + room, start.defenders + room
    return Chain(start, attackers, defenders, rules, _matrix(able + room, defenders, rules))


def _matrix(able: int, defenders: int, rules: Rules) -> Any:
    transient = able * defenders
    count = transient + able + defenders + (_gain(rules) > 0)
    over = np.arange(transient, count)
    moves = [*_moves(able, defenders, rules), (over, over, 1.0)]
    rows = np.concatenate([source for source, _, _ in moves])
    columns = np.concatenate([target for _, target, _ in moves])
    chances = np.concatenate([np.full(len(source), chance) for source, _, chance in moves])
    sparse = _load_scipy("scipy.sparse")
    return sparse.csr_array((chances, (rows, columns)), shape=(count, count))


def _moves(able: int, defenders: int, rules: Rules) -> Moves:
    """Yield the moves by roll and loss: the states they start from and lead to, and the chance."""
    numbers = _numbers(able, defenders, _gain(rules))
    most_attack, most_defence = rules.full_roll
    attack_dice, defence_dice = min(able, most_attack), min(defenders, most_defence)
    for i, j in product(range(1, attack_dice + 1), range(1, defence_dice + 1)):
        a = np.arange(i, (able if i == most_attack else i) + 1)[:, np.newaxis]
        d = np.arange(j, (defenders if j == most_defence else j) + 1)
        source = numbers[a, d].ravel()
        for attackers_change, defenders_change, chance in _changes(loss_counts(i, j, rules), rules):
            yield source, numbers[a + attackers_change, d + defenders_change].ravel(), chance


def _changes(losses: LossCounts, rules: Rules) -> Iterator[tuple[int, int, float]]:
    """Yield how a roll changes the attackers and the defenders, with the chance of each change."""
    for k, count in enumerate(losses.counts):
        if count:
            yield k - losses.compared, -k, count / losses.total
    if losses.gains:
        yield _gain(rules), _gain(rules), losses.gains / losses.total


def _numbers(able: int, defenders: int, gain: int) -> Whole:
    """Return the number of the state (a, d) at `[a, d]`; past the chain, that of the last one."""
    transient = able * defenders
    last = transient + able + defenders
    numbers = np.full((able + gain + 1, defenders + gain + 1), last)
    numbers[1 : able + 1, 1 : defenders + 1] = np.arange(transient).reshape(defenders, able).T
    numbers[1 : able + 1, 0] = np.arange(transient, transient + able)
    numbers[0, 1 : defenders + 1] = np.arange(transient + able, last)
    return numbers


def _solve(transient: Any, right: Floats, *, transposed: bool = False) -> Floats:
    """Return x with (I − Q) x = b, or with (I − Q)ᵀ x = b.

    transient: the sparse matrix Q.
    right: b, at least 0: a vector, or a matrix for one x in each column.
    transposed: whether Q is transposed first.

    Without gains this is one substitution. With gains it is repeated until x no longer rises, at
    most 1000 times; how near x has come is for the caller to prove.
    """
    if not transient.shape[0]:
        return right.copy()
    sparse, linalg = _load_scipy("scipy.sparse"), _load_scipy("scipy.sparse.linalg")
    losses, gains = sparse.tril(transient), sparse.csr_array(sparse.triu(transient))
    system = sparse.csr_array(sparse.identity(transient.shape[0]) - losses)
    if transposed:
        system, gains = sparse.csr_array(system.T), sparse.csr_array(gains.T)

    def substitute(known: Floats) -> Floats:
        """Return what one substitution makes of a right side.

        known: the right side, at least 0.
        """
        solved: Floats = linalg.spsolve_triangular(
            system, known, lower=not transposed, unit_diagonal=True
        )
        return solved

    solution = substitute(right)
    for _ in range(MOST_ITERATIONS if gains.nnz else 0):
        before, solution = solution, substitute(right + gains @ solution)
        if np.all(solution - before <= UNIT_ROUNDOFF * solution):
            break
    return solution


def _load_scipy(part: str) -> Any:
    """Return a part of SciPy, which is loaded when it is first needed.

    part: the name of the module, such as `"scipy.sparse"`.
    """
    try:
        return import_module(part)
    except ImportError:
        raise missing(
            f"the method {NAME!r} needs SciPy, which is not installed", "methods"
        ) from None


def _gain(rules: Rules) -> int:
    return rules.mode.gain if isinstance(rules.mode, ArmiesGrow) else 0


class _Solved(NamedTuple):
    """A chain, with the chances to win it and to leave it, for every transient state.

    beyond: a bound on the chance to leave it, rounding included; 0 where armies cannot grow.
    error: a bound on what rounding does to an entry of `won`, in absolute terms; 0 where armies
        cannot grow, because the bound is relative then.
    """

    chain: Chain
    won: Floats
    beyond: Floats
    error: float


class Markov(RollKernel):
    """The kernel in floats, by one solve of a Markov chain; armies may grow.

    >>> from iacta.rules.rules import CLASSIC
    >>> round(Markov(CLASSIC).win_probability(2, 1), 6)
    0.754244
    """

    name = NAME
    quick_states = 250_000
    modes = (TrueRandom, ArmiesGrow)
    by_rows = True

    @property
    def gain(self) -> int:
        """By how many armies both sides may grow in one roll."""
        return _gain(self.rules)

    def refuse(self, attackers: int, defenders: int) -> None:
        """Refuse a battle whose chain does not fit into memory, or if SciPy is not installed."""
        room = FIRST_ROOM * self.gain
        states = (max(attackers, 0) + room + 1) * (defenders + room + 1)
        memory = MOVE_BYTES * (self._most_lost(attackers, defenders) + 2) * states
        self.refuse_too_large(attackers, defenders, memory=memory)
        if self.gain and states > MOST_GROWN_STATES:
            raise TooLargeError(
                f"a battle of {attackers + self.garrison} against {defenders} whose armies can "
                f"grow has {states:.0e} states for the method {NAME!r}, expected at most "
                f"{MOST_GROWN_STATES:.0e}"
            )
        _load_scipy("scipy.sparse")

    def error(self, attackers: int, defenders: int) -> Error:
        """Return the bound that counts all roundings; where armies can grow, 1e-12, absolute.

        A battle has at most attackers + defenders rolls. A roll costs two roundings, in its
        probability and its product, and one for each term that is added to a state: no more than
        there are states from which a roll leads there. Where armies can grow, the errors of all
        probabilities of a distribution sum to at most 1e-12.
        """
        if self.gain:
            return Error(0.0, MOST_ERROR)
        most = self._most_lost(attackers, defenders)
        roundings = (attackers + defenders) * (2 + (most + 1) * (most + 2) // 2)
        # A campaign weighs the distribution that one battle leaves: eight roundings at most.
        return Error((roundings + 8) * UNIT_ROUNDOFF * 1.001)  # (1 + u)^n − 1 < 1.001 n u

    def _most_lost(self, attackers: int, defenders: int) -> int:
        return min(max(attackers, 0), defenders, *self.rules.full_roll)

    def most_left(self, attackers: int, defenders: int) -> State:
        """Return the largest state of the chain, which a battle leaves with a negligible chance."""
        if not self.gain or attackers <= 0 or not defenders:
            return State(attackers, defenders)
        grown = self._solved(attackers, defenders).chain
        return State(grown.attackers, grown.defenders)

    def forward(self, start: Distribution[int], defenders: int) -> Distribution[State]:
        """Return the distribution of the absorbing state.

        Where armies can grow, battles that go on past the chain are in no state, so that the
        probabilities sum to so much less than 1.
        """
        weights = {a: float(probability) for a, probability in start.items()}
        most = max(weights)
        if most <= 0 or not defenders:
            return start.to_float().map(lambda attackers: State(attackers, defenders))
        self.refuse_too_large(most, defenders, memory=(most + defenders) * OUTCOME_BYTES)
        states = self._absorbed({a: p for a, p in weights.items() if a > 0}, defenders)
        for attackers, probability in weights.items():
            if attackers <= 0:
                stays = State(attackers, defenders)
                states[stays] = states.get(stays, 0.0) + probability
        return Distribution.from_probabilities(states)

    def _absorbed(self, weights: dict[int, float], defenders: int) -> dict[State, float]:
        """Return the probability of each absorbing state, from those of attackers."""
        most = max(weights)
        self.refuse(most, defenders)
        whole = self._solved(most, defenders).chain if self.gain else self._chain(most, defenders)
        transient, absorbing = whole.blocks()
        start = np.zeros(transient.shape[0])
        for attackers, probability in weights.items():
            start[whole.row(attackers, defenders)] = probability
        visits = _solve(transient, start, transposed=True)
        ends = dict(zip(whole.ends, (visits @ absorbing).tolist(), strict=True))
        if self.gain:
            rounding = _distribution_error(transient, start, visits, self.rules)
            self._refuse_error(most, defenders, 1.01 * ends.pop(BEYOND) + rounding)
        return {State(*end): probability for end, probability in ends.items()}

    def _chain(self, attackers: int, defenders: int, room: int = 0) -> Chain:
        return build_chain(Outcome(attackers, defenders), room, self.rules)

    def backward(self, values: Values) -> Iterator[Floats]:
        """Yield the expected value for each number of attackers, for 1, 2 ... defenders.

        Where armies can grow, the value function must reach as far as `most_left`; the answer is
        NaN for battles that may grow further, with a chance of more than 1e-12.
        """
        won, lost = (np.asarray(each, dtype=float) for each in (values.won, values.lost))
        most, defenders = len(won) - 1, len(lost) - 1
        rows = np.repeat(lost[1:, np.newaxis], len(won), axis=1)
        if most and defenders:
            self.refuse(most, defenders)
            transient, absorbing = self._chain(most, defenders).blocks()
            beyond = np.zeros((1 if self.gain else 0, *won.shape[1:]))
            ends = np.concatenate([won[1:], lost[1:], beyond])
            found = _solve(transient, absorbing @ ends)
            if self.gain:
                grown = _solve(transient, absorbing @ np.eye(len(ends))[-1])
                found[grown > MOST_ERROR] = np.nan
            rows[:, 1:] = found.reshape(defenders, most, *won.shape[1:])
        yield from rows

    def win_probability(self, attackers: int, defenders: int) -> float:
        """Return the chance to take the territory."""
        if attackers <= 0 or not defenders:
            return float(not defenders)
        self.refuse(attackers, defenders)
        solved = self._solved(attackers, defenders)
        return float(solved.won[solved.chain.row(attackers, defenders)])

    def chances(self, attackers: int, defenders: int, keep: int = 0) -> Chances:
        """Return the chances to take the territory with enough armies left, and not to."""
        if not self.gain or attackers <= 0 or not defenders:
            return super().chances(attackers, defenders, keep)
        won = self.win_probability(attackers, defenders)
        if keep > 1:
            ends = self.forward(Distribution([attackers]), defenders).items()
            won = float(sum(p for end, p in ends if not end.defenders and end.attackers >= keep))
        return Chances(won, 1 - won)

    def win_table(self, attackers: int, defenders: int, staying: int = 0) -> Floats:
        """Return the chances to win all battles up to a size, by one solve."""
        self.refuse(attackers, defenders)
        table = np.zeros((staying + attackers, defenders))
        if attackers and defenders:
            solved = self._solved(attackers, defenders)
            by_state = solved.won.reshape(solved.chain.defenders, solved.chain.able)
            table[staying:] = by_state[:defenders, :attackers].T
        return table

    def _solved(self, attackers: int, defenders: int) -> "_Solved":
        """Return the solved chain of a battle in which the attackers can attack."""
        if self.gain:
            return self._solved_with_room(attackers, defenders)
        whole = self._chain(attackers, defenders)
        transient, absorbing = whole.blocks()
        won = _solve(transient, absorbing @ _is_won(whole))
        return _Solved(whole, np.minimum(won, 1.0), np.zeros(len(won)), 0.0)

    def _solved_with_room(self, attackers: int, defenders: int) -> "_Solved":
        """Give the armies room to grow, until the chance to need more is small enough."""
        room = FIRST_ROOM * self.gain
        while True:
            solved = _solved_with_bound(self._chain(attackers, defenders, room))
            self._refuse_error(attackers, defenders, solved.error)
            by_state = solved.beyond.reshape(solved.chain.defenders, solved.chain.able)
            left_out = float(by_state[:defenders, : solved.chain.able - room].max())
            if left_out + solved.error <= MOST_ERROR:
                return solved
            self._refuse_growth(solved.chain, room, left_out)
            room *= 2

    def _refuse_error(self, attackers: int, defenders: int, error: float) -> None:
        if not error <= MOST_ERROR:
            raise TooLargeError(
                f"a battle of {attackers + self.garrison} against {defenders} is too large for "
                f"the method {NAME!r}: its error may be {error:.1e}, expected at most "
                f"{MOST_ERROR:.0e}"
            )

    def _refuse_growth(self, whole: Chain, room: int, left_out: float) -> None:
        """Refuse armies that grow too far, as soon as it can be foreseen.

        It is foreseen by letting the chance to need more room fall as exp(−c · room²), which is
        fast: so it does for a walk without drift, and a drift makes it exp(−c · room) in the end.
        """
        further = sqrt(log(MOST_ERROR) / log(left_out)) if left_out < 1 else inf
        needed = max(2.0, further) * room
        able, defenders = whole.able - room + needed, whole.defenders - room + needed
        if able * defenders > MOST_GROWN_STATES:
            raise TooLargeError(
                f"a battle of {whole.start.attackers + self.garrison} against "
                f"{whole.start.defenders} is too large for the method {NAME!r}: with a chance of "
                f"up to {left_out:.1e} its armies grow past {whole.attackers + self.garrison} "
                f"against {whole.defenders}, expected at most {MOST_ERROR:.0e}"
            )


def _solved_with_bound(whole: Chain) -> _Solved:
    """Solve a chain whose armies can grow, and bound what rounding does to the solution."""
    transient, absorbed = whole.blocks()
    is_won = _is_won(whole)
    is_beyond = np.zeros(len(is_won))
    is_beyond[-1] = 1.0
    ones = np.ones(transient.shape[0])
    right = np.column_stack([absorbed @ is_won, absorbed @ is_beyond, ones])
    solution = _solve(transient, right)
    residuals = _residuals(transient, right, solution, terms=min(whole.rules.full_roll) + 2)
    in_won, in_beyond, in_rolls = residuals.max(axis=0).tolist()
    most_rolls = float(solution[:, 2].max()) / (1 - in_rolls) if in_rolls < 1 else inf
    won = np.minimum(solution[:, 0], 1.0)
    beyond = np.minimum(solution[:, 1] + in_beyond * most_rolls, 1.0)
    return _Solved(whole, won, beyond, in_won * most_rolls)


def _is_won(whole: Chain) -> Floats:
    """Return w: 1 for the ends that are won, which come first, and 0 for the others."""
    is_won = np.zeros(whole.matrix.shape[0] - whole.able * whole.defenders)
    is_won[: whole.able] = 1.0
    return is_won


def _residuals(transient: Any, right: Floats, solution: Floats, terms: int) -> Floats:
    """Bound |b − (I − Q) x| for the exact b and Q, of which each row has at most so many terms.

    Of the computed residual, b and Q x carry a rounding for each term and for each chance, and
    b − x one more, which is at most u (|residual| + Q x).
    """
    carried = transient @ solution
    hidden = (terms + 2) * UNIT_ROUNDOFF * (right + carried)
    return 1.01 * np.asarray(np.abs(right - solution + carried) + hidden)


def _distribution_error(transient: Any, start: Floats, visits: Floats, rules: Rules) -> float:
    """Bound what rounding does to a distribution, all probabilities together."""
    carried = visits @ transient
    residual = np.abs(start - visits + carried).sum()
    roundings = min(rules.full_roll) ** 2 + 6  # of at most (m + 1)(m + 2) / 2 + 1 terms, three more
    hidden = roundings * UNIT_ROUNDOFF * (1 + (start + carried).sum())
    return float(residual + hidden) * 1.01


class BoundedProbability(NamedTuple):
    """A chance with the proof of how near it is.

    probability: the chance.
    error: a proven bound on its absolute error, at most 1e-12.
    """

    probability: float
    error: float


def chain(attackers: int, defenders: int, rules: Rules | str = "classic") -> Chain:
    """Return the Markov chain of a battle, with its labelled states and its matrix.

    attackers: armies on the attacking territory, garrison included, at least 1.
    defenders: armies on the defended territory, at least 1.
    rules: `Rules`, or the name of a rule set.

    Where armies can grow, the chain has so many states that the chance to leave them for `BEYOND`,
    from any start of at most these sizes, is at most 1e-12. A battle that is too large is refused.

    >>> from iacta.rules.rules import CLASSIC
    >>> ten = chain(11, 10, CLASSIC)
    >>> ten.start, len(ten.states), ten.matrix.nnz
    (Outcome(attackers=11, defenders=10), 120, 301)
    >>> later = ten.after(20)
    >>> round(later.prob(lambda state: state.defenders == 0), 7)
    0.5675929

    Source: Höhle (2025), whose battle of 10 against 10 has no garrison.
    """
    attackers, defenders, rules = read_battle(attackers, defenders, rules)
    kernel, able = Markov(rules), attackers - rules.garrison
    kernel.refuse(able, defenders)
    start = Outcome(attackers, defenders)
    if not kernel.gain or able <= 0:
        return build_chain(start, 0, rules)
    room = kernel.most_left(able, defenders).attackers - able
    return build_chain(start, room, rules)


def win_probability_bounded(
    attackers: int, defenders: int, rules: Rules | str = "classic"
) -> BoundedProbability:
    """Return the chance that the territory is taken, with a proven bound on its error.

    attackers: armies on the attacking territory, garrison included.
    defenders: armies on the defended territory.
    rules: `Rules`, or the name of a rule set; armies may grow.

    The bound is absolute and at most 1e-12; it covers the truncation of an infinite chain, and all
    rounding. A battle that cannot be answered so well is refused.

    >>> from iacta.rules.variants import find_rules
    >>> chance, error = win_probability_bounded(12, 10, find_rules("five ones"))
    >>> round(chance, 10), error <= 1e-12
    (0.6540175482, True)
    """
    attackers, defenders, rules = read_battle(attackers, defenders, rules, fewest=0)
    kernel, able = Markov(rules), attackers - rules.garrison
    if able <= 0 or not defenders:
        return BoundedProbability(0.0 if defenders else 1.0, 0.0)
    kernel.refuse(able, defenders)
    solved = kernel._solved(able, defenders)
    row = solved.chain.row(able, defenders)
    won, beyond = float(solved.won[row]), float(solved.beyond[row])
    if kernel.gain:
        return BoundedProbability(won, beyond + solved.error)
    error = won * kernel.error(able, defenders).relative * 1.001
    kernel._refuse_error(able, defenders, error)
    return BoundedProbability(won, error)
