"""Each player's chance to win the whole game if one AI plays every seat.

The chance depends on the AI. Therefore the result for an AI is always shown next to a second
opinion: the result for the keeper, an AI of another style that is as strong as the usual AI. For
the keeper itself, the second opinion comes from the usual AI. The two results are never averaged.

Games are played in stages. A stage is a fixed number of games with fixed dice, and its result
replaces the result of the stage before. A time limit only decides which stage is reached, so the
numbers of a stage are the same on every computer. The stages of the usual AI and the keeper are:

1. The position itself is scored by the value function V, without games.
2. The chances are *estimated* from games that stop after three rounds and are scored by V.
3. The chances are counted in complete games.

V has an error, which counts like the error of a small number of complete games. The interval of an
estimated chance therefore covers both the dice and the error of V. Games of other AIs and of
policies are always complete, and so are games with capitals or missions, for which V is less exact.
They have stages of 75, 150, 300, ... games; see `FIRST_STAGE` and `POLICY_STAGE`.

A finished turn is the same position as the next player's turn, and has the same chances.
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import chain
from math import hypot
from os import cpu_count
from typing import NamedTuple, TypeAlias

import numpy as np

from iacta.game.actions import Action
from iacta.game.turn import Policy, Turn
from iacta.inputs.checks import read_int
from iacta.inputs.errors import IllegalError
from iacta.inputs.meanings import Unit
from iacta.native.deadline import Deadline
from iacta.native.heartbeat import beat, beat_during, wait_for_result
from iacta.probability.estimate import (
    Interval,
    compute_half_width_of_difference,
    compute_interval_of_chance,
    compute_interval_of_mean,
)
from iacta.war.game import MAX_ROUNDS, Seat, get_seat_name, read_seat
from iacta.war.games import (
    CHOSEN_AIM,
    Aim,
    Floats,
    PlayedGames,
    TimeIsOverError,
    War,
    check_war,
    list_seats,
)
from iacta.war.players import PLAYERS
from iacta.war.tournament import MAX_TOURNAMENT_GAMES, play_game
from iacta.war.value import load_weights

CUT_ROUNDS = 3  # games of an estimate stop after this many rounds
# With three rounds, the error of an estimate within one second of processor time is smallest.
ESTIMATE_GAMES = 80
CUT_AIS = ("usual", "keeper")  # the AIs for whose games the error of V was measured
# The error of V is as large as that of this number of complete games.
V_AS_GAMES = 80  # V after `CUT_ROUNDS` rounds
V_ALONE_AS_GAMES = 4  # V without games
V_DIFFERENCE_AS_GAMES = 400  # the difference between V in two positions of one turn
DEFAULT_GAMES = {"usual": 600, "keeper": 600, "strong": 200, "simple": 2000}
POLICY_GAMES = 40
FIRST_STAGE = {"usual": 75, "keeper": 75, "strong": 25, "simple": 250}  # each stage doubles
POLICY_STAGE = 5  # games in the first stage of a policy
V_ERROR = 0.15  # the typical error of V on boards where V is least exact
CHUNK_GAMES = 10  # games per call of the core; few, so that all threads end a stage together
SEED_COUNT = 2**62  # adding this number to a seed gives independent games

Progress: TypeAlias = Callable[[int, int], None]  # arguments: games played, games in total


@dataclass(frozen=True)
class WinChance:
    """A player's chance to win, estimated from games of one AI.

    player: the player's name.
    chance: the mean of the player's results in all games.
    interval: a 95% confidence interval: Wilson's, with the variance of the results and, for an
        estimated chance, the error of V. It is wider by 15 points times the share of games
        undecided after 200 rounds, or for a policy by the chance that another player could get from
        these games. The interval has length 0 if the game is already decided.
    """

    player: str
    chance: Unit
    interval: Interval


class WinChange(NamedTuple):
    """The difference between a player's chances to win in two positions.

    change: the chance in the later position minus the chance in the earlier position.
    interval: the 95% interval of `change`. Both positions have games with the same dice, so it is
        narrower than the intervals of the two chances suggest.
    """

    change: float
    interval: Interval


@dataclass(frozen=True)
class WinEstimate:
    """The players' chances to win if one AI plays every seat.

    ai: the name of the AI or policy.
    chances: the chance of each player, in the order of play. The chances sum to 1.
    games: the number of games.
    too_long: the number of games undecided after 200 rounds. V scores them; in games of a policy,
        they count equally for all players. The intervals cover the error of these scores.
    is_estimated: whether the games were stopped after three rounds and scored by V. Without games,
        V scored the position itself.
    results: each player's result in each game, in an array of shape (games, players).
    """

    ai: str
    chances: tuple[WinChance, ...]
    games: int
    too_long: int = 0
    is_estimated: bool = False
    results: Floats = field(default_factory=lambda: np.zeros((0, 0)), repr=False, compare=False)

    @property
    def is_decided(self) -> bool:
        """Whether the game is already decided, so that no games were played."""
        return not self.games and not self.is_estimated

    def find_chance(self, player: str) -> WinChance:
        """Return the chance of a player."""
        return next(chance for chance in self.chances if chance.player == player)

    def compute_change(self, before: "WinEstimate", player: str) -> WinChange:
        """Return the change of a player's chance since an earlier position.

        before: the chances in the earlier position, from games with the same seed.
        """
        ends = before.find_chance(player), self.find_chance(player)
        change = ends[1].chance - ends[0].chance
        halves = [(each.interval.high - each.interval.low) / 2 for each in ends]
        estimates = (before, self)
        if all(each.games or each.is_decided for each in estimates):
            columns = [
                each.results[:, [row.player for row in each.chances].index(player)]
                if each.games
                else np.array([end.chance])
                for each, end in zip(estimates, ends, strict=True)
            ]
            games = min((len(c) for c in columns if len(c) > 1), default=0)
            apart = columns[1][: games or 1] - columns[0][: games or 1]
            halves = [compute_half_width_of_difference(apart)] if games else [0.0]
            if any(each.is_estimated for each in estimates):
                middle = (ends[0].chance + ends[1].chance) / 2
                halves.append(compute_v_error(middle, V_DIFFERENCE_AS_GAMES))
        half = hypot(*halves)
        return WinChange(change, Interval(max(change - half, -1.0), min(change + half, 1.0)))


@dataclass(frozen=True)
class WinChances:
    """The players' chances to win the whole game, estimated with two AIs.

    chances: the result if the requested AI plays every seat.
    second_opinion: the result if another AI of equal strength plays every seat.
    """

    chances: WinEstimate
    second_opinion: WinEstimate


class WinStage(NamedTuple):
    """A stage of an estimate.

    games: the number of games.
    cut: the number of rounds after which the games stop; 0 for complete games.
    """

    games: int
    cut: int = 0


def win_chances(
    turn: Turn,
    *,
    player: Seat = "usual",
    games: int | None = None,
    time_limit: float | Fraction | None = None,
    seed: int = 0,
    progress: Callable[[WinChances | None, float], object] | None = None,
) -> WinChances:
    """Estimate each player's chance to win the whole game if one AI plays every seat.

    turn: the turn from which games are played, in any phase. A finished turn has the chances of the
        next player's turn. Each game deals the unknown cards at random.
    player: the AI: `"usual"`, `"keeper"`, `"strong"`, `"simple"`, or a policy, that is, a function
        from a turn to a legal action. The second opinion comes from the keeper, or from the usual
        AI if `player` is the keeper.
    games: the number of complete games for each AI; by default 600 for the usual AI and the keeper,
        200 for the strong AI, 2,000 for the simple AI and 40 for a policy.
    time_limit: the time limit in seconds. It decides which stage is reached: the position scored by
        the value function V, 80 games that stop after three rounds, or complete games.
    seed: the seed of the dice. The same seed and stage give the same result on every computer, with
        any number of threads.
    progress: a callback with two arguments: the result after the last complete stage (`None` before
        there is one), and the fraction of the work that is done.

    A player who is the last survivor has a chance of exactly 1, and a player without territories
    has a chance of exactly 0. Raises `IactaError` for more than six players, for rules under which
    a battle can gain armies, for a game that cannot end because nobody can attack, and for a time
    limit that is too short for five games of a policy.

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
    if turn.winner is not None or len(list_seats(turn)) == 1:
        certain = _make_certain_estimate(turn, get_seat_name(seat))
        return WinChances(certain, replace(certain, ai=choose_second_ai(seat)))
    check_game_ends(turn)
    turn = turn.next() if turn.phase == "over" else turn
    samples = [_Sample(turn, each, number, seed) for each in (seat, choose_second_ai(seat))]
    if not deadline.limited and progress is None:
        for sample in samples:
            del sample.stages[:-1]  # nobody sees the other stages
    total, found = sum(each.count_all_games() for each in samples), None

    def report(*_: int) -> None:
        if progress is not None:
            progress(found, min(sum(each.played for each in samples) / total, 1.0))

    for k in range(max(len(each.stages) for each in samples)):
        if not all(each.play_stage(k, deadline, report) for each in samples):
            break
        found = WinChances(*(each.estimate() for each in samples))
        report()
    return found or WinChances(*(each.score_position() for each in samples))


def list_stages(player: Seat, turn: Turn, games: int | None) -> list[WinStage]:
    """Return the stages in which the chances of an AI or a policy are estimated.

    games: the number of complete games in the last stage; `None` for the default number.
    """
    most, first, stages = games or POLICY_GAMES, POLICY_STAGE, list[WinStage]()
    if isinstance(player, str):
        most, first = games or DEFAULT_GAMES[player], FIRST_STAGE[player]
        if cut := choose_cut_rounds(player, turn):
            stages.append(WinStage(min(ESTIMATE_GAMES, most), cut))
            first = DEFAULT_GAMES[player]  # fewer complete games are less exact than the estimate
    while first < most:
        stages.append(WinStage(first))
        first *= 2
    return [*stages, WinStage(most)]


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


def choose_cut_rounds(player: str, turn: Turn) -> int:
    """Return the rounds after which games of an estimate stop, or 0 if V may not score them."""
    return CUT_ROUNDS if player in CUT_AIS and turn.victory.is_judged_by_v else 0


@dataclass(frozen=True)
class Series:
    """Games from one turn in which one AI plays every seat.

    war: the turn from which games are played.
    player: the AI.
    seed: the seed of the dice. Each index of a game has its own dice.
    aim: the aim of the first turn.
    cut: the number of rounds after which games stop; 0 for complete games.
    """

    war: War
    player: str
    seed: int
    aim: Aim = CHOSEN_AIM
    cut: int = 0

    def play(
        self, end: int, deadline: Deadline, progress: Progress | None = None, start: int = 0
    ) -> PlayedGames:
        """Play games until the deadline, using one thread per processor.

        start, end: the range of the indices of the games; `end` is excluded.
        """
        seats = (PLAYERS[self.player],) * len(self.war.seats)
        firsts = iter(range(start, end, CHUNK_GAMES))  # all threads share this iterator
        done = list[int]()  # the numbers of games in the finished chunks

        def work() -> list[tuple[int, PlayedGames]]:
            found = []
            for first in firsts:
                chunk = self.war.play_games(
                    seats,
                    games=min(CHUNK_GAMES, end - first),
                    first=first,
                    seed=self.seed,
                    aim=self.aim,
                    cut=self.cut,
                    most_rounds=MAX_ROUNDS,
                    deadline=deadline,
                )
                found.append((first, chunk))
                done.append(len(chunk.chances))
                if deadline.is_over:
                    break
            return found

        threads = cpu_count() or 1
        with ThreadPoolExecutor(threads) as pool:
            try:
                working = [pool.submit(work) for _ in range(threads)]
                with beat_during(None if progress is None else lambda: progress(sum(done), end)):
                    rows = [wait_for_result(each) for each in working]
                    beat()
            except BaseException:
                deadline.stop()
                raise
        # Sort the chunks by the index of their first game to make the result independent of
        # threads.
        parts = [chunk for _, chunk in sorted(chain(*rows), key=lambda row: row[0])]
        return PlayedGames(*(np.concatenate(each) for each in zip(*parts, strict=True)))


class _Sample:
    """The games of one AI or policy, played in stages.

    stages: the stages, in their order.
    played: the number of games played, including games of an incomplete stage.
    """

    def __init__(self, turn: Turn, seat: Seat, games: int | None, seed: int) -> None:
        self.turn, self.name = turn, get_seat_name(seat)
        self.stages, self.played = list_stages(seat, turn, games), 0
        self._series: Series | _PolicySeries = (
            Series(War(turn), seat, seed)
            if isinstance(seat, str)
            else _PolicySeries(turn, seat, seed)
        )
        self._cut, self._parts = 0, list[PlayedGames]()

    def count_all_games(self) -> int:
        """Return the number of games in all stages."""
        ends = {stage.cut: stage.games for stage in self.stages}  # later stages add games
        return sum(ends.values())

    def play_stage(self, number: int, deadline: Deadline, progress: Progress) -> bool:
        """Play a stage; return whether it is complete. An incomplete stage is discarded."""
        games, cut = self.stages[min(number, len(self.stages) - 1)]
        kept = self._parts if cut == self._cut else []
        start, before = sum(len(part.chances) for part in kept), self.played

        def count(done: int, total: int) -> None:
            self.played = before + done
            progress(done, total)

        if start < games:
            series = self._series
            if isinstance(series, Series):
                series = replace(series, cut=cut)
            part = series.play(games, deadline, count, start)
            if len(part.chances) < games - start:
                return False
            self._cut, self._parts = cut, [*kept, part]
        return True

    def estimate(self) -> WinEstimate:
        """Estimate the chances to win from the games of the last complete stage."""
        columns = PlayedGames(*(np.concatenate(each) for each in zip(*self._parts, strict=True)))
        is_policy = isinstance(self._series, _PolicySeries)
        # Any player of a policy may win a game that is too long.
        error = 1 - 1 / len(list_seats(self.turn)) if is_policy else V_ERROR
        return _make_estimate(self.turn, self.name, columns, error)

    def score_position(self) -> WinEstimate:
        """Estimate the chances to win by V, without games."""
        if isinstance(self._series, _PolicySeries):
            games = self.stages[0].games
            raise IllegalError(f"time_limit is too short for {games} games", parameter="time_limit")
        war = self._series.war
        values = dict(zip(war.seats, war.judge(load_weights("ending"))[0].tolist(), strict=True))
        rows = []
        for name in self.turn.players:
            chance = values.get(name, 0.0) if name in self.turn.owners else 0.0
            interval = compute_interval_of_chance(chance, V_ALONE_AS_GAMES)
            rows.append(WinChance(name, chance, interval if chance else Interval(0.0, 0.0)))
        return WinEstimate(self.name, tuple(rows), 0, is_estimated=True)


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

    def play(self, end: int, deadline: Deadline, progress: Progress, start: int = 0) -> PlayedGames:
        """Play games until the deadline, as `Series.play` does."""
        seats, rows = list_seats(self.turn), list[list[float]]()
        timed = _limit_policy(self.policy, deadline)
        for number in range(start, end):
            try:
                winner = play_game(dict.fromkeys(seats, timed), self.turn, self.seed, number)
            except TimeIsOverError:
                break
            # V does not apply to policies. Therefore a game without a winner counts equally for all
            # players.
            rows.append([float(seat == winner) if winner else 1 / len(seats) for seat in seats])
            progress(len(rows), end - start)
        chances = np.array(rows).reshape(-1, len(seats))
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
    columns = dict(zip(seats, chances.T, strict=True))
    results = np.zeros((number, len(turn.players)))
    rows = []
    for k, name in enumerate(turn.players):
        if name not in columns or name not in turn.owners:
            rows.append(WinChance(name, 0.0, Interval(0.0, 0.0)))
            continue
        results[:, k] = columns[name]
        low, high = compute_interval_of_results(columns[name], cut)
        interval = Interval(max(low - error, 0.0), min(high + error, 1.0))
        rows.append(WinChance(name, float(columns[name].mean()), interval))
    return WinEstimate(ai, tuple(rows), number, too_long, cut > 0, results)


def compute_interval_of_results(results: Floats, cut: int) -> Interval:
    """Return the 95% interval of the mean of a player's results in games.

    cut: the number of games that were stopped after `CUT_ROUNDS` rounds and scored by V.

    Without such games, it is `compute_interval_of_mean`. Otherwise it is Wilson's interval for as
    many complete games as have the same error as these games and V together.
    """
    if not cut:
        return compute_interval_of_mean(results)
    mean, games = float(results.mean()), len(results)
    of_chance = mean * (1 - mean)
    of_dice = float(results.var()) / games / of_chance if of_chance > 0.0 else 0.0
    return compute_interval_of_chance(mean, 1 / (of_dice + cut / games / V_AS_GAMES))


def compute_v_error(chance: float, games: int) -> float:
    """Return the half-width of a 95% interval that is as wide as for a number of games."""
    low, high = compute_interval_of_chance(chance, games)
    return (high - low) / 2


def _make_certain_estimate(turn: Turn, ai: str) -> WinEstimate:
    winner = turn.winner or next(iter(turn.survivors), None)
    rows = (
        WinChance(name, float(name == winner), Interval(*[float(name == winner)] * 2))
        for name in turn.players
    )
    return WinEstimate(ai, tuple(rows), 0)
