"""The problem that a plan solves: a position, rules and constraints, as numbers and bits.

Territory t is `board.territories[t]`, and bit t of the whole number that stands for a set. A set is
connected to v if each of its territories can be reached from v by borders, through the set alone.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any

from iacta.board import Board, Position
from iacta.checks import row_of, shown, whole_number
from iacta.errors import IllegalError, MalformedError
from iacta.methods import find_kernel
from iacta.methods.kernel import Kernel
from iacta.rules.rules import Rules
from iacta.rules.variants import find_rules

__all__ = ["Borders", "Problem", "Stacks", "bits", "mask_of", "read_problem", "union"]

Stacks = tuple[tuple[int, int], ...]  # (territory, armies), by territory


def bits(mask: int) -> Iterator[int]:
    """Yield the territories of a set, in order.

    >>> list(bits(0b1101))
    [0, 2, 3]
    """
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low


def mask_of(territories: Iterable[int]) -> int:
    """Return the set of some territories.

    >>> bin(mask_of([0, 2, 3]))
    '0b1101'
    """
    return union(1 << territory for territory in territories)


def union(masks: Iterable[int]) -> int:
    """Return the union of some sets."""
    together = 0
    for mask in masks:
        together |= mask
    return together


class Remembers:
    """What remembers the answers of its methods, and is pickled without them."""

    def _remember(self) -> None:
        """Begin to remember."""
        raise NotImplementedError

    def __getstate__(self) -> dict[str, Any]:
        return {
            name: value
            for name, value in vars(self).items()
            if not hasattr(value, "cache_info")
            and not isinstance(getattr(type(self), name, None), cached_property)
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._remember()


class Borders(Remembers):
    """Which territories can attack which, and which sets are connected.

    out: for each territory the set of those that it can attack.

    >>> chain = Borders((0b010, 0b101, 0b010))
    >>> bin(chain.reachable(0, 0b110)), chain.connects(0, 0b100)
    ('0b110', False)
    """

    def __init__(self, out: Sequence[int]) -> None:
        self.out = tuple(out)
        near = [*self.out]
        for v, mask in enumerate(self.out):
            for c in bits(mask):
                near[c] |= 1 << v
        self.near = tuple(near)  # the neighbours in either direction
        self._remember()

    def _remember(self) -> None:
        self.reachable = lru_cache(maxsize=None)(self._reachable)
        self.connected_subsets = lru_cache(maxsize=None)(self._connected_subsets)
        self.splits = lru_cache(maxsize=None)(self._splits)
        self._component_splits = lru_cache(maxsize=None)(self._splits_of_component)

    def connects(self, v: int, mask: int) -> bool:
        """Return whether a set is connected to v."""
        return self.reachable(v, mask) == mask

    def _reachable(self, v: int, mask: int) -> int:
        """Return the part of a set that can be reached from v through the set."""
        out = self.out
        seen = new = out[v] & mask
        while new:
            low = new & -new
            further = out[low.bit_length() - 1] & mask & ~seen
            seen |= further
            new = new ^ low | further
        return seen

    def reachable_from(self, places: Iterable[int], mask: int) -> int:
        """Return the part of a set that can be reached from any of some territories through it."""
        reached = 0
        for v in places:
            reached |= self.reachable(v, mask)
        return reached

    def _connected_subsets(self, v: int, mask: int) -> tuple[int, ...]:
        """Return all subsets of a set that are connected to v, the empty one too."""
        found: list[int] = []
        self._grow(self.out[v] & mask, 0, mask, found)
        return tuple(found)

    def _grow(self, frontier: int, grown: int, allowed: int, found: list[int]) -> None:
        found.append(grown)
        while frontier:
            low = frontier & -frontier
            frontier ^= low
            allowed &= ~low  # from now on it is in the set for good, or out for good
            beyond = self.out[low.bit_length() - 1] & allowed
            self._grow(frontier | beyond, grown | low, allowed, found)

    def has_fewer_subsets(self, v: int, mask: int, most: int) -> bool:
        """Return whether fewer than `most` subsets of a set are connected to v."""
        waiting, count = [(self.out[v] & mask, mask)], 0
        while waiting and count < most:
            frontier, allowed = waiting.pop()
            count += 1
            while frontier and len(waiting) < most:
                low = frontier & -frontier
                frontier ^= low
                allowed &= ~low
                waiting.append((frontier | self.out[low.bit_length() - 1] & allowed, allowed))
        return count + len(waiting) < most

    def components(self, mask: int) -> Iterator[int]:
        """Yield the connected components of a set."""
        while mask:
            component, new = 0, mask & -mask
            while new:
                component |= new
                further = 0
                for u in bits(new):
                    further |= self.near[u]
                new = further & mask & ~component
            yield component
            mask &= ~component

    def _splits(self, c: int, v: int, mask: int) -> tuple[tuple[int, int], ...]:
        """Return all ways to split a set into a part connected to c and a part connected to v."""
        splits = [(0, 0)]
        for component in self.components(mask):
            more = self._component_splits(c, v, component)
            splits = [(a | x, b | y) for a, b in splits for x, y in more]
        return tuple(splits)

    def _splits_of_component(self, c: int, v: int, component: int) -> tuple[tuple[int, int], ...]:
        if self.out[v] & component == 0:
            return ((component, 0),) if self.connects(c, component) else ()
        if self.out[c] & component == 0:
            return ((0, component),) if self.connects(v, component) else ()
        return tuple(
            (subset, component & ~subset)
            for subset in self.connected_subsets(c, component)
            if self.connects(v, component & ~subset)
        )


@dataclass(frozen=True)
class Problem:
    """A position, its rules and its constraints.

    board: the board; territory t is `board.territories[t]`.
    rules: the rules of battles, whose garrison limits how many of a stack are able to attack.
    armies: the armies on each territory.
    owned: the set of the player's territories.
    garrisons: for each territory the armies that must remain on it at all times.
    resting: the set of the player's territories that may not attack.
    borders: who can attack whom.
    special: (territory, rules) where the battles for a territory are fought by rules of its own.
        The garrison of those does not count.
    """

    board: Board
    rules: Rules
    armies: tuple[int, ...]
    owned: int
    garrisons: tuple[int, ...]
    resting: int
    borders: Borders = field(compare=False, repr=False)
    special: tuple[tuple[int, Rules], ...] = ()

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "kernels"}

    @property
    def enemy(self) -> int:
        """The set of all other territories."""
        return (1 << len(self.armies)) - 1 & ~self.owned

    @cached_property
    def all_rules(self) -> tuple[Rules, ...]:
        """All the rules by which battles are fought, those of most territories first."""
        return tuple(dict.fromkeys((self.rules, *(rules for _, rules in self.special))))

    @cached_property
    def kinds(self) -> tuple[int, ...]:
        """For each territory the place in `all_rules` of the rules by which it is defended."""
        special = dict(self.special)
        return tuple(
            self.all_rules.index(special.get(t, self.rules)) for t in range(len(self.armies))
        )

    @cached_property
    def kernels(self) -> tuple[Kernel, ...]:
        """The kernel of each of `all_rules`."""
        return tuple(find_kernel(rules) for rules in self.all_rules)

    def rules_of(self, territory: int) -> Rules:
        """Return the rules by which a territory is defended."""
        return self.all_rules[self.kinds[territory]]

    def kernel_of(self, territory: int) -> Kernel:
        """Return the kernel of the battles for a territory."""
        return self.kernels[self.kinds[territory]]

    def dice(self, territory: int) -> int:
        """Return the most armies that the conquest of a territory can force to advance.

        Under the official rule at least as many advance as dice were rolled.
        """
        rules = self.rules_of(territory)
        return rules.attack.kept if rules.least_advance else 1

    @property
    def most(self) -> int:
        """The most armies that one stack can have."""
        return max((n for _, n in self.stacks()), default=0)

    def stacks(self) -> Stacks:
        """Return the stacks that can attack something."""
        return tuple(
            (v, self.armies[v])
            for v in bits(self.owned & ~self.resting)
            if self.armies[v] > self.garrisons[v] and self.borders.out[v] & self.enemy
        )

    def least_advance(self, territory: int, able: int) -> int:
        """Return the fewest armies that must advance into a territory with `able` left.

        It has been taken with all the dice that could be rolled. The attacker loses no army in the
        last roll: each of the last defenders loses a pair of dice, and no pair remains. So as many
        were able before it, and rolled as many dice.
        """
        return min(self.dice(territory), able)

    def armies_of(self, number: int) -> int:
        """Return the armies that a number of the player's stands for: itself, unless scaled."""
        return number

    def defenders_of(self, number: int) -> int:
        """Return the defenders that a number stands for: itself, unless scaled."""
        return number

    def name(self, territory: int) -> str:
        """Return a territory's name."""
        return self.board.territories[territory]


def read_problem(
    position: Position,
    rules: Rules,
    keep: Mapping[str, int],
    may_not_move: Iterable[str],
    rules_of: Mapping[str, Rules | str] | None = None,
) -> Problem:
    """Return the problem of a position.

    position: who holds what; the player is the one whose turn it is.
    rules: the rules of battles.
    keep: by name, the armies that must remain on a territory at all times, if they are more than
        the garrison of the rules.
    may_not_move: names of the player's territories that may not attack.
    rules_of: by name, the rules of the battles for a territory, `Rules` or a name, where they are
        its own. Their garrison does not count.

    A territory without owner and armies, which a position does not list, cannot be attacked.
    Unknown names, other territories without armies, and rules under which armies grow are refused.
    """
    if not isinstance(position, Position):
        raise MalformedError(f"position must be a Position, got {shown(position)}")
    board = position.board
    numbers = {name: t for t, name in enumerate(board.territories)}
    special = _special({} if rules_of is None else rules_of, board, numbers, rules)
    for each in (rules, *(own for _, own in special)):
        if each.mode.grows:
            raise each.mode.unfit("to plan")
    closed = {t for t, each in enumerate(position.holdings) if not each.owner and not each.armies}
    owned = mask_of(numbers[name] for name in position.owned_by(position.player))
    if not owned:
        raise IllegalError(f"player {shown(position.player)} owns no territory")
    armies = tuple(
        whole_number(
            each.armies, f"armies on {name}", least=0 if owned >> t & 1 or t in closed else 1
        )
        for t, (name, each) in enumerate(zip(board.territories, position.holdings, strict=True))
    )
    resting = _resting(may_not_move, board, numbers, owned)
    garrisons = _garrisons(keep, board, numbers, rules.garrison)
    out = [0] * len(numbers)
    for start, to in board.borders:
        if numbers[to] not in closed:
            out[numbers[start]] |= 1 << numbers[to]
    return Problem(board, rules, armies, owned, garrisons, resting, Borders(out), special)


def _special(
    rules_of: Mapping[str, Rules | str], board: Board, numbers: Mapping[str, int], usual: Rules
) -> tuple[tuple[int, Rules], ...]:
    if not isinstance(rules_of, Mapping):
        raise MalformedError(
            f"rules_of must be a mapping from names to rules, got {shown(rules_of)}"
        )
    found = {
        numbers[board.find(name)]: find_rules(rules, usual.garrison)
        for name, rules in rules_of.items()
    }
    return tuple(sorted((t, rules) for t, rules in found.items() if rules != usual))


def _garrisons(
    keep: Mapping[str, int], board: Board, numbers: Mapping[str, int], usual: int
) -> tuple[int, ...]:
    if not isinstance(keep, Mapping):
        raise MalformedError(f"keep must be a mapping from names to armies, got {shown(keep)}")
    garrisons = [usual] * len(numbers)
    for name, armies in keep.items():
        kept = whole_number(armies, f"keep of {name}", least=0)
        garrisons[numbers[board.find(name)]] = max(kept, usual)
    return tuple(garrisons)


def _resting(
    may_not_move: Iterable[str], board: Board, numbers: Mapping[str, int], owned: int
) -> int:
    names = [may_not_move] if isinstance(may_not_move, str) else may_not_move
    resting = 0
    for name in row_of(names, "may_not_move", "names"):
        found = board.find(name)
        if not owned >> numbers[found] & 1:
            raise IllegalError(f"may_not_move must name the player's own territories, got {found}")
        resting |= 1 << numbers[found]
    return resting
