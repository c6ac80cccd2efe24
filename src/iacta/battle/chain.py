"""Chain: a battle as an absorbing Markov chain, with its matrices as arrays and tables.

A state is (attackers, defenders), garrison included. It is transient if the attackers can roll, and
absorbing otherwise. With the transient states first, the matrix of the chances of one roll is

    P = [[Q, R], [0, I]].

For each transient state at the start, the fundamental matrix N has the expected visits to each
transient state, B has the chances of each absorbing state at the end, and t is the expected number
of rolls to the end, whose variance is v. With squares of entries in t²,

    N = (I − Q)⁻¹ = I + Q + Q² + ...
    B = N R,      t = N 1,      v = (2 N − I) t − t².

`iacta.methods.markov` solves the same equations for battles of
any size, and bounds the errors.

Sources: Grinstead and Snell, "Introduction to Probability" (1997), section 11.2; Kemeny and Snell,
"Finite Markov Chains" (1960), theorem 3.3.5, for the variance; Höhle (2025), appendix 3.
"""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from iacta.inputs.checks import check_choice, quote, read_int, set_field
from iacta.inputs.errors import IllegalError
from iacta.inputs.reprs import PasteableMixin
from iacta.methods import check_method, choose_kernel
from iacta.methods.kernel import FLOAT_BYTES, OUTCOME_BYTES, Outcome, refuse_too_large
from iacta.probability.distribution import Distribution, Probability, load_pandas
from iacta.rules.roll import Losses, Roll, compute_gain
from iacta.rules.rules import Rules
from iacta.rules.variants import find_rules, format_rules_argument

if TYPE_CHECKING:
    import pandas as pd

Array: TypeAlias = npt.NDArray[Any]  # of floats, or of fractions
MatrixName = Literal["P", "Q", "R", "N", "B", "t", "variance"]

# The absorbing state for all states that are too large for the chain, not an outcome of a battle.
BEYOND = Outcome(attackers=-1, defenders=-1)

MARKOV = "markov"
# The numbers of matrices in memory at the same time, by substitution and by elimination.
SUBSTITUTION_MATRICES, ELIMINATION_MATRICES = 4, 6
MAX_CHAIN_ROLLS = 10**9
NEGLIGIBLE_STATE = 1e-300


@dataclass(frozen=True, init=False, repr=False)
class Chain(PasteableMixin):
    """The absorbing Markov chain of a battle: P, Q, R, N, B and t as arrays.

    attackers: the number of armies on the attacking territory, garrison included.
    defenders: the number of armies on the defended territory.
    rules: `Rules`, or the name of a rule set in which both sides choose their dice before the roll.
    garrison: the number of armies that must stay behind; `None` for the rules' garrison, usually 1.
        With `garrison=0`, states count only armies that can attack, as in most articles.
    exact: whether the arrays contain fractions instead of floats.

    The arrays are dense, so that a chain needs no package besides NumPy. If armies can grow, the
    chain has enough states to make the chance of reaching `BEYOND`, its last state, at most 1e-12
    from every start with at most these armies. Raises `IactaError` for other values, and for
    battles whose arrays would not fit in memory.

    >>> chain = Chain(3, 1, exact=True)
    >>> chain.transient, chain.absorbing[:2]
    ((Outcome(attackers=2, defenders=1), Outcome(attackers=3, defenders=1)), \
(Outcome(attackers=2, defenders=0), Outcome(attackers=3, defenders=0)))
    >>> print(chain.Q)
    [[Fraction(0, 1) Fraction(0, 1)]
     [Fraction(91, 216) Fraction(0, 1)]]
    >>> print(chain.t)
    [Fraction(1, 1) Fraction(307, 216)]
    >>> chain.to_frame("N").loc[(3, 1), (2, 1)]
    Fraction(91, 216)
    """

    attackers: int
    defenders: int
    rules: Rules
    exact: bool

    def __init__(
        self,
        attackers: int,
        defenders: int,
        rules: Rules | str = "classic",
        *,
        garrison: int | None = None,
        exact: bool = False,
    ) -> None:
        set_field(self, "attackers", read_int(attackers, "attackers", minimum=1))
        set_field(self, "defenders", read_int(defenders, "defenders", minimum=1))
        set_field(self, "rules", find_rules(rules, garrison))
        set_field(self, "exact", exact)
        mode = self.rules.mode
        if not (mode.rolls and mode.has_plain_rolls):
            raise mode.make_unfit_error("for a Markov chain")
        check_method("auto", self.rules, exact=exact)
        self._most  # noqa: B018 # raises `TooLargeError`

    def to_text(self) -> str:
        """Return Python code that creates this chain."""
        more = format_rules_argument(self.rules) + ", exact=True" * self.exact
        return f"Chain({self.attackers}, {self.defenders}{more})"

    def _summary(self) -> str:
        return f"{self.attackers} against {self.defenders}, rules of its own"

    def _refuse_too_large(self, able: int, defenders: int, bytes_per_state: int) -> None:
        count = able * defenders + able + defenders + 1
        refuse_too_large(
            self.attackers,
            self.defenders,
            memory=count * bytes_per_state,
            method=MARKOV,
            states=count,
            kind="chain",
        )

    @cached_property
    def _most(self) -> tuple[int, int]:
        """The largest numbers of attackers without the garrison and of defenders in any state."""
        able = max(self.attackers - self.rules.garrison, 0)
        self._refuse_too_large(able, self.defenders, OUTCOME_BYTES)
        if not compute_gain(self.rules) or not able:
            return able, self.defenders
        # The search for the largest state takes long, and every array needs a matrix of the states.
        # Therefore a matrix that is too large is refused before the search.
        matrix_bytes = able * self.defenders * ELIMINATION_MATRICES * FLOAT_BYTES
        self._refuse_too_large(able, self.defenders, matrix_bytes)
        return choose_kernel(self.rules, method=MARKOV).most_left(able, self.defenders)

    @property
    def start(self) -> Outcome:
        """The state before the first roll; unless armies can grow, the last transient state.

        >>> chain = Chain(12, 10)
        >>> chain.transient[-1] == chain.start
        True
        """
        return Outcome(self.attackers, self.defenders)

    @cached_property
    def transient(self) -> tuple[Outcome, ...]:
        """The states in which the attackers can roll: the rows and columns of Q.

        They are sorted first by defenders and then by attackers.
        """
        (able, defenders), garrison = self._most, self.rules.garrison
        return tuple(
            Outcome(garrison + a, d) for d in range(1, defenders + 1) for a in range(1, able + 1)
        )

    @cached_property
    def absorbing(self) -> tuple[Outcome, ...]:
        """The states in which the battle is over: the columns of R.

        They are the victories by attackers left, and then the defeats by defenders left. If armies
        can grow, the last state is `BEYOND`.
        """
        (able, defenders), garrison = self._most, self.rules.garrison
        won = (Outcome(garrison + a, 0) for a in range(1, able + 1))
        lost = (Outcome(min(self.attackers, garrison), d) for d in range(1, defenders + 1))
        return (*won, *lost, *([BEYOND] if compute_gain(self.rules) else []))

    @property
    def states(self) -> tuple[Outcome, ...]:
        """All states: the rows and columns of P, transient states first.

        >>> [tuple(state) for state in Chain(2, 1, garrison=0).states]
        [(1, 1), (2, 1), (1, 0), (2, 0), (0, 1)]
        """
        return self.transient + self.absorbing

    @cached_property
    def P(self) -> Array:
        """The transition matrix: the chances of moving from each state to each state in one roll.

        `np.linalg.matrix_power(chain.P, n)` has the chances for n rolls.

        >>> Chain(2, 1).P.round(4).tolist()
        [[0.0, 0.4167, 0.5833], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
        """
        matrix = self._make_identity(len(self.states))
        for row, state in enumerate(self.transient):
            matrix[row, row] = self._convert(0)
            for after, chance in self._list_moves(state):
                matrix[row, self._numbers[after]] = chance
        return _freeze(matrix)

    @cached_property
    def _numbers(self) -> dict[Outcome, int]:
        return {state: number for number, state in enumerate(self.states)}

    def _list_moves(self, state: Outcome) -> Iterator[tuple[Outcome, Probability]]:
        """Yield the states after a roll and their chances; an absorbing state stays."""
        able, defenders = state.attackers - self.rules.garrison, state.defenders
        if able <= 0 or defenders <= 0:
            yield state, self._convert(1)
            return
        most_attack, most_defence = self.rules.full_roll
        most_able, most_defenders = self._most
        for lost, chance in _list_losses(
            min(able, most_attack), min(defenders, most_defence), self.rules
        ):
            left = Outcome(state.attackers - lost.attackers, defenders - lost.defenders)
            is_beyond = able - lost.attackers > most_able or left.defenders > most_defenders
            yield BEYOND if is_beyond else left, self._convert(chance)

    @property
    def Q(self) -> Array:
        """The block of P from transient to transient states.

        >>> Chain(3, 1).Q.round(4).tolist()
        [[0.0, 0.0], [0.4213, 0.0]]
        """
        count = len(self.transient)
        return self.P[:count, :count]

    @property
    def R(self) -> Array:
        """The block of P from transient to absorbing states.

        >>> Chain(3, 1).R.round(4).tolist()
        [[0.4167, 0.0, 0.5833], [0.0, 0.5787, 0.0]]
        """
        count = len(self.transient)
        return self.P[:count, count:]

    @cached_property
    def N(self) -> Array:
        """The fundamental matrix (I − Q)⁻¹: expected visits to each transient state from each.

        In floats, the errors of N, B and t have the same bounds as in `iacta.methods.markov`.

        >>> Chain(3, 1).N.round(4).tolist()
        [[1.0, 0.0], [0.4213, 1.0]]

        Source: Grinstead and Snell (1997), theorem 11.4.
        """
        return self._solve(self._make_identity(len(self.transient)))

    @cached_property
    def B(self) -> Array:
        """The absorption probabilities N R: the chances of each end from each transient state.

        >>> chain = Chain(3, 1, exact=True)
        >>> print(dict(zip(chain.absorbing, chain.B[-1]))[2, 0])
        455/2592

        Source: Grinstead and Snell (1997), theorem 11.6.
        """
        return self._solve(self.R)

    @cached_property
    def t(self) -> Array:
        """The expected number of rolls from each transient state to the end, N 1.

        >>> Chain(3, 1).t.round(4).tolist()
        [1.0, 1.4213]

        Source: Grinstead and Snell (1997), theorem 11.5.
        """
        return self._solve(np.full(len(self.transient), self._convert(1)))

    @cached_property
    def variance(self) -> Array:
        """The variance of the number of rolls from each transient state, (2 N − I) t − t².

        `Battle.rolls` returns the whole distribution.

        >>> Chain(3, 1).variance.round(4).tolist()
        [0.0, 0.2438]

        Source: Kemeny and Snell (1960), theorem 3.3.5.
        """
        return _freeze(2 * self._solve(self.t) - self.t - self.t * self.t)

    def after(self, rolls: int, start: tuple[int, int] | None = None) -> Distribution[Outcome]:
        """Return the distribution of the state after a number of rolls: a row of P^n.

        rolls: the number of rolls n, from 0 to 10^9; a battle that is over keeps its state.
        start: the state (attackers, defenders) before the first roll; `None` for the start of the
            chain.

        The computation stops early if all transient states have probabilities below 1e-300. Raises
        `IllegalError` for a state outside the chain.

        >>> chain = Chain(10, 10, garrison=0)
        >>> {tuple(state): round(p, 7) for state, p in chain.after(1).items()}
        {(8, 10): 0.2925669, (9, 9): 0.3357767, (10, 8): 0.3716564}

        Source: Höhle (2025), the equation x_1 = x_0 P.
        """
        rolls = read_int(rolls, "rolls", minimum=0, maximum=MAX_CHAIN_ROLLS)
        states: dict[Outcome, Probability] = {self._read_state(start): self._convert(1)}
        garrison = self.rules.garrison
        for _ in range(rolls):
            if all(
                state.attackers <= garrison or state.defenders <= 0 or p <= NEGLIGIBLE_STATE
                for state, p in states.items()
            ):
                break
            before, states = states, {}
            for state, p in before.items():
                for after, chance in self._list_moves(state):
                    states[after] = states.get(after, 0) + p * chance
        if self.exact:
            return Distribution(states)
        return Distribution.from_probabilities(states)

    def _read_state(self, start: tuple[int, int] | None) -> Outcome:
        if start is None:
            return self.start
        with suppress(TypeError):
            state = Outcome(*start)
            if state in self._numbers:
                return state
        sizes = f"{self.attackers} attackers and {self.defenders} defenders"
        raise IllegalError(
            f"start must be a state of the chain, with at most {sizes}, got {quote(start)}"
        )

    def to_frame(self, name: MatrixName) -> "pd.DataFrame":
        """Return an array as a pandas table whose rows and columns are states.

        name: the name of the array: `"P"`, `"Q"`, `"R"`, `"N"`, `"B"`, `"t"` or `"variance"`.

        The labels are pairs (attackers, defenders), garrison included. Raises `MissingError` if
        pandas is not installed.

        >>> Chain(3, 1).to_frame("R").round(4)  # doctest: +NORMALIZE_WHITESPACE
        attackers                 2       3       1
        defenders                 0       0       1
        attackers defenders
        2         1          0.4167  0.0000  0.5833
        3         1          0.0000  0.5787  0.0000
        """
        check_choice(name, get_args(MatrixName), "name")
        pd = load_pandas()
        values: Array = getattr(self, name)
        rows, columns = (
            pd.MultiIndex.from_tuples(states, names=Outcome._fields)
            for states in (
                self.states if name == "P" else self.transient,
                self.states if name == "P" else self.absorbing if name in "RB" else self.transient,
            )
        )
        return pd.DataFrame(values, rows, columns if values.ndim > 1 else [name])

    def _convert(self, chance: Probability) -> Probability:
        return Fraction(chance) if self.exact else float(chance)

    def _make_identity(self, count: int) -> Array:
        grows = compute_gain(self.rules) > 0
        number = ELIMINATION_MATRICES if grows else SUBSTITUTION_MATRICES
        entry_bytes = OUTCOME_BYTES if self.exact else number * FLOAT_BYTES
        self._refuse_too_large(*self._most, count * entry_bytes)
        if not self.exact:
            return np.eye(count)
        matrix = np.full((count, count), Fraction(0))
        np.fill_diagonal(matrix, Fraction(1))
        return matrix

    def _solve(self, right: Array) -> Array:
        """Return the solution x of (I − Q) x = b."""
        if compute_gain(self.rules):
            return _freeze(np.linalg.solve(self._make_identity(len(right)) - self.Q, right))
        # Rolls lead to earlier states only, so that x_i = b_i + Σ_j Q_ij x_j is a substitution.
        solution = right.copy()
        for i, state in enumerate(self.transient):
            for after, chance in self._list_moves(state):
                if (j := self._numbers[after]) < i:
                    solution[i] += chance * solution[j]
        return _freeze(solution)


@lru_cache(maxsize=1024)
def _list_losses(
    attack_dice: int, defence_dice: int, rules: Rules
) -> tuple[tuple[Losses, Probability], ...]:
    return tuple(Roll(attack_dice, defence_dice, rules).losses().items())


def _freeze(array: Array) -> Array:
    array.setflags(write=False)
    return array
