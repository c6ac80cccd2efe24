"""Problem: a position, its rules and its constraints, with territories as numbers."""

from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass, field

from iacta.board import Board, Position
from iacta.checks import row_of, shown, whole_number
from iacta.errors import IllegalError, MalformedError
from iacta.methods.limits import check_rules, refuse_gains
from iacta.plan.sets import Borders, bits, mask_of
from iacta.rules.rules import Rules

__all__ = ["Problem", "Stacks", "read_problem"]

Stacks = tuple[tuple[int, int], ...]  # (territory, armies), by territory


@dataclass(frozen=True)
class Problem:
    """What a plan has to deal with.

    board: the board; territory t is `board.territories[t]`.
    rules: the rules of all battles.
    armies: the armies on each territory.
    owned: the set of the player's territories.
    garrisons: for each territory the armies that must stay behind when it attacks.
    resting: the set of the player's territories that may not attack.
    borders: who can attack whom.
    """

    board: Board
    rules: Rules
    armies: tuple[int, ...]
    owned: int
    garrisons: tuple[int, ...]
    resting: int
    borders: Borders = field(compare=False, repr=False)

    @property
    def enemy(self) -> int:
        """The set of all other territories."""
        return (1 << len(self.armies)) - 1 & ~self.owned

    @property
    def dice(self) -> int:
        """The most attack dice: with the official rule so many armies must advance at least."""
        return self.rules.attack.kept if self.rules.least_advance else 1

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

    def least_advance(self, able: int) -> int:
        """Return the fewest armies that must move in after a conquest.

        able: the armies left that may.

        Who wins the last roll loses nobody in it: the last defenders lost each a pair of dice, and
        there were no more pairs. So as many were able before it, and threw as many dice.
        """
        return min(self.dice, able)

    def name(self, territory: int) -> str:
        """Return a territory's name.

        territory: its number.
        """
        return self.board.territories[territory]


def read_problem(
    position: Position, rules: Rules, keep: Mapping[str, int], may_not_move: Iterable[str]
) -> Problem:
    """Return the problem of a position.

    position: who holds what; the player is the one whose turn it is.
    rules: the rules of all battles.
    keep: by name, the armies that must stay behind on a territory when it attacks, if they are
        more than the garrison of the rules.
    may_not_move: names of the player's territories that may not attack.

    Territories of nobody and without armies, which a position does not list, are entered by nobody.
    Unknown names, other territories without armies, and rules under which armies grow are refused.
    """
    if not isinstance(position, Position):
        raise MalformedError(f"position must be a Position, got {shown(position)}")
    check_rules(rules)
    refuse_gains(rules, "plan")
    board = position.board
    numbers = {name: t for t, name in enumerate(board.territories)}
    closed = {t for t, each in enumerate(position.holdings) if not each.owner and not each.armies}
    owned = mask_of([numbers[name] for name in position.owned_by(position.player)])
    if not owned:
        raise IllegalError(f"player must own a territory, got {shown(position.player)} with none")
    armies = tuple(
        whole_number(
            each.armies, f"armies on {name}", least=0 if owned >> t & 1 or t in closed else 1
        )
        for t, (name, each) in enumerate(zip(board.territories, position.holdings, strict=True))
    )
    resting = _resting(may_not_move, board, numbers, owned)
    garrisons = _garrisons(keep, board, numbers, rules.garrison)
    borders = _borders(board, numbers, closed)
    return Problem(board, rules, armies, owned, garrisons, resting, borders)


def _borders(board: Board, numbers: Mapping[str, int], closed: Container[int]) -> Borders:
    """Return who can attack whom; what nobody knows anything of is attacked by nobody."""
    out = [0] * len(numbers)
    for start, to in board.borders:
        if numbers[to] not in closed:
            out[numbers[start]] |= 1 << numbers[to]
    return Borders(out)


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
            raise IllegalError(f"may_not_move must be the player's own territories, got {found}")
        resting |= 1 << numbers[found]
    return resting
