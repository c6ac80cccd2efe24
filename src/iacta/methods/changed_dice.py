"""Changed dice: battles in which a side may change a die after the roll.

Let (a, d) be the state with a attackers (garrison excluded) and d defenders, of which the attacker
has m missiles left and the defender n. The dice of a roll show y with the probability P(y). The
attacker chooses a change c that costs u ∈ {0, 1} missiles, then the defender a reply r that costs
v ∈ {0, 1}; the defenders then lose k armies with the probability p_k(c, r | y). The attackers'
chance to win under the best choices of both sides is

    P(a, d, m, n) = Σ_y P(y) max_c min_r Q(c, r | y),

where, with t = min(i, j) for i attack dice and j defence dice,

    Q(c, r | y) = Σ_k p_k(c, r | y) · P(a − t + k, d − k, m − u, n − v),

P(a, 0, m, n) = 1 and P(0, d, m, n) = 0. The chance to hold, H = 1 − P, is the same sum with the
minimum and the maximum exchanged. Of equally good choices, a side takes the choice with the fewest
missiles. If missiles are used at once, the attacker takes the change that costs the defenders the
most armies in this roll, and the defender takes the reply that costs the defenders the fewest
armies.

Given the choices, a battle is a Markov chain with the states (a, d, m, n). A forward pass computes
the distribution of the armies left; a backward pass computes expected values. States with a + d = t
armies depend only on states with fewer armies, so all states of an anti-diagonal are computed
together.

Error. In floats there are only sums and products of non-negative numbers, and minima and maxima,
which preserve a relative error. A roll adds a rounding for each of its choices, so the relative
error is at most (a + d) · (number of different y + 8) roundings. Choices whose values differ by
less than this error count as equally good. The values are compared by P or by H, whichever is
smaller, because the smaller value is more precise. Below 1e-290, all choices count as equally good.

Source: Shapley, "Stochastic games" (1953), for games in which both sides see all earlier choices;
`iacta.rules.modes` defines the house rules.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import groupby, product
from operator import itemgetter
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from iacta.methods.diagonals import Numbers, Span, iterate_spans, view_diagonals
from iacta.methods.kernel import (
    UNIT_ROUNDOFF,
    Choice,
    Error,
    Find,
    Kernel,
    State,
    Transitions,
    Values,
    make_table,
)
from iacta.probability.distribution import Distribution, Probability
from iacta.rules.changed_dice import Changes, count_changes
from iacta.rules.modes import AttackDieAgain, Missiles
from iacta.rules.roll import loss_counts
from iacta.rules.rules import Rules

MIN_COMPARABLE = 1e-290  # minimum value that is precise enough for comparing choices
CHOICE_STEPS = 200  # the work for one state, in steps of `refuse_too_large`

Layer: TypeAlias = tuple[int, int]  # the missiles of the attacker and of the defender
Tables: TypeAlias = dict[Layer, Numbers]  # a table `[d, a]` or its diagonals, for each layer
# The chances of a roll to use u and v missiles and to cost k defenders, `[k, state]` for (u, v).
Moves: TypeAlias = dict[Layer, Numbers]


class ChangedDiceKernel(Kernel):
    """The kernel for battles in which a side may change a die after the roll.

    exact: whether the results are fractions.

    >>> exact = ChangedDiceKernel(Rules(mode=Missiles(attack=1)), exact=True)
    >>> exact.win_probability(1, 1)
    Fraction(5, 6)
    >>> again = ChangedDiceKernel(Rules(mode=AttackDieAgain()), exact=False)
    >>> round(again.win_probability(1, 1), 4)
    0.5787
    """

    modes = (Missiles, AttackDieAgain)
    is_vectorised = True
    quick_states = 300_000

    def __init__(self, rules: Rules, *, exact: bool) -> None:
        self.exact, self.name = exact, "changed_dice_exact" if exact else "changed_dice"
        super().__init__(rules)
        mode = self.rules.mode
        self.missiles = (mode.attack, mode.defence) if isinstance(mode, Missiles) else (0, 0)
        self._compute_ends = lru_cache(maxsize=256)(
            lambda able, defenders: self.run_forward(Distribution([able]), defenders)
        )

    @classmethod
    def build(cls, rules: Rules, exact: bool, find: Find) -> Kernel:
        return cls(rules, exact=exact)

    def refuse(self, attackers: int, defenders: int) -> None:
        count_changes(*self.rules.full_roll, self.rules)
        layers = (self.missiles[0] + 1) * (self.missiles[1] + 1)
        cells = layers * (max(attackers, 0) + 1) * (defenders + 1)
        number_bytes = 8 * (attackers + defenders) if self.exact else 8
        self.refuse_too_large(
            attackers,
            defenders,
            memory=3 * cells * (number_bytes + 8),
            states=CHOICE_STEPS * cells,
            number_bytes=number_bytes,
        )

    def error(self, attackers: int, defenders: int) -> Error:
        return Error(self._solve(attackers, defenders).error)

    def _solve(self, attackers: int, defenders: int) -> "AllChangedBattles":
        self.refuse(attackers, defenders)
        return AllChangedBattles(
            max(attackers, 0), defenders, self.rules, self.missiles, self.exact
        )

    def win_probability(self, attackers: int, defenders: int) -> Probability:
        if attackers <= 0 or not defenders:
            return self.number(not defenders)
        found = self._solve(attackers, defenders).conquest_tables[self.missiles][-1, -1]
        return found if self.exact else min(float(found), 1.0)

    def run_forward(self, start: Distribution[int], defenders: int) -> Distribution[State]:
        most = max(0, *start)
        battles = self._solve(most, defenders)
        weights: Numbers = np.full(most + 1, self.number(0), battles.kind)
        ends: dict[State, Any] = {}
        for able, chance in start.items():
            number = Fraction(chance) if self.exact else float(chance)
            if able > 0 and defenders:
                weights[able] += number
            else:
                ends[State(able, defenders)] = ends.get(State(able, defenders), 0) + number
        if weights.any():
            won, held = battles.run_forward(weights)
            states = [State(a, 0) for a in range(1, most + 1)]
            states += [State(0, d) for d in range(1, defenders + 1)]
            for end, chance in zip(states, [*won[1:].tolist(), *held[1:].tolist()], strict=True):
                if chance:
                    ends[end] = ends.get(end, 0) + chance
        return Distribution(ends) if self.exact else Distribution.from_probabilities(ends)

    def run_backward(self, values: Values) -> Iterator[Any]:
        won, lost = (np.asarray(side, object if self.exact else float) for side in values)
        battles = self._solve(len(won) - 1, len(lost) - 1)
        if battles.able and (won == 1).all() and not lost.any():
            table = battles.conquest_tables[self.missiles]
        else:
            table = battles.compute_values(won, lost)
        yield from table[1:]

    def compute_transitions(
        self, attackers: int, defenders: int, min_attackers: int = 0
    ) -> Transitions:
        if self.exact or not attackers:
            return super().compute_transitions(attackers, defenders, min_attackers)
        start = np.eye(attackers + 1)
        start[0, 0] = 0.0
        won, lost = self._solve(attackers, defenders).run_forward(start)
        won[0], lost[0] = 0.0, 0.0
        lost[defenders, 0] = 1.0
        return Transitions(np.ascontiguousarray(won.T), np.ascontiguousarray(lost.T))

    def rolls(self, able: int, defenders: int, spare: int | None = None) -> tuple[Choice, ...]:
        raise self.rules.mode.make_unfit_error("to decide roll by roll")

    def tabulate_moves(self, attackers: int, defenders: int) -> dict[tuple[int, int], Numbers]:
        if any(self.missiles):
            raise self.rules.mode.make_unfit_error("to count rolls")
        battles = self._solve(attackers, defenders)
        moves: dict[tuple[int, int], Numbers] = {}
        for span in battles.iterate_spans():
            chances = battles.compute_moves(span, (0, 0))[0, 0]
            taken = len(chances) - 1
            for k, chance in enumerate(chances):
                size = attackers, defenders
                table = moves.setdefault((taken - k, k), make_table(size, exact=self.exact))
                span.view(view_diagonals(table))[:] = chance
        return moves

    def play(self, attackers: int, defenders: int, rng: "np.random.Generator") -> State:
        end: State = self._compute_ends(attackers, defenders).sample(1, rng)[0]
        return end

    def limit_of_attackers(self, defenders: int) -> Fraction:
        """Return the limit of the chance to win as the number of attackers grows.

        It is 1 if each roll of very many attackers may cost the defenders an army, otherwise 0.
        All missiles are used up long before such a battle ends.
        """
        attack, defence = self.rules.full_roll
        dice = range(1, min(defenders, defence) + 1)
        return Fraction(all(any(loss_counts(attack, j, self.rules).counts[1:]) for j in dice))

    def limit_of_defenders(self, attackers: int) -> Fraction:
        raise self.rules.mode.make_unfit_error("for the limit of infinitely many armies")


@dataclass(frozen=True)
class AllChangedBattles:
    """All battles up to a size, solved together.

    able: the largest number of attackers, garrison excluded.
    defenders: the largest number of defenders.
    rules: the rules of the battles.
    missiles: the missiles of the attacker and of the defender.
    exact: whether to compute with fractions instead of floats.

    Tables have entries `[d, a]` for a attackers against d defenders.

    >>> battles = AllChangedBattles(2, 1, Rules(mode=AttackDieAgain()), (0, 0))
    >>> battles.conquest_tables[0, 0].round(4).tolist()
    [[1.0, 1.0, 1.0], [0.0, 0.5787, 0.8566]]
    """

    able: int
    defenders: int
    rules: Rules
    missiles: Layer
    exact: bool = False

    @property
    def kind(self) -> type:
        return object if self.exact else float

    @property
    def layers(self) -> list[Layer]:
        """The layers, in an order in which each layer depends only on earlier layers."""
        attack, defence = self.missiles
        return [*product(range(attack + 1), range(defence + 1))]

    @property
    def error(self) -> float:
        """A bound on the relative error of every entry of the tables.

        >>> AllChangedBattles(50, 50, Rules(mode=AttackDieAgain()), (0, 0)).error < 1e-11
        True
        """
        if self.exact:
            return 0.0
        terms = len(count_changes(*self.rules.full_roll, self.rules)) + 8
        return (self.able + self.defenders) * terms * UNIT_ROUNDOFF

    def iterate_spans(self) -> Iterator[Span]:
        """Yield all states with armies on both sides; each span depends only on earlier spans."""
        return iterate_spans(self.able, self.defenders, self.rules.full_roll)

    @cached_property
    def conquest_tables(self) -> Tables:
        """The tables of P, the attackers' chances to win, for each layer."""
        return self._fill_by_choice(np.ones(self.able + 1, int), np.zeros(self.defenders + 1, int))

    @cached_property
    def hold_tables(self) -> Tables:
        """The tables of H, the defenders' chances to hold the territory, for each layer."""
        return self._fill_by_choice(
            np.zeros(self.able + 1, int), np.ones(self.defenders + 1, int), is_hold=True
        )

    def _make_tables(self, won: Numbers, lost: Numbers) -> Tables:
        tables = {}
        for layer in self.layers:
            table = np.full((self.defenders + 1, *won.shape), self._zero, self.kind)
            table[:, 0], table[0] = lost + self._zero, won + self._zero
            tables[layer] = table
        return tables

    @property
    def _zero(self) -> Probability:
        return Fraction(0) if self.exact else 0.0

    def _fill_by_choice(self, won: Numbers, lost: Numbers, *, is_hold: bool = False) -> Tables:
        if is_at_once(self.rules):
            return self._fill_by_moves(won, lost)
        tables = self._make_tables(won, lost)
        diagonals = view_layers(tables)
        ours, theirs = (np.minimum, np.maximum) if is_hold else (np.maximum, np.minimum)
        for span, layer in product(self.iterate_spans(), self.layers):
            choices = list_choices(*span.dice, self.rules, layer, self.exact)
            values = choices.compute_values(span, layer, diagonals)[choices.results]
            best = ours.reduce(theirs.reduce(values, axis=2), axis=1)
            span.view(diagonals[layer])[:] = choices.weights @ best
        return tables

    def compute_moves(self, span: Span, layer: Layer) -> Moves:
        """Return the chances to use missiles and to lose armies in a roll, under the choices.

        >>> battles = AllChangedBattles(1, 1, Rules(mode=Missiles(attack=1)), (1, 0), exact=True)
        >>> *_, span = battles.iterate_spans()
        >>> moves = battles.compute_moves(span, (1, 0))
        >>> [moves[0, 0][:, 0].tolist(), moves[1, 0][:, 0].tolist()]
        [[Fraction(1, 6), Fraction(5, 12)], [Fraction(0, 1), Fraction(5, 12)]]
        """
        choices = list_choices(*span.dice, self.rules, layer, self.exact)
        if is_at_once(self.rules):
            change = choices.find_at_once()[:, np.newaxis].repeat(span.stop - span.first, axis=1)
        else:
            change = self._choose_best(choices, span, layer)
        chances = np.full((sum(map(len, choices.rows.values())), change.shape[1]), self._zero)
        np.add.at(chances, (change, np.arange(change.shape[1])), choices.weights[:, np.newaxis])
        moves, first = {}, 0
        for used, rows in choices.rows.items():
            moves[used] = rows.T @ chances[first : first + len(rows)]
            first += len(rows)
        return moves

    def _choose_best(self, choices: "RollChoices", span: Span, layer: Layer) -> Numbers:
        """Return the number of the best result for each throw and state, `[y, state]`."""
        tables = view_layers(self.conquest_tables), view_layers(self.hold_tables)
        half = Fraction(1, 2) if self.exact else 0.5
        is_likely = span.view(tables[0][layer]) > half
        won, held = (
            choices.compute_values(span, layer, table)[choices.results] for table in tables
        )
        reply = self._find_first_best(won, held, is_likely, axis=2, sign=1)[:, :, np.newaxis]
        won, held = (np.take_along_axis(side, reply, axis=2)[:, :, 0] for side in (won, held))
        change = self._find_first_best(won, held, is_likely, axis=1, sign=-1)[:, np.newaxis]
        reply = np.take_along_axis(reply[:, :, 0], change, axis=1)
        throw = np.arange(len(choices.results))[:, np.newaxis]
        return choices.results[throw, change[:, 0], reply[:, 0]]

    def _find_first_best(
        self, won: Numbers, held: Numbers, is_likely: Numbers, axis: int, sign: int
    ) -> Numbers:
        """Return the index along an axis of the first choice that is as good as the best.

        sign: 1 for the defender, who wants a small chance to win, and -1 for the attacker.
        """
        by_chance = self._are_good(won, axis, is_least=sign > 0)
        by_hold = self._are_good(held, axis, is_least=sign < 0)
        return np.asarray(np.where(is_likely, by_hold, by_chance).argmax(axis=axis))

    def _are_good(self, values: Numbers, axis: int, *, is_least: bool) -> Numbers:
        best = (np.minimum if is_least else np.maximum).reduce(values, axis=axis, keepdims=True)
        if self.exact:
            return np.asarray(values == best, bool)
        margin = 3 * self.error
        if is_least:
            return np.asarray(values <= np.maximum(best * (1 + margin), MIN_COMPARABLE))
        return np.asarray(values >= np.where(best > MIN_COMPARABLE, best * (1 - margin), 0.0))

    def compute_values(self, won: Numbers, lost: Numbers) -> Numbers:
        """Return the table of expected values with all missiles.

        won: `won[a]` is the value of a victory with a attackers left, garrison excluded.
        lost: `lost[d]` is the value of a defeat with d defenders left; `lost[0]` is ignored.

        `won` and `lost` may have a second axis, which the result keeps.

        >>> battles = AllChangedBattles(2, 1, Rules(mode=AttackDieAgain()), (0, 0))
        >>> round(float(battles.compute_values(np.arange(3), np.zeros(2))[1, 2]), 4)
        1.5164
        """
        return self._fill_by_moves(won, lost)[self.missiles]

    def _fill_by_moves(self, won: Numbers, lost: Numbers) -> Tables:
        tables = self._make_tables(won, lost)
        diagonals = view_layers(tables)
        for span, layer in product(self.iterate_spans(), self.layers):
            here = span.view(diagonals[layer])
            for used, chances in self.compute_moves(span, layer).items():
                other = diagonals[layer[0] - used[0], layer[1] - used[1]]
                for k, chance in enumerate(chances):
                    here += chance * span.view(other, len(chances) - 1, k)
        return tables

    def run_forward(self, start: Numbers) -> tuple[Numbers, Numbers]:
        """Return the distribution of the armies left, for the largest number of defenders.

        start: `start[a]` is the probability of a attackers, garrison excluded; further axes
            distinguish distributions.

        Returns `won, held`: `won[a]` is the probability of a victory with a attackers left, and
        `held[d]` of a defeat with d defenders left.

        >>> battles = AllChangedBattles(1, 1, Rules(mode=Missiles(1)), (1, 0))
        >>> won, held = battles.run_forward(np.array([0.0, 1.0]))
        >>> won.round(4).tolist(), held.round(4).tolist()
        ([0.0, 0.8333], [0.0, 0.1667])
        """
        tables = {
            layer: np.zeros((self.defenders + 1, *start.shape), self.kind) for layer in self.layers
        }
        tables[self.missiles][-1] = start
        diagonals = view_layers(tables)
        for span, layer in product(reversed([*self.iterate_spans()]), reversed(self.layers)):
            here = span.view(diagonals[layer])
            for used, chances in self.compute_moves(span, layer).items():
                other = diagonals[layer[0] - used[0], layer[1] - used[1]]
                for k, chance in enumerate(chances):
                    span.view(other, len(chances) - 1, k)[:] += chance * here
        everything = np.add.reduce([*tables.values()])
        return everything[0], everything[:, 0]


def view_layers(tables: Tables) -> Tables:
    """Return the anti-diagonals of the table of each layer."""
    return {layer: view_diagonals(table) for layer, table in tables.items()}


def is_at_once(rules: Rules) -> bool:
    return isinstance(rules.mode, Missiles) and rules.mode.used == "at once"


class RollChoices(NamedTuple):
    """The choices after the rolls with some numbers of dice, in a layer.

    weights: the chance of each throw y.
    rows: for each number of missiles used by both sides, the distributions of the defenders lost,
        `[result, k]`. Results are numbered consecutively across these arrays.
    results: the number of the result of each change and reply, `[y, change, reply]`. Unused
        entries repeat the first choice.
    """

    weights: Numbers
    rows: dict[Layer, Numbers]
    results: npt.NDArray[np.intp]

    def compute_values(self, span: Span, layer: Layer, diagonals: Tables) -> Numbers:
        """Return the expected value of each result, `[result, state]`."""
        values = []
        for used, rows in self.rows.items():
            after = diagonals[layer[0] - used[0], layer[1] - used[1]]
            values.append(rows @ span.after(after, rows.shape[1] - 1))
        return np.concatenate(values)

    def find_at_once(self) -> npt.NDArray[np.intp]:
        """Return the result for each throw if both sides use missiles as soon as they save an army.

        The attacker takes the change that costs the defenders the most armies, and the defender
        takes the reply that costs the defenders the fewest armies.
        """
        lost = np.concatenate([rows.argmax(axis=1) for rows in self.rows.values()])[self.results]
        throw = np.arange(len(self.results))
        change = lost[:, :, 0].argmax(axis=1)
        reply = lost[throw, change].argmin(axis=1)
        found: npt.NDArray[np.intp] = self.results[throw, change, reply]
        return found


@lru_cache(maxsize=1024)
def list_choices(
    attack_dice: int, defence_dice: int, rules: Rules, layer: Layer, exact: bool
) -> RollChoices:
    """Return the choices after a roll if the sides have the missiles of a layer."""
    counts = count_changes(attack_dice, defence_dice, rules)
    total = sum(counts.values())
    make: Any = Fraction if exact else (lambda n, total: n / total)
    throws = [_list_results(changes, layer) for changes in counts]
    keys = sorted({key for changes in throws for replies in changes for key in replies})
    rows = {
        used: np.array([[make(n, sum(wins)) for n in wins] for _, wins in group])
        for used, group in groupby(keys, key=itemgetter(0))
    }
    number = {key: index for index, key in enumerate(keys)}
    most_changes = max(map(len, throws))
    most_replies = max(len(replies) for changes in throws for replies in changes)
    index = [
        [
            [number[key] for key in (*replies, *[replies[0]] * (most_replies - len(replies)))]
            for replies in (*changes, *[changes[0]] * (most_changes - len(changes)))
        ]
        for changes in throws
    ]
    weights = np.array([make(n, total) for n in counts.values()])
    return RollChoices(weights, rows, np.array(index))


def _list_results(changes: Changes, layer: Layer) -> list[list[tuple[Layer, tuple[int, ...]]]]:
    """Return the missiles used and the losses for each change and reply that a layer allows."""
    return [
        [
            ((change.missiles, reply.missiles), reply.wins)
            for reply in change.replies
            if reply.missiles <= layer[1]
        ]
        for change in changes
        if change.missiles <= layer[0]
    ]
