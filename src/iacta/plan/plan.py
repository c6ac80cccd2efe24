"""Plan: the answer, in a player's words."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from iacta.board import Holding, Position
from iacta.checks import shown, whole_number
from iacta.errors import IllegalError, MalformedError
from iacta.plan.goal import Goal, Worth
from iacta.plan.policy import Flow, Policy, Standing
from iacta.plan.problem import Problem
from iacta.plan.states import Attack
from iacta.rules.rules import Rules

__all__ = ["Ending", "NextMove", "Plan", "Play", "Step", "TerritoryEnd", "held_worth", "made_plan"]

PROVEN = 1e-9
SELDOM = 1e-12


@dataclass(frozen=True)
class Step:
    """One border that the plan may attack over.

    start, to: the territory that attacks, and the one that is attacked.
    reach_probability: chance that this battle is fought.
    conquer_probability: chance that it is fought and won.
    expected_armies: mean of the armies that move in, given that it is won; 0 if it cannot be.
    advances: what to do after the conquest: (armies left able to move, chance that it is won with
        so many, mean of those that move in then), the fewest first.
    """

    start: str
    to: str
    reach_probability: float
    conquer_probability: float
    expected_armies: float
    advances: tuple[tuple[int, float, float], ...] = ()


@dataclass(frozen=True)
class TerritoryEnd:
    """One territory when the plan is over.

    name: its name.
    own_probability: chance that the player owns it.
    expected_armies: mean of the player's armies on it, 0 counted where he does not own it.
    """

    name: str
    own_probability: float
    expected_armies: float


@dataclass(frozen=True)
class Ending:
    """A way in which the plan may fail.

    start, to: the battle whose loss ends it.
    chance: how likely that is.
    """

    start: str
    to: str
    chance: float


@dataclass(frozen=True)
class NextMove:
    """What to do next.

    start, to: the territory that attacks, and the one that is attacked.
    advance: for each number of armies that may be left able to move after a conquest, how many
        of them move in.
    """

    start: str
    to: str
    advance: dict[int, int]


@dataclass(frozen=True)
class Plan:
    """The best way that was found to a goal, and how far it is from the best there is.

    position: who holds what before the first battle.
    goal: what it is for, with the names of the board.
    rules: the rules of all battles.
    win_probability: the exact chance that the goal is reached by this plan; of a `Worth` the
        chance is 0 and `value` counts.
    value: what the plan is worth in the mean: the chance, or with `Worth` all that the player
        has at the end.
    upper_bound: no plan is worth more.
    proven: whether no plan is worth more than this one by more than 1e-9.
    steps: the borders that it may attack over, the likeliest first.
    territories: all territories when it is over, in the order of the board.
    endings: where it may fail, the likeliest first.
    seconds: how long it took to find.
    policy: what it does, whatever the dice show.
    """

    position: Position
    goal: Goal
    rules: Rules
    win_probability: float
    value: float
    upper_bound: float
    proven: bool
    steps: tuple[Step, ...]
    territories: tuple[TerritoryEnd, ...]
    endings: tuple[Ending, ...]
    seconds: float = field(compare=False)
    policy: Policy = field(compare=False, repr=False)

    @property
    def gap(self) -> float:
        """How much more than this plan the best one may be worth, at most."""
        return max(self.upper_bound - self.value, 0.0)

    def play(self) -> "Play":
        """Return the plan before its first battle, to be followed battle by battle."""
        return Play(self, self.policy.settled(self.policy.start))

    def next_move(self, position: Position | None = None) -> NextMove | None:
        """Return what to do next, or `None` when the plan is over.

        position: who holds what; `None` for the start. It must be one that the plan can come to;
            one for which it has no move of its own needs a plan of its own (`best_plan`), and is
            refused.
        """
        if position is None:
            return self.play().next_move()
        if not isinstance(position, Position) or position.board != self.position.board:
            raise MalformedError(f"position must be one of the plan's board, got {shown(position)}")
        for play in self._plays(position):
            if play.position() == position:
                return play.next_move()
        raise IllegalError("position must be one that the plan can come to, got another one")

    def _plays(self, towards: Position) -> Iterator["Play"]:
        """Yield the plan at the points from which it can come to a position, each but once."""
        waiting, seen = [self.play()], set()
        while waiting:
            play = waiting.pop()
            if play not in seen and play.can_lead_to(towards):
                seen.add(play)
                yield play
                waiting += play.followers()


@dataclass(frozen=True)
class Play:
    """A plan that is being followed.

    plan: the plan.
    standing: where it stands.
    holdings: armies on the territories that are not as at the start, and whether they are the
        player's: (territory, armies, owned).
    """

    plan: Plan = field(compare=False, repr=False)
    standing: Standing
    holdings: tuple[tuple[int, int, bool], ...] = ()

    @property
    def is_over(self) -> bool:
        """Whether there is no battle left to fight."""
        return self.standing is None

    def battle(self) -> tuple[Attack, int, int]:
        """Return the next attack, the armies on the attacking territory, and the defenders."""
        if self.standing is None:
            raise IllegalError("a plan that is over has no next battle")
        attack, armies, _ = self.plan.policy.attack(self.standing)
        return attack, armies, self._armies(attack.to)

    def next_move(self) -> NextMove | None:
        """Return what to do next, or `None` when the plan is over."""
        if self.standing is None:
            return None
        attack, _, _ = self.battle()
        problem = self.plan.policy.world.problem
        lefts = self._lefts(self._able())
        advance = {left: self.plan.policy.after_win(self.standing, left)[0] for left in lefts}
        return NextMove(problem.name(attack.start), problem.name(attack.to), advance)

    def won(self, able: int) -> "Play":
        """Return the plan after its next battle is won, and its armies moved in.

        able: the armies left able to move: one of those in `next_move().advance`; others are
            refused.
        """
        left = whole_number(able, "able", least=1)
        _, _, defenders = self.battle()
        before = self._able()
        if left > before or not self.plan.policy.chances.transfers.of(defenders).won[before][left]:
            lefts = self._lefts(before)
            raise IllegalError(
                f"able must be one of the numbers in next_move().advance, from {lefts[0]} to "
                f"{lefts[-1]}, got {left}"
            )
        return self._won(left)

    def _won(self, able: int) -> "Play":
        if self.standing is None:
            raise IllegalError("a plan that is over has no next battle")
        attack, _, _ = self.battle()
        moved, standing = self.plan.policy.after_win(self.standing, able)
        stays = able + self.plan.policy.world.problem.garrisons[attack.start] - moved
        return self._with(standing, (attack.start, stays, True), (attack.to, moved, True))

    def lost(self, defenders: int) -> "Play":
        """Return the plan after its next battle is lost.

        defenders: those left, from 1 to those that are there; numbers that cannot be left are
            refused.
        """
        _, _, there = self.battle()
        left = whole_number(defenders, "defenders", least=1, most=there)
        lost = self._defenders_left(self._able())
        if left not in lost:
            raise IllegalError(
                f"defenders must be as many as a lost battle can leave, which are "
                f"{f'{lost[0]} to {lost[-1]}' if lost else 'none'}, got {left}"
            )
        return self._lost(left)

    def _lost(self, defenders: int) -> "Play":
        if self.standing is None:
            raise IllegalError("a plan that is over has no next battle")
        attack, _, _ = self.battle()
        standing = self.plan.policy.after_loss(self.standing, defenders)
        stays = self.plan.policy.world.problem.garrisons[attack.start]
        return self._with(standing, (attack.start, stays, True), (attack.to, defenders, False))

    def followers(self) -> Iterator["Play"]:
        """Yield the plan after each way in which its next battle can end."""
        if self.standing is None:
            return
        able = self._able()
        for left in self._lefts(able):
            yield self._won(left)
        for left in self._defenders_left(able):
            yield self._lost(left)

    def position(self) -> Position:
        """Return who holds what."""
        start = self.plan.position
        holdings = list(start.holdings)
        for territory, armies, owned in self.holdings:
            owner = start.player if owned else holdings[territory].owner
            holdings[territory] = Holding(owner, armies)
        return Position(start.board, start.player, tuple(holdings))

    def can_lead_to(self, position: Position) -> bool:
        """Tell whether a position may come later: no armies appear, and no territories are lost.

        position: who holds what.
        """
        ours = theirs = 0
        for here, there in zip(self.position().holdings, position.holdings, strict=True):
            mine, then_mine = (each.owner == position.player for each in (here, there))
            ours += here.armies * mine
            theirs += there.armies * then_mine
            if mine > then_mine or (not mine and not then_mine and there.armies > here.armies):
                return False
        return ours >= theirs

    def _able(self) -> int:
        """Return the armies that are able to attack in the next battle."""
        attack, armies, _ = self.battle()
        return armies - self.plan.policy.world.problem.garrisons[attack.start]

    def _lefts(self, able: int) -> list[int]:
        """Return how many armies may be left able to move after the next battle is won."""
        _, _, defenders = self.battle()
        won = self.plan.policy.chances.transfers.of(defenders).won[able]
        return [left for left in range(1, able + 1) if won[left]]

    def _defenders_left(self, able: int) -> list[int]:
        """Return how many defenders may be left after the next battle is lost."""
        _, _, defenders = self.battle()
        lost = self.plan.policy.chances.transfers.of(defenders).lost[able]
        return [left for left in range(1, defenders + 1) if lost[left]]

    def _armies(self, territory: int) -> int:
        changed = {each: armies for each, armies, _ in self.holdings}
        return changed.get(territory, self.plan.policy.world.problem.armies[territory])

    def _with(self, standing: Standing, *changes: tuple[int, int, bool]) -> "Play":
        changed = {each[0]: each for each in (*self.holdings, *changes)}
        return Play(self.plan, standing, tuple(sorted(changed.values())))


def made_plan(
    position: Position,
    goal: Goal,
    policy: Policy,
    value: float,
    upper_bound: float,
    seconds: float,
) -> Plan:
    """Return a plan with all that a player asks about it.

    position: who holds what before the first battle.
    goal: what it is for.
    policy: what it does.
    value: what it is worth, the constant worth of what the player has left out.
    upper_bound: no plan is worth more, with the same left out.
    seconds: how long it took to find.
    """
    problem, flow = policy.world.problem, policy.flow()
    more = held_worth(problem, goal)
    upper = max(upper_bound, value)
    return Plan(
        position,
        goal,
        problem.rules,
        win_probability=0.0 if isinstance(goal, Worth) else min(value, 1.0),
        value=value + more,
        upper_bound=upper + more,
        proven=upper - value <= PROVEN,
        steps=_steps(problem, flow),
        territories=_territories(problem, flow),
        endings=_endings(problem, flow),
        seconds=seconds,
        policy=policy,
    )


def held_worth(problem: Problem, goal: Goal) -> float:
    """Return what the player's territories, continents and armies are worth at the start.

    problem: the problem.
    goal: the goal; only a `Worth` has such a worth.
    """
    if not isinstance(goal, Worth):
        return 0.0
    names = problem.board.territories
    mine = [t for t in range(len(names)) if problem.owned >> t & 1]
    owned = {names[t] for t in mine}
    bonus = sum(each.bonus for each in problem.board.continents if owned >= {*each.territories})
    armies = sum(problem.armies[t] for t in mine)
    return sum(goal.of(name) for name in owned) + goal.bonus * bonus + goal.army * armies


def _steps(problem: Problem, flow: Flow) -> tuple[Step, ...]:
    steps = [
        Step(
            problem.name(attack.start),
            problem.name(attack.to),
            min(each.reached, 1.0),
            min(each.conquered, 1.0),
            each.arrived / each.conquered if each.conquered else 0.0,
            _advances(flow, attack),
        )
        for attack, each in flow.passages.items()
        if each.reached > SELDOM
    ]
    return tuple(sorted(steps, key=lambda step: -step.reach_probability))


def _advances(flow: Flow, attack: Attack) -> tuple[tuple[int, float, float], ...]:
    return tuple(
        (able, chance, moved / chance)
        for able, (chance, moved) in sorted(flow.advances[attack].items())
        if chance > SELDOM
    )


def _territories(problem: Problem, flow: Flow) -> tuple[TerritoryEnd, ...]:
    ends = []
    for t, name in enumerate(problem.board.territories):
        owned = bool(problem.owned >> t & 1)
        chance = 1.0 if owned else min(flow.owned(t), 1.0)
        armies = flow.armies.get(t, 0.0) + owned * problem.armies[t]
        ends.append(TerritoryEnd(name, chance, max(armies, 0.0)))
    return tuple(ends)


def _endings(problem: Problem, flow: Flow) -> tuple[Ending, ...]:
    ends = [
        Ending(problem.name(attack.start), problem.name(attack.to), each.ended)
        for attack, each in flow.passages.items()
        if each.ended > SELDOM
    ]
    return tuple(sorted(ends, key=lambda end: -end.chance))
