"""A battle as a Markov chain, with its states and its transition matrix.

`iacta.methods.markov` explains the mathematics and solves the same chain.

Sources: Höhle (2025), the repeated battle and appendix 3; Grinstead and Snell, "Introduction to
Probability" (1997), section 11.2.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from iacta.inputs.checks import quote, read_int
from iacta.inputs.errors import IllegalError
from iacta.methods.kernel import Floats, Outcome, read_battle, refuse_too_large
from iacta.methods.markov import Markov, build_transition_matrix, load_scipy, solve
from iacta.probability.distribution import Distribution
from iacta.rules.roll import compute_gain
from iacta.rules.rules import Rules

# The absorbing state for all states that are too large for the chain, not an outcome of a battle.
BEYOND = Outcome(attackers=-1, defenders=-1)

MAX_CHAIN_ROLLS = 10**9
ENTRY_BYTES = 16
NEGLIGIBLE_STATE = 1e-300


class CanonicalForm(NamedTuple):
    """The canonical form of the transition matrix: its blocks Q and R, and their states.

    transient: the states in which the battle continues, in the order of the rows of Q and R.
    absorbing: the states in which the battle is over, in the order of the columns of R.
    Q: the sparse matrix of the chances from transient to transient states in one roll.
    R: the sparse matrix of the chances from transient to absorbing states in one roll.

    Source: Grinstead and Snell (1997), section 11.2; Höhle (2025), appendix 3.
    """

    transient: tuple[Outcome, ...]
    absorbing: tuple[Outcome, ...]
    Q: Any
    R: Any

    def absorption(self) -> Floats:
        """Return the matrix of absorption probabilities, F = (I − Q)⁻¹ R.

        Entry `[i, j]` is the chance that a battle in `transient[i]` ends in `absorbing[j]`. If
        armies cannot grow, `Markov.error` bounds the relative error of each entry. Raises
        `TooLargeError` for a matrix that is too large for memory.

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
        refuse_too_large(attackers, defenders, memory=memory, method="markov")
        return solve(self.Q, self.R.toarray())

    def expected_rolls(self) -> Floats:
        """Return the expected number of rolls from each transient state, t = (I − Q)⁻¹ 1.

        If armies cannot grow, the bound on the relative error is that of `absorption`. If armies
        can grow, rolls are counted until the battle ends or reaches `BEYOND`.

        >>> from iacta.rules.rules import CLASSIC
        >>> chain(3, 1, CLASSIC).canonical().expected_rolls().round(6).tolist()
        [1.0, 1.421296]

        Source: Grinstead and Snell (1997), theorem 11.5.
        """
        return solve(self.Q, np.ones(len(self.transient)))


@dataclass(frozen=True, eq=False, repr=False)
class Chain:
    """The Markov chain of a battle.

    start: the state before the first roll.
    attackers: the largest number of attackers in any state, garrison included.
    defenders: the largest number of defenders in any state.
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
        return max(self.attackers - self.rules.garrison, 0)

    @cached_property
    def states(self) -> tuple[Outcome, ...]:
        """The states, garrison included: first the transient states, then the absorbing states.

        Transient states are sorted first by defenders and then by attackers.
        """
        can_attack = range(self.rules.garrison + 1, self.attackers + 1)
        return (
            *(Outcome(a, d) for d in range(1, self.defenders + 1) for a in can_attack),
            *self.ends,
        )

    @cached_property
    def ends(self) -> tuple[Outcome, ...]:
        """The absorbing states: victories by attackers left, then defeats by defenders left.

        If armies can grow, the last state is `BEYOND`.
        """
        garrison = self.rules.garrison
        won = (Outcome(a, 0) for a in range(garrison + 1, self.attackers + 1))
        stay = min(self.attackers, garrison)
        lost = (Outcome(stay, d) for d in range(1, self.defenders + 1))
        return (*won, *lost, *([BEYOND] if compute_gain(self.rules) else []))

    def after(self, rolls: int, start: Outcome | None = None) -> Distribution[Outcome]:
        """Return the distribution of the state after a number of rolls.

        rolls: the number of rolls, from 0 to 10^9; a battle that is over keeps its state.
        start: the state (attackers, defenders) before the first roll; `None` for the start of the
            chain.

        The probabilities are floats; the bound on their relative error is that of `absorption`. The
        computation stops early if all transient states have probabilities below 1e-300. Raises
        `IllegalError` for a state outside the chain.

        >>> from iacta.rules.rules import CLASSIC
        >>> {tuple(state): round(p, 7) for state, p in chain(11, 10, CLASSIC).after(1).items()}
        {(9, 10): 0.2925669, (10, 9): 0.3357767, (11, 8): 0.3716564}

        Source: Höhle (2025), the equation x_1 = x_0 P.
        """
        rolls = read_int(rolls, "rolls", minimum=0, maximum=MAX_CHAIN_ROLLS)
        state = np.zeros(len(self.states))
        state[self._read_number(self.start if start is None else start)] = 1.0
        transient, done = self.able * self.defenders, 0
        while done < rolls and state[:transient].max(initial=0.0) > NEGLIGIBLE_STATE:
            state, done = state @ self.matrix, done + 1
        reached = np.flatnonzero(state).tolist()
        return Distribution.from_probabilities({self.states[i]: float(state[i]) for i in reached})

    def _read_number(self, state: Outcome) -> int:
        try:
            return self._numbers[state]
        except (KeyError, TypeError):
            sizes = f"{self.attackers} attackers and {self.defenders} defenders"
            raise IllegalError(
                f"start must be a state of the chain, with at most {sizes}, got {quote(state)}"
            ) from None

    @cached_property
    def _numbers(self) -> dict[Outcome, int]:
        return {state: number for number, state in enumerate(self.states)}

    def power(self, n: int) -> Any:
        """Return the matrix power P^n: the chances of moving between states in n rolls.

        n: the exponent, from 0 to 10^9.

        The sparse matrix is computed by repeated squaring. Raises `TooLargeError` for a matrix that
        is too large for memory.

        >>> from iacta.rules.rules import CLASSIC
        >>> chain(3, 1, CLASSIC).power(2).toarray()[1].round(4).tolist()
        [0.0, 0.0, 0.1755, 0.5787, 0.2458]
        """
        n = read_int(n, "n", minimum=0, maximum=MAX_CHAIN_ROLLS)
        # If armies cannot grow, no battle lasts longer than this, and all higher powers are equal.
        n = n if compute_gain(self.rules) else min(n, self.able + self.defenders)
        refuse_too_large(
            self.attackers, self.defenders, memory=self._bound_power_bytes(), method="markov"
        )
        sparse = load_scipy("scipy.sparse")
        result, square = sparse.csr_array(sparse.identity(len(self.states))), self.matrix
        while n:
            if n % 2:
                result = result @ square
            square, n = square @ square if n > 1 else square, n // 2
        return result

    def _bound_power_bytes(self) -> int:
        """Return a bound on the memory that `power` needs, in bytes.

        If armies cannot grow, all states that follow n rolls with all dice have the same total
        number of armies. In the other states, one side has too few armies for all its dice.
        """
        entries = count = int(self.matrix.shape[0])
        if not compute_gain(self.rules):
            attack_dice, defence_dice = self.rules.full_roll
            few = attack_dice * (self.defenders + 1) + defence_dice * (self.able + 1)
            entries = min(count, few + min(self.able, self.defenders) + 1)
        return 3 * ENTRY_BYTES * count * entries

    def canonical(self) -> CanonicalForm:
        """Return the canonical form of the transition matrix.

        >>> from iacta.rules.rules import CLASSIC
        >>> form = chain(11, 10, CLASSIC).canonical()
        >>> len(form.transient), len(form.absorbing), form.Q.shape, form.R.shape
        (100, 20, (100, 100), (100, 20))
        """
        transient = self.able * self.defenders
        going_on, over = self.states[:transient], self.states[transient:]
        moves, ends = self.matrix[:transient, :transient], self.matrix[:transient, transient:]
        return CanonicalForm(going_on, over, moves, ends)


def build_chain(start: Outcome, room: int, rules: Rules) -> Chain:
    """Return the Markov chain of a battle, with a given limit on the growth of armies.

    start: the state before the first roll, garrison included, with at least 1 army on each side.
    room: the number of armies that a side can gain before the state counts as `BEYOND`; 0 if armies
        cannot grow.
    rules: the rules of the battle.

    >>> from iacta.rules.rules import CLASSIC
    >>> build_chain(Outcome(11, 10), 0, CLASSIC).matrix.shape
    (120, 120)
    """
    able = max(start.attackers - rules.garrison, 0)
    room = room if able else 0  # without able attackers there are no rolls, and nothing grows
    attackers, defenders = start.attackers + room, start.defenders + room
    return Chain(
        start, attackers, defenders, rules, build_transition_matrix(able + room, defenders, rules)
    )


def chain(attackers: int, defenders: int, rules: Rules | str = "classic") -> Chain:
    """Return the Markov chain of a battle, with its states and its transition matrix.

    attackers: armies on the attacking territory, garrison included, at least 1.
    defenders: armies on the defended territory, at least 1.
    rules: `Rules`, or the name of a rule set.

    If armies can grow, the chain has enough states to make the chance of reaching `BEYOND` at most
    1e-12 for every start with at most these armies. Raises `TooLargeError` for large battles.

    >>> from iacta.rules.rules import CLASSIC
    >>> ten = chain(11, 10, CLASSIC)
    >>> ten.start, len(ten.states), ten.matrix.nnz
    (Outcome(attackers=11, defenders=10), 120, 301)
    >>> later = ten.after(20)
    >>> round(later.prob(lambda state: state.defenders == 0), 7)
    0.5675929

    Source: Höhle (2025), with a battle of 10 against 10 without a garrison.
    """
    attackers, defenders, rules = read_battle(attackers, defenders, rules)
    kernel, able = Markov(rules), attackers - rules.garrison
    kernel.refuse(able, defenders)
    start = Outcome(attackers, defenders)
    if not kernel.gain or able <= 0:
        return build_chain(start, 0, rules)
    room = kernel.most_left(able, defenders).attackers - able
    return build_chain(start, room, rules)
