"""Policies: functions from the states of a turn to actions.

A policy is a small value: a problem and, for lookahead, a style and an assignment of targets to
stacks. A policy without an assignment plays optimally by exact search. These fields determine the
actions, so a policy acts the same in every process. The search is not pickled; each process repeats
the search.
"""

from dataclasses import dataclass
from functools import cached_property
from math import inf
from typing import Any

from iacta.game import Action, Advance, Attack, EndPhase, Turn
from iacta.inputs.errors import IllegalError
from iacta.native.bit_sets import bits
from iacta.native.deadline import Deadline
from iacta.plan.goals import make_owned_mask
from iacta.plan.problem import PolicyAction, Problem, SearchState
from iacta.plan.search import Assignment, Search, Style

MAX_STATES_BY_DEFAULT = 300_000  # default maximum number of states in an exact search, about 0.3 s
STARTS = 24  # number of starting points in the search for an assignment of targets to stacks
# `choose_policy` has smaller limits: on the states of an exact search, and on the starting points.
QUICK_STATES, QUICK_STARTS = 2_000, 8
SAME_VALUE = 1e-12
POLICY_VALUE_GAMES = 256  # number of simulated games that estimate the value of a policy
VISITED = 10_000  # maximum number of reachable states for which the exact value is computed
SEEN_SHARE = 0.15  # an exact value is tried if games have visited a smaller share of the states
USUAL_STYLE = Style()
QUICK_STYLE = Style(idle=0.0)  # the style of quick estimates, which use no assignment


@dataclass(frozen=True)
class Policy:
    """A function from the states of a turn to actions.

    problem: the problem. The policy can play any state that is reachable from its start.
    assignment: the targets of each stack; `None` for exact search. If the goal pays only for sets
        of territories, each within the next (as for a `TakeAll` or an `InOrder`), there are targets
        for each set. Otherwise there are targets only for all rewarded territories together.
    style: the style of lookahead.

    `Turn` accepts policies: `iacta.evaluate(plan.policy, turn, goal)`.
    """

    problem: Problem
    assignment: Assignment | None = None
    style: Style = USUAL_STYLE

    def __getstate__(self) -> dict[str, Any]:
        return {name: vars(self)[name] for name in self.__dataclass_fields__}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)

    @property
    def is_exact(self) -> bool:
        """Whether the policy is the optimal solution of its problem, found by exact search."""
        return self.assignment is None

    @property
    def is_best(self) -> bool:
        """Whether no other play is better: exact, with all choices and without a price."""
        problem = self.problem
        has_all_choices = problem.focus is None and not problem.is_coarse
        return self.is_exact and has_all_choices and not problem.price

    @cached_property
    def search(self) -> Search:
        """The search that decides the policy's actions."""
        if self.assignment is None:
            found = best_policy(self.problem, Deadline())
            if found is None:
                raise IllegalError("the problem is too large for a policy without an assignment")
            return found.search
        core = Search(self.problem)
        if len(self.assignment) != core.goals:
            number = len(self.assignment)
            raise IllegalError(f"policy must have {core.goals} assignments, got {number}")
        core.follow(self.assignment, self.style)
        return core

    def decide(self, state: SearchState) -> PolicyAction:
        """Return the action in a state that is reachable from the start of the problem."""
        return self.search.decide(state)

    def evaluate_attack(
        self,
        state: SearchState,
        start: int,
        to: int,
        dice: int = 0,
        deadline: Deadline | None = None,
    ) -> PolicyAction:
        """Return an attack with its value if the policy makes all later decisions.

        start, to: the attacking and the defending territory.
        dice: the number of attack dice; 0 for as many as possible.
        deadline: when to stop searching; `None` for no limit. After the deadline the result is a
            stop.
        """
        return self.search.evaluate_attack(state, start, to, dice, deadline)

    def advance(self, state: SearchState, start: int, to: int, able: int, least: int) -> int:
        """Return the number of armies that the policy moves in after winning a battle.

        state: the state before the battle.
        start, to: the attacking and the conquered territory.
        able: the number of armies able to move.
        least: the minimum number that must move in.
        """
        armies = [*state.armies]
        armies[start], armies[to] = self.problem.garrisons[start] + able, 1
        return self.search.advance(SearchState(tuple(armies), state.owned), start, to, least)

    def value(self, turn: Turn) -> tuple[float, bool]:
        """Return the expected payoff of the whole turn, and whether it is exact.

        turn: a later state of the turn, in its attack phase or after it.

        The payoff is exact if the policy is exact or few states are reachable. Otherwise it is
        estimated from 256 games.
        """
        state, problem = SearchState.from_turn(turn), self.problem
        value, is_known = self._compute_further_payoff(state)
        return problem.held + problem.sum_payoffs(state) + value, is_known

    def _compute_further_payoff(self, state: SearchState) -> tuple[float, bool]:
        """Return the expected payoff of the actions after a state, and whether it is exact."""
        if self.is_exact:
            return self.search.decide(state).value, True
        games = self.search.play(Deadline(), POLICY_VALUE_GAMES, start=state)
        few = games.report.states < SEEN_SHARE * VISITED
        report = self.search.flow(Deadline(), VISITED, state) if few else None
        if report is not None:
            return report.value, True
        return max(float(games.gains.mean()), 0.0), False

    def covers(self, state: SearchState) -> bool:
        """Return whether a state may be reachable from the start, judging by owners and armies."""
        start, field = self.problem.start, self.problem.field
        largest = max((start.armies[v] for v in bits(start.owned)), default=0)
        most = (
            largest if (state.owned & field) >> t & 1 else armies
            for t, armies in enumerate(start.armies)
        )
        return (
            not start.owned & ~state.owned
            and not state.owned & ~start.owned & ~field
            and state.total <= start.total
            and all(now <= then for now, then in zip(state.armies, most, strict=True))
            and all(state.armies[t] for t in bits(field & ~state.owned))
        )

    def _replace_unreachable(self, state: SearchState) -> "Policy":
        """Return this policy, or a new one from a quick search if it cannot reach a state."""
        return (
            self if self.covers(state) else choose_policy(self.problem.at_state(state), self.style)
        )

    def __call__(self, turn: Turn) -> Action:
        """Return the action in a turn, as `iacta.game.Turn.play` expects.

        turn: the turn of the problem in any later state, even a state that the policy would never
            reach. In phases without attacks or advances, the policy ends the phase, except for a
            fortifying move that reaches its goal.
        """
        owned, problem = make_owned_mask(turn), self.problem
        if turn.phase == "attack":
            state = SearchState(turn.armies, owned)
            found = self._replace_unreachable(state).decide(state)
            if not found.dice:
                return EndPhase()
            pair, dice = (problem.name(found.start), problem.name(found.to)), found.dice
            if problem.turn.setting.has_whole_battles(found.to):
                dice = turn.list_attack_dice(found.start, found.to)[0]
            return Attack(*pair, dice)
        if turn.phase == "advance":
            assert turn.pending is not None  # noqa: S101 # an attack is pending in this phase
            v, c = map(problem.place, (turn.pending.start, turn.pending.to))
            armies, spare = [*turn.armies], turn.armies[v] - problem.garrisons[v]
            wanted = problem.goal.compute_garrison(problem.name(c))
            least, spare = max(armies[c], min(wanted, armies[c] + spare)), armies[c] + spare
            # The state before the advance, with one defender on the conquered territory.
            armies[v], armies[c] = problem.garrisons[v] + spare, 1
            before = SearchState(tuple(armies), owned & ~(1 << c))
            policy = self._replace_unreachable(before)
            return Advance(policy.search.advance(before, v, c, least))
        move = problem.goal.find_last_move(turn) if turn.phase == "fortify" else None
        return EndPhase() if move is None else move


def best_policy(problem: Problem, deadline: Deadline, states: float = inf) -> Policy | None:
    """Find the optimal policy by exact search.

    The result is `None` if the search needs more states or more time.

    states: the maximum number of states in the search.
    """
    search = Search(problem, deadline)
    return (
        None if search.solve(deadline, states) is None else attach_search(Policy(problem), search)
    )


def attach_search(policy: Policy, search: Search) -> Policy:
    """Give a policy its finished search, so that it need not search again; return the policy."""
    vars(policy)["search"] = search
    return policy


def choose_policy(
    problem: Problem, style: Style = USUAL_STYLE, states: float = QUICK_STATES
) -> Policy:
    """Return a good policy for a problem without a long search.

    The policy is optimal if the problem is small, and looks ahead otherwise.

    style: the style of lookahead.
    states: the maximum number of states in an exact search.
    """
    best = best_policy(problem, Deadline(), states)
    if best is not None:
        return best
    search = Search(problem)
    assignment = search.assign(Deadline(), QUICK_STARTS)
    search.follow(assignment, style)
    return attach_search(Policy(problem, assignment, style), search)
