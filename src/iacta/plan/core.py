"""The compiled core: how a problem is handed to it, and what it is asked.

The core (`src/core/`) receives data only: tables of throws and battles, borders, rewards. It is a
plain shared library, called through `ctypes`; no pointer of it is part of a plan. While it works,
the interpreter goes on, and Ctrl-C stops it within a tenth of a second.
"""

import ctypes
from collections.abc import Callable, Iterable, Iterator, Sequence
from ctypes import (
    POINTER,
    Structure,
    byref,
    c_char_p,
    c_double,
    c_int32,
    c_int64,
    c_uint8,
    c_uint64,
    c_void_p,
)
from dataclasses import dataclass, replace
from functools import cache, cached_property, lru_cache
from math import inf
from pathlib import Path
from threading import TIMEOUT_MAX, Event, Lock, Thread
from time import sleep
from typing import Any, NamedTuple, TypeAlias
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from iacta.checks import shown
from iacta.errors import IactaError, IllegalError, TooLargeError
from iacta.methods.kernel import Choice, Kernel
from iacta.plan.deadline import Deadline
from iacta.plan.masks import bits, mask_of
from iacta.plan.problem import (
    AttackResult,
    PolicyAction,
    Problem,
    TurnState,
    refuse_large_board,
)
from iacta.rules.roll import refuse_many_rolls

Ints: TypeAlias = npt.NDArray[np.int32]
Floats: TypeAlias = npt.NDArray[np.float64]
Assignment: TypeAlias = tuple[tuple[int, ...], ...]  # for each set that pays, a set of each stack

SMALLEST = 1e-18  # chances of battles below it count as 0
MOST_BYTES = 400e6  # of tables of battles
LEAST_SECONDS = 0.1  # that dice and battles may take however short the time is
AT_ONCE = 0.05  # seconds for which Ctrl-C may wait
MOST_DEPTH = 8  # of a style, as in `src/core/search/sized_search.hpp`
# More bounds of `src/core/interface.cpp`.
MOST_SETS = 1024
MOST_ARMIES = 2**20  # for a whole game, the sum over all territories
NEVER = 2**31 - 1  # the place of a border that is never attacked over
DONE, STOPPED, TOO_LARGE, MORE, NO_MEMORY, UNSOUND, BUSY, BROKEN = range(8)

ORDERS = ("value", "risk")


class Style(NamedTuple):
    """How a lookahead policy looks; `src/core/iacta.h` says what each does."""

    depth: int = 1  # how many attacks are looked ahead where the values of several are close
    idle: float = 0.002  # the price of an idle army, as a part of a chance
    order: str = ORDERS[0]  # of nearly equal attacks: by their values, or by `"risk"`


class Visit(NamedTuple):
    """What happens at one border."""

    start: int  # the attacking territory
    to: int  # the attacked one
    reached: float  # the chance that it is ever attacked over
    conquered: float  # the chance that it is conquered over
    arrived: float  # the mean of the armies that move in, 0 counted where it is not conquered
    ended: float  # the chance that the turn ends with an attack over it, the goal not reached
    # For each number of armies left able to move: the chance to conquer with that many left, and
    # that chance times the mean number that then move in.
    advances: tuple[tuple[int, float, float], ...]


@dataclass(frozen=True, eq=False)
class Report:
    """How a policy goes: exactly, or in games. Reports of parts of the games, weighted, add."""

    problem: Problem  # what it plays
    states: int  # how many were visited
    order: npt.NDArray[np.int64]  # by border, how many others were attacked over before
    numbers: Floats  # all that is reported, as `src/core/iacta.h` says

    def __add__(self, other: "Report") -> "Report":
        """Return the report of both, the other of games that were played later."""
        later = self.order[self.order < NEVER].max(initial=-1) + 1
        order = np.minimum(self.order, other.order + later)
        states, numbers = max(self.states, other.states), self.numbers + other.numbers
        return Report(self.problem, states, order, numbers)

    def __mul__(self, weight: float) -> "Report":
        return replace(self, numbers=weight * self.numbers)

    @property
    def value(self) -> float:
        """What is paid."""
        return float(self.numbers[0])

    @property
    def owned(self) -> tuple[float, ...]:
        """For each territory the chance to own it at the end."""
        return tuple(self._parts[0].tolist())

    @property
    def armies(self) -> tuple[float, ...]:
        """For each territory the mean of the player's armies at the end."""
        return tuple(self._parts[1].tolist())

    @property
    def taken(self) -> tuple[float, ...]:
        """For each set that pays the chance to take it."""
        return tuple(self._parts[2].tolist())

    @property
    def visits(self) -> tuple[Visit, ...]:
        """What happens at each border, in the order in which they were first attacked over."""
        borders = [(v, c) for v, mask in enumerate(self.problem.out) for c in bits(mask)]
        chances = self._parts[3].reshape(len(borders), 4).tolist()
        advances = self._parts[4].reshape(len(borders), -1, 2) if borders else self._parts[4]
        found = []
        for k in np.argsort(self.order, kind="stable").tolist():
            if self.order[k] < NEVER:
                able = np.flatnonzero(advances[k, :, 0]).tolist()
                rows = tuple((a, *advances[k, a].tolist()) for a in able)
                found.append(Visit._make((*borders[k], *chances[k], rows)))
        return tuple(found)

    @cached_property
    def _parts(self) -> list[Floats]:
        lands, sets = len(self.problem.out), len(self.problem.rewards.sets)
        lengths = (1, lands, lands, sets, 4 * len(self.order))
        return np.split(self.numbers, np.cumsum(lengths))[1:]


class Games(NamedTuple):
    """Games that a policy played."""

    # Of each game, what it was paid, less the luck that the policy saw; their mean is the value.
    gains: Floats
    report: Report  # how they went


# The types of `src/core/iacta.h`, by short names.
_TYPES: dict[str, Any] = {
    "int": c_int32,
    "long": c_int64,
    "seed": c_uint64,
    "number": c_double,
    "text": c_char_p,
    "search": c_void_p,
    "ints": POINTER(c_int32),
    "longs": POINTER(c_int64),
    "bytes": POINTER(c_uint8),
    "numbers": POINTER(c_double),
}


def _structure(description: str, name: str) -> type[Structure]:
    """Return a structure of the core with some fields; pointers to it go by a name."""

    class Data(Structure):
        _fields_ = tuple(
            (field, _TYPES[kind])
            for kind, *fields in map(str.split, description.split(";"))
            for field in fields
        )

    _TYPES[name] = POINTER(Data)
    return Data


ProblemData = _structure(
    "int lands; ints border_first border_to armies keep kind; bytes owner resting;"
    "int garrison kinds; ints attack_dice defence_dice dice_first least; bytes whole;"
    "ints throw_first answer_first result_first; numbers throw_chance result_chance;"
    "ints result_attackers result_defenders; int rows throws answers results;"
    "int able defenders battles width; ints battle_first; numbers won lost; numbers pays;"
    "int sets; ints set_first set_lands; numbers set_pays; number price; int once;"
    "bytes until",
    "problem",
)
_Style = _structure("number idle; int depth order", "style")
_Budget = _structure("ints stop; number seconds; long states bytes", "budget")
_Outcome = _structure("number chance value; int attackers defenders moved", "outcomes")
_Decision = _structure("int start to dice count room; number value; outcomes outcomes", "decision")
_Report = _structure("long states borders room; ints order; numbers numbers", "report")
_Ends = _structure("int count room; ints armies; bytes mine; numbers values", "ends")
_State = _structure("ints armies; bytes mine", "state")
_TYPES["state"] = _State  # not a pointer: it is passed by value
# The arguments of each function; all but the first return a code.
_FUNCTIONS = {
    "open": "problem text int",
    "close": "search",
    "solve": "search budget state ends numbers longs",
    "goals": "search",
    "assign": "search budget int bytes",
    "follow": "search budget style bytes",
    "decide": "search budget state decision",
    "judge": "search budget state int int int decision",
    "move_in": "search budget state int int int ints",
    "flow": "search budget state report",
    "play": "search budget state seed long int numbers ints report",
    "bound": "search budget numbers",
}


@cache
def find_core() -> ctypes.CDLL | None:
    """Return the compiled core, `None` where there is none, or none that can be loaded.

    One that is not what was built is refused, and in a checkout one that was built from other
    sources.
    """
    here = Path(__file__).parent
    # In a folder of its own, as it is no module that Python could import.
    built = (here / "native" / f"core{suffix}" for suffix in (".so", ".dylib", ".dll"))
    found = next(filter(Path.exists, built), None)
    if found is None:
        return None
    is_checkout = _is_checkout()
    try:
        if not _is_as_built(found):
            what_to_do = "run `make -B core`" if is_checkout else "install iacta again"
            raise IactaError(f"the compiled core of iacta is damaged; {what_to_do}")
        library = ctypes.CDLL(str(found))
    except OSError:
        return None
    library.iacta_source.restype = c_char_p
    if is_checkout and library.iacta_source().decode() != hash_source(_source_folder()):
        raise IactaError("the core of iacta is older than its source; run `make core`")
    for name, arguments in _FUNCTIONS.items():
        getattr(library, f"iacta_{name}").argtypes = [_TYPES[each] for each in arguments.split()]
    library.iacta_open.restype = c_void_p
    return library


def core_needed_for(what: str) -> IactaError:
    """Return the error for a machine without a core that can be loaded.

    what: what needs the core, such as `"plans"`.
    """
    remedy = "install iacta again where there is a C++ compiler"
    if _is_checkout():
        remedy = "`make core` compiles it"
    return IactaError(f"{what} need the compiled core of iacta; {remedy}")


def hash_source(folder: Path) -> str:
    """Return the hash of the core's source, as `cmake/hash_source.py` computes it.

    folder: the folder `src/core`.
    """
    names = sorted(each.relative_to(folder).as_posix() for each in folder.rglob("*.*"))
    return _sha256(b"".join(name.encode() + (folder / name).read_bytes() for name in names))[:16]


def _source_folder() -> Path:
    return Path(__file__).parents[2] / "core"


def _is_checkout() -> bool:
    return (_source_folder() / "iacta.h").exists()


def _is_as_built(library: Path) -> bool:
    """Return whether a library has the size and the SHA-256 that its build recorded."""
    record, data = library.with_name(f"{library.name}.sha256"), library.read_bytes()
    built = f"{len(data)} {_sha256(data)}"
    return record.exists() and record.read_bytes().strip() == built.encode()


def _sha256(data: bytes) -> str:
    import hashlib  # slow to import, and only needed here

    return hashlib.sha256(data).hexdigest()


# The most attack dice and defence dice, and the possible results for each number of both.
_Dice: TypeAlias = tuple[int, int, list[Choice]]

_known_dice: WeakKeyDictionary[Kernel, dict[bool, _Dice]] = WeakKeyDictionary()


def _dice_of(kernel: Kernel, is_whole: bool, deadline: Deadline) -> _Dice:
    """Return the dice of a kernel; refused are those that cannot be prepared in time."""
    known = _known_dice.setdefault(kernel, {})
    if is_whole not in known:
        attack, defence = kernel.rules.full_roll
        refuse_many_rolls(attack, defence, kernel.rules, deadline.left())
        if is_whole:  # which shows nothing
            known[is_whole] = 1, 1, [Choice(1, kernel.battle(1, 1).least, ())]
        else:
            by_defence = [kernel.rolls(attack, j + 1) for j in range(defence)]
            choices = [{each.dice: each for each in rolls} for rolls in by_defence]
            rolls = [each[k + 1] for k in range(attack) for each in choices]
            known[is_whole] = attack, defence, rolls
    return known[is_whole]


@lru_cache(maxsize=512)
def battles_of(kernel: Kernel, able: int, defenders: int) -> tuple[Floats, Floats]:
    """Return what whole battles of up to some attackers against some defenders come to.

    Entry [a, x] of the first is the chance to win with x armies lost, as far as there are any;
    entry [a, e] of the second that not to win, with e defenders left.
    """
    won, lost = kernel.transitions(able, defenders)
    a, x = np.indices(won.shape)
    by_lost = np.where(x < a, won[a, np.maximum(a - x, 0)], 0.0)
    by_lost[by_lost < SMALLEST] = 0.0
    width = int(np.flatnonzero(by_lost.any(axis=0)).max(initial=0)) + 1
    return by_lost[:, :width].copy(), lost


def _pointer(array: npt.NDArray[Any]) -> Any:
    """Return where an array is; it must live as long as the core reads or writes it."""
    kinds: dict[str, Any] = {"int32": c_int32, "uint8": c_uint8, "float64": c_double}
    return array.ctypes.data_as(POINTER(kinds[array.dtype.name]))


class Tables:
    """A problem as arrays, which live as long as the core copies them."""

    def __init__(self, problem: Problem, until: int, deadline: Deadline) -> None:
        turn, board, field = problem.turn, problem.board, problem.field
        lands = len(board.territories)
        self.kept: list[Any] = []
        self.problem = it = ProblemData()
        it.lands = lands
        borders = [[*bits(mask)] for mask in problem.out]
        self._put("border_first", np.cumsum([0, *map(len, borders)]))
        self._put("border_to", [c for row in borders for c in row])
        active = problem.stacks | field
        able = max((turn.armies[v] for v in bits(problem.stacks)), default=0)
        # Armies that can never fight are not counted in full, as tables are as long as stacks.
        self.armies = np.array(
            [n if active >> t & 1 else min(n, able) for t, n in enumerate(turn.armies)]
        )
        self._put("armies", self.armies)
        self._put_garrisons(problem.garrisons, turn.rules.garrison)
        kernels = [*dict.fromkeys(problem.kernels)]
        self._put("kind", [kernels.index(each) for each in problem.kernels])
        owner = [1 if problem.owned >> t & 1 else 0 if field >> t & 1 else 2 for t in range(lands)]
        self._put("owner", owner)
        self._put("resting", [problem.resting >> t & 1 for t in range(lands)])
        it.kinds = len(kernels)
        is_whole = [turn.whole_battles or not each.by_rolls for each in kernels]
        deadline = deadline.at_least(LEAST_SECONDS)
        self._put_dice(kernels, is_whole, deadline)
        self._put_battles(problem, able, deadline)
        rewards = problem.rewards
        self._put("pays", [rewards.lands[t] if field >> t & 1 else 0.0 for t in range(lands)])
        sets = [[*bits(mask)] for mask, _ in rewards.sets]
        it.sets = len(sets)
        self._put("set_first", np.cumsum([0, *map(len, sets)]))
        self._put("set_lands", [t for row in sets for t in row])
        self._put("set_pays", [paid for _, paid in rewards.sets])
        it.price, it.once = rewards.price, rewards.once
        if until:
            self._put("until", [until >> t & 1 for t in range(lands)])

    def _put(self, name: str, values: Any) -> None:
        kinds = {POINTER(c_int32): np.int32, POINTER(c_uint8): np.uint8}
        kind = kinds.get(type(getattr(self.problem, name)), np.float64)
        array = np.ascontiguousarray(values, dtype=kind)
        self.kept.append(array)
        setattr(self.problem, name, _pointer(array))

    def _put_garrisons(self, keep: Iterable[int], usual: int) -> None:
        # No stack is larger, so a larger garrison keeps the whole stack, too.
        self._put("keep", [min(each, MOST_ARMIES) for each in keep])
        self.problem.garrison = min(usual, MOST_ARMIES)

    def _put_dice(
        self, kernels: Sequence[Kernel], is_whole: Sequence[bool], deadline: Deadline
    ) -> None:
        dice = [_dice_of(*pair, deadline) for pair in zip(kernels, is_whole, strict=True)]
        rolls = [roll for _, _, some in dice for roll in some]
        throws = [throw for roll in rolls for throw in roll.throws]
        answers = [answer for throw in throws for answer in throw.options]
        results = [result for answer in answers for result in answer]
        it = self.problem
        it.rows, it.throws = len(rolls), len(throws)
        it.answers, it.results = len(answers), len(results)
        self._put("whole", is_whole)
        self._put("attack_dice", [attack for attack, _, _ in dice])
        self._put("defence_dice", [defence for _, defence, _ in dice])
        self._put("dice_first", np.cumsum([0, *(len(some) for _, _, some in dice)])[:-1])
        self._put("least", [each.least for each in rolls])
        self._put("throw_first", np.cumsum([0, *(len(each.throws) for each in rolls)]))
        self._put("answer_first", np.cumsum([0, *(len(each.options) for each in throws)]))
        self._put("result_first", np.cumsum([0, *map(len, answers)]))
        self._put("throw_chance", [each.chance for each in throws])
        self._put("result_chance", [each.chance for each in results])
        self._put("result_attackers", [each.attackers for each in results])
        self._put("result_defenders", [each.defenders for each in results])

    def _put_battles(self, problem: Problem, able: int, deadline: Deadline) -> None:
        # Rolls follow from the dice; the core makes battles of them as it needs them.
        most = dict.fromkeys(problem.kernels, 0)
        for t in bits(problem.field):
            if problem.is_whole(t):
                most[problem.kernels[t]] = max(most[problem.kernels[t]], problem.turn.armies[t])
        battles, longest, it = sum(most.values()), max(most.values(), default=0), self.problem
        what = f"a plan of {able:,} armies against up to {longest:,}"

        def check() -> None:
            if 8.0 * battles * (able + 1) * (longest + 1 + it.width) > MOST_BYTES:
                raise TooLargeError(f"{what} takes too much memory")

        it.width = 1
        check()
        it.able, it.defenders, it.battles = able, longest, battles
        lost = np.zeros((it.battles, able + 1, it.defenders + 1))
        found: list[Floats] = []
        for kernel, number in most.items():
            for d in range(1, number + 1):
                if deadline.is_over:
                    raise TooLargeError(f"{what} cannot be prepared within the time limit")
                by_lost, held = battles_of(kernel, able, d)
                lost[len(found), :, : d + 1] = held
                found.append(by_lost)
                it.width = max(it.width, by_lost.shape[1])
                check()
        won = np.zeros((it.battles, able + 1, it.width))
        for row, by_lost in enumerate(found):
            won[row, :, : by_lost.shape[1]] = by_lost
        self._put("battle_first", np.cumsum([0, *most.values()])[:-1])
        self._put("won", won)
        self._put("lost", lost)


class Core:
    """A search of the core for one problem.

    problem: the problem.
    deadline: when its tables must be there; `None` for no limit.
    until: a set of territories; the turn ends when all of it is taken, and pays what `solve_until`
        says. 0 for none.

    Where it is asked, `states` is how many states may be known in all, and `start` the state to go
    from, `None` for the start of the problem. Refused where iacta was installed without the core,
    and where tables take too long.
    """

    def __init__(
        self, problem: Problem, deadline: Deadline | None = None, *, until: int = 0
    ) -> None:
        self._search = None
        self._lock = Lock()  # held while the core works
        library = find_core()
        if library is None:
            raise core_needed_for("plans")
        self._library = library
        refuse_large_board(problem.board, "plans")
        if len(problem.rewards.sets) > MOST_SETS:
            raise TooLargeError(
                f"a plan can be paid for at most {MOST_SETS:,} continents, "
                f"got {len(problem.rewards.sets):,} on board {shown(problem.board.name)}"
            )
        tables = Tables(problem, until, deadline or Deadline())
        message = ctypes.create_string_buffer(200)
        self.problem, self.lands = problem, tables.problem.lands
        self._search = library.iacta_open(byref(tables.problem), message, len(message))
        if not self._search:
            raise IactaError(message.value.decode())
        self._able = tables.problem.able
        self._armies = tables.armies
        active = problem.stacks | problem.field
        self._is_active = [active >> t & 1 == 1 for t in range(self.lands)]
        self.goals: int = library.iacta_goals(self._search)

    def __del__(self) -> None:
        if self._search:
            self._library.iacta_close(self._search)

    def _call(
        self,
        name: str,
        deadline: Deadline,
        *arguments: Any,
        states: float = inf,
        is_short: bool = False,
        unsound: str = "",
    ) -> int:
        """Call a function of the core once no other thread does, and so that Ctrl-C stops it.

        is_short: the call is nearly always over at once, and can be begun anew.
        unsound: why it is refused, if the core says that what it got cannot be.
        """

        def function(budget: Any) -> int:
            code: int = getattr(self._library, f"iacta_{name}")(self._search, budget, *arguments)
            return code

        if not self._lock.acquire(timeout=min(deadline.left(), TIMEOUT_MAX)):
            return STOPPED
        try:
            code = STOPPED
            if is_short:
                code = _once_free(function, budget_of(deadline, states, AT_ONCE), deadline)
            if code == STOPPED:
                code = _in_a_thread(function, budget_of(deadline, states), deadline)
        finally:
            self._lock.release()
        if code == NO_MEMORY:
            raise TooLargeError("the search for a plan ran out of memory")
        if code == BROKEN:
            raise RuntimeError("the compiled core of iacta is broken")
        if code == UNSOUND:
            raise IllegalError(unsound)
        return code

    def solve(
        self, deadline: Deadline, states: float = inf, start: TurnState | None = None
    ) -> float | None:
        """Return the value of the best play of all, which is the policy then.

        It is `None` where that takes too much.
        """
        return self._solved(deadline, start, states, None)

    def _solved(
        self, deadline: Deadline, start: TurnState | None, states: float, ends: Any
    ) -> float | None:
        value, seen = c_double(), c_int64()
        more = ends, byref(value), byref(seen)
        code = self._ask("solve", deadline, start, *more, states=states)
        return value.value if code == DONE else None

    def solve_until(
        self,
        deadline: Deadline,
        states: float,
        most: int,
        value_of: Callable[[TurnState], float | None],
    ) -> float | None:
        """Return the value of the best play of a turn that ends early; `None` as for `solve`.

        most: how many states there may be in which it ends.
        value_of: what each of these is worth, `None` where that takes too much.
        """
        armies = np.zeros((most, self.lands), dtype=np.int32)
        mine, values = np.zeros((most, self.lands), dtype=np.uint8), np.zeros(most)
        ends = _Ends(0, most, *map(_pointer, (armies, mine, values)))
        ends.kept = armies, mine, values
        # The first time to see which there are.
        if self._solved(deadline, None, states, byref(ends)) is None:
            return None
        for k in range(ends.count):
            # Idle armies are not counted in full.
            there = np.where(self._is_active, armies[k], self.problem.start.armies)
            owned = mask_of(np.flatnonzero(mine[k]).tolist())
            known = value_of(TurnState(tuple(there.tolist()), owned))
            if known is None:
                return None
            values[k] = known
        return self._solved(deadline, None, states, byref(ends))

    def assign(self, deadline: Deadline, starts: int = 1) -> Assignment:
        """Return the best assignment that several starts lead to; it becomes the policy's."""
        sets = np.zeros((self.goals, self.lands, self.lands), dtype=np.uint8)
        self._call("assign", deadline, starts, _pointer(sets))
        return tuple(
            tuple(mask_of(np.flatnonzero(part).tolist()) for part in parts) for parts in sets
        )

    def follow(self, assignment: Assignment | None, style: Style) -> None:
        """Take lookahead on an assignment as the policy; `None` for one of nothing.

        Refused are styles that the core does not know.
        """
        sets = np.zeros((self.goals, self.lands, self.lands), dtype=np.uint8)
        for goal, parts in enumerate(assignment or ()):
            for v, part in enumerate(parts):
                sets[goal, v, [*bits(part)]] = 1
        given = _Style(style.idle, style.depth, ORDERS.index(style.order))
        unsound = (
            f"style must have a depth from 1 to {MOST_DEPTH} and a price of idle armies from 0 "
            f"to 1, got {style}"
        )
        more = byref(given), _pointer(sets)
        self._call("follow", Deadline(), *more, is_short=True, unsound=unsound)

    def decide(self, state: TurnState) -> PolicyAction:
        return self._decision("decide", state)

    def judge(self, state: TurnState, start: int, to: int, dice: int = 0) -> PolicyAction:
        """Return what an attack is worth in a state; 0 dice are as many as are allowed."""
        return self._decision("judge", state, start, to, dice)

    def advance(self, state: TurnState, start: int, to: int, least: int) -> int:
        """Return how many armies the policy moves in when the last defender has fallen.

        state: the state before that, with the armies that are left on the attacking territory.
        """
        moved = c_int32()
        self._ask("move_in", Deadline(), state, start, to, least, byref(moved), is_short=True)
        return moved.value

    def _decision(self, name: str, state: TurnState, *roll: int) -> PolicyAction:
        found = _Decision(room=64)
        while True:
            found.outcomes = (_Outcome * found.room)()
            self._ask(name, Deadline(), state, *roll, byref(found), is_short=True)
            if found.count <= found.room:
                break
            found.room = found.count
        rows = (
            AttackResult._make(getattr(each, field) for field in AttackResult._fields)
            for each in found.outcomes[: found.count]
        )
        return PolicyAction(found.start, found.to, found.dice, found.value, tuple(rows))

    def _ask(
        self, name: str, deadline: Deadline, state: TurnState | None, *more: Any, **how: Any
    ) -> int:
        """Call a function of the core about a state, `None` for the start of the problem."""
        armies, owned = self.problem.start if state is None else state
        mine = np.array([owned >> t & 1 for t in range(self.lands)], dtype=np.uint8)
        counted = np.where(self._is_active, armies, self._armies).astype(np.int32)
        given = _State(_pointer(counted), _pointer(mine))
        given.kept = counted, mine  # for a call that goes on after Ctrl-C
        unsound = "position must be one that can follow the start of the plan"
        return self._call(name, deadline, given, *more, unsound=unsound, **how)

    def flow(
        self, deadline: Deadline, states: float = inf, start: TurnState | None = None
    ) -> Report | None:
        """Return exactly how the policy goes; `None` where it visits more states than that."""
        code, report = self._reported("flow", deadline, start, states=states)
        return report if code == DONE else None

    def play(
        self,
        deadline: Deadline,
        games: int,
        first: int = 0,
        seed: int = 0,
        start: TurnState | None = None,
    ) -> Games:
        """Play games with the policy; fewer where the deadline comes first.

        first: the number of the first game; each has its own dice.
        """
        gains, played = np.zeros(games), c_int32()
        more = seed, first, games, _pointer(gains), byref(played)
        _, report = self._reported("play", deadline, start, *more)
        return Games(gains[: played.value], report * (games / max(played.value, 1)))

    def _reported(
        self, name: str, deadline: Deadline, start: TurnState | None, *more: Any, **how: Any
    ) -> tuple[int, Report]:
        """Call a function of the core that reports how the policy goes."""
        borders = sum(mask.bit_count() for mask in self.problem.out)
        sets = len(self.problem.rewards.sets)
        room = 1 + 2 * self.lands + sets + borders * (6 + 2 * self._able)
        order, numbers = np.full(borders, NEVER, dtype=np.int32), np.zeros(room)
        report = _Report(0, borders, room, _pointer(order), _pointer(numbers))
        report.kept = order, numbers
        code = self._ask(name, deadline, start, *more, byref(report), **how)
        return code, Report(self.problem, report.states, order.astype(np.int64), numbers)

    def bounds(self, deadline: Deadline, values: float = inf) -> Iterator[float]:
        """Yield upper bounds on the value of any play, none above the one before.

        values: how many values of relaxed games may be looked at.
        """
        bound, code = c_double(inf), MORE
        while code == MORE:
            code = self._call("bound", deadline, byref(bound), states=values)
            yield bound.value


def _once_free(function: Callable[[Any], int], budget: Any, deadline: Deadline) -> int:
    """Call a function of the core, which may still be busy with a call that Ctrl-C has ended."""
    while (code := function(budget)) == BUSY:
        if deadline.is_over:
            return STOPPED
        sleep(AT_ONCE / 10)
    return code


def _in_a_thread(function: Callable[[Any], int], budget: Any, deadline: Deadline) -> int:
    codes, done = list[int](), Event()

    def work() -> None:
        try:
            codes.append(_once_free(function, budget, deadline))
        finally:
            done.set()

    # Not Thread.join: where Ctrl-C ends it, Python 3.11 takes the thread for dead.
    # Where Polars is imported, Ctrl-C only ends what waits with a limit.
    try:
        Thread(target=work).start()
        done.wait(TIMEOUT_MAX)
    except BaseException:
        deadline.stop()
        done.wait(1)  # not for ever: perhaps the thread never began
        raise
    return codes[0]


def budget_of(deadline: Deadline, states: float, seconds: float = 1e9) -> Any:
    """Return what a call may use at most, as a reference to what the core reads."""
    return byref(
        _Budget(
            POINTER(c_int32)(deadline.flag),
            min(deadline.left(), seconds),
            int(min(states, 2**62)),
            deadline.bytes,
        )
    )
