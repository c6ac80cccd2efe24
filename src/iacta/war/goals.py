"""Goals for a turn, compared by the chance to win the game afterwards.

`best_goals` simulates games to compare goals, holding without attacks, and the usual AI's own
choice. The usual AI plays each goal with its tactics. For the larger goals, `best_goals` also tries
two plans: the plan with the best chance to reach the goal, and the plan with the best expected
value if surviving armies, territories and bonuses also count. If the game can be won in this turn,
the plan for that win is also tried; it places the new armies itself.

Each way to play a goal is called a candidate. Its value is the player's chance to win the game if
the usual AI plays every seat afterwards. The result with the keeper, an AI of equal strength, is
shown next to it. All candidates use the same dice, which makes the differences between candidates
more precise than the chances themselves. The games stop after three rounds, as for estimated
chances.

Games are played in stages of 10, 20, 40, ... games for each candidate. Candidates that are clearly
worse than the best play no further games. A stage is discarded if the time is too short for it, so
a time limit only decides which stage is reached. One candidate may be marked as the best: if it is
clearly better than every other candidate, considering that there are several comparisons.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from math import hypot
from typing import NamedTuple

import numpy as np

from iacta.game import Action, Advance, EndPhase, Place
from iacta.game.turn import PlayedTurn, Policy, Turn
from iacta.game.victory import SURVIVAL
from iacta.inputs.checks import read_int, read_seconds
from iacta.inputs.errors import IactaError, IllegalError
from iacta.native.deadline import Deadline
from iacta.native.heartbeat import beat_during
from iacta.plan import Goal, Plan, TakeAll, Worth, best_plan
from iacta.plan.goal_plan import MIN_GOAL_CHANCE, plan_goal
from iacta.plan.levels import QUICK
from iacta.plan.winning import Win, find_win
from iacta.probability.estimate import (
    MIN_GAMES,
    Interval,
    compute_half_width_of_difference,
)
from iacta.war.chances import (
    SEED_COUNT,
    V_DIFFERENCE_AS_GAMES,
    Series,
    check_game_ends,
    choose_cut_rounds,
    choose_second_ai,
    compute_interval_of_results,
    compute_v_error,
)
from iacta.war.game import MAX_ROUNDS
from iacta.war.games import (
    CARD_AIMS,
    OPEN_AIMS,
    WIN_NOW,
    Aim,
    Floats,
    PlayedGames,
    War,
    check_war,
    choose_best_aim_per_goal,
    describe_aim,
)
from iacta.war.players import (
    AS_LIKED,
    BOLDLY,
    CHASE,
    CONTINENT,
    ELIMINATE,
    GUARD,
    PLAYERS,
    WARILY,
)
from iacta.war.policy import NamedAim, choose_action
from iacta.war.tournament import MAX_TOURNAMENT_GAMES

DEFAULT_GAMES = 160
FIRST_STAGE = 10  # games for each candidate in the first stage; each later stage doubles the number
PLAN_GAMES = 60  # fewer than for tactics, because plans are played in Python and are slow
GOAL_BUDGET = 0.1  # fraction of a plan's default search budget
AIMS_TIME_SHARE = 0.6  # share of the total time for tactics if plans are tried afterwards
ALL_AIMS_TIME_SHARE = 0.8  # share of the total time for tactics if no plans are tried
WIN_TIME_SHARE = 0.2  # share of the total time for the search for a win in this turn
ONE_CARD = "take one card"
STYLES = {OPEN_AIMS[kind] for kind in (AS_LIKED, BOLDLY, WARILY)}  # ways to play without a goal
TERRITORY_WORTH = 0.6  # the value of a territory, in armies


@dataclass(frozen=True)
class GoalChance:
    """A goal for a turn, with the chance to win the game afterwards.

    goal: the goal in words, such as `"take Asia"`.
    how: the way to play the turn: `"tactics"` of the usual AI, `"plan"` for the best plan for the
        goal, or `"worth"` for the best plan if the goal and each army have a value.
    chance: the fraction of games in which the turn reached the goal; 1 for holding and for the
        usual AI's own choice.
    win: the player's chance to win the game.
    interval: the 95% interval of `win`, as for estimated chances (`iacta.war.chances`), but wider
        for goals behind the best goal.
    second_opinion: the chance to win if the keeper plays this turn and every seat afterwards.
    second_opinion_interval: the interval of `second_opinion`.
    behind: the best goal's `win` minus this goal's `win`.
    behind_interval: the interval of `behind`. With a chance of 95%, the intervals of all goals are
        right. Its width comes from the variance of the difference in each pair of games, and from
        the error of the value function V if it scored some of the games.
    games: the number of games.
    is_clear: whether `behind_interval` lies above 0: the goal is clearly worse than the best.
    is_best: whether every goal that is played differently, and holding, is clearly worse, and no
        style of play is clearly better. At most one goal is marked, and often none.
    plan: the plan if `how` is `"plan"` or `"worth"`.
    example: one possible course of the turn.
    """

    goal: str
    how: str
    chance: float
    win: float
    interval: Interval
    second_opinion: float
    second_opinion_interval: Interval
    behind: float
    behind_interval: Interval
    games: int
    is_clear: bool
    is_best: bool
    plan: Plan | None
    example: PlayedTurn


@dataclass(frozen=True)
class Goals:
    """The goals for a turn, the best goal first.

    player: the player to move.
    goals: the goals that were compared; empty before the first two games of each.
    """

    player: str
    goals: tuple[GoalChance, ...]

    @property
    def best(self) -> GoalChance:
        """The goal with the highest chance to win the game, even if it is not clearly the best.

        Raises `IndexError` without goals.
        """
        return self.goals[0]

    @property
    def unclear(self) -> tuple[GoalChance, ...]:
        """The goals, other than the best, that are not clearly worse than the best goal."""
        return tuple(goal for goal in self.goals[1:] if not goal.is_clear)


class _SecondOpinion(NamedTuple):
    win: float
    interval: Interval


class _Candidate(NamedTuple):
    words: str
    how: str
    wins: Floats  # the player's result in each game: 1, 0, or a value of V
    chance: float
    plan: Plan | None
    example: PlayedTurn
    # Play new games with a seed until a deadline, and return their results.
    play_again: Callable[[int, Deadline], Floats]


def _check_not_over(turn: Turn) -> Turn:
    """Return `turn`; raise an error if the game or the turn is over."""
    check_war(turn)
    if turn.winner is not None:
        raise IllegalError(f"the game is over: {turn.winner} has won")
    if turn.phase == "over":
        raise IllegalError(f"turn must have an action left, got the phase {turn.phase!r}")
    return turn


def _find_plan_start(war: War) -> Turn | None:
    """Return the state in which a plan can begin, or `None` if the attacks are over."""
    turn = war.turn
    if turn.phase in ("place", "attack"):
        return turn
    if turn.phase == "advance":
        return turn.after([action for action in turn.actions() if isinstance(action, Advance)][-1])
    moves = war.play_turn(PLAYERS["usual"], 0).moves
    return next((move.turn for move in moves if move.turn.phase == "attack"), None)


def _compute_win(start: Turn) -> Win | None:
    """Return the goal to win the game in this turn, or `None` if no goal is found."""
    # With two survivors, winning now would only repeat the goal "eliminate".
    is_elimination = start.victory == SURVIVAL and len(start.survivors) <= 2
    return None if is_elimination else find_win(start)


def best_goals(
    turn: Turn,
    *,
    games: int = DEFAULT_GAMES,
    time_limit: float | Fraction | None = None,
    seed: int = 0,
    progress: Callable[[Goals, float], object] | None = None,
) -> Goals:
    """Rank the goals for a turn by the chance to win the game afterwards.

    turn: a turn in any phase but `over`.
    games: the number of games for each candidate. Plans are tried in at most 60 games.
    time_limit: the time limit in seconds. It may reduce the numbers of games and plans.
    seed: the seed of the dice.
    progress: a callback that takes the results so far, at first without goals, and the fraction of
        the work done. It is called about fifty times a second. An exception in the callback ends
        the work.

    Raises `IactaError` for a turn that is over, for a game that cannot end because nobody can
    attack, for more than six players, and for rules under which a battle can gain armies.

    >>> from iacta import Turn
    >>> turn = Turn.from_code("1;classic;red;Peru:red:9,Brazil:blue:3,Argentina:blue:1")
    >>> found = best_goals(turn, games=40)
    >>> found.best.win > 0.8, "eliminate blue" in [each.goal for each in found.goals]
    (True, True)
    """
    number = read_int(games, "games", minimum=2, maximum=MAX_TOURNAMENT_GAMES)
    read_int(seed, "seed")
    seconds = None if time_limit is None else float(read_seconds(time_limit, "time_limit"))
    deadline, war = Deadline(seconds), War(_check_not_over(turn))
    check_game_ends(turn)
    aims = [aim for aim, _ in choose_best_aim_per_goal(war, PLAYERS["usual"], seed)]
    planned = [aim for aim in aims if aim.kind not in (*CARD_AIMS, *OPEN_AIMS)]
    samples = [_TacticsSample(war, aim, seed) for aim in aims]
    rows, second = list[_Candidate](), dict[str, _SecondOpinion]()

    done = 0.0

    def show() -> None:
        if progress is not None:
            goals = _rank_candidates(rows, second) if rows else ()
            progress(Goals(turn.player, goals), done)

    with beat_during(None if progress is None else show):
        share = AIMS_TIME_SHARE if planned else ALL_AIMS_TIME_SHARE
        playing, left, stage = deadline.take_share(share), samples, min(FIRST_STAGE, number)
        while all(sample.play(stage, playing if rows else deadline) for sample in left):
            for sample in left:
                sample.end_stage()
            rows = [sample.make_candidate(number) for sample in samples]
            second = {sample.words: sample.estimate_second_opinion() for sample in samples}
            done = share * stage / number
            show()
            if stage == number:
                break
            worse = {each.goal for each in _rank_candidates(rows, second) if each.is_clear}
            left = [sample for sample in samples if sample.words not in worse]
            stage = min(2 * stage, number)
        if not rows:
            return Goals(turn.player, ())
        if not deadline.is_over:
            part = deadline.take_share(1 / (len(planned) + 2))
            by_plan = _try_win(war, min(number, PLAN_GAMES), seed, part)
            if by_plan is not None:
                row, by_second = by_plan
                rows.append(row)
                second.setdefault(WIN_NOW, by_second)
        for k, aim in enumerate(planned):
            if not deadline.is_over:
                most = min(number, PLAN_GAMES)
                # The last part of the time is reserved for new games of the best goal.
                part = deadline.take_share(1 / (len(planned) + 1 - k))
                tried = _try_plans(war, aim, most, seed, part)
                rows += (row for row in tried if len(row.wins) == most)
            done = share + (1 - share) * (k + 1) / (len(planned) + 1)
            show()
        # The best of several estimates is biased upwards; new games of the best goal remove the
        # bias.
        best = _sort_candidates(rows)[0][1]
        fresh = np.zeros(0) if deadline.is_over else best.play_again(seed + SEED_COUNT, deadline)
        return Goals(turn.player, _rank_candidates(rows, second, fresh))


class _TacticsSample:
    """Games in which the usual AI plays this turn with an aim, and games of the keeper with it.

    words: the goal of the aim in words.
    """

    def __init__(self, war: War, aim: Aim, seed: int) -> None:
        self.words, self._war, self._aim = describe_aim(war, aim), war, aim
        self._series = [
            Series(war, ai, seed, aim, choose_cut_rounds(ai, war.turn))
            for ai in ("usual", choose_second_ai("usual"))
        ]
        self._parts: list[list[PlayedGames]] = [[] for _ in self._series]
        self._new = list[PlayedGames]()

    def play(self, games: int, deadline: Deadline) -> bool:
        """Play until there are `games` games of each AI; return whether the time was sufficient."""
        start = sum(len(part.chances) for part in self._parts[0])
        self._new = [series.play(games, deadline, start=start) for series in self._series]
        return all(len(part.chances) == games - start for part in self._new)

    def end_stage(self) -> None:
        """Keep the games of the last call of `play`."""
        for parts, new in zip(self._parts, self._new, strict=True):
            parts.append(new)

    def make_candidate(self, games: int) -> "_Candidate":
        """Return the candidate with the results so far.

        games: the number of games if the candidate plays again.
        """
        usual, war = PLAYERS["usual"], self._war
        reached = np.concatenate([part.reached for part in self._parts[0]])
        return _Candidate(
            self.words,
            "tactics",
            self._list_results(0),
            float(reached.mean()),
            None,
            war.play_turn(usual, self._series[0].seed, self._aim),
            partial(_play_tactics, self._series[0], games),
        )

    def estimate_second_opinion(self) -> "_SecondOpinion":
        """Return the mover's chance to win if the keeper plays every seat."""
        return _estimate_second_opinion(self._list_results(1))

    def _list_results(self, number: int) -> Floats:
        mover = self._war.seats.index(self._war.turn.player)
        return np.concatenate([part.chances[:, mover] for part in self._parts[number]])


def _rank_candidates(
    candidates: list[_Candidate],
    second_opinions: Mapping[str, _SecondOpinion],
    new_results: Floats | None = None,
) -> tuple[GoalChance, ...]:
    """Rank the candidates by the chance to win, with one candidate for each goal.

    candidates: the candidates with the results of their games.
    second_opinions: a mapping from goals in words to the results with the keeper.
    new_results: results of the best candidate in new games, which were not used for the ranking.
        Their mean W is the chance of the best candidate. The chance of another candidate is W - D,
        where D is the difference between the two candidates in the earlier games.
    """
    ranked, found = _sort_candidates(candidates), dict[str, GoalChance]()
    most, best = ranked[0]
    own = best.wins if new_results is None or len(new_results) < MIN_GAMES else new_results
    first, mean_win = compute_interval_of_results(own, _count_cut_games(own)), float(own.mean())
    is_judged_by_v = any(_count_cut_games(row.wins) for row in candidates)
    v_error = compute_v_error(mean_win, V_DIFFERENCE_AS_GAMES) if is_judged_by_v else 0.0
    firsts = {row.words: (mean, row) for mean, row in reversed(ranked)}  # the best way to each goal
    comparisons = max(len(firsts) - 1, 1)

    def compute_error(row: _Candidate, other: _Candidate) -> float:
        """Return the error of the difference between two candidates."""
        apart = _subtract_results(row, other)
        return hypot(compute_half_width_of_difference(apart, comparisons), v_error)

    for mean, row in ranked:
        if row.words in found:
            continue
        behind, error = most - mean, 0.0 if row is best else compute_error(best, row)
        win = max(mean_win - behind, 0.0)
        below, above = hypot(mean_win - first.low, error), hypot(first.high - mean_win, error)
        found[row.words] = GoalChance(
            row.words,
            row.how,
            row.chance,
            win,
            Interval(max(win - below, 0.0), min(win + above, 1.0)),
            *second_opinions[row.words],
            mean_win - win,
            Interval(behind - error, behind + error),
            len(row.wins),
            behind - error > 0,
            False,
            row.plan,
            row.example,
        )
    # Styles of play are not goals. A goal may be the best even if a style reaches it as well.
    goals = [firsts[words] for words in found if words not in STYLES]
    if not goals or found[goals[0][1].words].is_clear:
        return tuple(found.values())
    top, leader = goals[0]
    alike = [row.words for _, row in goals if not _subtract_results(leader, row).any()]
    if len(leader.wins) >= MIN_GAMES and all(
        top - mean > compute_error(leader, row) for mean, row in goals if row.words not in alike
    ):
        # Of goals that are played alike, mark the one that says most.
        marked = min(alike, key=lambda words: words == ONE_CARD)
        found[marked] = replace(found[marked], is_best=True)
    return tuple(found.values())


def _subtract_results(row: _Candidate, other: _Candidate) -> Floats:
    """Return the differences between the results of two candidates in their common games."""
    common = min(len(row.wins), len(other.wins))
    return row.wins[:common] - other.wins[:common]


def _sort_candidates(candidates: list[_Candidate]) -> list[tuple[float, _Candidate]]:
    """Sort candidates by their mean results; return the means and the candidates, the best first.

    Games with the same number have the same dice, so a candidate with few games may only have lucky
    dice. Its mean is corrected by the difference between two means of the candidate with the most
    games: the mean over all games, minus the mean over the first few games.
    """
    longest = max((row.wins for row in candidates), key=len)
    means = (
        float(row.wins.mean() + (longest.mean() - longest[: len(row.wins)].mean()))
        for row in candidates
    )
    return sorted(zip(means, candidates, strict=True), key=lambda pair: -pair[0])


def _estimate_second_opinion(results: Floats) -> "_SecondOpinion":
    """Return the chance to win with its interval, from the results of games of the keeper."""
    interval = compute_interval_of_results(results, _count_cut_games(results))
    return _SecondOpinion(float(results.mean()), interval)


def _count_cut_games(results: Floats) -> int:
    """Return the number of games that V scored."""
    return int(((results > 0.0) & (results < 1.0)).sum())


def _play_tactics(series: Series, games: int, seed: int, deadline: Deadline) -> Floats:
    """Play a series of games with another seed; return the mover's result in each game."""
    found, war = replace(series, seed=seed).play(games, deadline), series.war
    return found.chances[:, war.seats.index(war.turn.player)]


def _try_plans(
    war: War, aim: Aim, games: int, seed: int, deadline: Deadline
) -> Iterator[_Candidate]:
    """Yield candidates in which the usual AI places the new armies and a plan attacks."""
    usual = PLAYERS["usual"]
    opened = war.play_turn(usual, seed, aim).moves
    before = next((move.turn for move in opened if move.turn.phase == "attack"), None)
    is_chance = any(move.turn.phase == "trade" and move.result is not None for move in opened)
    if before is None or is_chance:
        return  # revealed cards differ between games, but a plan needs known cards
    goal = _make_goal(war, aim)
    priced = Worth(TERRITORY_WORTH, bonus=1.0, army=1.0, prizes=((goal, _evaluate_aim(war, aim)),))
    for how, each in (("plan", goal), ("worth", priced)):
        plan = None if deadline.is_over else _make_plan(before, each, deadline)
        if plan is None or isinstance(plan.policy(before), EndPhase):
            continue  # a plan without attacks is the same as holding
        found = _follow_plan(
            describe_aim(war, aim), how, goal.is_reached, before, plan, games, seed, deadline
        )
        if found is None:
            return
        yield found


def _try_win(
    war: War, games: int, seed: int, deadline: Deadline
) -> tuple[_Candidate, _SecondOpinion] | None:
    """Return a candidate that follows the best plan to win in this turn, with its second opinion.

    The result is `None` if no plan attacks to win, or if the time is too short.
    """
    before = _find_plan_start(war)
    win = None if before is None else _compute_win(before)
    if before is None or win is None or win.placement is not None:
        return None  # without attacks, the usual AI wins with each of its aims
    part = deadline.take_share(WIN_TIME_SHARE)
    look = plan_goal(before, win.goal, QUICK, part)
    if part.is_over or look.value is None or look.value < MIN_GOAL_CHANCE:
        return None
    placed, names = dict(look.placement), before.board.territories
    for name in filter(placed.get, names):
        before = before.after(Place(name, placed[name]))
    plan = None if before.phase != "attack" else _make_plan(before, win.goal, deadline)
    if plan is None or isinstance(plan.policy(before), EndPhase):
        return None
    player = before.player
    found = _follow_plan(
        WIN_NOW, "plan", lambda end: end.winner == player, before, plan, games, seed, deadline
    )
    ai = choose_second_ai("usual")
    wins = _play_plan(before, plan.policy, games, seed, deadline, ai=ai)
    if found is None or min(len(found.wins), len(wins)) < games:
        return None
    return found, _estimate_second_opinion(wins)


def _follow_plan(
    words: str,
    how: str,
    is_reached: Callable[[Turn], bool],
    before: Turn,
    plan: Plan,
    games: int,
    seed: int,
    deadline: Deadline,
) -> _Candidate | None:
    """Return a candidate whose attacks follow a plan, or `None` without time for one game.

    is_reached: returns whether the plan has reached its goal at the end of the turn.
    """
    play_again = partial(_play_plan, before, plan.policy, games)
    played_turns = list[PlayedTurn]()
    wins = play_again(seed, deadline, played_turns)
    if not len(wins):
        return None
    reached = float(np.mean([is_reached(turn.end) for turn in played_turns]))
    return _Candidate(words, how, wins, reached, plan, played_turns[0], play_again)


def _play_plan(
    start: Turn,
    plan: Policy,
    games: int,
    seed: int,
    deadline: Deadline,
    played_turns: list[PlayedTurn] | None = None,
    ai: str = "usual",
) -> Floats:
    """Play games in which this turn follows a plan; return the mover's result in each game.

    games: the maximum number of games before the deadline.
    played_turns: a list to which the played turns are appended.
    ai: the AI that plays all later turns.
    """
    policy, wins = _combine_policies(plan, start, deadline), list[float]()
    for number in range(games):
        dice = int(np.random.default_rng([seed, number]).integers(SEED_COUNT))
        played = start.play(policy, seed=dice)
        if deadline.is_over:  # the deadline may have ended the attacks early
            break
        won = _estimate_from_one_game(played.end, start.player, ai, number, seed, deadline)
        if won is None:
            break
        wins.append(won)
        if played_turns is not None:
            played_turns.append(played)
    return np.array(wins)


def _make_goal(war: War, aim: Aim) -> TakeAll:
    """Return the goal of plans for an aim.

    To break a continent, a plan takes the weakest territory of the continent on its border.
    """
    turn = war.turn
    if aim.kind in (CONTINENT, GUARD):
        return TakeAll(turn.board.continents[aim.which].territories)
    if aim.kind in (CHASE, ELIMINATE):
        return TakeAll(turn.position.list_territories(war.seats[aim.which]))
    own = {*turn.position.list_territories(turn.player)}
    beside = [
        name
        for name in turn.board.continents[aim.which].territories
        if any(name in turn.board.neighbours(each) for each in own)
    ]
    return TakeAll(min(beside, key=turn.armies_on))


def _evaluate_aim(war: War, aim: Aim) -> float:
    """Return the value of reaching an aim, in armies."""
    if aim.kind in (CHASE, ELIMINATE):
        return 10.0 + 2.0 * war.turn.hand_of(war.seats[aim.which]).number
    return 2.0 + 2.0 * war.turn.board.continents[aim.which].bonus


def _make_plan(turn: Turn, goal: Goal, deadline: Deadline) -> Plan | None:
    """Return the best plan for the attacks of a turn, or `None` if there are too many armies."""
    try:
        return best_plan(turn, goal, budget=GOAL_BUDGET, time_limit=deadline.time_limit, threads=1)
    except IactaError:
        return None


def _combine_policies(plan: Policy, start: Turn, deadline: Deadline) -> Policy:
    """Return a policy that attacks by a plan, and chooses all other actions like the usual AI.

    The policy stops attacking after the deadline.
    """

    def play_tactics(turn: Turn) -> Action:
        return choose_action(PLAYERS["usual"], turn, 0, NamedAim(Aim(AS_LIKED)))[0]

    def follow(turn: Turn) -> Action:
        if turn.phase == "attack" and deadline.is_over:
            return EndPhase()
        is_planned = turn.phase in ("attack", "advance") and turn.trade == start.trade
        return plan(turn) if is_planned else play_tactics(turn)

    return follow


def _estimate_from_one_game(
    end: Turn, player: str, ai: str, game_index: int, seed: int, deadline: Deadline
) -> float | None:
    """Estimate a player's chance to win after a turn from a single game.

    The result is `None` if the time is too short for the game.
    """
    if end.winner is not None:
        return float(end.winner == player)
    war = War(end)
    found = war.play_games(
        (PLAYERS[ai],) * len(war.seats),
        games=1,
        first=game_index,
        seed=seed,
        cut=choose_cut_rounds(ai, end),
        most_rounds=MAX_ROUNDS,
        deadline=deadline,
    )
    if not len(found.chances):
        return None
    return float(found.chances[0, war.seats.index(player)])
