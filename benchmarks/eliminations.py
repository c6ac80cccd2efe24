"""Measure how often the usual AI makes the eliminations and immediate wins that plans find.

    python -m benchmarks.eliminations [record KIND...]

`eliminations.tsv` has turns from games of the usual AI. In each turn, a plan wins the game with a
chance of at least 93%, or of at least 60% under another victory condition than the last survivor;
or a plan eliminates a player with a chance of at least 60%, which raises the chance to win the game
by at least 5 points. Without `record`, the program plays each turn again, and prints the share of
wins or eliminations divided by the plan's chance. It also prints how much an elimination raises the
chance to win the game, compared with the AI's own turn. `record` draws new turns of the given kinds
from games of the current AI. This takes up to a quarter of an hour on one core.
"""

import sys
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import count, islice
from pathlib import Path
from random import Random
from statistics import fmean, stdev
from typing import NamedTuple

from benchmarks.deals import list_mission_cards, make_finished_game
from benchmarks.measure import Measurement
from iacta import Capitals, Missions, Sets, Share, Turn, Victory, classic_board
from iacta.game import Action, Mission, OwnContinents, OwnTerritories, Place
from iacta.game.turn import Policy
from iacta.native.deadline import Deadline
from iacta.plan import TakeAll, best_plan, eliminate
from iacta.plan.goal_plan import GoalPlan, plan_goal
from iacta.plan.levels import QUICK
from iacta.plan.winning import find_win
from iacta.probability.estimate import NORMAL_QUANTILE
from iacta.war.chances import CUT_ROUNDS
from iacta.war.games import CHOSEN_AIM, Aim, War
from iacta.war.players import CHASE, ELIMINATE, PLAYERS

FILE = Path(__file__).with_name("eliminations.tsv")
SOURCE = "# games of the usual AI, drawn by `python -m benchmarks.eliminations record KIND...`"
COLUMNS = ("kind", "chance", "gain", "victims", "turn")
# The kinds of turns; the last four are immediate wins under a victory condition: a share of the
# territories, capitals, or missions that require continents or territories with two armies each.
KINDS = (WIN, ELIMINATION, SHARE, CAPITALS, CONTINENTS, ARMIES) = (
    "win",
    "elimination",
    "share",
    "capitals",
    "continents",
    "armies",
)
CONDITIONS = KINDS[2:]
COUNTS = {WIN: 60, ELIMINATION: 60, **dict.fromkeys(CONDITIONS, 20)}  # the turns of each kind
MIN_CHANCES = {WIN: 0.93, **dict.fromkeys(KINDS[1:], 0.6)}
MIN_GAIN = 0.05
MIN_RATIO = 1.0  # minimum ratio of armies to the cost of an elimination
FIRST_GAME = 120_000  # the seed of the first game
GAMES_OF_A_PLAN, GAMES_AFTER, GAMES_WITHOUT = 30, 4, 120
PLAN_SECONDS, PLAN_BUDGET = 5.0, 0.03
TURNS = 100  # the number of times that each recorded turn is played
GAMES_COMPARED = 120  # the gain of 60 turns then has an error of about 2 points
USUAL = PLAYERS["usual"]
PEACEFUL = replace(USUAL, aims=tuple(kind for kind in USUAL.aims if kind not in (CHASE, ELIMINATE)))


class Opportunity(NamedTuple):
    """A turn with an immediate win or an elimination within reach.

    kind: a kind of `KINDS`.
    chance: the chance of the best plan.
    gain: the chance to win the game if the turn begins with the plan, minus the chance in games in
        which no AI aims at a player; 0 for an immediate win.
    victims: the players whose elimination has the required chance and gain, in descending order of
        gain.
    turn: the turn before the new armies are placed.
    """

    kind: str
    chance: float
    gain: float
    victims: tuple[str, ...]
    turn: Turn

    @classmethod
    def parse_row(cls, row: str) -> "Opportunity":
        """Read a row of the file."""
        kind, chance, gain, victims, code = row.rstrip("\n").split("\t")
        turn = Turn.from_code(code, classic_board())
        return cls(kind, float(chance), float(gain), tuple(victims.split()), turn)

    def format_row(self) -> str:
        """Return the row of the file."""
        victims = " ".join(self.victims)
        return f"{self.kind}\t{self.chance:.4f}\t{self.gain:.4f}\t{victims}\t{self.turn.to_code()}"

    def is_taken(self, end: Turn) -> bool:
        """Return whether the turn won the game or eliminated a victim, given its end."""
        if self.kind != ELIMINATION:
            return end.winner == self.turn.player
        return any(victim not in end.owners for victim in self.victims)


def read_opportunities(kind: str) -> list[Opportunity]:
    """Return the recorded turns of a kind."""
    rows = FILE.read_text(encoding="utf-8").splitlines()[2:]
    return [found for found in map(Opportunity.parse_row, rows) if found.kind == kind]


def measure_share(opportunity: Opportunity, turns: int, seed: int = 0) -> float:
    """Return the share of turns in which the usual AI wins or eliminates a victim."""
    war = War(opportunity.turn)
    return fmean(
        opportunity.is_taken(war.play_turn(USUAL, seed + number).end) for number in range(turns)
    )


def measure_aim(opportunity: Opportunity, turns: int, seed: int = 0) -> float:
    """Return the share of turns in which the AI eliminates the first victim, given this aim."""
    war, victim = War(opportunity.turn), opportunity.victims[0]
    aim = Aim(ELIMINATE, war.seats.index(victim))
    return fmean(
        victim not in war.play_turn(USUAL, seed + number, aim).end.owners for number in range(turns)
    )


def measure_gain(opportunity: Opportunity) -> float:
    """Return the chance to win if the turn's aim is the elimination, minus that of the AI's aim."""
    war = War(opportunity.turn)
    seats, mover = (USUAL,) * len(war.seats), war.seats.index(opportunity.turn.player)
    given, chosen = (
        war.play_games(seats, games=GAMES_COMPARED, aim=aim, cut=CUT_ROUNDS).chances[:, mover]
        for aim in (Aim(ELIMINATE, war.seats.index(opportunity.victims[0])), CHOSEN_AIM)
    )
    return float(given.mean() - chosen.mean())


def measure_eliminations() -> Iterator[Measurement]:
    """Measure the AI's shares of wins and eliminations, divided by the chances of plans."""
    for kind, claim, asked in (
        (WIN, "immediate wins, divided by the plans' chance", 0.97),
        *((each, f"the same, {each}", None) for each in CONDITIONS),
        (ELIMINATION, "eliminations, divided by the plans' chance", 0.9),
    ):
        found = read_opportunities(kind)
        made = fmean(measure_share(each, TURNS) for each in found)
        planned = fmean(each.chance for each in found)
        yield Measurement(claim, made / planned, asked, True, len(found))
    made = fmean(measure_aim(each, TURNS) for each in found)
    claim = "the same, with the elimination as a given aim"
    yield Measurement(claim, made / planned, None, True, len(found))
    gains = [measure_gain(each) for each in found]
    claim = "the given aim raises the chance to win the game by"
    yield Measurement(claim, fmean(gains), None, False, len(found))
    error = NORMAL_QUANTILE * stdev(gains) / len(gains) ** 0.5
    yield Measurement("error of this number, 95%", error, None, False, len(found))


def draw_opportunities(kinds: set[str]) -> Iterator[Opportunity]:
    """Yield turns from any number of games of the usual AI, at most one turn of a kind per game.

    kinds: the wanted kinds; the caller removes a kind when it has enough turns.
    """
    for seed in count(FIRST_GAME):
        random, open_kinds = Random(seed), {*kinds}
        trade = Sets(is_fixed=True) if seed % 2 else None
        turn = make_finished_game(classic_board(), 3 + seed // 2 % 4, trade)
        held = list(turn.owners)
        random.shuffle(held)
        turn = turn.replace_armies(tuple(held), turn.armies).next()
        while turn.winner is None:
            record = War(turn).play_turn(USUAL, random.getrandbits(60))
            seen = (move.turn for move in record.moves)
            shown = next((each for each in seen if is_shown(each)), None)
            if shown is not None:
                for found in find_opportunities(shown, open_kinds):
                    open_kinds.remove(found.kind)
                    yield found
            if record.end.winner is not None or not open_kinds & kinds:
                break
            turn = record.end.next()


def is_shown(turn: Turn) -> bool:
    """Return whether the mover's cards are known or have already been traded."""
    return turn.phase == "place" or (turn.phase == "trade" and not turn.hand.unknown)


def find_opportunities(turn: Turn, kinds: set[str]) -> Iterator[Opportunity]:
    """Yield the immediate win and the elimination within reach, if their kinds are wanted."""
    war = War(turn)
    costs = {
        name: sum(n + 1 for o, n in zip(turn.owners, turn.armies, strict=True) if o == name)
        for name in war.seats
        if name != turn.player and name in turn.owners
    }
    weakest = min(costs, key=lambda name: costs[name])
    start = find_placement_phase(war, war.seats.index(weakest))
    if start is None:
        return
    owned = zip(start.owners, start.armies, strict=True)
    supply = start.place + sum(n - 1 for owner, n in owned if owner == turn.player)
    if WIN in kinds and supply >= MIN_RATIO * sum(costs.values()):
        others = tuple(t for name in costs for t in start.position.list_territories(name))
        chance = plan_quickly(start, TakeAll(others)).value or 0.0
        if chance >= MIN_CHANCES[WIN]:
            yield Opportunity(WIN, chance, 0.0, (), turn)
    if ELIMINATION not in kinds or len(costs) < 2:
        return
    mover, peaceful = war.seats.index(turn.player), (PEACEFUL,) * len(war.seats)
    without, found = None, list[tuple[float, float, str]]()
    for name, cost in costs.items():
        if supply < MIN_RATIO * cost:
            continue
        reach = plan_quickly(start, eliminate(start.position, name))
        if (reach.value or 0.0) < MIN_CHANCES[ELIMINATION]:
            continue
        if without is None:
            games = war.play_games(peaceful, games=GAMES_WITHOUT, cut=CUT_ROUNDS)
            without = float(games.chances[:, mover].mean())
        chance, win = measure_plan(start, name, reach)
        if chance >= MIN_CHANCES[ELIMINATION] and win - without >= MIN_GAIN:
            found.append((win - without, chance, name))
    if found:
        found.sort(reverse=True)
        gain, chance, _ = found[0]
        yield Opportunity(ELIMINATION, chance, gain, tuple(name for *_, name in found), turn)


def draw_wins(kind: str) -> Iterator[Opportunity]:
    """Yield immediate wins under a victory condition, at most one per game of the usual AI."""
    for seed in count(FIRST_GAME):
        random = Random(f"{kind} {seed}")
        trade = Sets(is_fixed=True) if seed % 2 else None
        turn = make_finished_game(classic_board(), 3 + seed // 2 % 4, trade)
        held = list(turn.owners)
        random.shuffle(held)
        turn = turn.replace_armies(tuple(held), turn.armies)
        turn = turn.with_options(victory=draw_condition(kind, turn, random)).next()
        while turn.winner is None:
            record = War(turn).play_turn(USUAL, random.getrandbits(60))
            seen = (turn, *(move.turn for move in record.moves))
            start = next((each for each in seen if each.phase == "place"), None)
            chance = 0.0 if start is None else estimate_win(start)
            if start is not None and chance >= MIN_CHANCES[kind]:
                yield Opportunity(kind, chance, 0.0, (), start)
                break
            if record.end.winner is not None:
                break
            turn = record.end.next()


def draw_condition(kind: str, turn: Turn, random: Random) -> Victory:
    """Return a random victory condition of a kind."""
    names, board = turn.players, turn.board
    if kind == SHARE:
        return Share(Fraction(random.choice((5, 6, 7)), 10))
    if kind == CAPITALS:
        homes = {name: random.choice(turn.position.list_territories(name)) for name in names}
        return Capitals(homes, random.choice((None, len(names) - 1)))
    cards = list_mission_cards(board, names)
    if kind == ARMIES:
        return Missions(dict.fromkeys(names, next(card for card in cards if is_strong(card))))
    chosen = [card for card in cards if isinstance(card, OwnContinents)]
    return Missions({name: random.choice(chosen) for name in names})


def is_strong(card: Mission) -> bool:
    """Return whether a mission requires several armies on each territory."""
    return isinstance(card, OwnTerritories) and card.armies > 1


def estimate_win(start: Turn) -> float:
    """Return a quick plan's chance to win in this turn; 0 for a win without attacks."""
    win = find_win(start)
    if win is None or win.placement is not None:
        return 0.0
    return plan_goal(start, win.goal, QUICK, Deadline()).value or 0.0


def plan_quickly(start: Turn, goal: TakeAll) -> GoalPlan:
    """Return a quick plan for a goal."""
    return plan_goal(start, goal, QUICK, Deadline())


def find_placement_phase(war: War, victim: int) -> Turn | None:
    """Return the turn in its placement phase, after the AI has traded cards, if any."""
    moves = war.play_turn(USUAL, 0, Aim(ELIMINATE, victim)).moves
    return next((move.turn for move in moves if move.turn.phase == "place"), None)


def measure_plan(start: Turn, victim: str, found: GoalPlan) -> tuple[float, float]:
    """Return a plan's chance to eliminate a player, and the chance to win in later play."""
    turn, names = start, start.board.territories
    for territory, armies in sorted(found.placement, key=lambda each: names.index(each[0])):
        if armies:
            turn = turn.after(Place(territory, armies))
    goal = eliminate(turn.position, victim)
    plan = best_plan(turn, goal, budget=PLAN_BUDGET, time_limit=PLAN_SECONDS)
    wins = list[float]()
    for seed in range(GAMES_OF_A_PLAN):
        after = play_plan(turn, plan.policy, victim, seed)
        if after.winner is not None:
            wins.append(float(after.winner == start.player))
            continue
        war = War(after)
        row = (USUAL,) * len(war.seats)
        games = war.play_games(row, games=GAMES_AFTER, first=GAMES_AFTER * seed, cut=CUT_ROUNDS)
        wins.append(float(games.chances[:, war.seats.index(start.player)].mean()))
    return plan.win_probability or 0.0, fmean(wins)


def play_plan(turn: Turn, plan: Policy, victim: str, seed: int) -> Turn:
    """Play a plan; return the turn after the elimination, or its end if the plan fails."""

    def choose(turn: Turn) -> Action:
        is_planned = turn.phase in ("attack", "advance") and victim in turn.owners
        return plan(turn) if is_planned else turn.actions()[-1]

    record = turn.play(choose, seed=seed)
    for move in record.moves:
        if victim not in move.turn.owners and move.turn.phase != "advance":
            return move.turn
    return record.end


def record(drawn: set[str]) -> None:
    """Draw new turns of some kinds and write the file."""
    found = {kind: [] if kind in drawn else read_opportunities(kind) for kind in KINDS}
    for kind in drawn & {*CONDITIONS}:
        for each in islice(draw_wins(kind), COUNTS[kind]):
            found[kind].append(each)
            print(each.format_row(), flush=True)
    kinds = drawn - {*CONDITIONS}
    for each in draw_opportunities(kinds) if kinds else ():
        found[each.kind].append(each)
        print(each.format_row(), flush=True)
        if len(found[each.kind]) == COUNTS[each.kind]:
            kinds.remove(each.kind)
        if not kinds:
            break
    rows = [each.format_row() for kind in KINDS for each in found[kind]]
    FILE.write_text("\n".join([SOURCE, "\t".join(COLUMNS), *rows, ""]), encoding="utf-8")


MEASURES = (measure_eliminations,)

if __name__ == "__main__":
    if sys.argv[1:2] == ["record"]:
        record({*sys.argv[2:]})
    else:
        for row in measure_eliminations():
            print(row)
