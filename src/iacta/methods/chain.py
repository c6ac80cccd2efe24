"""Chain: a battle as a Markov chain, whose states and matrix are there to be looked at.

Let (a, d) be the state with a attackers able to attack (the garrison left out) and d defenders. A
roll that compares m pairs of dice leads from (a, d) to (a − m + k, d − k) with the chance p_k that
it costs the defenders k armies; under rules that let armies grow, it may also lead to
(a + g, d + g). States with a = 0 or d = 0 are absorbing: the battle is over. With the other,
transient, states written first, the transition matrix has the canonical form

    P = | Q  R |
        | 0  I |

and (P^n)_ij is the chance to be in state j after n rolls from state i. From it follow the chances
to end in each absorbing state, and the mean number of rolls to the end,

    F = Σ_n Q^n R = (I − Q)⁻¹ R,      t = Σ_n Q^n 1 = (I − Q)⁻¹ 1.

Order. The transient states are sorted by their defenders, and those with equally many by their
attackers. Losses lead to earlier states only: they are a strictly lower triangular matrix L, and
(I − L) x = b is solved by substitution, x_i = b_i + Σ_j L_ij x_j, which never subtracts. Gains
lead to later states: Q = L + G. Then x = (I − L)⁻¹ (b + G x) is iterated from x = 0; the n-th x
counts the battles with fewer than n gains, so it rises towards the solution.

Where armies can grow there are infinitely many states. The chain then has those up to a certain
size, and one absorbing state `BEYOND` more, which stands for all the others.

Sources: Höhle (2025), the repeated battle and appendix 3; Osborne,
"Markov Chains for the RISK Board Game Revisited" (Mathematics Magazine 76, 2003); Grinstead and
Snell, "Introduction to Probability" (1997), theorems 11.4 to 11.6.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from itertools import product
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from iacta.checks import shown, whole_number
from iacta.distribution import Distribution
from iacta.errors import IllegalError, MissingError
from iacta.methods.limits import refuse_too_large
from iacta.methods.outcome import Outcome
from iacta.rules.roll import LossLaw, loss_law
from iacta.rules.rules import Rules

__all__ = [
    "BEYOND",
    "NAME",
    "CanonicalForm",
    "Chain",
    "build_chain",
    "load_scipy",
    "solve_transient",
]

NAME: str = "markov"

Floats: TypeAlias = npt.NDArray[np.float64]
Whole: TypeAlias = npt.NDArray[np.int64]
Moves: TypeAlias = Iterator[tuple[Whole, Whole, float]]

# The one absorbing state for armies that have grown past the chain: it is no outcome of a battle.
BEYOND = Outcome(attackers=-1, defenders=-1)

MOST_ROLLS = 10**9
ENTRY_BYTES = 16
MOST_ITERATIONS = 1000
SETTLED = 2.0**-53
NEGLIGIBLE = 1e-300


def load_scipy(part: str) -> Any:
    """Return a part of SciPy, which is loaded when it is first needed.

    part: the name of the module, such as `"scipy.sparse"`.
    """
    try:
        return import_module(part)
    except ImportError:
        raise MissingError(
            f"the method {NAME!r} needs SciPy, which is not installed: pip install 'iacta[methods]'"
        ) from None


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
        """Return F = (I − Q)⁻¹ R, the chances to end in each absorbing state.

        Entry `[i, j]` is the chance to end in `absorbing[j]` from `transient[i]`. Where armies
        cannot grow, its relative error is at most `iacta.methods.markov.relative_error`. A matrix
        that does not fit into memory is refused.

        >>> from iacta.methods.markov import chain
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
        return solve_transient(self.Q, self.R.toarray())

    def expected_rolls(self) -> Floats:
        """Return t = (I − Q)⁻¹ 1, the mean number of rolls to the end from each transient state.

        Where armies cannot grow, its relative error is at most that of `absorption`; where they
        can, it is the mean number of rolls until the battle ends or leaves the chain.

        >>> from iacta.methods.markov import chain
        >>> from iacta.rules.rules import CLASSIC
        >>> chain(3, 1, CLASSIC).canonical().expected_rolls().round(6).tolist()
        [1.0, 1.421296]

        Source: Grinstead and Snell (1997), theorem 11.5.
        """
        return solve_transient(self.Q, np.ones(len(self.transient)))


@dataclass(frozen=True, eq=False, repr=False)
class Chain:
    """The Markov chain of a battle.

    start: the state before the first roll.
    attackers: the most attackers of any state, garrison included.
    defenders: the most defenders of any state.
    rules: the rules of the battle.
    matrix: the sparse transition matrix P; row and column i belong to `states[i]`.

    >>> from iacta.methods.markov import chain
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
        return (*won, *lost, *([BEYOND] if self.rules.all_ones_gain else []))

    def after(self, rolls: int, start: Outcome | None = None) -> Distribution[Outcome]:
        """Return the law of the state after a number of rolls; a battle that is over stays so.

        rolls: how many rolls, from 0 to 10^9.
        start: the state before the first of them, (attackers, defenders); `None` for that of the
            chain.

        The probabilities are floats, with a relative error of at most that of `absorption`; none is
        carried on when all that go on are below 1e-300. A state that the chain has not is refused.

        >>> from iacta.methods.markov import chain
        >>> from iacta.rules.rules import CLASSIC
        >>> {tuple(state): round(p, 7) for state, p in chain(11, 10, CLASSIC).after(1).items()}
        {(11, 8): 0.3716564, (10, 9): 0.3357767, (9, 10): 0.2925669}

        Source: Höhle (2025) prints this law: x_1 = x_0 P.
        """
        rolls = whole_number(rolls, "rolls", least=0, most=MOST_ROLLS)
        law = np.zeros(len(self.states))
        law[self._number(self.start if start is None else start)] = 1.0
        transient, done = self.able * self.defenders, 0
        while done < rolls and law[:transient].max(initial=0.0) > NEGLIGIBLE:
            law, done = law @ self.matrix, done + 1
        reached = np.flatnonzero(law).tolist()
        return Distribution.from_probabilities({self.states[i]: float(law[i]) for i in reached})

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

        >>> from iacta.methods.markov import chain
        >>> from iacta.rules.rules import CLASSIC
        >>> chain(3, 1, CLASSIC).power(2).toarray()[1].round(4).tolist()
        [0.0, 0.0, 0.1755, 0.5787, 0.2458]
        """
        n = whole_number(n, "n", least=0, most=MOST_ROLLS)
        # Where armies cannot grow, each roll costs one at least, and all later powers are equal.
        n = n if self.rules.all_ones_gain else min(n, self.able + self.defenders)
        refuse_too_large(self.attackers, self.defenders, memory=self._power_bytes(), method=NAME)
        sparse = load_scipy("scipy.sparse")
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
        if not self.rules.all_ones_gain:
            attack_dice, defence_dice = self.rules.full_roll
            few = attack_dice * (self.defenders + 1) + defence_dice * (self.able + 1)
            entries = min(count, few + min(self.able, self.defenders) + 1)
        return 3 * ENTRY_BYTES * count * entries

    def canonical(self) -> CanonicalForm:
        """Return the canonical form: transient and absorbing states apart, with Q and R.

        >>> from iacta.methods.markov import chain
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
    count = transient + able + defenders + (rules.all_ones_gain > 0)
    over = np.arange(transient, count)
    moves = [*_moves(able, defenders, rules), (over, over, 1.0)]
    rows = np.concatenate([source for source, _, _ in moves])
    columns = np.concatenate([target for _, target, _ in moves])
    chances = np.concatenate([np.full(len(source), chance) for source, _, chance in moves])
    sparse = load_scipy("scipy.sparse")
    return sparse.csr_array((chances, (rows, columns)), shape=(count, count))


def _moves(able: int, defenders: int, rules: Rules) -> Moves:
    """Yield the moves by roll and loss: the states they start from and lead to, and the chance."""
    numbers = _numbers(able, defenders, rules.all_ones_gain)
    most_attack, most_defence = rules.full_roll
    attack_dice, defence_dice = min(able, most_attack), min(defenders, most_defence)
    for i, j in product(range(1, attack_dice + 1), range(1, defence_dice + 1)):
        a = np.arange(i, (able if i == most_attack else i) + 1)[:, np.newaxis]
        d = np.arange(j, (defenders if j == most_defence else j) + 1)
        source = numbers[a, d].ravel()
        for attackers_change, defenders_change, chance in _changes(loss_law(i, j, rules), rules):
            yield source, numbers[a + attackers_change, d + defenders_change].ravel(), chance


def _changes(law: LossLaw, rules: Rules) -> Iterator[tuple[int, int, float]]:
    """Yield how a roll changes the attackers and the defenders, with the chance of each change."""
    for k, count in enumerate(law.counts):
        if count:
            yield k - law.compared, -k, count / law.total
    if law.gains:
        yield rules.all_ones_gain, rules.all_ones_gain, law.gains / law.total


def _numbers(able: int, defenders: int, gain: int) -> Whole:
    """Return the number of the state (a, d) at `[a, d]`; past the chain, that of the last one."""
    transient = able * defenders
    last = transient + able + defenders
    numbers = np.full((able + gain + 1, defenders + gain + 1), last)
    numbers[1 : able + 1, 1 : defenders + 1] = np.arange(transient).reshape(defenders, able).T
    numbers[1 : able + 1, 0] = np.arange(transient, transient + able)
    numbers[0, 1 : defenders + 1] = np.arange(transient + able, last)
    return numbers


def solve_transient(transient: Any, right: Floats, *, transposed: bool = False) -> Floats:
    """Return x with (I − Q) x = b, or with (I − Q)ᵀ x = b.

    transient: the sparse matrix Q.
    right: b, at least 0: a vector, or a matrix for one x in each column.
    transposed: whether Q is transposed first.

    Without gains this is one substitution. With gains it is repeated until x no longer rises, at
    most 1000 times; how near x has come is for the caller to prove.
    """
    if not transient.shape[0]:
        return right.copy()
    sparse, linalg = load_scipy("scipy.sparse"), load_scipy("scipy.sparse.linalg")
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
        if np.all(solution - before <= SETTLED * solution):
            break
    return solution
