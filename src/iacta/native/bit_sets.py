"""Masks: integers that represent sets of territories. Bit t stands for territory t of a board."""

from collections.abc import Iterable, Iterator, Sequence


def bits(mask: int) -> Iterator[int]:
    """Yield the territories in a mask, in ascending order.

    >>> list(bits(0b1101))
    [0, 2, 3]
    """
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low


def make_mask(territories: Iterable[int]) -> int:
    """Return the mask of the given territories.

    >>> bin(make_mask([0, 2, 3]))
    '0b1101'
    """
    mask = 0
    for territory in territories:
        mask |= 1 << territory
    return mask


def find_reached(out: Sequence[int], starts: int, region: int) -> int:
    """Return the mask of the territories of a region that can be reached from other territories.

    out: for each territory, the mask of the territories to which its borders lead.
    starts: the mask of the territories at which all paths start.
    region: the mask of the region, which the paths may not leave.

    >>> bin(find_reached((0b010, 0b101, 0b010), 0b001, 0b110))
    '0b110'
    """
    seen, fresh = 0, starts
    while fresh:
        near = 0
        for v in bits(fresh):
            near |= out[v]
        fresh = near & region & ~seen
        seen |= fresh
    return seen


def find_components(near: Sequence[int], region: int) -> Iterator[int]:
    """Yield the masks of the connected components of a region of the board.

    near: for each territory, the mask of its neighbours in either direction.
    region: the mask of the region.

    >>> [bin(each) for each in find_components((0b010, 0b101, 0b010), 0b101)]
    ['0b1', '0b100']
    """
    while region:
        component = region & -region | find_reached(near, region & -region, region)
        yield component
        region &= ~component
