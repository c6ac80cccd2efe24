"""A played turn in words, one line for each battle and each move of armies."""

from collections.abc import Sequence
from itertools import groupby

from iacta.game import Advance, Attack, Fortify, Place, Trade
from iacta.game.turn import Move, PlayedTurn
from iacta.rules.roll import Losses


def describe_moves(played: PlayedTurn) -> list[str]:
    """Describe a played turn, with one line for all rolls of a battle.

    >>> from iacta import Turn
    >>> from iacta.game import Attack
    >>> turn = Turn.from_code("1;classic;red;Peru:red:9,Brazil:blue:2,Argentina:blue:9")
    >>> def attack_once(turn):
    ...     attack = Attack("Peru", "Brazil", 3)
    ...     return attack if attack in turn.actions() else turn.actions()[-1]
    >>> for line in describe_moves(turn.play(attack_once, seed=1)):
    ...     print(line)
    Peru to Brazil: loses 2, kills 2; takes it and moves in 6
    """
    lines = list[str]()
    for (start, to), moves in groupby(played.moves, _name_battle):
        if start:
            lines.append(f"{start} to {to}: {_describe_battle([*moves])}")
        else:
            lines += filter(None, map(_describe_move, moves))
    return lines


def _name_battle(move: Move) -> tuple[str, str]:
    """Return the attacking and the attacked territory, or two empty strings outside battles."""
    if isinstance(move.action, Attack):
        return move.action.start, move.action.to
    pending = move.turn.pending
    return ("", "") if pending is None else (pending.start, pending.to)


def _describe_battle(moves: Sequence[Move]) -> str:
    losses = [move.result for move in moves if isinstance(move.result, Losses)]
    lost, killed = sum(each.attackers for each in losses), sum(each.defenders for each in losses)
    words = f"loses {lost}, kills {killed}"
    moved = [move.action.armies for move in moves if isinstance(move.action, Advance)]
    return f"{words}; takes it and moves in {moved[0]}" if moved else words


def _describe_move(move: Move) -> str:
    match move.action:
        case Trade():
            after = move.turn.after(move.action)
            return f"trades a set for {after.place - move.turn.place} armies"
        case Place(territory, armies):
            return f"places {armies} on {territory}"
        case Fortify(start, to, armies):
            return f"moves {armies} from {start} to {to}"
    return ""
