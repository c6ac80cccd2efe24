"""House rolls: battles under house rules that change the dice of a roll or the cost of ties.

Let (a, d) be the state with a attackers (garrison excluded) and d defenders, and p(x, y | a, d) the
probability that a roll costs x attackers and y defenders. A roll that costs nobody is repeated, so
the value of a state is

    V(a, d) = Σ_{(x, y) ≠ (0, 0)} p(x, y | a, d) · V(a − x, d − y) / (1 − p(0, 0 | a, d)).

The battle ends when one side has no armies left, or when the attackers may not roll. If the last
armies of both sides fall together, the state is (0, 0) if the attackers take the territory, and
otherwise (0, 1): the territory is not taken.

Error. All terms are non-negative. The relative error of V grows by a few roundings with each roll,
and a battle has at most a + d rolls that cost an army.

Source: Bellman, "Dynamic programming" (1957); `iacta.rules.modes` defines the house rules.
"""

from collections.abc import Iterator
from fractions import Fraction
from functools import lru_cache
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from iacta.methods.kernel import (
    UNIT_ROUNDOFF,
    Choice,
    Error,
    Find,
    Floats,
    Kernel,
    Numbers,
    RollKernel,
    State,
    Throw,
    Transitions,
    Values,
    leaves_enough,
    list_roll_results,
    make_table,
    refuse_too_large,
)
from iacta.probability.distribution import Distribution, Probability
from iacta.rules.modes import (
    Fumble,
    HouseRolls,
    LastDieAtTwoToOne,
    LateDefenceDice,
    NeverFewerDice,
    TiesCost,
)
from iacta.rules.roll import count_losses, make_endless_error
from iacta.rules.rules import Rules

ROUNDINGS_PER_ROLL = 20
MANY_ARMIES = 1000  # house rules give more attackers no other dice
STATE_STEPS = 40  # the work for one state, in steps of `refuse_too_large`


class _SolvedBattles(NamedTuple):
    """The ends of battles against the largest numbers of defenders that have been solved.

    defenders: the largest number of defenders that has been solved.
    rows: `rows[k]` is the result of `Kernel.compute_ends` for k defenders fewer.
    """

    defenders: int
    rows: tuple[tuple[Floats, Floats], ...]


class HouseKernel(RollKernel):
    """The kernel for battles under a house rule.

    exact: whether the results are fractions.

    >>> rules = Rules(mode=TiesCost("nobody"))
    >>> round(HouseKernel(rules, exact=False).win_probability(9, 8), 5)
    0.90653
    >>> HouseKernel(rules, exact=True).win_probability(1, 1)
    Fraction(1, 2)
    """

    modes = (TiesCost, LateDefenceDice, NeverFewerDice, LastDieAtTwoToOne, Fumble)
    quick_states = 300_000

    def __init__(self, rules: Rules, *, exact: bool) -> None:
        self.exact, self.name = exact, "house_rolls_exact" if exact else "house_rolls"
        super().__init__(rules)
        assert isinstance(rules.mode, HouseRolls)  # noqa: S101 # one of `modes`
        self.mode: HouseRolls = rules.mode
        self._list_results = lru_cache(maxsize=4096)(self._compute_results)
        self._solved = _SolvedBattles(0, ((np.eye(1), np.zeros((1, 1, 1))),))

    @classmethod
    def build(cls, rules: Rules, exact: bool, find: Find) -> Kernel:
        return cls(rules, exact=exact)

    def refuse(self, attackers: int, defenders: int) -> None:
        number_bytes = attackers + defenders if self.exact else 8
        cells = (attackers + 1) * (defenders + 1)
        self.refuse_too_large(
            attackers,
            defenders,
            memory=2 * cells * (number_bytes + 50),
            states=STATE_STEPS * cells,
            number_bytes=number_bytes,
        )

    def error(self, attackers: int, defenders: int) -> Error:
        rolls = max(attackers, 0) + defenders
        return Error(0.0 if self.exact else ROUNDINGS_PER_ROLL * rolls * UNIT_ROUNDOFF)

    def count_dice(self, able: int, defenders: int) -> tuple[int, int]:
        return self.mode.count_dice(able, defenders, self.rules.full_roll, self.garrison)

    def _compute_results(self, dice: tuple[int, int]) -> tuple[tuple[Any, int, int], ...]:
        """Return the chance and the losses of each result that costs an army."""
        counts = {losses: n for losses, n in count_losses(*dice, self.rules).items() if any(losses)}
        total = sum(counts.values())
        if not total:
            raise make_endless_error(*dice)
        make: Any = Fraction if self.exact else (lambda n, total: n / total)
        return tuple((make(n, total), *losses) for losses, n in counts.items() if n)

    def _list_next(self, a: int, d: int) -> tuple[tuple[Any, int, int], ...]:
        """Return the chance and the armies after each result of the next roll that costs an army.

        It is empty if the battle is over.
        """
        dice = self.count_dice(a, d) if a > 0 and d > 0 else (0, 0)
        if not dice[0]:
            return ()
        rest = [(p, a - x, d - y) for p, x, y in self._list_results(dice)]
        if self.rules.mode == TiesCost("both"):
            return tuple((p, i, j or int(not i)) for p, i, j in rest)
        return tuple(rest)

    @property
    def distinct_defenders(self) -> int:
        return self.mode.count_distinct_defenders(self.rules.defence.kept)

    @property
    def needs_double(self) -> bool:
        return isinstance(self.mode, LastDieAtTwoToOne) and self.rules.attack.kept > 1

    def compute_ends(self, attackers: int, defenders: int) -> tuple[Floats, Floats]:
        cells = (attackers + 1) * (attackers + 1 + (defenders + 1) * self._stops)
        memory = 8 * cells * (self.rules.defence.kept + 1)
        refuse_too_large(attackers, defenders, memory=memory, method=self.name)
        solved = self._solved
        if len(solved.rows[0][0]) != attackers + 1 or solved.defenders > defenders:
            nobody = np.zeros((attackers + 1, 1, self._stops))
            solved = _SolvedBattles(0, ((np.eye(attackers + 1), nobody),))
        while solved.defenders < defenders:
            row = self._solve_row(solved)
            solved = _SolvedBattles(
                solved.defenders + 1, (row, *solved.rows[: self.rules.defence.kept - 1])
            )
        self._solved = solved
        return solved.rows[0]

    def _solve_row(self, fewer: "_SolvedBattles") -> tuple[Floats, Floats]:
        """Return the ends of battles against one defender more than those solved."""
        d, size = fewer.defenders + 1, len(fewer.rows[0][0])
        won, stopped = np.zeros((size, size)), np.zeros((size, d + 1, self._stops))
        rows = (won, stopped), *fewer.rows  # by the number of defenders killed
        for a in range(1, size):
            for chance, left, held in self._list_next(a, d):
                p = float(chance)
                if held and not self._list_next(left, held):
                    stopped[a, held, left] += p
                else:
                    won[a] += p * rows[d - held][0][left]
                    stopped[a, : held + 1] += p * rows[d - held][1][left]
            # The sum is 1 but for roundings, or 0 if the attackers may not roll.
            total = float(won[a].sum() + stopped[a].sum()) or 1.0
            won[a] /= total
            stopped[a] /= total
        return won, stopped

    @property
    def _stops(self) -> int:
        """The length of the axis of remaining attackers in the second array of `compute_ends`.

        At most `_stops - 1` attackers remain who may not attack.
        """
        return self.rules.defence.kept if self.mode.may_forbid else 1

    def compute_transitions(
        self, attackers: int, defenders: int, min_attackers: int = 0
    ) -> Transitions:
        won, ends = self.compute_ends(attackers, defenders)
        lost = ends.sum(axis=2)
        lost[~(won.any(axis=1) | lost.any(axis=1)), defenders] = 1.0  # the attackers may not roll
        return Transitions(won, lost)

    def run_forward(self, start: Distribution[int], defenders: int) -> Distribution[State]:
        self.refuse(max(0, *start), defenders)
        waiting: dict[tuple[int, int], Any] = {}
        ends: dict[State, Probability] = {}
        for able, chance in start.items():
            number = Fraction(chance) if self.exact else float(chance)
            waiting[able, defenders] = waiting.get((able, defenders), 0) + number
        while waiting:
            most = max(sum(state) for state in waiting)
            for state in [each for each in waiting if sum(each) == most]:
                weight, after = waiting.pop(state), self._list_next(*state)
                if not after:
                    ends[State(*state)] = ends.get(State(*state), 0) + weight
                for p, a, d in after:
                    waiting[a, d] = waiting.get((a, d), 0) + weight * p
        return Distribution(ends) if self.exact else Distribution.from_probabilities(ends)

    def run_backward(self, values: Values) -> Iterator[Any]:
        most, defenders = len(values.won) - 1, len(values.lost) - 1
        self.refuse(most, defenders)
        won, lost = np.asarray(values.won), np.asarray(values.lost)
        kind = object if self.exact else float
        rows = [np.array(won, dtype=kind)]
        for d in range(1, defenders + 1):
            row = np.empty(won.shape, dtype=kind)
            rows.append(row)
            for a in range(most + 1):
                after = self._list_next(a, d)
                row[a] = (
                    sum(p * rows[j][i] for p, i, j in after) if after else self.number(1) * lost[d]
                )
            yield row

    def rolls(self, able: int, defenders: int, spare: int | None = None) -> tuple[Choice, ...]:
        """Return the rolls that the attacker may choose, most dice first.

        A roll that never costs an army is left out, because it would be repeated without an end.
        """
        most, _ = self.count_dice(able, defenders) if able > 0 else (0, 0)
        room, found = able if spare is None else spare, []
        for dice in range(most, 0, -1):
            pair = dice, self.count_dice(able, defenders)[1]
            if isinstance(self.mode, NeverFewerDice) and pair[0] < pair[1]:
                break
            results = list_roll_results(*pair, self.rules)
            choice = Choice(dice, self.rules.count_required(dice), (Throw(1.0, (results,)),))
            can_cost = any(each.attackers or each.defenders for each in results)
            if can_cost and leaves_enough(choice, defenders, room):
                found.append(choice)
        return tuple(found)

    def tabulate_moves(self, attackers: int, defenders: int) -> dict[tuple[int, int], Numbers]:
        if self.exact or isinstance(self.mode, NeverFewerDice) or self.mode == TiesCost("both"):
            raise self.mode.make_unfit_error("to count rolls")
        moves: dict[tuple[int, int], Numbers] = {}
        for a, d in product(range(1, attackers + 1), range(1, defenders + 1)):
            self._list_results(self.count_dice(a, d))  # refuses rolls that never cost an army
            for chance, *lost in list_roll_results(*self.count_dice(a, d), self.rules):
                size = attackers, defenders
                table = moves.setdefault((lost[0], lost[1]), make_table(size, exact=False))
                table[d, a] = chance
        return moves

    def limit_of_attackers(self, defenders: int) -> Fraction:
        """Return the limit of the chance to win as the number of attackers grows.

        It is 1 if each roll of very many attackers may cost the defenders an army, otherwise 0.
        """
        dice = [self.count_dice(MANY_ARMIES, d) for d in range(1, min(defenders, MANY_ARMIES) + 1)]
        return Fraction(
            all(
                k and any(losses.defenders for losses in count_losses(k, j, self.rules))
                for k, j in dict.fromkeys(dice)
            )
        )

    def limit_of_defenders(self, attackers: int) -> Fraction:
        raise self.rules.mode.make_unfit_error("for the limit of infinitely many armies")

    def play(self, attackers: int, defenders: int, rng: "np.random.Generator") -> State:
        state = attackers, defenders
        while after := self._list_next(*state):
            draw = rng.random()
            for p, *armies in after:
                draw -= float(p)
                state = armies[0], armies[1]
                if draw < 0:
                    break
        return State(*state)
