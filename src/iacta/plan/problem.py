"""The problem of a plan: a turn in its attack phase, a goal, and the part of the board to use.

All properties derive from the turn, the goal and the focus. The focus is the set of territories in
use. Territories are numbered in the order of `board.territories`. A set of territories is an
integer whose bit t is set if territory t belongs to the set (`iacta.native.bit_sets`).
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple

from iacta.board import Board, Position
from iacta.game import Turn
from iacta.game.odds import BorderOdds, list_border_odds
from iacta.game.victory import SURVIVAL
from iacta.inputs.checks import PickledByFields, quote
from iacta.inputs.errors import MalformedError, TooLargeError
from iacta.native.bit_sets import bits, find_components, find_reached, make_mask
from iacta.native.core_library import load_library
from iacta.plan.goals import Goal, RewardedWay, Rewards, make_owned_mask
from iacta.rules.variants import make_unfit_rules_error

MAX_CHOSEN_BATTLES = 4  # maximum number of battles that `Problem.choose_battles` chooses
MAX_PLANNED_ARMIES = 2000  # maximum number of armies on a territory that a plan may use


class AttackResult(NamedTuple):
    """A possible result of an attack, with its chance and its value under a policy."""

    chance: float
    attackers: int  # the number of attackers lost
    defenders: int  # the number of defenders lost
    moved: int  # the number of armies that move in after a conquest; 0 without a conquest
    value: float  # the policy's expected payoff after this result


class PolicyAction(NamedTuple):
    """The action of a policy in a state."""

    start: int  # the attacking territory
    to: int  # the defending territory
    dice: int  # the number of attack dice; 0 to stop attacking
    value: float  # the policy's expected payoff in this state
    outcomes: tuple[AttackResult, ...]


class Peril(NamedTuple):
    """Conquests of the player that make a rival win, unless the player wins at the same time."""

    lands: int  # the rival wins only if the player owns all these territories
    rivals: int  # the territories of the rival
    number: int  # the rival wins only with at least this number of territories


class SearchState(NamedTuple):
    """A state of a turn: the armies on all territories, and the player's territories."""

    armies: tuple[int, ...]  # the number of armies on each territory
    owned: int  # the player's territories, as an integer with a bit for each territory

    @classmethod
    def from_turn(cls, turn: Turn) -> "SearchState":
        """Return the state of a turn: its armies and the territories of its player."""
        return cls(turn.armies, make_owned_mask(turn))

    @property
    def total(self) -> int:
        """The number of the player's armies on all territories together."""
        return sum(self.armies[t] for t in bits(self.owned))

    def after(self, action: PolicyAction, result: AttackResult) -> "SearchState":
        """Return the state after an attack with a given result, including the advance."""
        v, c = action.start, action.to
        armies, held = [*self.armies], self.armies[c] - result.defenders
        armies[v] -= result.attackers + result.moved
        armies[c] = held or result.moved
        return SearchState(tuple(armies), self.owned if held else self.owned | 1 << c)

    def add_armies(self, armies: Mapping[int, int]) -> "SearchState":
        """Return the state with more armies on some territories.

        armies: the number of additional armies, by the number of the territory.
        """
        there = [*self.armies]
        for t, number in armies.items():
            there[t] += number
        return SearchState(tuple(there), self.owned)


@dataclass(frozen=True)
class Problem(PickledByFields):
    """The problem that a plan solves: to reach a goal by the attacks of a turn."""

    turn: Turn  # the turn, in its attack phase
    goal: Goal  # the goal, with names spelled as on the turn's board
    # The set of territories that may attack or be attacked; `None` for all territories.
    focus: int | None = None
    # The price of a lost army when plans are compared, in payoff (see `iacta.plan.margin`). It is
    # no part of any value.
    price: float = 0.0
    # Whether exact play has fewer choices: each attack uses one die or as many dice as possible,
    # and after a conquest either all armies move in or as few as possible. A coarse problem is
    # solved faster, and its value is a lower bound.
    is_coarse: bool = False

    @property
    def position(self) -> Position:
        return self.turn.position

    @property
    def board(self) -> Board:
        return self.turn.board

    def name(self, territory: int) -> str:
        return self.board.territories[territory]

    def place(self, name: str) -> int:
        return self.turn.setting.index[name]

    @property
    def start(self) -> SearchState:
        return SearchState(self.turn.armies, self.owned)

    @cached_property
    def owned(self) -> int:
        return make_owned_mask(self.turn)

    @cached_property
    def immobile(self) -> int:
        """The set of territories that are not allowed to attack."""
        resting = make_mask(map(self.place, self.turn.stay))
        return resting if self.focus is None else resting | self.owned & ~self.focus

    @cached_property
    def garrisons(self) -> tuple[int, ...]:
        """The garrisons of the turn's setting, and on some territories more for the goal."""
        wanted = map(self.goal.compute_garrison, self.board.territories)
        return tuple(map(max, self.turn.setting.garrisons, wanted))

    @cached_property
    def out(self) -> tuple[int, ...]:
        """For each territory, the set of neighbours that it can attack."""
        # Territories without an owner cannot be attacked.
        armed = make_mask(t for t, armies in enumerate(self.turn.armies) if armies)
        open_lands = armed | self.owned
        return tuple(make_mask(row) & open_lands for row in self.turn.setting.borders)

    @cached_property
    def stacks(self) -> int:
        """The set of territories that can attack in this position."""
        return make_mask(
            v
            for v in bits(self.owned & ~self.immobile)
            if self.turn.armies[v] > self.garrisons[v] and self.out[v] & ~self.owned
        )

    def is_out_of_reach(self, lands: int) -> bool:
        """Return whether the player cannot own all territories of a set, whatever the dice show.

        lands: the set of territories, as an integer with a bit for each territory.
        """
        missing = lands & ~self.owned
        if missing & ~find_reached(self.out, self.stacks, self._attackable):
            return True
        able = sum(self.turn.armies[v] - self.garrisons[v] for v in bits(self.stacks))
        # Under rules with a garrison, at least one army stays on each conquered territory.
        return self.turn.rules.garrison > 0 and missing.bit_count() > able

    @property
    def is_impossible(self) -> bool:
        """Whether no play reaches the goal, whatever the dice show; false if this is unclear."""
        rewards = self.rewards
        return not (
            rewards.ways
            or any(rewards.lands[t] for t in bits(self.field))
            or any(not self.is_out_of_reach(lands) for lands, _ in rewards.sets)
        )

    @property
    def _attackable(self) -> int:
        """The set of territories of other players that the plan may attack, near or far."""
        return ~self.owned if self.focus is None else ~self.owned & self.focus

    @cached_property
    def rewards(self) -> Rewards:
        """The payoffs of the goal, without payoffs for territories that are out of reach."""
        found = self.goal.rewards(self.board, self.owned)
        within = find_reached(self.out, self.stacks, self._attackable)
        sets = tuple((mask, paid) for mask, paid in found.sets if not mask & ~within)
        most = (self.owned | within).bit_count()
        ways = (way for way in found.ways if not way.lands & ~within and way.number <= most)
        return found._replace(sets=sets, ways=tuple(ways))

    @cached_property
    def field(self) -> int:
        """The set of territories that may be worth conquering.

        Unreachable territories are left out. If territories only pay as a whole set, dead ends are
        left out too: regions that a stack can only leave where it entered.
        """
        field, rewards = find_reached(self.out, self.stacks, self._attackable), self.rewards
        if any(rewards.lands) or any(not way.lands for way in rewards.ways):
            return field
        masks = *(mask for mask, _ in rewards.sets), *(way.lands for way in rewards.ways)
        wanted = make_mask(t for mask in masks for t in bits(mask))
        if not wanted:
            return 0
        if self.perils:
            return field  # other conquests may win the game, or keep a rival from winning
        near = [*self.out]
        for v, mask in enumerate(self.out):
            for c in bits(mask):
                near[c] |= 1 << v
        for part in [*find_components(near, field & ~wanted)]:
            beside = 0
            for x in bits(part):
                beside |= near[x]
            if (beside & (wanted | self.stacks)).bit_count() <= 1:
                field &= ~part
        return field

    @cached_property
    def perils(self) -> tuple[Peril, ...]:
        """The conquests by which a rival wins."""
        turn, within = self.turn, find_reached(self.out, self.stacks, self._attackable)
        lands = {
            name: make_mask(t for t, owner in enumerate(turn.owners) if owner == name)
            for name in turn.survivors
        }
        perils = (
            Peril(lands[win.loser], lands[win.rival], win.number)
            for win in turn.victory.list_rival_wins(turn)
        )
        return tuple(peril for peril in perils if not peril.lands & ~within)

    @property
    def ends_at_win(self) -> bool:
        """Whether the turn ends if the player wins by a conquest before the goal is reached."""
        victory = self.turn.victory
        return self.goal.ends_at_win and victory != SURVIVAL and not victory.is_checked_at_end

    @cached_property
    def counted_armies(self) -> int:
        """The largest number of armies on a territory that the goal or a way to win requires."""
        return max(self.rewards.armies, *(way.armies for way in self.winning_ways), 0)

    @cached_property
    def winning_ways(self) -> tuple[RewardedWay, ...]:
        """The ways in which the player wins, if they matter for the goal."""
        if self.rewards.ways or not (self.perils or self.ends_at_win):
            return self.rewards.ways
        turn, others = self.turn, ~self.owned
        found = [
            RewardedWay(make_mask(map(self.place, way.territories)) & others, *way[1:])
            for way in turn.victory.list_ways(turn, turn.player)
        ]
        theirs = (t for t, owner in enumerate(turn.owners) if owner in turn.survivors)
        return *found, RewardedWay(make_mask(theirs) & others, 0, 0)

    def is_lost(self, state: SearchState) -> bool:
        """Return whether a rival has won by the player's conquests on the way to a state."""

        def is_won(way: RewardedWay) -> bool:
            strong = sum(state.armies[t] >= way.armies for t in bits(state.owned))
            return not way.lands & ~state.owned and strong >= way.number

        return any(
            not peril.lands & ~state.owned
            and (peril.rivals & ~state.owned).bit_count() >= peril.number
            for peril in self.perils
        ) and not any(map(is_won, self.winning_ways))

    @cached_property
    def held(self) -> float:
        return self.goal.worth(self.turn)

    def sum_payoffs(self, state: SearchState) -> float:
        """Return the total payoff collected on the way to a state, less the cost of lost armies.

        If a rival has won, everything is lost, and so is the payoff before the turn.
        """
        rewards, taken = self.rewards, state.owned & ~self.owned
        if self.perils and self.is_lost(state):
            return -self.held
        if rewards.ways:
            return self.goal.worth(self.make_turn(state)) - self.held
        lost = self.start.total - state.total
        whole = sum(paid for mask, paid in rewards.sets if not mask & ~state.owned)
        return sum(rewards.lands[t] for t in bits(taken)) + whole - rewards.price * lost

    def make_turn(self, state: SearchState) -> Turn:
        """Return the turn with the owners and armies of a later state."""
        player = self.turn.player
        owners = (
            player if state.owned >> t & 1 else "" if owner == player else owner
            for t, owner in enumerate(self.turn.owners)
        )
        return self.turn.replace_armies(tuple(owners), state.armies)

    def at_state(self, state: SearchState, new_goal: Goal | None = None) -> "Problem":
        """Return the problem that starts in a later state, with the same rules and constraints.

        Unlike in a position, a territory without armies keeps its owner.

        new_goal: another goal, with names spelled as on the board; `None` for the same goal.
        """
        goal = self.goal if new_goal is None else new_goal
        return Problem(self.make_turn(state), goal, price=self.price)

    def narrow(self) -> "Problem | None":
        """Return the narrow problem, in which stacks next to targets attack the targets only.

        Any play of the narrow problem is also possible in this problem. Return `None` if the narrow
        problem is no smaller, or if single territories have a payoff.
        """
        rewards = self.rewards
        masks = *(mask for mask, _ in rewards.sets), *(way.lands for way in rewards.ways)
        targets = make_mask(t for mask in masks for t in bits(mask)) & ~self.owned
        if any(rewards.lands) or not targets or not all(way.lands for way in rewards.ways):
            return None
        beside = make_mask(v for v in bits(self.stacks) if self.out[v] & targets)
        found = Problem(self.turn, self.goal, targets | beside, self.price)
        same = (found.field, found.stacks) == (self.field, self.stacks)
        return None if same or not (found.rewards.sets or found.rewards.ways) else found

    def choose_battles(self) -> "Problem | None":
        """Return the problem in which only a few stacks attack the targets beside them.

        The problem has the likeliest battle of each stack first, then second battles, and so on, at
        most `MAX_CHOSEN_BATTLES` in all; of nearly certain battles, those against few defenders
        come first. Return `None` if one conquest is not enough, or if this problem is no larger.
        """
        if not self.rewards.once:
            return None
        targets = make_mask(t for t, paid in enumerate(self.rewards.lands) if paid) & ~self.owned
        battles = [
            odds
            for odds in list_border_odds(self.turn)
            if self.stacks >> self.place(odds.start) & 1 and targets >> self.place(odds.to) & 1
        ]
        battles.sort(key=lambda odds: (-round(odds.win_probability, 2), odds.defenders))
        number, ranked = Counter[str](), list[tuple[int, BorderOdds]]()
        for odds in battles:
            ranked.append((number[odds.start], odds))
            number[odds.start] += 1
        ranked.sort(key=lambda each: each[0])
        chosen = [odds for _, odds in ranked[:MAX_CHOSEN_BATTLES]]
        focus = make_mask(self.place(name) for odds in chosen for name in (odds.start, odds.to))
        found = Problem(self.turn, self.goal, focus, self.price)
        same = (found.field, found.stacks) == (self.field, self.stacks)
        return None if same or not chosen else found

    def refuse_large(self, new: int = 0) -> None:
        """Raise an error if a territory has too many armies to plan with.

        new: the number of new armies that the owned territories contain.
        """
        for t in bits(self.field | self.stacks):
            if self.turn.armies[t] > MAX_PLANNED_ARMIES:
                added = new * (self.owned >> t & 1)
                most = f"{MAX_PLANNED_ARMIES - added:,}" + (
                    f" before {added} new ones" if added else ""
                )
                raise TooLargeError(
                    f"armies on {self.name(t)} must be at most {most} for a plan, "
                    f"got {self.turn.armies[t] - added:,}"
                )


def read_turn(turn: Turn | Position) -> Turn:
    """Return a turn; a position is a turn in its attack phase.

    Any other object raises an error.
    """
    if isinstance(turn, Turn):
        return turn
    if not isinstance(turn, Position):
        raise MalformedError(f"turn must be a Turn or a Position, got {quote(turn)}")
    return Turn(turn)


def refuse_large_board(board: Board, what: str) -> None:
    """Raise an error if the board has too many territories for the compiled core.

    what: the feature that is refused, such as `"plans"`.

    >>> refuse_large_board(Board("small", ("A", "B"), ()), "plans")
    """
    number, most = len(board.territories), load_library(what).constant("MAX_TERRITORIES")
    if number > most:
        raise TooLargeError(
            f"board {quote(board.name)} must have at most {most:,} territories for "
            f"{what}, got {number:,}"
        )


def pose_problem(turn: Turn | Position, goal: Goal, new: int = 0) -> Problem:
    """Return the problem of reaching a goal by the attacks of a turn.

    turn: the turn, or a position at the start of the attacks. Cards and new armies that are not yet
        placed are ignored.
    goal: the goal of the player to move.
    new: the number of new armies that the player's territories contain, for error messages.

    It is an error if the goal does not fit the turn, or if armies can grow under the rules.
    """
    turn = read_turn(turn)
    for each in (turn.rules, *turn.rules_of.values()):
        if not each.mode.fits_plans:
            raise make_unfit_rules_error(each, "to plan")
    if not isinstance(goal, Goal):
        hint = f"; did you mean TakeAll({quote(goal)})?" if isinstance(goal, str) else ""
        raise MalformedError(
            f"goal must be TakeAll, TakeAny, OwnAny, Worth or InOrder, got {quote(goal)}{hint}"
        )
    refuse_large_board(turn.board, "plans")
    adapted_goal = goal.resolve_names(turn.board)
    problem = Problem(enter_phase(turn, "attack"), adapted_goal)
    adapted_goal.refuse_unfit(problem.turn)
    problem.refuse_large(new)
    return problem


def enter_phase(turn: Turn, phase: Literal["attack", "fortify"]) -> Turn:
    """Return the turn in another phase, without new armies."""
    state = turn.state._replace(phase=phase, place=0, first=0, pending=None, throw=None)
    return turn if turn.phase == phase else turn.replace_state(state)
