"""Hold without attacks: the chance that territories of the player last until their next turn.

The player owns the territories already. They place new armies, make one fortifying move and attack
nobody. Each opponent then plays as in `iacta.plan.hold`. Let V(f) be the chance to hold after the
placement f of new armies, with the best fortifying move. The search looks for max_f V(f):

1. A model in which each enemy stack takes one route (`iacta.plan.opponents`) ranks placements on
   the entrances: the player's territories that an enemy can attack and that are connected to the
   territories to hold, and the outermost of the territories to hold.
2. The best placement of the model, and all armies on one entrance each, are evaluated by full turns
   of the opponents. Armies then move between entrances, many at a time at first and one at a time
   at the end, as long as V rises.

The fewest armies for a required chance are found by a search over the number of armies, which
starts at the number that the model needs.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from iacta.game import Turn
from iacta.inputs.checks import quote
from iacta.inputs.errors import IllegalError, MalformedError
from iacta.native.deadline import Deadline
from iacta.odds.search import find_smallest
from iacta.plan.goals import TakeAll
from iacta.plan.hold import NOTHING, Fortified, Hold, OpponentTurns, Outlook
from iacta.plan.opponents import list_attackers
from iacta.plan.placements import Placement, list_shifted_placements
from iacta.plan.problem import read_turn
from iacta.plan.reinforcement import MAX_PLACED_ARMIES, find_plan, place_armies
from iacta.probability.chances import Chance, read_chance

MAX_ENTRANCES = 8  # maximum number of territories that may get new armies, nearest first
DEFENCE_GAIN = 1e-9  # a placement is better if its chance is greater by more than this


@dataclass(frozen=True)
class Defence:
    """The best chance to hold territories in a turn in which the player does not attack.

    hold: the chance and the remaining threats, after the best placement of the new armies and the
        best fortifying move. The chance is `None` if the time was too short to compute any.
    placement: pairs (territory, number of new armies), most armies first.
    without: the chance without the new armies; `None` if there are no new armies or no time.
    """

    hold: Hold
    placement: Placement = ()
    without: float | None = None

    @property
    def armies(self) -> int:
        """The number of new armies."""
        return sum(number for _, number in self.placement)


def hold_without_attack(
    turn: Turn,
    goal: TakeAll,
    get: Mapping[str, int] | int | None = None,
    *,
    time_limit: float | None = None,
) -> Defence:
    """Return the chance to hold territories of the player until their next turn.

    turn: the turn; its new armies are placed where they help most.
    goal: the territories to hold, which all belong to the player.
    get: the new armies of the opponents, as for `hold`.
    time_limit: the maximum time in seconds; `None` for no limit.

    >>> code = "1;classic;red;Brazil:red:3,Peru:red:2,Argentina:red:2,Venezuela:red:4"
    >>> turn = Turn.from_code(f"{code},North%20Africa:blue:6")
    >>> found = hold_without_attack(turn, TakeAll("South America"))
    >>> round(found.hold.win_probability, 4), found.hold.moves[0].to
    (0.2704, 'Brazil')
    """
    return _DefenceSearch(turn, goal, get, Deadline.from_time_limit(time_limit)).find_best()


def armies_needed_to_hold(
    turn: Turn,
    goal: TakeAll,
    chance: Chance,
    get: Mapping[str, int] | int | None = None,
    *,
    time_limit: float | None = None,
) -> Defence | None:
    """Return the defence with the fewest new armies that holds with a chance of at least C.

    turn: the turn; the armies that it has to place are counted.
    goal, get, time_limit: as for `hold_without_attack`.
    chance: the required chance C.

    The result is `None` if the time is too short to find it. With one army less, the search found
    no placement with that chance.

    Raises `IllegalError` if 1000 new armies are not enough.

    >>> turn = Turn.from_code("1;classic;red;Indonesia:red:6,Siam:blue:7")
    >>> armies_needed_to_hold(turn, TakeAll("Indonesia"), "90%").placement
    (('Indonesia', 12),)
    """
    deadline = Deadline.from_time_limit(time_limit)
    search, wanted = _DefenceSearch(turn, goal, get, deadline), float(read_chance(chance))
    try:
        return search.compute_needed(wanted)
    except TimeoutError:
        return None


class _DefenceSearch:
    """A search for the placement of new armies with which territories are held most often."""

    def __init__(
        self,
        start: Turn,
        goal: TakeAll,
        get: Mapping[str, int] | int | None,
        deadline: Deadline,
    ) -> None:
        turn = read_turn(start)
        if not isinstance(goal, TakeAll):
            raise MalformedError(f"goal to hold must be a TakeAll, got {quote(goal)}")
        last = turn.with_options(fortify="none") if turn.phase == "over" else turn
        self.plan = find_plan(last, goal, Deadline())
        if not self.plan.goal.is_reached(turn):
            raise IllegalError(f"goal to hold must be reached already, got {quote(goal)}")
        self.turn, self.deadline = turn, deadline
        self.outlook = Outlook(self.plan, get)
        self.entrances = _list_entrances(turn, self.plan.goal.names)
        self._known = dict[Placement, OpponentTurns]()

    def find_best(self) -> Defence:
        """Return the defence with the best placement of the turn's new armies."""
        return self._defend(self._choose_placement(self.turn.place))

    def _defend(self, placement: Placement) -> Defence:
        bare = self._evaluate(()) if placement else None
        found = self.outlook.evaluate_end(self._place(placement), True, self.deadline)
        if self.deadline.is_over:  # the last result is unfinished
            return Defence(Hold(self.plan, None, 0.0, None, 0.0, False, (), (), 0), placement)
        return Defence(_make_hold(self, found), placement, None if bare is None else bare.held)

    def compute_needed(self, chance: float) -> Defence:
        """Return the defence with the fewest new armies that holds with at least `chance`.

        Raises `TimeoutError` after the deadline.
        """

        def reaches(armies: int) -> bool:
            if self.deadline.is_over:
                raise TimeoutError
            return self._compute_chance(self._choose_placement(armies)) >= chance

        def reaches_in_model(armies: int) -> bool:
            return self._compute_model_chance(self._choose_model_placement(armies)) >= chance

        if self._compute_chance(()) >= chance:
            return self._defend(())
        guess = find_smallest(reaches_in_model, 1, maximum=MAX_PLACED_ARMIES) or 1
        armies = find_smallest(reaches, guess, maximum=MAX_PLACED_ARMIES)
        if armies is None:
            raise IllegalError(
                f"no number of new armies up to {MAX_PLACED_ARMIES:,} holds with that chance",
                parameter="chance",
            )
        return self._defend(self._choose_placement(armies))

    def _choose_placement(self, armies: int) -> Placement:
        """Return the best placement found for a number of new armies."""
        if not armies:
            return ()
        first = self._choose_model_placement(armies)
        alone = [((name, armies),) for name in self.entrances]
        return _climb(first, alone, self.entrances, self._compute_chance)

    def _choose_model_placement(self, armies: int) -> Placement:
        first = ((self.entrances[0], armies),)
        alone = [((name, armies),) for name in self.entrances]
        return _climb(first, alone, self.entrances, self._compute_model_chance)

    def _compute_model_chance(self, placement: Placement) -> float:
        return self.outlook.estimate_hold_chance(self._place(placement))

    def _place(self, placement: Placement) -> Turn:
        """Return the turn with new armies placed."""
        return place_armies(self.plan.turn, placement)

    def _compute_chance(self, placement: Placement) -> float:
        """Return the chance to hold after a placement; 0 if there is no time."""
        found = self._evaluate(placement)
        return 0.0 if found is None else found.held

    def _evaluate(self, placement: Placement) -> OpponentTurns | None:
        if placement not in self._known:
            if self.deadline.is_over:
                return None
            end = self._place(placement)
            found = self.outlook.evaluate_end(end, False, self.deadline)
            if self.deadline.is_over:
                return None  # the result may be unfinished
            self._known[placement] = found
        return self._known[placement]


def _make_hold(search: _DefenceSearch, found: OpponentTurns) -> Hold:
    move, proven = found.move, not search.outlook.large
    return Hold(
        search.plan,
        found.held,
        0.0,
        found.unfortified,
        found.held if proven else found.at_least,
        proven,
        tuple(sorted(found.threats.values(), key=lambda threat: -threat.chance)),
        () if move is NOTHING else (Fortified(move.start, move.to, 1.0, move.armies),),
        1,
    )


def _climb(
    first: Placement,
    others: Sequence[Placement],
    places: Sequence[str],
    find_chance: Callable[[Placement], float],
) -> Placement:
    """Return the best placement that hill climbing finds from the best of some placements."""
    best = max([first, *others], key=find_chance)
    step = max(sum(number for _, number in best) // 2, 1)
    while step:
        moved = [*list_shifted_placements(dict(best), places, step)]
        better = max(moved, key=find_chance, default=best)
        if find_chance(better) > find_chance(best) + DEFENCE_GAIN:
            best = better
        else:
            step //= 2
    return best


def _list_entrances(turn: Turn, held: Sequence[str]) -> tuple[str, ...]:
    """Return the entrances: territories on which new armies can help to hold the `held` ones.

    An entrance is a territory of the player that an opponent can attack and that is connected to
    `held` through territories of the player, or a held territory beside other territories of the
    player.
    """
    board, mine = turn.board, turn.position.list_territories(turn.player)
    steps, near = dict.fromkeys(held, 0), [*held]
    for name in near:  # the list grows while it is read
        for start in mine:
            if start not in steps and name in board.neighbours(start):
                steps[start] = steps[name] + 1
                near.append(start)
    outer = {name for start in near if steps[start] for name in board.neighbours(start)}
    entrances = [
        name for name in near if list_attackers(turn, name) or (name in held and name in outer)
    ]
    return (*entrances[:MAX_ENTRANCES],) or (held[0],)
