"""A policy of real play for large positions: lookahead on shares, and what it is worth.

The inner loops are compiled: rows of single stacks (`iacta.plan.stack_rows`), shares of a goal
(`iacta.plan.shares`) or of all that pays (`iacta.plan.gains`), and the lookahead with its value
(`iacta.plan.lookahead`). Here their tables are made from a problem, a first share is searched, and
games are played.

To take all of a set there is one share of it. Sets that contain each other, of which each pays,
have a share each. In all other cases there is one share of what pays, with what each stack gains.
"""

import random
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from iacta.methods.kernel import Result
from iacta.plan.compiled import IS_COMPILED
from iacta.plan.gains import MOST_OWN, grow, keep_live
from iacta.plan.games import Game, RollMade, Source
from iacta.plan.goals import Rewards
from iacta.plan.lookahead import DEEP, SAME, Dice, Memory, decide
from iacta.plan.one_stack import Tasks
from iacta.plan.problem import bits, mask_of
from iacta.plan.shares import bound_of, chance_of, climb, joined, live_stacks, moved, repair
from iacta.plan.stack_rows import GARRISON, ONCE, SUM, Rows
from iacta.plan.turn import BestRoll, Roll, Turn, TurnState

__all__ = ["Lookahead", "is_too_large"]

Ints: TypeAlias = npt.NDArray[np.int64]
Floats: TypeAlias = npt.NDArray[np.float64]

MOST_LANDS = 62
MOST_TARGETS = 26
MOST_SHARES = 4
MOST_SLOW_TARGETS = 8  # where the inner loops are not compiled
MOST_ARMIES = 500  # of one stack, or of one territory's defenders
ROW_BYTES = 200 * 2**20
MOST_ROWS = 120_000
MOST_RECORDS = 60_000
KICKS = 300 if IS_COMPILED else 3
STARTS = 12 if IS_COMPILED else 2
KICKS_ANEW = 20 if IS_COMPILED else 0
MOST_CLIMBS = 100
SIZES = 3, 7, 12  # up to which sets grow at the start, one after another
# Rolls of lookahead where more than one roll is near the best, and how near: in small fields and
# in large ones.
SMALL_FIELD = 8
DEPTHS = (4, 0.3), (2, 0.1)


class _Choice(NamedTuple):
    """A roll, and what follows it.

    roll: v, c and k.
    value: Q.
    results: its results.
    moves: how many move in after each result.
    after: what each result pays, with the value after it.
    shares: the shares after each result.
    """

    roll: tuple[int, int, int]
    value: float
    results: list[Result]
    moves: list[int]
    after: list[float]
    shares: Ints


class _Payments(NamedTuple):
    """What a goal pays, as the tables have it: `Rows.terms`, `Rows.paid`, and sets that pay."""

    terms: tuple[float, float, float, bool]
    paid: tuple[float, ...]
    sets: tuple[tuple[int, float], ...]

    @property
    def shares(self) -> tuple[int, ...]:
        """The sets of which there is a share each; none where all that pays has one share."""
        return () if self.terms[SUM] else tuple(mask for mask, _ in self.sets)


def _payments(rewards: Rewards, size: int) -> _Payments:
    nothing = (0.0,) * size
    if rewards.all_of:
        return _Payments((1.0, 0.0, 0.0, False), nothing, ((rewards.all_of, 1.0),))
    if rewards.any_of:
        paid = tuple(float(rewards.any_of >> t & 1) for t in range(size))
        return _Payments((-1.0, 1.0, 0.0, True), paid, ())
    sets = tuple(sorted(rewards.continents, key=lambda each: each[0].bit_count()))
    are_nested = not any(small & ~large for (small, _), (large, _) in pairwise(sets))
    if sets and are_nested and not rewards.army and not any(rewards.territories):
        return _Payments((1.0, 0.0, 0.0, False), nothing, sets)
    return _Payments((0.0, 1.0, rewards.army, False), rewards.territories or nothing, sets)


def is_too_large(turn: Turn) -> bool:
    """Return whether a turn has too many targets, territories or defenders for the tables."""
    places = mask_of(v for v, _ in turn.problem.stacks())
    defenders = max((turn.problem.armies[t] for t in bits(turn.field)), default=0)
    shares = _payments(turn.rewards, len(turn.problem.armies)).shares
    targets = max((mask.bit_count() for mask in shares), default=0)
    if not IS_COMPILED and not turn.rewards.all_of:
        targets = turn.field.bit_count()
    return (
        targets > (MOST_TARGETS if IS_COMPILED else MOST_SLOW_TARGETS)
        or len(shares) > MOST_SHARES
        or (places | turn.field).bit_count() > MOST_LANDS
        or defenders > MOST_ARMIES
    )


class Lookahead:
    """The policy of one-step lookahead.

    turn: the attack phase.
    late: tells whether the time for a first share is over.
    """

    def __init__(self, turn: Turn, late: Callable[[], bool] = lambda: False) -> None:
        self.turn, self.late = turn, late
        problem = turn.problem
        places = mask_of(v for v, _ in problem.stacks())
        self.lands = [*bits(places | turn.field)]
        self.numbers = {land: t for t, land in enumerate(self.lands)}
        self.most = min(max(problem.most, 2), MOST_ARMIES)
        self.field = self._local(turn.field)
        self.goal = self.field & self._local(turn.rewards.paying)
        self.payments = _payments(turn.rewards, len(problem.armies))
        self.rows = self._rows(np.random.default_rng(0))
        self.start = self._state(turn.start())
        self.dice = self._dice()
        self.memory = self._memory(np.random.default_rng(1))
        self.decisions = 0
        self.depth, self.near = DEPTHS[turn.field.bit_count() > SMALL_FIELD]
        self._known: dict[tuple[bytes, int, int], _Choice | None] = {}
        self._known_chances: dict[tuple[bytes, int, tuple[int, int, int]], Floats] = {}
        self.value, self.parts = 0.0, self._nothing()
        for parts in self._first_parts():
            self._share_from(parts, KICKS // STARTS)

    def __getstate__(self) -> dict[str, Any]:
        # What is remembered is much, and can be found again; the first share has been made.
        remembered = ("late", "rows", "memory", "_known", "_known_chances")
        return {name: value for name, value in vars(self).items() if name not in remembered}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, late=lambda: False, _known={}, _known_chances={})
        self.rows = self._rows(np.random.default_rng(0))
        self.memory = self._memory(np.random.default_rng(1))

    def _nothing(self) -> Ints:
        """Return shares in which no stack takes anything."""
        return np.zeros((max(len(self.payments.shares), 1), len(self.lands)), dtype=np.int64)

    def _local(self, mask: int) -> int:
        """Return a set of the board as a set of the territories that matter here."""
        return mask_of(self.numbers[t] for t in bits(mask) if t in self.numbers)

    def _state(self, state: TurnState) -> tuple[Ints, int]:
        armies = np.array([state.armies[land] for land in self.lands], dtype=np.int64)
        mine = self._local(state.owned)
        owned = np.array([bool(mine >> t & 1) for t in range(len(armies))])
        armies[owned] = np.minimum(armies[owned], self.most)  # the rest of a larger stack stays
        return armies, mine

    def _rows(self, rng: np.random.Generator) -> Rows:
        problem, size = self.turn.problem, len(self.lands)
        local = {land: t for t, land in enumerate(self.lands)}
        stays = mask_of(t for land, t in local.items() if problem.resting >> land & 1)
        out = [
            0 if stays >> t & 1 else self._local(problem.borders.out[land])
            for land, t in local.items()
        ]
        into = [mask_of(v for v in range(size) if out[v] >> t & 1) for t in range(size)]
        garrisons = [problem.garrisons[land] for land in self.lands]
        least = [problem.dice(land) for land in self.lands]
        kinds = [problem.kinds[land] for land in self.lands]
        most = self.most
        held = [
            problem.armies[land] if self.field >> t & 1 else 0 for t, land in enumerate(self.lands)
        ]
        strongest = {
            kind: max(d for d, k in zip(held, kinds, strict=True) if k == kind) for kind in {*kinds}
        }
        battles = [(kind, d) for kind in sorted(strongest) for d in range(1, strongest[kind] + 1)]
        self._battles = [problem.kernels[kind].transitions(most, d) for kind, d in battles]
        number = {battle: i for i, battle in enumerate(battles)}
        table = np.zeros((size, max([*held, 1]) + 1), dtype=np.int64)
        for t in range(size):
            for d in range(1, held[t] + 1):
                table[t, d] = number[kinds[t], d]
        garrison = problem.rules.garrison
        count = min(MOST_ROWS, ROW_BYTES // (8 * (most + 1)))
        pool = np.zeros((count, most + 1))
        pool[0] = 1.0
        return Rows(
            np.array([out, into, garrisons, least, kinds], dtype=np.int64),
            table,
            np.array([each.won[: most + 1, : most + 1] for each in self._battles]),
            np.array([_cost(each.won[most], garrison) for each in self._battles]),
            np.array(self.payments.terms, dtype=np.float64),
            np.array([self.payments.paid[land] for land in self.lands]),
            np.array([self._local(mask) for mask, _ in self.payments.sets], dtype=np.int64),
            np.array([worth for _, worth in self.payments.sets], dtype=np.float64),
            _salt(
                rng, size + 4, most + len(battles) + table.shape[1] + size + len(self.payments.sets)
            ),
            np.zeros(4 * count, dtype=np.uint64),
            np.zeros(4 * count, dtype=np.int64),
            pool,
            np.array([2]),
        )

    def _dice(self) -> Dice:
        problem = self.turn.problem
        limits = [problem.rules.garrison, self.field, self.goal]
        kernels = problem.kernels
        rules = [(*each.full_roll, each.least_advance) for each in problem.all_rules]
        attack, defence = (max(column) for column in list(zip(*rules, strict=True))[:2])
        throws = np.zeros((len(rules), attack + 1, defence + 1, 2), dtype=np.int64)
        weights: list[tuple[float, int, int]] = []
        answers: list[list[float]] = []
        is_whole = self.turn.whole_battles or not all(each.by_rolls for each in kernels)
        for r, kernel in enumerate([] if is_whole else kernels):
            for k in range(1, rules[r][0] + 1):
                for j in range(1, rules[r][1] + 1):
                    choice = kernel.rolls(k, j)[0]
                    throws[r, k, j] = len(weights), len(choice.throws)
                    for throw in choice.throws:
                        weights.append((throw.chance, len(answers), len(throw.options)))
                        for option in throw.options:
                            pairs = option[0].attackers + option[0].defenders
                            row = [0.0] * (defence + 1)
                            for result in option:
                                row[result.defenders] = result.chance
                            answers.append([pairs, *row])
        lost = np.zeros((0, 1, 1))
        if is_whole:
            most = max(each.lost.shape[1] for each in self._battles)
            lost = np.zeros((len(self._battles), self.rows.pool.shape[1], most))
            for i, each in enumerate(self._battles):
                lost[i, :, : each.lost.shape[1]] = each.lost[: lost.shape[1]]
        return Dice(
            np.array(limits, dtype=np.int64),
            np.array(rules, dtype=np.int64),
            throws,
            np.array(weights or [(0.0, 0, 0)]),
            np.array(answers or [[0.0]]),
            lost,
            self.start[0],
        )

    def _memory(self, rng: np.random.Generator) -> Memory:
        size = len(self.lands)
        most = int(self.start[0].max()) + self.rows.table.shape[1] + 2 * self.most + 2
        count = MOST_RECORDS
        return Memory(
            _salt(rng, size, most),
            np.zeros(4 * count, dtype=np.uint64),
            np.zeros(4 * count, dtype=np.int64),
            np.zeros((count, DEEP, 5), dtype=np.int64),
            np.zeros((count, DEEP)),
            np.zeros(count, dtype=np.int64),
            np.zeros((8 * count, 3 + self._nothing().size), dtype=np.int64),
            np.zeros((8 * count, 2)),
            np.zeros(2, dtype=np.int64),
        )

    def covers(self, state: TurnState) -> bool:
        """Return whether a state is one for which the tables are made."""
        start = self.turn.start()
        inside = mask_of(self.lands)
        for t, (now, before) in enumerate(zip(state.armies, start.armies, strict=True)):
            if not inside >> t & 1:
                if now != before:
                    return False
            elif state.owned >> t & 1:
                if now > self.most:
                    return False
            elif start.owned >> t & 1 or now > before:
                return False
        return state.owned & ~inside == start.owned & ~inside

    @property
    def tasks(self) -> Tasks:
        """The share at the start, as tasks of its stacks."""
        return tuple(
            (
                self.lands[v],
                self.turn.problem.armies[self.lands[v]],
                mask_of(self.lands[t] for t in bits(part)),
            )
            for v, part in enumerate(self.parts[0].tolist())
            if part
        )

    # The first share.

    def _first_parts(self) -> Iterator[Ints]:
        """Yield shares to start with: targets given to stacks in several orders."""
        rows, (armies, mine) = self.rows, self.start
        yield self._nothing()
        if self.payments.terms[SUM]:
            for first in range(len(SIZES)):  # small sets first, which leave more to other stacks
                every = self._nothing()
                for size in SIZES[first:]:
                    if not self.late():
                        self._grow(armies, mine, every, size)
                yield every
            return
        dice = random.Random(0)  # noqa: S311 # no secret depends on it
        left = self.field & ~mine
        stacks = [*bits(int(live_stacks(rows, armies, mine, left)))]
        for _ in range(STARTS - 1 if len(stacks) > 1 else 0):
            every = self._nothing()
            parts, taken, ranks = every[-1], 0, dict.fromkeys(stacks, 1.0)
            targets = [*bits(self.goal & ~mine)]
            dice.shuffle(targets)
            for t in targets:
                ways = []
                for v in () if taken >> t & 1 else stacks:
                    part = int(joined(rows, armies, v, int(parts[v]), t, left & ~taken))
                    if part:
                        chance = bound_of(rows, armies, v, part)
                        rank = chance / ranks[v] if ranks[v] else 0.0
                        ways.append((rank * dice.uniform(0.5, 1.0), chance, v, part))
                if ways:
                    _, chance, v, part = max(ways)
                    ranks[v], parts[v] = chance, part
                    taken |= part
            every[:-1] = parts
            yield every

    def begin_with(self, tasks: Tasks) -> None:
        """Start from a share, if it leads to a better one than that which is known."""
        parts = self._nothing()
        for v, _, targets in tasks:
            parts[:, self.numbers[v]] |= self._local(targets)
        self._share_from(parts, KICKS_ANEW)

    def _share_from(self, parts: Ints, kicks: int) -> None:
        value, parts = self.shared(*self.start, parts, kicks)
        if value > self.value:
            self.value, self.parts = value, parts

    def shared(self, armies: Ints, mine: int, parts: Ints, kicks: int) -> tuple[float, Ints]:
        """Return the best shares that a search finds, and what they pay.

        parts: what each stack takes, in each share, to start with.
        kicks: how many random changes are tried, each followed by a climb.
        """
        if self.payments.terms[SUM]:
            best = parts.copy()
            return self._grow(armies, mine, best, MOST_OWN), best
        value, best = 0.0, self._nothing()
        for place, (goal, paid) in enumerate(zip(self.rows.sets, self.rows.bonus, strict=True)):
            if goal & ~mine:
                chance, best[place] = self._climbed(armies, mine, int(goal), parts[place], kicks)
                value += paid * chance
        return float(value), best

    def _grow(self, armies: Ints, mine: int, parts: Ints, size: int) -> float:
        """Let the sets of a share of what pays grow, and return what it pays."""
        left = self.field & ~mine
        keep_live(self.rows, armies, mine, left, parts[0])
        return float(grow(self.rows, armies, mine, left, self.goal, parts[0], size, MOST_CLIMBS))

    def _climbed(
        self, armies: Ints, mine: int, goal: int, parts: Ints, kicks: int
    ) -> tuple[float, Ints]:
        """Return the best share of a set that a climb finds, and its chance."""
        rows, left = self.rows, self.field & ~mine
        dice = random.Random(0)  # noqa: S311 # no secret depends on it
        best = parts.copy()
        if not repair(rows, armies, mine, left, goal, best):
            return 0.0, np.zeros_like(parts)
        chance = climb(
            rows, armies, mine, left, goal, best, chance_of(rows, armies, best), MOST_CLIMBS
        )
        stacks = [*bits(int(live_stacks(rows, armies, mine, left)))]
        new = np.zeros(2, dtype=np.int64)
        for _ in range(kicks if len(stacks) > 1 else 0):
            if self.late():
                break
            other = best.copy()
            for _ in range(dice.randint(1, 3)):
                v, u = dice.sample(stacks, 2)
                targets = [*bits(int(other[v]) & goal)]
                taken = int(np.bitwise_or.reduce(other))
                if targets and moved(
                    rows, armies, left, goal, other, taken, v, u, dice.choice(targets), new
                ):
                    other[v], other[u] = new
            value = chance_of(rows, armies, other)
            value = climb(rows, armies, mine, left, goal, other, value, MOST_CLIMBS)
            if value > chance:
                chance, best = value, other
        return chance, best

    # Decisions.

    def best_roll(self, state: TurnState) -> BestRoll | None:
        """Return what to do in any state; `None` when the goal is reached or nothing can be done.

        state: one whose territories and armies are no more than at the start.
        """
        armies, mine = self._state(state)
        choice = None if self._is_over(mine) else self._choice(armies, mine)
        if choice is None:
            return None
        v, c, k = choice.roll
        return BestRoll(
            Roll(self.lands[v], self.lands[c], k),
            choice.value,
            {
                int(armies[v]) - each.attackers - int(self.rows.land[GARRISON, v]): moved
                for each, moved in zip(choice.results, choice.moves, strict=True)
                if each.defenders == armies[c]
            },
        )

    def results(self, state: TurnState, roll: Roll) -> list[Result]:
        """Return the results of a roll, with the answers that the defender gives.

        roll: the best one.
        """
        choice = self._choice(*self._state(state))
        return [] if choice is None else choice.results

    def _choice(self, armies: Ints, mine: int) -> _Choice | None:
        """Return the best roll of a state, with the best share that is found for it."""
        shares = (
            self.shared(armies, mine, parts, KICKS_ANEW) for parts in (self.parts, self._nothing())
        )
        _, parts = max(shares, key=lambda each: each[0])
        self._make_room()
        return self._best(armies, mine, parts, self.depth)

    def _best(self, armies: Ints, mine: int, parts: Ints, depth: int) -> _Choice | None:
        """Return the best roll of a state by a lookahead of some rolls.

        parts: a share for the state.
        """
        key = armies.tobytes(), mine, depth
        if key in self._known:
            return self._known[key]
        memory = self.memory
        self.decisions += 1
        record = decide(self.rows, self.dice, memory, armies, mine, parts)
        values = memory.values[record].tolist()
        most = max(values)
        near = [i for i, value in enumerate(values) if value and value >= most * (1.0 - self.near)]
        if depth == 1 or len(near) == 1:
            near = [int(memory.best[record])]
        best: _Choice | None = None
        for i in near:
            *roll, first, count = memory.records[record, i].tolist()
            results = [
                Result(float(memory.chances[n, 0]), *memory.results[n, :2].tolist())
                for n in range(first, first + count)
            ]
            moves = memory.results[first : first + count, 2].tolist()
            after = memory.chances[first : first + count, 1].tolist()
            shares = memory.results[first : first + count, 3:].reshape(count, *parts.shape).copy()
            choice = _Choice((roll[0], roll[1], roll[2]), values[i], results, moves, after, shares)
            if len(near) > 1:
                choice = self._deeper(armies, mine, choice, depth)
            if best is None or choice.value > best.value * (1.0 + SAME):
                best = choice
        self._known[key] = best
        return best

    def _deeper(self, armies: Ints, mine: int, choice: _Choice, depth: int) -> _Choice:
        """Return a choice with its value by one roll more."""
        after = []
        for place, share in enumerate(choice.shares):
            there, owned = self._after(armies, mine, choice, place)
            follows = None if self._is_over(owned) else self._best(there, owned, share, depth - 1)
            after.append(self._paid(mine, choice, place) + (follows.value if follows else 0.0))
        value = sum(
            result.chance * worth for result, worth in zip(choice.results, after, strict=True)
        )
        return choice._replace(value=value, after=after)

    def _after(self, armies: Ints, mine: int, choice: _Choice, place: int) -> tuple[Ints, int]:
        """Return the state after one of the results of a choice."""
        (v, c, _), moved = choice.roll, choice.moves[place]
        there = armies.copy()
        there[v] -= choice.results[place].attackers + moved
        there[c] -= choice.results[place].defenders
        if there[c]:
            return there, mine
        there[c] = moved
        return there, mine | 1 << c

    def _is_over(self, mine: int) -> bool:
        """Return whether all that can be paid is paid."""
        if self.payments.terms[ONCE]:
            return bool(self.goal & mine)
        return not self.goal & ~mine

    def _paid(self, mine: int, choice: _Choice, place: int) -> float:
        """Return what one of the results of a choice pays at once."""
        (_, c, _), moved = choice.roll, choice.moves[place]
        rewards = self.turn.rewards
        lost = rewards.army * choice.results[place].attackers
        if not moved:
            return -lost
        left = self.turn.field & ~mask_of(self.lands[t] for t in bits(mine))
        return rewards.of(self.lands[c], left) - lost

    def _set_chances(self, armies: Ints, mine: int, parts: Ints) -> Floats:
        """Return the chances of several shares; none where there is one."""
        chances = []
        for goal, part in zip(self.payments.shares[1:] and self.rows.sets, parts, strict=False):
            missing = int(goal) & ~mine & ~int(np.bitwise_or.reduce(part))
            chances.append(0.0 if missing else chance_of(self.rows, armies, part))
        return np.array(chances)

    def _chances_after(self, armies: Ints, mine: int, choice: _Choice) -> Floats:
        """Return the chances of several shares after each result of a choice."""
        key = armies.tobytes(), mine, choice.roll
        if key not in self._known_chances:
            after = [
                self._set_chances(*self._after(armies, mine, choice, place), share)
                for place, share in enumerate(choice.shares)
            ]
            self._known_chances[key] = np.array(after)
        return self._known_chances[key]

    def _make_room(self) -> None:
        """Forget what is known where the tables are half full."""
        rows, memory = self.rows, self.memory
        if 2 * rows.used[0] > len(rows.pool):
            rows.keys[:] = 0
            rows.used[0] = 2
        if 2 * memory.used[0] > len(memory.values) or 2 * memory.used[1] > len(memory.chances):
            memory.keys[:] = 0
            memory.used[:] = 0
            self._known.clear()
            self._known_chances.clear()

    # Games.

    def games(self, source: Source, late: Callable[[], bool] = lambda: False) -> Iterator[Game]:
        """Yield games that the policy plays, without end.

        source: where the results of the rolls come from.
        late: tells whether the time is over; then the game that is played is broken off. What it
            has gained so far is what it gains if it follows its share from there on.
        """
        while True:
            yield self._game(source, late)

    def _game(self, source: Source, late: Callable[[], bool]) -> Game:
        (armies, mine), parts, h = self.start, self.parts, self.value
        gain, rolls, is_whole = 0.0, [], True
        known = self._set_chances(armies, mine, parts)
        luck = np.zeros_like(known)
        while not self._is_over(mine):
            if late():
                is_whole = False
                break
            self._make_room()
            choice = self._best(armies, mine, parts, self.depth)
            gain += (choice.value if choice else 0.0) - h
            if choice is None:
                break
            v, c, k = choice.roll
            roll = Roll(self.lands[v], self.lands[c], k)
            place = source.pick(roll, int(armies[c]), choice.results)
            if len(known):
                after = self._chances_after(armies, mine, choice)
                known = after[place]
                luck += known - np.average(after, 0, [each.chance for each in choice.results])
            _, lost, killed = choice.results[place]
            paid = self._paid(mine, choice, place)
            armies, mine = self._after(armies, mine, choice, place)
            h, parts = choice.after[place] - paid, choice.shares[place]
            moved = choice.moves[place] if mine >> c & 1 else 0
            rolls.append(RollMade(roll, lost, killed, moved))
        start = self.turn.start()
        last = list(start.armies)
        for t, land in enumerate(self.lands):
            last[land] += int(armies[t] - self.start[0][t])
        owned = start.owned | mask_of(self.lands[t] for t in bits(mine))
        chances = (known == 1.0 if is_whole else known) - luck
        if len(chances):  # what is told of the sets and of all of them is one estimate
            gain = float(self.rows.bonus @ chances) - self.value
        return Game(
            tuple(rolls), TurnState(tuple(last), owned), gain, is_whole, tuple(chances.tolist())
        )


def _salt(rng: np.random.Generator, *shape: int) -> npt.NDArray[np.uint64]:
    return rng.integers(1, 2**63, size=shape, dtype=np.uint64)


def _cost(won: Floats, garrison: int) -> Floats:
    """Return the chances that a conquest by the largest stack takes 0, 1 ... armies off it.

    won: the chances that so many are left able to move in.
    garrison: the armies that stay on what is conquered.
    """
    cost = np.zeros(len(won))
    cost[garrison:] = won[::-1][: len(won) - garrison]
    return cost
