"""Goals of a turn: how likely it reaches each, and how often the game is won after it.

`goals_in_reach` finds what a turn can reach: each continent, the bonus of each opponent, each
elimination, and a card. Each chance is that of the best plan that a quick look finds, with the new
armies where they help most.

What it is worth to the game is played out (`best_goals`): as the usual player likes, holding, and
for each of these goals within reach, which are also played by the best plan for the goal, and by
that for what is owned, where armies and the goal have a price. Each candidate is judged by the
games that follow, if everybody then plays like iacta's usual player, and beside it by those of its
simple player; none of these chances is *the* chance. The candidates that the core plays have the
same dice, so that their differences are known better than the chances themselves.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from math import sqrt
from typing import NamedTuple, Self

import numpy as np

from iacta.game import Action, Advance
from iacta.game.turn import Policy, Record, Turn
from iacta.inputs.checks import read_int, read_seconds
from iacta.inputs.errors import IactaError, IllegalError
from iacta.native.deadline import Deadline, run_in_threads
from iacta.plan import Goal, Plan, TakeAll, TakeAny, Worth, best_plan
from iacta.plan.reinforcement import Look, Placement, quick_look, quick_plan, turn_options
from iacta.probability.estimate import MIN_GAMES, Interval
from iacta.war.chances import Z, cut_after, interval_of, played
from iacta.war.games import (
    AS_LIKED,
    BOLDLY,
    BREAK,
    CONTINENT,
    ELIMINATE,
    HOLD,
    ONE_CARD,
    TOO_LONG,
    WARILY,
    Aim,
    Floats,
    War,
    check_war,
)
from iacta.war.players import PLAYERS
from iacta.war.tables import find_hand
from iacta.war.tactics import Simple
from iacta.war.tournament import MOST_GAMES, MOST_ROUNDS
from iacta.war.value import weights_of

GAMES = 200
GAMES_OF_A_PLAN = 60  # its turns are played in Python
BUDGET_OF_A_PLAN = 0.1  # of the usual work
SIMPLE_SHARE = 0.2  # of the time of a goal
AIMS_PART = 0.6  # of the time, where plans follow
LOOK_PART = 0.4  # of the time, for quick looks at all goals
LEAST_CHANCE = 0.005  # of a goal that is in reach
TERRITORY_WORTH = 0.6  # in armies, where a plan prices what it spends
SEEDS = 2**62
WAYS = {  # of playing a turn without anything that it must reach
    AS_LIKED: "as the usual player likes",
    HOLD: "hold",
    BOLDLY: "attack boldly",
    WARILY: "attack warily",
}


@dataclass(frozen=True)
class Reach:
    """How likely a turn reaches a goal, by the best plan that a quick look finds.

    words: the goal in words, such as `"take Asia"`.
    goal: the goal of the plan.
    chance: the chance of the plan.
    interval: from the lower end of what that is known to be to the bound that no play exceeds,
        wherever new armies are placed: what a longer search finds is in it.
    left: the player's armies after the attacks, on average.
    placement: where new armies are placed: (territory, new armies).
    """

    words: str
    goal: TakeAll | TakeAny
    chance: float
    interval: Interval
    left: float
    placement: Placement

    @classmethod
    def of(cls, words: str, goal: TakeAll | TakeAny, look: Look) -> Self:
        """Return what a look at a goal says."""
        interval = Interval(look.low, look.at_most)
        return cls(words, goal, look.chance, interval, look.left, look.placement)


@dataclass(frozen=True)
class GoalChance:
    """A goal of a turn, and what becomes of the game after it.

    goal: in words, such as `"take Asia"`.
    how: who plays the turn: `"tactics"` for the usual player's, `"plan"` for the best plan for the
        goal, `"worth"` for the best plan where armies and the goal have a price.
    chance: how often the turn reached the goal; 1 where there is none to reach.
    win: the chance of who is to move to win the game after it.
    interval: 1.96 standard errors to either side of it.
    under_simple: the same if everybody plays like iacta's simple player, which then also plays the
        turn for this goal.
    under_simple_interval: its interval, as that of `win_chances`.
    behind: by how much the best goal's chance to win is higher.
    behind_interval: the same of this difference.
    games: how many games it comes from.
    is_clear: whether the difference from the best is clear, so that its interval does not reach 0.
    plan: the plan, where one plays.
    example: the turn as it may go.
    """

    goal: str
    how: str
    chance: float
    win: float
    interval: Interval
    under_simple: float
    under_simple_interval: Interval
    behind: float
    behind_interval: Interval
    games: int
    is_clear: bool
    plan: Plan | None
    example: Record


@dataclass(frozen=True)
class Goals:
    """The goals of a turn, the best one first.

    player: who is to move.
    goals: all that were compared.
    under: the name of the player by which everybody plays after the turn.
    """

    player: str
    goals: tuple[GoalChance, ...]
    under: str = "usual"

    @property
    def best(self) -> GoalChance:
        """The goal after which the chance to win is highest."""
        return self.goals[0]

    @property
    def unclear(self) -> tuple[GoalChance, ...]:
        """The other goals without a clear difference from the best."""
        return tuple(each for each in self.goals[1:] if not each.is_clear)


class _Simple(NamedTuple):
    win: float
    interval: Interval


class _Candidate(NamedTuple):
    words: str
    how: str
    wins: Floats  # of each game
    chance: float
    plan: Plan | None
    example: Record


def goals_in_reach(
    turn: Turn,
    *,
    time_limit: float | Fraction | None = None,
    progress: Callable[[tuple[Reach, ...], float], object] | None = None,
) -> tuple[Reach, ...]:
    """Return the goals that a turn can reach, the likeliest first.

    turn: any moment of a turn; before its attacks, they begin as the usual player places armies
        that are not known, and an advance moves as many as it may.
    time_limit: in seconds; where it comes first, plans are looked for less long.
    progress: receives what is known so far, and which part of the work is done.

    These are the continents, bonuses, eliminations and the card that a plan reaches in at least one
    of 200 turns, so that none may be left. Refused is what `best_goals` refuses.

    >>> from iacta import Turn
    >>> turn = Turn.from_code("1;classic;red;Peru:red:9,Brazil:blue:3,Argentina:blue:1")
    >>> for each in goals_in_reach(turn):
    ...     print(each.words, round(each.chance, 4), round(each.left, 2))
    take one card 0.9996 8.48
    eliminate blue 0.8894 6.26
    """
    war, deadline = War(_open(turn)), Deadline.of(time_limit)
    start = _before_attacks(war)
    if start is None:
        return ()
    options = turn_options(start)
    goals = {words: goal for words, goal in _reachable(start) if not goal.is_reached(start)}
    looks = dict[str, Look]()

    def likeliest() -> tuple[Reach, ...]:
        found = [Reach.of(words, goals[words], look) for words, look in looks.items()]
        some = (each for each in found if each.chance >= LEAST_CHANCE)
        return tuple(sorted(some, key=lambda each: (-each.chance, each.words)))

    def look_at(words: str, part: Deadline) -> Look:
        return quick_look(start.position, goals[words], start.place, options, part)

    def plan_for(words: str, part: Deadline) -> Look:
        return quick_plan(start.position, goals[words], options, looks[words], part)

    looked = run_in_threads(look_at, [*goals], deadline.part(LOOK_PART))
    for done, (words, look) in enumerate(looked, 1):
        looks[words] = look
        if progress is not None:
            progress(likeliest(), 0.5 * done / len(goals))
    likely = [each.words for each in likeliest()]
    for done, (words, look) in enumerate(run_in_threads(plan_for, likely, deadline), 1):
        looks[words] = look
        if progress is not None:
            progress(likeliest(), 0.5 + 0.5 * done / len(likely))
    return likeliest()


def _open(turn: Turn) -> Turn:
    """Return a turn in which there is something to do, or refuse it."""
    check_war(turn)
    if turn.winner is not None:
        raise IllegalError(f"turn must be of a game that goes on; {turn.winner} has won")
    if turn.phase == "over":
        raise IllegalError(f"phase must be one in which there is something to do, got {turn.phase}")
    return turn


def _before_attacks(war: War) -> Turn | None:
    """Return the moment at which a plan begins, `None` after the attacks."""
    turn = war.turn
    if turn.phase in ("place", "attack"):
        return turn
    if turn.phase == "advance":
        return turn.after([each for each in turn.actions() if isinstance(each, Advance)][-1])
    moves = war.play_turn(PLAYERS["usual"], None, 0).moves
    return next((move.turn for move in moves if move.turn.phase == "attack"), None)


def _reachable(turn: Turn) -> Iterator[tuple[str, TakeAll | TakeAny]]:
    """Yield what could be reached, in words and as the goal of a plan."""
    position, names = turn.position, turn.board.territories
    for each in turn.board.continents:
        owners = {position.find_holding(name).owner for name in each.territories}
        if not owners or "" in owners:
            continue
        yield f"take {each.name}", TakeAll(each.territories)
        if len(owners) == 1 and turn.player not in owners:
            yield f"break {min(owners)}'s {each.name}", TakeAny(each.territories)
    for player in dict.fromkeys(turn.owners):
        if player not in ("", turn.player):
            yield f"eliminate {player}", TakeAll(position.list_territories(player))
    others = tuple(
        name for name in names if position.find_holding(name).owner not in ("", turn.player)
    )
    if not turn.conquered and others:
        yield "take one card", TakeAny(others)


def best_goals(
    turn: Turn,
    *,
    games: int = GAMES,
    time_limit: float | Fraction | None = None,
    seed: int = 0,
    progress: Callable[[Goals, float], object] | None = None,
) -> Goals:
    """Return what the turn could be played for, by the chance to win the game after it.

    turn: any moment of a turn in which there is something to do.
    games: how many games follow each candidate; after plans 60 at most.
    time_limit: in seconds; where it comes first, fewer games are played, and fewer plans made.
    seed: of the dice.
    progress: receives what is known so far, and which part of the work is done.

    Refused are turns that are over, more than six players, and rules whose battles can grow.

    >>> from iacta import Turn
    >>> turn = Turn.from_code("1;classic;red;Peru:red:9,Brazil:blue:3,Argentina:blue:1")
    >>> found = best_goals(turn, games=40)
    >>> found.best.win > 0.8, "eliminate blue" in [each.goal for each in found.goals]
    (True, True)
    """
    number = read_int(games, "games", least=2, most=MOST_GAMES)
    read_int(seed, "seed")
    seconds = None if time_limit is None else float(read_seconds(time_limit, "time_limit"))
    deadline, war = Deadline(seconds), War(_open(turn))
    mover, rows = war.seats.index(turn.player), list[_Candidate]()
    aims = war.aims(PLAYERS["usual"])
    planned = [aim for aim in aims if aim.kind in (CONTINENT, BREAK, ELIMINATE)]
    simple = dict[str, _Simple]()

    def report(done: int) -> None:
        if progress is not None:
            found = Goals(turn.player, _compared(rows, simple))
            progress(found, done / (len(aims) + len(planned)))

    playing = deadline.part(AIMS_PART if planned else 1.0)
    for k, aim in enumerate(aims):
        part = playing.part(1 / (len(aims) - k))
        simple[describe_aim(war, aim)] = _under_simple(
            war, aim, number, seed, part.part(SIMPLE_SHARE)
        )
        found = played(war, "usual", number, seed, part, aim)
        if len(found.chances) < 2:
            found = played(war, "usual", 2, seed, Deadline(), aim)
        rows.append(
            _Candidate(
                describe_aim(war, aim),
                "tactics",
                found.chances[:, mover],
                float(found.reached.mean()),
                None,
                war.play_turn(PLAYERS["usual"], None, seed, aim),
            )
        )
        report(k + 1)
    for k, aim in enumerate(planned):
        if not deadline.is_over:
            most = min(number, GAMES_OF_A_PLAN)
            part = deadline.part(1 / (len(planned) - k))
            # Of a handful of games nothing is known; the tactics remain.
            rows += (
                row
                for row in _by_plans(war, aim, most, seed, part)
                if len(row.wins) >= min(most, MIN_GAMES)
            )
        report(len(aims) + k + 1)
    return Goals(turn.player, _compared(rows, simple))


def describe_aim(war: War, aim: Aim) -> str:
    """Return an aim in words."""
    continents = war.turn.board.continents
    match aim.kind:
        case kind if kind == CONTINENT:
            return f"take {continents[aim.which].name}"
        case kind if kind == BREAK:
            held = continents[aim.which]
            owner = war.turn.position.find_holding(held.territories[0]).owner
            return f"break {owner}'s {held.name}"
        case kind if kind == ELIMINATE:
            return f"eliminate {war.seats[aim.which]}"
    return "take one card" if aim.kind == ONE_CARD else WAYS[aim.kind]


def _under_simple(war: War, aim: Aim, games: int, seed: int, deadline: Deadline) -> _Simple:
    """Return how often the mover wins if everybody plays like the simple player."""
    found = played(war, "simple", games, seed, deadline, aim)
    if len(found.chances) < 2:
        found = played(war, "simple", 2, seed, Deadline(), aim)
    column = found.chances[:, war.seats.index(war.turn.player)]
    is_won = not (found.ended == TOO_LONG).any()
    return _Simple(float(column.mean()), interval_of(column, is_won=is_won))


def _compared(rows: list[_Candidate], simple: Mapping[str, _Simple]) -> tuple[GoalChance, ...]:
    """Return candidates by their chance to win; of several ways to a goal the best one."""
    rows = sorted(rows, key=lambda row: -float(row.wins.mean()))
    best, found = rows[0], dict[str, GoalChance]()
    for row in rows:
        if row.words in found:
            continue
        common = min(len(row.wins), len(best.wins))
        apart = best.wins[:common] - row.wins[:common]
        behind = float(best.wins.mean() - row.wins.mean())
        error = _half(apart)
        found[row.words] = GoalChance(
            row.words,
            row.how,
            row.chance,
            float(row.wins.mean()),
            interval_of(row.wins, is_won=False),
            *simple[row.words],
            behind,
            Interval(behind - error, behind + error),
            len(row.wins),
            behind - error > 0,
            row.plan,
            row.example,
        )
    return tuple(found.values())


def _half(values: Floats) -> float:
    return Z * float(values.std(ddof=1)) / sqrt(len(values))


def _by_plans(
    war: War, aim: Aim, games: int, seed: int, deadline: Deadline
) -> Iterator[_Candidate]:
    """Yield what plans for a goal make of a turn, from where the new armies are placed."""
    usual = PLAYERS["usual"]
    opened = war.play_turn(usual, None, seed, aim).moves
    before = next((move.turn for move in opened if move.turn.phase == "attack"), None)
    is_chance = any(move.turn.phase == "trade" and move.result is not None for move in opened)
    if before is None or is_chance:
        return  # the cards that are revealed differ from game to game
    goal = _goal_of(war, aim)
    priced = Worth(TERRITORY_WORTH, bonus=1.0, army=1.0, prizes=((goal, _prize(war, aim)),))
    for how, each in (("plan", goal), ("worth", priced)):
        plan = _plan(before, each, deadline)
        if plan is None:
            continue
        policy = _followed(plan.policy, before)
        wins, reached = [], []
        for number in range(games):
            dice = int(np.random.default_rng([seed, number]).integers(SEEDS))
            record = before.play(policy, seed=dice)
            wins.append(_won(record.end, war.turn.player, number, seed))
            reached.append(goal.is_reached(record.end))
            if number == 0:
                example = record
            if deadline.is_over and number:
                break
        yield _Candidate(
            describe_aim(war, aim), how, np.array(wins), float(np.mean(reached)), plan, example
        )


def _goal_of(war: War, aim: Aim) -> TakeAll:
    """Return the goal of a plan for an aim; a bonus is broken where that is easiest."""
    turn = war.turn
    if aim.kind == CONTINENT:
        return TakeAll(turn.board.continents[aim.which].territories)
    if aim.kind == ELIMINATE:
        return TakeAll(turn.position.list_territories(war.seats[aim.which]))
    own = {*turn.position.list_territories(turn.player)}
    beside = [
        name
        for name in turn.board.continents[aim.which].territories
        if any(name in turn.board.neighbours(each) for each in own)
    ]
    return TakeAll(min(beside, key=lambda name: turn.position.find_holding(name).armies))


def _prize(war: War, aim: Aim) -> float:
    """Return what a goal is worth in armies."""
    if aim.kind == ELIMINATE:
        return 10.0 + 2.0 * find_hand(war.turn, war.seats[aim.which]).number
    return 2.0 + 2.0 * war.turn.board.continents[aim.which].bonus


def _plan(turn: Turn, goal: Goal, deadline: Deadline) -> Plan | None:
    """Return the best plan for the attacks of a turn, `None` where it takes too much."""
    try:
        return best_plan(
            turn.position,
            goal,
            **turn_options(turn),
            budget=BUDGET_OF_A_PLAN,
            time_limit=deadline.time_limit,
            threads=1,
        )
    except IactaError:
        return None  # a plan of that many armies is refused; the other candidates remain


def _followed(plan: Policy, start: Turn) -> Policy:
    """Return a policy that attacks by a plan, and does all else as the usual player's tactics."""
    tactics = Simple(replace(PLAYERS["usual"], samples=0.0))

    def follow(turn: Turn) -> Action:
        is_planned = turn.phase in ("attack", "advance") and turn.trade == start.trade
        return plan(turn) if is_planned else tactics(turn)

    return follow


def _won(end: Turn, player: str, number: int, seed: int) -> float:
    """Return the chance to win after a turn, of one game that is cut."""
    if end.winner is not None:
        return float(end.winner == player)
    war = War(end)
    found = war.games(
        (PLAYERS["usual"],) * len(war.seats),
        weights_of("choosing"),
        weights_of("ending"),
        games=1,
        first=number,
        seed=seed,
        cut=cut_after("usual"),
        most_rounds=MOST_ROUNDS,
    )
    return float(found.chances[0, war.seats.index(player)])
