"""The change of the chance to win during a turn, which judges turns without a goal.

The chances before and after the turn come from games in which one AI plays every seat
(`iacta.war.chances`). Chances in the middle of a turn would not be comparable, because the AI would
continue the attacks.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from iacta.game import EndPhase, Turn
from iacta.native.deadline import Deadline
from iacta.war.chances import WinChances, win_chances

TURN_WIN_GAMES = 200  # the default number of games for each chance


class TurnWins(NamedTuple):
    """The chances to win before and after a turn.

    number: the number of the turn.
    player: the player whose turn it was.
    before, after: the chances of all players before and after the turn.
    """

    number: int
    player: str
    before: WinChances
    after: WinChances

    @property
    def change(self) -> float:
        """The change of the player's chance if the usual AI plays every seat."""
        return self._compute_change(False)

    @property
    def second_opinion_change(self) -> float:
        """The change of the player's chance if another AI of equal strength plays every seat."""
        return self._compute_change(True)

    def _compute_change(self, is_second: bool) -> float:
        ends = self.before, self.after
        estimates = (end.second_opinion if is_second else end.chances for end in ends)
        before, after = (estimate.find_chance(self.player).chance for estimate in estimates)
        return after - before


def measure_turn_wins(
    turns: Sequence[tuple[int, Turn, Turn]],
    *,
    games: int = TURN_WIN_GAMES,
    seed: int = 0,
    deadline: Deadline,
    progress: Callable[[int, int], None] | None = None,
) -> list[TurnWins]:
    """Return the chances to win before and after each turn.

    turns: triples of the number of a turn, the turn before its first attack, and the turn after its
        last attack.
    games: the number of games for each chance and each AI.
    seed: the seed of the dice.
    deadline: the time limit; every chance gets an equal share. If it is too short for all turns,
        the result omits the last turns.
    progress: a callback that takes the number of finished turns and the total.

    >>> before = Turn.from_code("1;classic;red;Peru:red:9,Argentina:red:1,Brazil:blue:1")
    >>> after = Turn.from_code("1;classic;red;Peru:red:1,Argentina:red:1,Brazil:red:8")
    >>> (found,) = measure_turn_wins([(1, before, after)], games=20, deadline=Deadline())
    >>> found.player, found.after.chances.find_chance("red").chance
    ('red', 1.0)
    """
    found = list[TurnWins]()
    for number, start, last in turns:
        if deadline.is_over:
            break
        end = last.after(EndPhase()) if last.phase == "attack" else last
        parts = [deadline.take_share(1 / (2 * (len(turns) - len(found)))) for _ in range(2)]
        before, after = (
            win_chances(turn, games=games, time_limit=part.time_limit, seed=seed)
            for turn, part in zip((start, end), parts, strict=True)
        )
        found.append(TurnWins(number, start.player, before, after))
        if progress is not None:
            progress(len(found), len(turns))
    return found
