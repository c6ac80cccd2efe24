"""The kernel of a battle: the only interface between the methods and higher packages.

Under given rules a battle is a Markov chain. Its states are (a, d): a able attackers (attackers
without the garrison) and d defenders. The final (absorbing) states are victories (a, 0), defeats
(0, d), and states (a, d) in which the attackers stop. Let K(s, z) be the probability that a battle
starting in s ends in z. The kernel carries

    a distribution forward,        (μK)(z) = Σ_s μ(s) K(s, z),
    a value function backward,     (Kv)(s) = Σ_z K(s, z) v(z).

A campaign is a product of kernels, a requirement is a search over a kernel, and a plan is dynamic
programming over many kernels. `Kernel` derives all other results from these two operations; a
method overrides those that it can compute faster. Callers do not depend on the method, the dice
mode or the stop rule of a kernel.

Error. An exact kernel returns fractions. Other kernels return floats, and `Kernel.error` bounds
their errors: either the relative error of each result is at most `relative`, or its absolute error
is at most `absolute`. Probabilities below 1e-150 may lose digits or become 0.
"""

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from itertools import product
from math import inf
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from iacta.inputs.checks import quote, read_int
from iacta.inputs.errors import IactaError, IllegalError, TooLargeError
from iacta.inputs.meanings import Count
from iacta.probability.distribution import Distribution, Probability
from iacta.rules.modes import Mode, TrueRandom
from iacta.rules.roll import LossCounts, Roll, count_losses, loss_counts, refuse_many_rolls
from iacta.rules.rules import Rules
from iacta.rules.stop import NEVER, StopRule
from iacta.rules.variants import find_rules

Find: TypeAlias = "Callable[..., Kernel]"
Floats: TypeAlias = npt.NDArray[np.float64]
Numbers: TypeAlias = npt.NDArray[Any]  # an array of floats, or of exact numbers as objects
Row: TypeAlias = Any  # a sequence indexed by the number of attackers, or by an array of numbers

UNIT_ROUNDOFF = 2.0**-53  # relative error of one floating-point operation
# Limits on the work for one question, checked before the computation.
MAX_KERNEL_STEPS = 10**9  # one step takes about 20 ns
MAX_ARRAY_BYTES = 2 * 2**30  # memory for arrays
OUTCOME_BYTES = 300
FLOAT_BYTES = 8
DIGIT_BYTES = 64  # Python multiplies large integers in blocks of this size
INTERPRETED_STEPS = 15  # overhead of Python per state, in steps


class Outcome(NamedTuple):
    """The armies left at the end of a battle.

    attackers: armies on the attacking territory, garrison included, before any armies move in.
    defenders: armies left on the defended territory; 0 if the attackers won.
    """

    attackers: Count
    defenders: Count


def is_won(outcome: Outcome) -> bool:
    """Return whether the attackers won, with no defender left.

    >>> is_won(Outcome(attackers=3, defenders=0)), is_won(Outcome(attackers=1, defenders=4))
    (True, False)
    """
    return outcome.defenders == 0


class State(NamedTuple):
    """A state during a battle.

    attackers: the attackers without the garrison; 0 or less if the stack cannot attack.
    defenders: armies on the defended territory.
    """

    attackers: int
    defenders: int


class Values(NamedTuple):
    """The values of the final states of a battle.

    won: `won[a]` is the value of a victory with a attackers left, garrison excluded.
    lost: `lost[d]` is the value of a defeat or a stop with d defenders left. `lost[0]` is ignored.

    For a kernel in floats, both arrays may have a second axis to evaluate many value functions at
    once.
    """

    won: Sequence[Any] | npt.NDArray[Any]
    lost: Sequence[Any] | npt.NDArray[Any]

    def find(self, state: State) -> Any:
        """Return the value of a final state."""
        return self.lost[state.defenders] if state.defenders else self.won[state.attackers]

    def mean(self, ends: Distribution[State]) -> Any:
        """Return the expected value over a distribution of final states."""
        if np.ndim(self.won) > 1:
            return sum(float(probability) * self.find(state) for state, probability in ends.items())
        return ends.map(self.find).mean()


def value_victories(moved: npt.NDArray[Any], rules: Rules) -> npt.NDArray[Any]:
    """Return the values of victories, for `Values.won`, if as many armies as possible move in.

    moved: `moved[n]` is the value of n armies that move in.
    rules: the rules of the battle, which may limit the armies that move in.

    >>> value_victories(np.array([0, 1, 2, 3, 4]), Rules(most_advance=3)).tolist()
    [0, 1, 2, 3, 3]
    """
    return moved[: 1 + rules.limit_advance(len(moved))].take(range(len(moved)), 0, mode="clip")


class Chances(NamedTuple):
    """The chance to win a battle and the chance not to win it, which sum to 1.

    won, lost: the two chances. The bound on the relative error also holds for the smaller one.
    """

    won: Probability
    lost: Probability


class Error(NamedTuple):
    """Bounds on the error of results for a battle.

    relative: a bound on the relative error; infinite if the error is random.
    absolute: a bound on the absolute error. If it is above 0, it replaces the relative bound.
    """

    relative: float
    absolute: float = 0.0


class Transitions(NamedTuple):
    """The probabilities of all ends of battles against a fixed number of defenders.

    won: `won[a, b]` is the probability that a attackers win and b of them are left.
    lost: `lost[a, e]` is the probability that a attackers do not win and e defenders are left.

    All numbers of attackers exclude the garrison.
    """

    won: Floats
    lost: Floats


class Result(NamedTuple):
    """A possible result of a roll.

    chance: its probability.
    attackers, defenders: the armies that each side loses; a negative number is a gain.
    """

    chance: float
    attackers: int
    defenders: int


class Throw(NamedTuple):
    """One throw of the attack dice.

    chance: its probability.
    options: one distribution of results for each reply of the defender; only one if the defender
        has no choice.
    """

    chance: float
    options: tuple[tuple[Result, ...], ...]


class Choice(NamedTuple):
    """A roll that the attacker may choose.

    dice: the number of attack dice.
    least: the minimum number of armies that must move in after a conquest, if that many are left.
    throws: the possible throws of the attack dice.
    """

    dice: int
    least: int
    throws: tuple[Throw, ...]


def drop_garrison(rules: Rules) -> Rules:
    """Return the rules with a garrison of 0, because methods do not handle garrisons."""
    return replace(rules, garrison=0) if rules.garrison else rules


def read_battle(
    attackers: object, defenders: object, rules: Rules | str, fewest: int = 1
) -> tuple[int, int, Rules]:
    """Read the attackers, defenders and rules of a battle; raise `IactaError` for bad input.

    attackers: armies on the attacking territory, garrison included, at least 1.
    defenders: armies on the defended territory, at least `fewest`.
    rules: `Rules`, or the name of a rule set.

    >>> read_battle(5, -4, "classic")
    Traceback (most recent call last):
        ...
    iacta.IllegalError: defenders must be a whole number of at least 1, got -4
    """
    return (
        read_int(attackers, "attackers", minimum=1),
        read_int(defenders, "defenders", minimum=fewest),
        find_rules(rules),
    )


def refuse_too_large(
    attackers: int,
    defenders: int,
    *,
    memory: int,
    method: str,
    number_bytes: int = 8,
    states: int | None = None,
    kind: str = "battle",
) -> None:
    """Raise `TooLargeError` for a battle that would take too many steps or too much memory.

    attackers, defenders: the armies of both sides.
    memory: the peak memory in bytes.
    method: the name of the method in the message.
    number_bytes: the size of one number in bytes: 8 for a float. Larger numbers are slower.
    states: the number of states that the method visits; `None` for all states of the battle.
    kind: the noun for the battle in the message.
    """
    states = attackers * defenders if states is None else states
    if number_bytes > FLOAT_BYTES:
        states *= INTERPRETED_STEPS + number_bytes // DIGIT_BYTES
    if states > MAX_KERNEL_STEPS or memory > MAX_ARRAY_BYTES:
        needs = (
            "half a minute"
            if states > MAX_KERNEL_STEPS
            else f"{MAX_ARRAY_BYTES // 2**30} GiB of memory"
        )
        raise TooLargeError(
            f"a {kind} of {quote(attackers)} against {quote(defenders)} is too large for the "
            f"method {method!r}: it would take more than {needs}"
        )


class Kernel(ABC):
    """The kernel of a battle under given rules and a stop rule, computed by one method.

    rules: the rules. Their garrison only appears in error messages.
    stop: the stop rule of the attackers.

    All numbers of attackers, including `stop.stop_at`, exclude the garrison.
    """

    name: str
    modes: tuple[type[Mode], ...] = (TrueRandom,)
    exact: bool = False
    is_vectorised: bool = False  # whether `run_backward` computes all numbers of attackers at once
    least_chance: float = 1e-150  # smallest chance to which the error bound applies
    quick_states: float = inf  # maximum number of states that take a few seconds
    quick_armies: float = inf  # maximum number of armies that take a few seconds

    def __init__(self, rules: Rules, stop: StopRule = NEVER) -> None:
        self.rules, self.stop, self.garrison = drop_garrison(rules), stop, rules.garrison
        if type(rules.mode) not in self.modes:
            if TrueRandom in self.modes:
                raise rules.mode.make_unfit_error(f"for the method {self.name!r}")
            needed = self.modes[0].described
            raise IllegalError(f"the method {self.name!r} needs rules with {needed}")

    @classmethod
    def build(cls, rules: Rules, exact: bool, find: Find) -> "Kernel":
        """Return a kernel for the rules.

        exact: whether to compute fractions; ignored by kernels that only have one kind of number.
        find: the function `iacta.methods.choose_kernel`, for kernels that use another kernel.
        """
        return cls(rules)

    @property
    def certain(self) -> bool:
        """Whether a chance can be exactly 0 or 1 although both sides can fight."""
        return self.rules.mode.certain

    @property
    def is_rolled(self) -> bool:
        """Whether a battle is fought roll by roll, so that the attackers may stop."""
        return self.rules.mode.rolls

    @property
    def has_fixed_dice(self) -> bool:
        """Whether both sides choose their numbers of dice before each roll."""
        return self.rules.mode.rolls and self.rules.mode.has_plain_rolls

    def most_left(self, attackers: int, defenders: int) -> State:
        """Return the largest possible numbers of armies left after a battle up to this size.

        A value function needs entries up to these numbers, which exceed the size of the battle only
        if armies can grow.
        """
        return State(attackers, defenders)

    @abstractmethod
    def refuse(self, attackers: int, defenders: int) -> None:
        """Raise `IactaError` if a battle cannot be computed, before any large allocation."""

    def refuse_way(self, attackers: int, defended: Sequence[int]) -> None:
        """Raise `IactaError` if a sequence of battles by one stack takes too long.

        attackers: the able attackers in the first battle.
        defended: the defenders of each battle.
        """
        self.refuse(attackers, sum(defended))

    def is_slow(self, attackers: int, defenders: int) -> bool:
        """Return whether computing the chance to win takes more than a few seconds."""
        states, armies = attackers * defenders, attackers + defenders
        return states > self.quick_states or armies > self.quick_armies

    def error(self, attackers: int, defenders: int) -> Error:
        """Return bounds on the error of every result for a battle of at most this size."""
        if not self.exact:
            raise NotImplementedError
        return Error(0.0)

    @abstractmethod
    def run_forward(self, start: Distribution[int], defenders: int) -> Distribution[State]:
        """Return the distribution of the final state.

        start: the distribution of the number of attackers; stacks of less than 1 cannot attack.
        defenders: armies on the defended territory.
        """

    def run_backward(self, values: Values) -> Iterator[Row]:
        """For 1, 2 ... defenders, yield a row of expected values by number of attackers.

        values: the value function. Its lengths determine the largest numbers of attackers and
            defenders.
        """
        for d in range(1, len(values.lost)):
            row = np.empty(np.shape(values.won), dtype=object if self.exact else float)
            for a in range(len(row)):
                row[a] = values.mean(self.run_forward(Distribution([a]), d))
            yield row

    def value(self, values: Values, defenders: int) -> Row:
        """Return the row of `run_backward` for a number of defenders."""
        rows = self.run_backward(Values(values.won, values.lost[: defenders + 1]))
        return deque(rows, maxlen=1).pop()  # keeps only the last row in memory

    def for_question(self, question: str, attackers: int, defenders: int) -> "Kernel":
        """Return the kernel of the best method for a kind of question about a battle.

        question: `"chance"` for the chance to win, `"distribution"` for all outcomes, `"stack"` for
            all outcomes of a stack of random size, or `"table"` for all battles up to a size.
        """
        return self

    def choose_decider(self, chance: Fraction) -> "tuple[Kernel, Fraction]":
        """Return an equivalent question about a kernel whose chances can be computed exactly.

        chance: the required chance to win, or not to win.

        Return a kernel and a chance. A battle reaches the required chance in this kernel if and
        only if it reaches the returned chance in the returned kernel.
        """
        return self, chance

    def refuse_too_large(
        self,
        attackers: int,
        defenders: int,
        *,
        memory: int,
        number_bytes: int = 8,
        states: int | None = None,
        kind: str = "battle",
    ) -> None:
        """Raise `TooLargeError` for a battle that takes too much time or memory.

        The arguments are the same as for the function `refuse_too_large`. The dice are also
        checked.
        """
        most_attack, most_defence = self.rules.full_roll
        refuse_many_rolls(min(attackers, most_attack), min(defenders, most_defence), self.rules)
        refuse_too_large(
            attackers + self.garrison,
            defenders,
            memory=memory,
            method=self.name,
            number_bytes=number_bytes,
            states=attackers * defenders if states is None else states,
            kind=kind,
        )

    def refusal(self, attackers: int, defenders: int) -> IactaError | None:
        try:
            self.refuse(attackers, defenders)
        except IactaError as error:
            return error
        return None

    def win_probability(self, attackers: int, defenders: int) -> Probability:
        """Return the chance to conquer the territory."""
        return self.chances(attackers, defenders).won

    def chances(self, attackers: int, defenders: int, min_survivors: int = 0) -> Chances:
        """Return the chance to win with enough armies left, and the chance not to.

        min_survivors: the fewest armies that must be left to move into the territory.
        """
        ends = self.run_forward(Distribution([attackers]), defenders)
        won = ends.prob(lambda end: not end.defenders and max(end.attackers, 0) >= min_survivors)
        lost = ends.prob(lambda end: end.defenders or max(end.attackers, 0) < min_survivors)
        return Chances(won, 1 - won) if won < lost else Chances(1 - lost, lost)

    def number(self, value: int) -> Probability:
        """Return a whole number as a fraction if the kernel is exact, otherwise as a float."""
        return Fraction(value) if self.exact else float(value)

    def win_table(self, attackers: int, defenders: int, staying: int = 0) -> npt.NDArray[Any]:
        """Return a table of the chances to win for all battles up to a size.

        staying: the number of zero rows at the beginning, for armies that must stay behind.

        Entry `[staying + a - 1, d - 1]` is for a attackers against d defenders.
        """
        table = np.zeros((staying + attackers, defenders), dtype=object if self.exact else float)
        if self.exact:
            table[:staying] = Fraction(0)
        armies = np.arange(1, attackers + 1)
        values = Values(np.ones(attackers + 1, dtype=int), np.zeros(defenders + 1, dtype=int))
        for d, row in enumerate(self.run_backward(values)):
            table[staying:, d] = row[armies]
        return table if self.exact else np.minimum(table, 1.0)

    def compute_transitions(
        self, attackers: int, defenders: int, min_attackers: int = 0
    ) -> Transitions:
        """Return the probabilities of all ends for 0, 1 ... `attackers` attackers.

        min_attackers: the fewest attackers of interest; rows for fewer attackers are undefined.

        A stop counts as a defeat.
        """
        most = self.most_left(attackers, defenders)
        won, lost = (np.zeros((attackers + 1, count + 1)) for count in most)
        for start in range(min_attackers, attackers + 1):
            for (a, d), probability in self.run_forward(Distribution([start]), defenders).items():
                if d:
                    lost[start, d] += probability
                else:
                    won[start, a] = probability
        return Transitions(won, lost)

    def compute_ends(self, attackers: int, defenders: int) -> tuple[Floats, Floats]:
        """Return the probabilities of all ends, like `compute_transitions`.

        The second array distinguishes the number of attackers who remain but may not attack: entry
        `[a, e, b]` is the probability that a attackers do not win, and that e defenders and b
        attackers are left. Battles that may not begin have no ends.
        """
        won, lost = self.compute_transitions(attackers, defenders)
        return won, lost[:, :, np.newaxis]

    def state_count(self, attackers: int, defenders: int) -> int:
        raise NotImplementedError

    def path_count(self, attackers: int, defenders: int) -> int:
        """Return the number of different paths through a battle, roll by roll."""
        raise NotImplementedError

    def limit_of_attackers(self, defenders: int) -> Fraction:
        """Return the limit of the chance to win as the number of attackers grows."""
        raise NotImplementedError

    def limit_of_defenders(self, attackers: int) -> Fraction:
        """Return the limit of the chance not to win as the number of defenders grows."""
        raise NotImplementedError

    def rolls(self, able: int, defenders: int, spare: int | None = None) -> tuple[Choice, ...]:
        """Return the rolls that the attacker may choose, most dice first.

        able: the attackers without the garrison.
        defenders: armies on the defended territory.
        spare: the number of able attackers that may be lost or move in; `None` for all attackers.

        A roll is left out if it could cost more than `spare` armies, or force more than `spare`
        armies to move in. Stop rules do not apply, because a player who rolls by hand can stop at
        any time.

        >>> from iacta.methods import choose_kernel
        >>> one, two = choose_kernel(Rules()).rolls(2, 1)
        >>> one.dice, one.least, one.throws[0].options[0][0]
        (2, 2, Result(chance=0.4212962962962963, attackers=1, defenders=0))
        """
        return list_choices(
            self.rules, able, defenders, able if spare is None else spare, _list_throws
        )

    def battle(self, able: int, defenders: int) -> Choice:
        """Return a whole battle, presented as one roll that ends it.

        able: the attackers without the garrison.
        defenders: armies on the defended territory.

        >>> from iacta.methods import choose_kernel
        >>> len(choose_kernel(Rules()).battle(4, 3).throws[0].options[0])
        7
        """
        results = tuple(
            Result(float(chance), able - max(end.attackers, 0), defenders - end.defenders)
            for end, chance in self.run_forward(Distribution([able]), defenders).items()
            if chance
        )
        dice = min(able, self.rules.attack.kept)
        # An attack die that needs two to one is not counted, although the last roll may have it if
        # at least three defenders die at once.
        least = self.rules.count_required(self.rules.attack.kept - self.needs_double)
        return Choice(dice, least, (Throw(1.0, (results,)),))

    def choose_worst_reply(self, throw: Throw, able: int, defenders: int) -> int:
        """Return the index of the reply that minimises the attackers' chance to win.

        throw: the throw of the attack dice.
        able: the attackers before the throw, without the garrison.
        defenders: armies on the defended territory before the throw.

        The attackers are assumed to fight to the end. Of equally good replies, the last is
        returned.
        """
        if len(throw.options) == 1:
            return 0
        table = _win_table_after_roll(self, able, defenders)
        chances = [
            sum(p * table[lost, killed] for p, lost, killed in option) for option in throw.options
        ]
        return min(range(len(chances)), key=lambda number: (chances[number], -number))

    def count_dice(self, able: int, defenders: int) -> tuple[int, int]:
        """Return the largest numbers of dice of both sides; 0 attack dice if no attack is legal.

        able: the attackers without the garrison.
        defenders: armies on the defended territory.
        """
        attack, defence = self.rules.full_roll
        return min(able, attack), min(defenders, defence)

    @property
    def distinct_defenders(self) -> int:
        """The largest number of defenders with its own dice; more defenders change no dice."""
        return self.rules.defence.kept

    @property
    def needs_double(self) -> bool:
        """Whether a roll of all attack dice requires two attacking armies for each defender."""
        return False

    def split_reserve(self) -> "tuple[Kernel, int]":
        """Return the kernel of the armies that fight, and the number of armies held back."""
        return self, 0

    def tabulate_moves(self, attackers: int, defenders: int) -> dict[tuple[int, int], Numbers]:
        """Return the chances of the results of a roll, for all battles up to a size.

        Each key is (attackers lost, defenders lost). Its table has the chance for each state as
        `[defenders, attackers]`; for more armies than it has entries, the last entry is valid.
        """
        raise self.rules.mode.make_unfit_error("to count rolls")

    def play(self, attackers: int, defenders: int, rng: "np.random.Generator") -> State:
        return self.run_forward(Distribution([attackers]), defenders).sample(1, rng)[0]


@lru_cache(maxsize=4096)
def _win_table_after_roll(kernel: Kernel, able: int, defenders: int) -> Floats:
    """Return the chance to win after each result of a roll, `[attackers lost, defenders lost]`.

    All results are looked up in one table of smaller battles.
    """
    most_lost, most_killed = (
        min(armies, dice)
        for armies, dice in zip((able, defenders), kernel.rules.full_roll, strict=True)
    )
    table = np.zeros((most_lost + 1, most_killed + 1))
    won = kernel.win_table(able, defenders).astype(float)
    for lost in range(most_lost + 1):
        for killed in range(most_killed + 1):
            if killed == defenders:
                table[lost, killed] = 1.0
            elif lost < able:
                table[lost, killed] = won[able - lost - 1, defenders - killed - 1]
    return table


Throws: TypeAlias = Callable[[int, int, Rules], tuple[Throw, ...]]


def list_choices(
    rules: Rules, able: int, defenders: int, spare: int, throws: Throws
) -> tuple[Choice, ...]:
    """Return the rolls that an attacker may choose, as `Kernel.rolls` does.

    throws: a function from the numbers of attack and defence dice and the rules to the possible
        throws.

    Results are cached by the armies that can take part in the roll.
    """
    attack, defence = rules.full_roll
    dice = min(able, attack)
    return _list_cached_choices(rules, dice, min(defenders, defence + 1), min(spare, dice), throws)


@lru_cache(maxsize=4096)
def _list_cached_choices(
    rules: Rules, able: int, defenders: int, spare: int, throws: Throws
) -> tuple[Choice, ...]:
    held = min(defenders, rules.defence.kept)
    found = (
        Choice(dice, rules.count_required(dice), throws(dice, held, rules))
        for dice in range(able, 0, -1)
    )
    return tuple(choice for choice in found if leaves_enough(choice, defenders, spare))


def leaves_enough(choice: Choice, defenders: int, spare: int) -> bool:
    """Return whether a roll is legal for a stack with few armies that may leave its territory.

    defenders: armies on the defended territory.
    spare: the number of attackers that may be lost or move in.
    """
    return all(
        result.attackers <= spare
        and (result.defenders < defenders or choice.least <= spare - result.attackers)
        for throw in choice.throws
        for option in throw.options
        for result in option
    )


def _list_throws(attack_dice: int, defence_dice: int, rules: Rules) -> tuple[Throw, ...]:
    return (Throw(1.0, (list_roll_results(attack_dice, defence_dice, rules),)),)


@lru_cache(maxsize=1024)
def list_roll_results(attack_dice: int, defence_dice: int, rules: Rules) -> tuple[Result, ...]:
    """Return the possible results of a roll. If armies can grow, growth comes first."""
    counts = count_losses(attack_dice, defence_dice, rules)
    total = sum(counts.values())
    order = sorted(counts, key=lambda losses: losses.defenders)
    return tuple(Result(counts[losses] / total, *losses) for losses in order if counts[losses])


def list_results(losses: LossCounts) -> tuple[Result, ...]:
    """Return the possible results of a roll in which armies are lost."""
    return tuple(
        Result(count / losses.total, losses.pair_count - k, k)
        for k, count in enumerate(losses.counts)
        if count
    )


class RollKernel(Kernel):
    """A kernel for battles in which both sides choose their numbers of dice before each roll."""

    def limit_of_attackers(self, defenders: int) -> Fraction:
        """Return the limit of the chance to win as the number of attackers grows.

        Let p_k be the chance that the defenders lose k armies in a roll with all attack dice. The
        limit is N(d) = Σ_{k≥1} p_k · N(d − k) / (1 − p_0). It is below 1 only if in some state no
        roll costs a defender.
        """
        self._refuse_endless()
        most = min(defenders, self.rules.defence.kept)
        dice = self.rules.attack.kept
        counts = {j: loss_counts(dice, j, self.rules).counts for j in range(1, most + 1)}
        return _compute_limit(counts, defenders)

    def limit_of_defenders(self, attackers: int) -> Fraction:
        """Return the limit of the chance not to win as the number of defenders grows.

        The recurrence is as in `limit_of_attackers`, with the losses of the attackers.
        """
        self._refuse_endless()
        if self.stop.max_rolls is not None:
            return Fraction(1)
        most = min(attackers, self.rules.attack.kept)
        dice = self.rules.defence.kept
        counts = {i: loss_counts(i, dice, self.rules).counts[::-1] for i in range(1, most + 1)}
        return _compute_limit(
            counts, attackers, self.stop.fewest_able(attackers, self.rules.attack.kept)
        )

    def tabulate_moves(self, attackers: int, defenders: int) -> dict[tuple[int, int], Numbers]:
        attack, defence = self.rules.full_roll
        dice = min(attackers, attack), min(defenders, defence)
        moves: dict[tuple[int, int], Numbers] = {}
        for i, j in product(range(1, dice[0] + 1), range(1, dice[1] + 1)):
            for lost, chance in Roll(i, j, self.rules).losses().items():
                table = moves.setdefault(lost, make_table(dice, exact=self.exact))
                table[j, i] = chance
        return moves

    def _refuse_endless(self) -> None:
        if self.rules.mode.grows:
            raise self.rules.mode.make_unfit_error("for the limit of infinitely many armies")

    def play(self, attackers: int, defenders: int, rng: "np.random.Generator") -> State:
        attack, defence = self.rules.full_roll
        fewest = self.stop.fewest_able(attackers, attack)
        rolls = 0
        while attackers >= fewest and defenders and rolls != self.stop.max_rolls:
            results = list_roll_results(min(attackers, attack), min(defenders, defence), self.rules)
            draw = rng.random()
            for result in results:
                draw -= result.chance
                if draw < 0:
                    break
            attackers, defenders = attackers - result.attackers, defenders - result.defenders
            rolls += 1
        return State(attackers, defenders)


def make_table(most: Sequence[int], *, exact: bool) -> Numbers:
    """Return a table `[defenders, attackers]` of zeros up to the largest numbers of both sides."""
    attackers, defenders = most
    zero = Fraction(0) if exact else 0.0
    return np.full((defenders + 1, attackers + 1), zero, object if exact else float)


def _compute_limit(counts: dict[int, tuple[int, ...]], armies: int, fewest: int = 1) -> Fraction:
    """Return the limit N(armies) of `RollKernel.limit_of_attackers` for one side.

    counts: `counts[j][k]` is the number of rolls in which this side rolls j dice and loses k
        armies.
    fewest: the fewest armies with which this side rolls again.
    """
    if all(any(row[1:]) for row in counts.values()):
        return Fraction(1)
    chances = [Fraction(1)] * min(fewest, armies + 1)
    for n in range(fewest, armies + 1):
        row = counts[min(n, max(counts))]
        hits = sum(count * chances[n - k] for k, count in enumerate(row) if k)
        chances.append(hits / sum(row[1:]) if hits else Fraction(0))
    return chances[-1]
