"""Sets of territories as the bits of whole numbers, and which of them hang together.

Territory t is bit t. A set R hangs together with v if each of its territories can be reached from
v by borders, through R alone.
"""

from collections.abc import Iterator, Sequence
from functools import lru_cache

__all__ = ["Borders", "bits", "mask_of"]


def bits(mask: int) -> Iterator[int]:
    """Yield the territories of a set, in order.

    mask: the set.

    >>> list(bits(0b1101))
    [0, 2, 3]
    """
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low


def mask_of(territories: Iterator[int] | Sequence[int]) -> int:
    """Return the set of some territories.

    territories: their numbers.

    >>> bin(mask_of([0, 2, 3]))
    '0b1101'
    """
    mask = 0
    for territory in territories:
        mask |= 1 << territory
    return mask


class Borders:
    """Which territories can be attacked from which, and what hangs together.

    out: for each territory the set of those that it can attack.

    >>> chain = Borders((0b010, 0b101, 0b010))
    >>> bin(chain.reached(0, 0b110)), chain.holds(0, 0b100)
    ('0b110', False)
    """

    def __init__(self, out: Sequence[int]) -> None:
        self.out = tuple(out)
        size = len(self.out)
        self.near = tuple(  # the neighbours in either direction
            mask | mask_of([u for u in range(size) if self.out[u] >> v & 1])
            for v, mask in enumerate(self.out)
        )
        self.reached = lru_cache(maxsize=None)(self._reached)
        self.growths = lru_cache(maxsize=None)(self._growths)
        self.splits = lru_cache(maxsize=None)(self._splits)
        self._split_part = lru_cache(maxsize=None)(self._splits_of_part)

    def holds(self, v: int, mask: int) -> bool:
        """Tell whether a set hangs together with a territory.

        v: the territory.
        mask: the set.
        """
        return self.reached(v, mask) == mask

    def _reached(self, v: int, mask: int) -> int:
        """Return the part of a set that can be reached from v through the set."""
        seen, new = 0, self.out[v] & mask
        while new:
            seen |= new
            further = 0
            for u in bits(new):
                further |= self.out[u]
            new = further & mask & ~seen
        return seen

    def _growths(self, v: int, mask: int) -> tuple[int, ...]:
        """Return all subsets of a set that hang together with v, the empty one too."""
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

    def has_growths_below(self, v: int, mask: int, most: int) -> bool:
        """Tell whether fewer than so many subsets of a set hang together with v.

        v: the territory.
        mask: the set.
        most: how many are too many.
        """
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

    def parts(self, mask: int) -> Iterator[int]:
        """Yield the parts of a set that have no border with each other.

        mask: the set.
        """
        while mask:
            part, new = 0, mask & -mask
            while new:
                part |= new
                further = 0
                for u in bits(new):
                    further |= self.near[u]
                new = further & mask & ~part
            yield part
            mask &= ~part

    def _splits(self, c: int, v: int, mask: int) -> tuple[tuple[int, int], ...]:
        """Return all ways to split a set into a part that hangs together with c, and one with v."""
        splits = [(0, 0)]
        for part in self.parts(mask):
            more = self._split_part(c, v, part)
            splits = [(a | x, b | y) for a, b in splits for x, y in more]
        return tuple(splits)

    def _splits_of_part(self, c: int, v: int, part: int) -> tuple[tuple[int, int], ...]:
        if self.out[v] & part == 0:
            return ((part, 0),) if self.holds(c, part) else ()
        if self.out[c] & part == 0:
            return ((0, part),) if self.holds(v, part) else ()
        return tuple(
            (grown, part & ~grown)
            for grown in self.growths(c, part)
            if self.holds(v, part & ~grown)
        )
