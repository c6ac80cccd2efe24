"""Each player's chance to win the whole game if one AI plays every seat.

The chance depends on the AI. Therefore the result for an AI is always shown next to a second
opinion: the result for the keeper, an AI of another style that is as strong as the usual AI. For
the keeper itself, the second opinion comes from the usual AI. The two results are never averaged.

Games of these two AIs stop after six rounds, and the value function V estimates each player's
chance from there. A separate allowance covers the error of V: 3 percentage points for the usual AI,
6 for the keeper. Games of other AIs and of policies are played to the end, and so are games with
capitals or missions, because the error of V can then exceed the allowance.

Games are played in stages that end after 100, 200, 400, ... games. Results of incomplete stages are
discarded, except for the first stage. A time limit therefore limits the number of stages, but never
changes their results.
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import chain
from os import cpu_count
from threading import TIMEOUT_MAX, Lock
from typing import TypeAlias

import numpy as np

from iacta.game.actions import Action
from iacta.game.turn import Policy, Turn
from iacta.inputs.checks import read_int
from iacta.inputs.errors import IllegalError
from iacta.inputs.meanings import Unit
from iacta.native.deadline import Deadline
from iacta.probability.estimate import (
    Interval,
    compute_interval_of_chance,
    compute_interval_of_mean,
)
from iacta.war.games import (
    CHOSEN_AIM,
    Aim,
    PlayedGames,
    TimeIsOverError,
    War,
    check_war,
    choose_best_aim_per_goal,
    describe_aim,
    list_seats,
)
from iacta.war.players import PLAYERS
from iacta.war.tournament import (
    MAX_ROUNDS,
    MAX_TOURNAMENT_GAMES,
    Seat,
    get_seat_name,
    play_to_end,
    read_seat,
)
from iacta.war.value import load_weights

CUT_ROUNDS = 6  # games of the AIs in `ALLOWANCES` stop after this many rounds
# The allowance for the error of V, by AI. The rms error was 1.4 percentage points for 160 chances
# of the usual AI with rising sets, 2.4 for 80 chances with fixed sets, and 3.6 for 38 chances of
# the keeper. At least 97% of the errors lay within the allowance plus the noise of the games.
ALLOWANCES = {"usual": 0.03, "keeper": 0.06}
DEFAULT_GAMES = {"usual": 600, "keeper": 600, "strong": 200, "simple": 2000}
POLICY_GAMES = 40
V_ERROR = 0.15  # the typical error of V on boards where V is least exact
GRACE = 0.1  # extra time for the first two games after a deadline, in seconds
CHUNK_GAMES = 10  # games per call of the core; few, so that all threads end a stage together
FIRST_STAGE = 100  # games in the first stage; each later stage doubles the number of games
FIRST_STAGE_SHARES = (0.5, 1.0)  # each AI's share of the remaining time in the first stage
SCORED_AS_GAMES = 4  # V of a position gets Wilson's interval for this number of games
GOAL_GAMES = 40  # trial games for each goal; more games would delay the first result
GOAL_TIME_SHARE = 0.4  # the maximum share of the time limit for trial games
SEED_COUNT = 2**62  # adding this number to a seed gives independent games

Progress: TypeAlias = Callable[[int, int], None]  # arguments: games played, games in total


@dataclass(frozen=True)
class WinChance:
    """A player's chance to win, estimated from games of one AI.

    player: the player's name.
    chance: the mean of the player's results in all games.
    interval: a 95% confidence interval: Wilson's, with the variance of the results. It is wider by
        15 points times the share of games undecided after 200 rounds, or for a policy by the chance
        that another player could get from these games. The interval has length 0 if the game is
        already decided.
    """

    player: str
    chance: Unit
    interval: Interval


@dataclass(frozen=True)
class WinEstimate:
    """The players' chances to win if one AI plays every seat.

    ai: the name of the AI or policy.
    chances: the chance of each player, in the order of play. The chances sum to 1.
    games: the number of games.
    cut: the number of games cut short and decided by the learnt value function V.
    too_long: the number of games undecided after 200 rounds. V scores them; in games of a policy,
        they count equally for all players. The intervals cover the error of these scores.
    allowance: the error that scoring by V after six rounds may add to each interval.
    is_scored: whether the time was too short for two games, so that V scored the position itself.
        The intervals are then as wide as those of four games.
    """

    ai: str
    chances: tuple[WinChance, ...]
    games: int
    cut: int
    too_long: int
    allowance: float
    is_scored: bool = False

    @property
    def is_decided(self) -> bool:
        """Whether the game is already decided, so that no games were played."""
        return not self.games and not self.is_scored

    def find_chance(self, player: str) -> WinChance:
        """Return the chance of a player."""
        return next(chance for chance in self.chances if chance.player == player)


@dataclass(frozen=True)
class WinChances:
    """The players' chances to win the whole game, estimated with two AIs.

    chances: the result if the requested AI plays every seat.
    second_opinion: the result if another AI of equal strength plays every seat.
    goal: the best goal for this turn, in words; empty if the AI chose the goal of the turn.
    """

    chances: WinEstimate
    second_opinion: WinEstimate
    goal: str = ""


def win_chances(
    turn: Turn,
    *,
    player: Seat = "usual",
    best_goal: bool = False,
    games: int | None = None,
    time_limit: float | Fraction | None = None,
    seed: int = 0,
    progress: Callable[[WinChances | None, float], object] | None = None,
) -> WinChances:
    """Estimate each player's chance to win the whole game if one AI plays every seat.

    turn: the turn from which games are played, in any phase. Each game deals the unknown cards at
        random.
    player: the AI: `"usual"`, `"keeper"`, `"strong"`, `"simple"`, or a policy, that is, a function
        from a turn to a legal action. The second opinion comes from the keeper, or from the usual
        AI if `player` is the keeper. Games of the usual AI and the keeper stop after six rounds.
    best_goal: whether to play this turn for the best goal: the goal with the most wins in 40 trial
        games. The chances then come from new games. By default, the AI chooses the goal.
    games: the number of games for each AI; by default 600 for the usual AI and the keeper, 200 for
        the strong AI, 2,000 for the simple AI and 40 for a policy.
    time_limit: the time limit in seconds. If it is too short for all games, the result comes from
        the first 100, 200, 400, ... games, or from fewer than 100 games.
    seed: the seed of the dice. The same seed and number of games give the same result on every
        computer, with any number of threads.
    progress: a callback with two arguments: the result after the last complete stage (`None` before
        there is one), and the fraction of the games that have been played.

    A player who is the last survivor has a chance of exactly 1, and a player without territories
    has a chance of exactly 0. Raises `IactaError` for more than six players, for rules under which
    a battle can gain armies, for a game that cannot end because nobody can attack, and for a time
    limit that is too short for two games of a policy. If the time is too short for two games of an
    AI, the value function V scores the position itself.

    >>> from iacta import Turn
    >>> turn = Turn.from_code("1;classic;red;Peru:red:9,Brazil:red:9,Argentina:blue:1")
    >>> found = win_chances(turn, games=100)
    >>> [(each.player, round(each.chance)) for each in found.chances.chances]
    [('red', 1), ('blue', 0)]
    """
    seat = read_seat(player)
    check_war(turn)
    number = (
        None if games is None else read_int(games, "games", minimum=2, maximum=MAX_TOURNAMENT_GAMES)
    )
    read_int(seed, "seed")
    deadline = Deadline.from_time_limit(time_limit)
    if best_goal and not isinstance(seat, str):
        raise IllegalError("best_goal must be False for a policy, which has no goals, got True")
    if turn.winner is not None or len(list_seats(turn)) == 1:
        certain = _make_certain_estimate(turn, get_seat_name(seat))
        return WinChances(certain, replace(certain, ai=choose_second_ai(seat)))
    check_game_ends(turn)
    aim, goal = CHOSEN_AIM, ""
    if best_goal and isinstance(seat, str) and turn.phase not in ("fortify", "over"):
        aim, goal = _choose_best_goal(War(turn), seat, seed, deadline.take_share(GOAL_TIME_SHARE))
        seed += SEED_COUNT
    samples = [_Sample(turn, each, number, seed, aim) for each in (seat, choose_second_ai(seat))]
    total, found = sum(each.wanted for each in samples), None

    def report(_: int = 0, __: int = 0) -> None:
        if progress is not None:
            progress(found, min(sum(each.played for each in samples) / total, 1.0))

    stage = FIRST_STAGE
    while True:
        for share, sample in zip(FIRST_STAGE_SHARES, samples, strict=True):
            part = deadline if found else deadline.take_share(share)
            sample.play_stage(min(stage, sample.wanted), part, report)
        first, second = (each.estimate() for each in samples)
        found = WinChances(first, second, goal)
        report()
        is_complete = all(len(each) >= min(stage, each.wanted) for each in samples)
        if not is_complete or all(len(each) == each.wanted for each in samples):
            return found
        stage *= 2


def choose_second_ai(player: Seat) -> str:
    """Return the AI for the second opinion: the usual AI for the keeper, otherwise the keeper."""
    return "usual" if player == "keeper" else "keeper"


def check_game_ends(turn: Turn) -> None:
    """Raise an error if no player can ever attack, because such a game cannot end."""
    board, owners = turn.board, dict(zip(turn.board.territories, turn.owners, strict=True))
    if not any(
        owners[start] in turn.players and owners[to] not in ("", owners[start])
        for start, to in board.borders
    ):
        raise IllegalError(
            "the game cannot end: no territory of a player borders a territory of another owner"
        )


def make_time_error() -> IllegalError:
    """Return the exception for a time limit that is too short for two games."""
    return IllegalError("time_limit is too short for two games", parameter="time_limit")


def choose_cut_rounds(player: str, turn: Turn) -> int:
    """Return the number of rounds after which an AI's games stop, or 0 for complete games."""
    # The allowances were measured for these AIs, under the victory conditions that V may judge.
    return CUT_ROUNDS if player in ALLOWANCES and turn.victory.is_judged_by_v else 0


@dataclass(frozen=True)
class Series:
    """Games from one turn in which one AI plays every seat.

    war: the turn from which games are played.
    player: the AI.
    seed: the seed of the dice. Each index of a game has its own dice.
    aim: the aim of the first turn.
    """

    war: War
    player: str
    seed: int
    aim: Aim = CHOSEN_AIM

    def play(
        self, end: int, deadline: Deadline, progress: Progress | None = None, start: int = 0
    ) -> PlayedGames:
        """Play games until the deadline, using one thread per processor.

        start, end: the range of the indices of the games; `end` is excluded.
        """
        seats = (PLAYERS[self.player],) * len(self.war.seats)
        firsts = iter(range(start, end, CHUNK_GAMES))  # all threads share this iterator
        done, reporting = 0, Lock()

        def work() -> list[tuple[int, PlayedGames]]:
            nonlocal done
            found = []
            for first in firsts:
                chunk = self.war.play_games(
                    seats,
                    games=min(CHUNK_GAMES, end - first),
                    first=first,
                    seed=self.seed,
                    aim=self.aim,
                    cut=choose_cut_rounds(self.player, self.war.turn),
                    most_rounds=MAX_ROUNDS,
                    deadline=deadline,
                )
                found.append((first, chunk))
                with reporting:
                    done += len(chunk.chances)
                    if progress is not None:
                        progress(done, end)
                if deadline.is_over:
                    break
            return found

        threads = cpu_count() or 1
        with ThreadPoolExecutor(threads) as pool:
            try:
                working = [pool.submit(work) for _ in range(threads)]
                # Without a timeout, Ctrl-C would not interrupt the wait.
                rows = [each.result(TIMEOUT_MAX) for each in working]
            except BaseException:
                deadline.stop()
                raise
        # Sort the chunks by the index of their first game to make the result independent of
        # threads.
        parts = [chunk for _, chunk in sorted(chain(*rows), key=lambda row: row[0])]
        return PlayedGames(*(np.concatenate(each) for each in zip(*parts, strict=True)))

    def play_at_least_two(
        self, end: int, deadline: Deadline, progress: Progress | None = None
    ) -> PlayedGames:
        """Play games, and extend the deadline by `GRACE` for the two games of an interval.

        The result can still contain fewer than two games.
        """
        found = self.play(end, deadline, progress)
        if len(found.chances) < 2:
            found = self.play(2, deadline.postpone(GRACE))
        return found

    def play_stage(
        self, start: int, end: int, deadline: Deadline, progress: Progress
    ) -> PlayedGames:
        """Play the games of a stage, at least two games in the first stage."""
        if start:
            return self.play(end, deadline, progress, start)
        return self.play_at_least_two(end, deadline, progress)


def _choose_best_goal(war: War, player: str, seed: int, deadline: Deadline) -> tuple[Aim, str]:
    """Return the aim with the most wins for the player to move, and its description.

    The result is `(CHOSEN_AIM, "")` if there is only one goal, or if the trial games exceed the
    time limit.
    """
    try:
        found = choose_best_aim_per_goal(war, PLAYERS[player], seed, deadline)
    except TimeIsOverError:
        return CHOSEN_AIM, ""
    aims = [aim for aim, _ in found]
    if len(aims) < 2:
        return CHOSEN_AIM, ""
    mover, best = war.seats.index(war.turn.player), (-1.0, CHOSEN_AIM)
    for aim in aims:
        wins = Series(war, player, seed, aim).play(GOAL_GAMES, deadline).chances[:, mover]
        if len(wins) < GOAL_GAMES:
            return CHOSEN_AIM, ""
        best = max(best, (float(wins.mean()), aim), key=lambda each: each[0])
    return best[1], describe_aim(war, best[1])


class _Sample:
    """The games of one AI or policy, played in stages.

    wanted: the requested number of games.
    played: the number of games played, including games of an incomplete stage.
    """

    def __init__(self, turn: Turn, seat: Seat, games: int | None, seed: int, aim: Aim) -> None:
        self.turn, self.name = turn, get_seat_name(seat)
        if isinstance(seat, str):
            self.wanted = games or DEFAULT_GAMES.get(seat, 2000)
            self.series: Series | _PolicySeries = Series(War(turn), seat, seed, aim)
        else:
            self.wanted = games or POLICY_GAMES
            self.series = _PolicySeries(turn, seat, seed)
        self.played = 0
        self._parts = list[PlayedGames]()

    def __len__(self) -> int:
        return sum(len(part.chances) for part in self._parts)

    def play_stage(self, end: int, deadline: Deadline, progress: Progress) -> None:
        """Play until there are `end` games; discard an incomplete stage unless it is the first."""
        start = len(self)

        def count(done: int, total: int) -> None:
            self.played = start + done
            progress(done, total)

        if start < end:
            part = self.series.play_stage(start, end, deadline, count)
            if len(part.chances) == end - start or not start:
                self._parts.append(part)

    def estimate(self) -> WinEstimate:
        """Estimate the chances to win from all games played."""
        columns = PlayedGames(*(np.concatenate(each) for each in zip(*self._parts, strict=True)))
        is_policy = isinstance(self.series, _PolicySeries)
        if len(columns.chances) < 2 and is_policy:
            raise make_time_error()
        if len(columns.chances) < 2:
            return _score_position(War(self.turn), self.name)
        # Any player of a policy may win a game that is too long.
        error = 1 - 1 / len(list_seats(self.turn)) if is_policy else V_ERROR
        return _make_estimate(self.turn, self.name, columns, error)


def _limit_policy(policy: Policy, deadline: Deadline) -> Policy:
    """Return a policy that raises `TimeIsOverError` after a deadline."""

    def act(turn: Turn) -> Action:
        if deadline.is_over:
            raise TimeIsOverError
        return policy(turn)

    return act


@dataclass(frozen=True)
class _PolicySeries:
    """Games from one turn in which one policy plays every seat; fields as for `Series`."""

    turn: Turn
    policy: Policy
    seed: int

    def play_stage(
        self, start: int, end: int, deadline: Deadline, progress: Progress
    ) -> PlayedGames:
        """Play the games of a stage until the deadline."""
        seats, rows = list_seats(self.turn), []
        for number in range(start, end):
            # The first two games may take longer, because an interval needs two games.
            limit = deadline if number >= 2 else deadline.postpone(GRACE)
            timed = _limit_policy(self.policy, limit)
            try:
                winner = play_to_end(dict.fromkeys(seats, timed), self.turn, self.seed, number)
            except TimeIsOverError:
                break
            # V does not apply to policies. Therefore a game without a winner counts equally for all
            # players.
            rows.append([float(seat == winner) if winner else 1 / len(seats) for seat in seats])
            progress(len(rows), end - start)
        if not rows:
            raise make_time_error()
        chances = np.array(rows)
        zeros = np.zeros(len(rows), np.uint8)
        is_too_long = ~(chances == 1.0).any(axis=1)
        return PlayedGames(chances, zeros.astype(bool), is_too_long, zeros, zeros.astype(np.int32))


def _make_estimate(turn: Turn, ai: str, played: PlayedGames, v_error: float) -> WinEstimate:
    """Return the chances to win as means over games.

    v_error: the error of a player's chance if no game ends within the maximum number of rounds.
    """
    seats, chances, number = list_seats(turn), played.chances, len(played.chances)
    cut, too_long = int(played.is_cut.sum()), int(played.is_too_long.sum())
    error = v_error * too_long / number
    means = dict(zip(seats, chances.mean(axis=0).tolist(), strict=True))
    rows = []
    for name in turn.players:
        if name not in means or name not in turn.owners:
            rows.append(WinChance(name, 0.0, Interval(0.0, 0.0)))
            continue
        column = chances[:, seats.index(name)]
        low, high = compute_interval_of_mean(column)
        interval = Interval(max(low - error, 0.0), min(high + error, 1.0))
        rows.append(WinChance(name, means[name], interval))
    return WinEstimate(ai, tuple(rows), number, cut, too_long, ALLOWANCES[ai] if cut else 0.0)


def _score_position(war: War, ai: str) -> WinEstimate:
    """Estimate the chances to win by the value function V, without games."""
    values = dict(zip(war.seats, war.judge(load_weights("ending"))[0].tolist(), strict=True))
    rows = []
    for name in war.turn.players:
        chance = values.get(name, 0.0)
        interval = compute_interval_of_chance(chance, SCORED_AS_GAMES)
        if name not in war.turn.owners:
            interval = Interval(0.0, 0.0)
        rows.append(WinChance(name, chance, interval))
    return WinEstimate(ai, tuple(rows), 0, 0, 0, 0.0, is_scored=True)


def _make_certain_estimate(turn: Turn, ai: str) -> WinEstimate:
    winner = turn.winner or next(iter(turn.survivors), None)
    rows = (
        WinChance(name, float(name == winner), Interval(*[float(name == winner)] * 2))
        for name in turn.players
    )
    return WinEstimate(ai, tuple(rows), 0, 0, 0, 0.0)
