"""The kernel of a battle: all that anything above the methods asks.

Under given rules a battle is a Markov chain. Its states are (a, d): a attackers able to attack, the
garrison left out, and d defenders. It is absorbed when the territory is won, (a, 0), when no
attacker is left, (0, d), or when the attackers stop, (a, d). With the probability K(s, z) that a
battle which starts in s is absorbed in z, the kernel carries

    a distribution forward,        (μK)(z) = Σ_s μ(s) K(s, z),
    a value function backward,     (Kv)(s) = Σ_z K(s, z) v(z).

A campaign is a product of kernels, a requirement is a search over one, and a plan is dynamic
programming over many. `Kernel` derives everything else from these two; a method overrides what it
does faster. No caller needs to know which method, mode and stop are behind a kernel.

Error. An exact kernel answers in fractions. The others answer in floats, and `Kernel.error` bounds
them: the relative error of each answer is at most `relative`, or its absolute error is at most
`absolute`. Probabilities below 1e-150 may lose digits, or become 0.
"""

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from math import inf
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from iacta.inputs.checks import quote, read_int
from iacta.inputs.errors import IactaError, IllegalError, TooLargeError
from iacta.probability.distribution import Distribution, Probability
from iacta.rules.modes import Mode, TrueRandom
from iacta.rules.roll import LossCounts, find_gain, loss_counts, refuse_many_rolls
from iacta.rules.rules import Rules
from iacta.rules.stop import NEVER, StopRule
from iacta.rules.variants import find_rules

Find: TypeAlias = "Callable[..., Kernel]"
Floats: TypeAlias = npt.NDArray[np.float64]
Row: TypeAlias = Any  # indexed by the number of attackers, or by an array of such numbers

UNIT_ROUNDOFF = 2.0**-53  # of one operation with floats
# The budget of one question. What would take more is refused before it begins.
MAX_STEPS = 10**9  # of some twenty nanoseconds each
MAX_BYTES = 2 * 2**30  # for the arrays of one answer
OUTCOME_BYTES = 300
FLOAT_BYTES = 8
DIGIT_BYTES = 64  # of a whole number that is multiplied in a step
INTERPRETED_STEPS = 15  # that Python takes for each state, besides


class Outcome(NamedTuple):
    """The armies left when a battle is over.

    attackers: armies on the attacking territory, garrison included, before any advance.
    defenders: armies left on the defended territory; 0 when the attackers have won.
    """

    attackers: int
    defenders: int


def is_won(outcome: Outcome) -> bool:
    """Return whether the attackers have won: no defender is left.

    >>> is_won(Outcome(attackers=3, defenders=0)), is_won(Outcome(attackers=1, defenders=4))
    (True, False)
    """
    return outcome.defenders == 0


class State(NamedTuple):
    """A state of a battle.

    attackers: those able to attack; of a stack too small to attack, 0 or less.
    defenders: armies on the defended territory.
    """

    attackers: int
    defenders: int


class Values(NamedTuple):
    """A value function on the absorbing states.

    won: `won[a]` is the value of a victory with a attackers able to move in.
    lost: `lost[d]` is the value of d defenders that hold, or against whom the attackers stop;
        `lost[0]` does not matter.

    For a kernel in floats, `won` and `lost` may have one more axis: many value functions at once.
    """

    won: Sequence[Any] | npt.NDArray[Any]
    lost: Sequence[Any] | npt.NDArray[Any]

    def find(self, state: State) -> Any:
        """Return the value of an absorbing state."""
        return self.lost[state.defenders] if state.defenders else self.won[state.attackers]

    def mean(self, ends: Distribution[State]) -> Any:
        """Return the expected value of an absorbing state."""
        if np.ndim(self.won) > 1:
            return sum(float(probability) * self.find(state) for state, probability in ends.items())
        return ends.map(self.find).mean()


class Chances(NamedTuple):
    """The chances to win a battle and not to win it, which sum to 1.

    won, lost: the smaller of the two has its own relative accuracy.
    """

    won: Probability
    lost: Probability


class Error(NamedTuple):
    """Bounds on the error of the answers for a battle.

    relative: the relative error is at most this, infinite where chance decides it.
    absolute: where it is above 0, only the absolute error is bounded, by this.
    """

    relative: float
    absolute: float = 0.0


class Transitions(NamedTuple):
    """How the battles against one number of defenders are absorbed, one row a start.

    won: `won[a, b]` is the probability that a attackers win and b are left able to move in.
    lost: `lost[a, e]` is the probability that a attackers do not win and e defenders are left.
    """

    won: Floats
    lost: Floats


class Result(NamedTuple):
    """One result of a roll.

    chance: how likely it is.
    attackers, defenders: the armies that it costs; below 0 those that both sides gain.
    """

    chance: float
    attackers: int
    defenders: int


class Throw(NamedTuple):
    """One throw of the attack dice.

    chance: how likely it is.
    options: the defender takes one of these distributions of the result, the worst for the
        attacker; one where there is no choice.
    """

    chance: float
    options: tuple[tuple[Result, ...], ...]


class Choice(NamedTuple):
    """One of the rolls among which the attacker may choose.

    dice: the attack dice that are thrown.
    least: at least this many armies move in after a conquest, or all that are left able to move.
    throws: what the attack dice may show.
    """

    dice: int
    least: int
    throws: tuple[Throw, ...]


def bare_rules(rules: Rules) -> Rules:
    """Return the rules without their garrison, which is added above the methods."""
    return replace(rules, garrison=0) if rules.garrison else rules


def read_battle(
    attackers: object, defenders: object, rules: Rules | str, fewest: int = 1
) -> tuple[int, int, Rules]:
    """Return a battle's armies as whole numbers and its rules, or refuse them.

    attackers: armies on the attacking territory, garrison included, at least 1.
    defenders: armies on the defended territory, at least `fewest`.
    rules: `Rules`, or the name of a rule set.

    >>> read_battle(5, -4, "classic")
    Traceback (most recent call last):
        ...
    iacta.IllegalError: defenders must be a whole number of at least 1, got -4
    """
    return (
        read_int(attackers, "attackers", least=1),
        read_int(defenders, "defenders", least=fewest),
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
    """Refuse a battle whose states would take too many steps or too much memory.

    attackers, defenders: the size of the battle.
    memory: the bytes that are held at once.
    method: the method that is asked, for the message.
    number_bytes: the size of one number, 8 for a float; larger numbers are slower.
    states: how many states the method visits; `None` for all of them.
    kind: what is refused, for the message.
    """
    states = attackers * defenders if states is None else states
    if number_bytes > FLOAT_BYTES:
        states *= INTERPRETED_STEPS + number_bytes // DIGIT_BYTES
    if states > MAX_STEPS or memory > MAX_BYTES:
        needs = "half a minute" if states > MAX_STEPS else f"{MAX_BYTES // 2**30} GiB of memory"
        raise TooLargeError(
            f"a {kind} of {quote(attackers)} against {quote(defenders)} is too large for the "
            f"method {method!r}: it would take more than {needs}"
        )


class Kernel(ABC):
    """The kernel of a battle under given rules and a stop, by one method.

    rules: the rules; their garrison only matters to how a refusal counts the attackers.
    stop: when the attackers choose to stop.

    Every number of attackers, `stop.stop_at` too, counts the attackers able to attack.
    """

    name: str
    modes: tuple[type[Mode], ...] = (TrueRandom,)  # those it answers for
    exact: bool = False
    is_vectorised: bool = False  # whether `backward` answers for all numbers of attackers at once
    least_chance: float = 1e-150  # the bound on the error holds for larger chances
    quick_states: float = inf  # a chance to win takes at most some seconds up to so many states,
    quick_armies: float = inf  # and up to so many armies

    def __init__(self, rules: Rules, stop: StopRule = NEVER) -> None:
        self.rules, self.stop, self.garrison = bare_rules(rules), stop, rules.garrison
        if type(rules.mode) not in self.modes:
            if TrueRandom in self.modes:
                raise rules.mode.unfit(f"for the method {self.name!r}")
            needed = self.modes[0].described
            raise IllegalError(f"the method {self.name!r} needs rules with {needed}")

    @classmethod
    def build(cls, rules: Rules, exact: bool, find: Find) -> "Kernel":
        """Return the kernel for some rules.

        exact: whether to answer in fractions, for a kernel that can do both.
        find: `iacta.methods.find_kernel`, for another kernel to build this one on.
        """
        return cls(rules)

    @property
    def certain(self) -> bool:
        """Whether a chance can be exactly 0 or 1 though both sides can fight."""
        return self.rules.mode.certain

    @property
    def is_rolled(self) -> bool:
        """Whether a battle is fought roll by roll, so that the attackers may leave it."""
        return self.rules.mode.rolls

    @property
    def has_fixed_dice(self) -> bool:
        """Whether a battle is rolled with dice whose numbers are chosen before each roll."""
        return self.rules.mode.rolls and self.rules.mode.dice_chosen_first

    def most_left(self, attackers: int, defenders: int) -> State:
        """Return the most attackers and defenders that a battle of at most this size can leave.

        A value function must reach as far; only where armies can grow is that more than the size.
        """
        return State(attackers, defenders)

    @abstractmethod
    def refuse(self, attackers: int, defenders: int) -> None:
        """Refuse a battle that cannot be answered, before allocating anything of its size."""

    def refuse_way(self, attackers: int, defended: Sequence[int]) -> None:
        """Refuse battles of one stack, one after the other, that take too long together.

        attackers: those able to attack in the first battle.
        defended: the defenders of each battle.
        """
        self.refuse(attackers, sum(defended))

    def is_slow(self, attackers: int, defenders: int) -> bool:
        """Return whether the chance to win takes more than some seconds."""
        states, armies = attackers * defenders, attackers + defenders
        return states > self.quick_states or armies > self.quick_armies

    def error(self, attackers: int, defenders: int) -> Error:
        """Return bounds on the error of every answer for a battle of at most this size."""
        if not self.exact:
            raise NotImplementedError
        return Error(0.0)

    @abstractmethod
    def forward(self, start: Distribution[int], defenders: int) -> Distribution[State]:
        """Return the distribution of the absorbing state.

        start: the distribution of the number of attackers; those below 1 cannot attack.
        defenders: armies on the defended territory.
        """

    def backward(self, values: Values) -> Iterator[Row]:
        """Yield the expected value for each number of attackers, for 1, 2 ... defenders.

        values: the value function; there are as many rows as `values.lost` has entries for.

        Row d is indexed by a = 0, 1 ... as far as `values.won` goes.
        """
        for d in range(1, len(values.lost)):
            row = np.empty(np.shape(values.won), dtype=object if self.exact else float)
            for a in range(len(row)):
                row[a] = values.mean(self.forward(Distribution([a]), d))
            yield row

    def value(self, values: Values, defenders: int) -> Row:
        """Return the last row of `backward`, that of so many defenders."""
        rows = self.backward(Values(values.won, values.lost[: defenders + 1]))
        return deque(rows, maxlen=1).pop()  # all rows at once may not fit into memory

    def for_question(self, question: str, attackers: int, defenders: int) -> "Kernel":
        """Return the kernel of the one method that answers a question about such a battle.

        question: `"chance"`, the chance to win alone; `"distribution"`, that of all outcomes;
            `"stack"`, the same for a stack of uncertain size; or `"table"`, all battles up to a
            size.
        """
        return self

    def find_decider(self, chance: Fraction) -> "tuple[Kernel, Fraction]":
        """Return a kernel and its chance that decide which battles have at least a wanted chance.

        chance: the wanted chance to win, or not to win.

        They are those with at least the returned chance in the returned kernel, whose rules and
        stop have an exact kernel too.
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
        """Refuse a battle whose dice or states would take too long, or too much memory.

        The arguments are those of the function of this name.
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
        """Return the chance to take the territory."""
        return self.chances(attackers, defenders).won

    def chances(self, attackers: int, defenders: int, keep: int = 0) -> Chances:
        """Return the chances to take the territory with enough armies left, and not to.

        keep: armies that must be left to move into the territory.
        """
        ends = self.forward(Distribution([attackers]), defenders)
        won = ends.prob(lambda end: not end.defenders and max(end.attackers, 0) >= keep)
        lost = ends.prob(lambda end: end.defenders or max(end.attackers, 0) < keep)
        return Chances(won, 1 - won) if won < lost else Chances(1 - lost, lost)

    def number(self, value: int) -> Probability:
        """Return a whole number as the kind of number in which this kernel answers."""
        return Fraction(value) if self.exact else float(value)

    def win_table(self, attackers: int, defenders: int, staying: int = 0) -> npt.NDArray[Any]:
        """Return the chances to win all battles up to a size.

        staying: rows of battles without a chance that are put first, for armies that must stay.

        Entry `[staying + a - 1, d - 1]` is for a attackers against d defenders.
        """
        table = np.zeros((staying + attackers, defenders), dtype=object if self.exact else float)
        if self.exact:
            table[:staying] = Fraction(0)
        armies = np.arange(1, attackers + 1)
        values = Values(np.ones(attackers + 1, dtype=int), np.zeros(defenders + 1, dtype=int))
        for d, row in enumerate(self.backward(values)):
            table[staying:, d] = row[armies]
        return table if self.exact else np.minimum(table, 1.0)

    def transitions(self, attackers: int, defenders: int, fewest: int = 0) -> Transitions:
        """Return how battles of up to so many attackers are absorbed; stops count as not won.

        fewest: the rows of fewer attackers do not matter.
        """
        most = self.most_left(attackers, defenders)
        won, lost = (np.zeros((attackers + 1, count + 1)) for count in most)
        for start in range(fewest, attackers + 1):
            for (a, d), probability in self.forward(Distribution([start]), defenders).items():
                if d:
                    lost[start, d] += probability
                else:
                    won[start, a] = probability
        return Transitions(won, lost)

    def state_count(self, attackers: int, defenders: int) -> int:
        raise NotImplementedError

    def path_count(self, attackers: int, defenders: int) -> int:
        """Return the number of different paths that a battle can take, roll by roll."""
        raise NotImplementedError

    def limit_of_attackers(self, defenders: int) -> Fraction:
        """Return the chance to win as the attackers grow without end."""
        raise NotImplementedError

    def limit_of_defenders(self, attackers: int) -> Fraction:
        """Return the chance not to win as the defenders grow without end."""
        raise NotImplementedError

    def rolls(self, able: int, defenders: int, spare: int | None = None) -> tuple[Choice, ...]:
        """Return the rolls among which the attacker may choose, those with the most dice first.

        able: attackers able to attack.
        defenders: armies on the defended territory.
        spare: how many of those able may be lost or move on; `None` for all of them.

        A roll is left out if any of its results could cost more than can be spared, or force more
        to move in. Stops do not count: who rolls by hand can stop at any time.

        >>> from iacta.methods import find_kernel
        >>> one, two = find_kernel(Rules()).rolls(2, 1)
        >>> one.dice, one.least, one.throws[0].options[0][0]
        (2, 2, Result(chance=0.4212962962962963, attackers=1, defenders=0))
        """
        return list_choices(self.rules, able, defenders, able if spare is None else spare, _throws)

    def battle(self, able: int, defenders: int) -> Choice:
        """Return a whole battle, fought to its end, as if it were one roll.

        able: attackers able to attack.
        defenders: armies on the defended territory.

        >>> from iacta.methods import find_kernel
        >>> len(find_kernel(Rules()).battle(4, 3).throws[0].options[0])
        7
        """
        results = tuple(
            Result(float(chance), able - max(end.attackers, 0), defenders - end.defenders)
            for end, chance in self.forward(Distribution([able]), defenders).items()
            if chance
        )
        dice = min(able, self.rules.attack.kept)
        least = self.rules.attack.kept if self.rules.least_advance else 1
        return Choice(dice, least, (Throw(1.0, (results,)),))

    def careful_reply(self, throw: Throw, able: int, defenders: int) -> int:
        """Return the number of the option of a throw that makes the conquest least likely.

        throw: the attack dice.
        able: attackers able to attack before the throw.
        defenders: armies on the defended territory before it.

        Of equally good options, the last. The rest of the battle is fought to its end.
        """
        if len(throw.options) == 1:
            return 0
        table = _win_table_after_roll(self, able, defenders)
        chances = [
            sum(p * table[lost, killed] for p, lost, killed in option) for option in throw.options
        ]
        return min(range(len(chances)), key=lambda number: (chances[number], -number))

    def play(self, attackers: int, defenders: int, rng: "np.random.Generator") -> State:
        return self.forward(Distribution([attackers]), defenders).sample(1, rng)[0]


@lru_cache(maxsize=4096)
def _win_table_after_roll(kernel: Kernel, able: int, defenders: int) -> Floats:
    """Return the chances to win after each result of a roll, `[attackers lost, defenders lost]`.

    The table of all smaller battles is made once for all results.
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
    """Return the rolls among which an attacker may choose, as `Kernel.rolls` does.

    throws: what so many attack dice may show against so many defence dice.

    Battles that differ only in armies that cannot be in the roll have the same choices, and the
    same object.
    """
    attack, defence = rules.full_roll
    dice = min(able, attack)
    return _list_cached_choices(rules, dice, min(defenders, defence + 1), min(spare, dice), throws)


@lru_cache(maxsize=4096)
def _list_cached_choices(
    rules: Rules, able: int, defenders: int, spare: int, throws: Throws
) -> tuple[Choice, ...]:
    held = min(defenders, rules.defence.kept)
    found = []
    for dice in range(able, 0, -1):
        least = dice if rules.least_advance else 1
        # The last defenders fall to dice that all win, so nobody is lost in a conquest.
        conquers = min(dice, held) == defenders
        if min(dice, held) <= spare and (not conquers or least <= spare):
            found.append(Choice(dice, least, throws(dice, held, rules)))
    return tuple(found)


def _throws(attack_dice: int, defence_dice: int, rules: Rules) -> tuple[Throw, ...]:
    return (Throw(1.0, (roll_results(attack_dice, defence_dice, rules),)),)


@lru_cache(maxsize=1024)
def roll_results(attack_dice: int, defence_dice: int, rules: Rules) -> tuple[Result, ...]:
    """Return the possible results of a roll; one in which armies grow is the first."""
    losses, gain = loss_counts(attack_dice, defence_dice, rules), find_gain(rules)
    grown = (Result(losses.gains / losses.total, -gain, -gain),) if losses.gains else ()
    return (*grown, *list_results(losses))


def list_results(losses: LossCounts) -> tuple[Result, ...]:
    """Return the results of a roll that are possible and cost armies."""
    return tuple(
        Result(count / losses.total, losses.pair_count - k, k)
        for k, count in enumerate(losses.counts)
        if count
    )


class RollKernel(Kernel):
    """A kernel of battles that are rolled with dice whose numbers are chosen before each roll."""

    def limit_of_attackers(self, defenders: int) -> Fraction:
        """Return the chance to win as the attackers grow without end.

        With p_k, the chance that a roll with all attack dice costs the defenders k armies, it is
        N(d) = Σ_{k≥1} p_k · N(d − k) / (1 − p_0): they lose only where no roll costs a defender.
        """
        self._refuse_endless()
        most = min(defenders, self.rules.defence.kept)
        dice = self.rules.attack.kept
        counts = {j: loss_counts(dice, j, self.rules).counts for j in range(1, most + 1)}
        return _find_limit(counts, defenders)

    def limit_of_defenders(self, attackers: int) -> Fraction:
        """Return the chance not to win as the defenders grow without end.

        It is the same sum as in `limit_of_attackers` with the attackers' losses, until they stop.
        """
        self._refuse_endless()
        if self.stop.max_rolls is not None:
            return Fraction(1)
        most = min(attackers, self.rules.attack.kept)
        dice = self.rules.defence.kept
        counts = {i: loss_counts(i, dice, self.rules).counts[::-1] for i in range(1, most + 1)}
        return _find_limit(
            counts, attackers, self.stop.fewest_able(attackers, self.rules.attack.kept)
        )

    def _refuse_endless(self) -> None:
        if self.rules.mode.grows:
            raise self.rules.mode.unfit("for the limit of ever larger armies")

    def play(self, attackers: int, defenders: int, rng: "np.random.Generator") -> State:
        attack, defence = self.rules.full_roll
        fewest = self.stop.fewest_able(attackers, attack)
        rolls = 0
        while attackers >= fewest and defenders and rolls != self.stop.max_rolls:
            results = roll_results(min(attackers, attack), min(defenders, defence), self.rules)
            draw = rng.random()
            for result in results:
                draw -= result.chance
                if draw < 0:
                    break
            attackers, defenders = attackers - result.attackers, defenders - result.defenders
            rolls += 1
        return State(attackers, defenders)


def _find_limit(counts: dict[int, tuple[int, ...]], armies: int, fewest: int = 1) -> Fraction:
    """Return N(armies), where `counts[j][k]` counts the rolls with j dice that cost k armies.

    fewest: with fewer armies they do not roll again.
    """
    if all(any(row[1:]) for row in counts.values()):
        return Fraction(1)
    chances = [Fraction(1)] * min(fewest, armies + 1)
    for n in range(fewest, armies + 1):
        row = counts[min(n, max(counts))]
        hits = sum(count * chances[n - k] for k, count in enumerate(row) if k)
        chances.append(hits / sum(row[1:]) if hits else Fraction(0))
    return chances[-1]
