"""The Python interface to whole games in the compiled core."""

from collections.abc import Sequence
from math import inf
from threading import Lock
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from iacta.game import Action, Advance, Attack, Defend, EndPhase, Fortify, Hand, Place, Reveal
from iacta.game import Trade as TradeAction
from iacta.game.actions import Result
from iacta.game.deal import deal_missions
from iacta.game.turn import Move, PlayedTurn, Turn
from iacta.game.victory import Victory
from iacta.inputs.checks import quote
from iacta.inputs.errors import IactaError, IllegalError, MalformedError, TooLargeError
from iacta.native.bit_sets import bits
from iacta.native.calls import Call, call_core, make_budget
from iacta.native.core_library import CoreData, Library, load_library, make_pointer
from iacta.native.deadline import Deadline
from iacta.plan.problem import refuse_large_board
from iacta.rules.roll import Losses
from iacta.rules.variants import make_unfit_rules_error
from iacta.war.players import (
    AIMS,
    AS_LIKED,
    BOLDLY,
    BREAK,
    CHASE,
    CHOSEN_BY_AI,
    CONTINENT,
    ELIMINATE,
    GUARD,
    HOLD,
    ONE_CARD,
    PILE,
    RAID,
    SAFE_CARD,
    WARILY,
    WIN,
    Player,
)
from iacta.war.tables import make_tables
from iacta.war.value import Weights, load_weights

Floats: TypeAlias = npt.NDArray[np.float64]


class Aim(NamedTuple):
    """The aim of an AI in a turn, such as taking a continent.

    kind: a constant such as `CONTINENT`; `CHOSEN_BY_AI` lets the AI choose the aim.
    which: the index of the continent or the seat of the player. For `WIN`, 1 plus the index of the
        territory that gets all new armies; 0 if the routes divide them. 0 for other kinds.
    """

    kind: str = CHOSEN_BY_AI
    which: int = 0


CHOSEN_AIM = Aim()
CARD_AIMS = (ONE_CARD, PILE, SAFE_CARD)  # aims for taking one card
WIN_NOW = "win now"
OPEN_AIMS = {  # descriptions of the aims that concern no continent and no player
    AS_LIKED: "attack without a goal",
    HOLD: "hold without attacking",
    BOLDLY: "attack boldly",
    WARILY: "attack cautiously",
    WIN: WIN_NOW,
}


def get_kind_number(library: Library, aim: Aim) -> int:
    """Return the core's number for the kind of an aim."""
    return library.names("AIM_")[aim.kind.replace(" ", "_")]


def list_weights(library: Library, ai: Player) -> Floats:
    """Return the weights of an AI in the order of the core."""
    kinds, order = library.names("AIM_"), library.names("WEIGHT_")
    weights = np.zeros(library.constant("WEIGHTS"))
    for name, index in order.items():
        if name == "aims":
            weights[index] = sum(1 << kinds[kind.replace(" ", "_")] for kind in {*ai.aims})
        elif name == "preferred":
            weights[index] = kinds[ai.preferred.replace(" ", "_")]
        else:
            weights[index] = getattr(ai, name)
    return weights


def stack_weights(players: Sequence[Player], victory: Victory) -> Weights | None:
    """Return the weights of V for each AI, or `None` if no AI simulates turns."""
    if all(player.samples <= 0 for player in players):
        return None
    usual = "choosing" if victory.is_judged_by_v else "missions"
    most = load_library("whole games").constant("VALUE_WEIGHTS")
    rows = []
    for player in players:
        row = (
            load_weights(usual) if player.value is None else load_weights("choosing", player.value)
        )
        if len(row) != most:
            raise MalformedError(
                f"value must be a file with {most:,} weights, got {len(row):,} in {player.value}"
            )
        rows.append(row)
    return np.concatenate(rows)


class TimeIsOverError(Exception):
    """Raised when the deadline passes before an AI has chosen its actions."""


class PlayedGames(NamedTuple):
    """Results of games played by the core. The first axis of each array is the game.

    chances: an array of shape (games, players): 1 for the winner and 0 for the others, or V for a
        game without a winner.
    is_cut: whether the game was stopped early and scored by V.
    is_too_long: whether the game had no winner after the maximum number of rounds.
    reached: whether the first turn reached its aim.
    rounds: the number of rounds in the game.
    """

    chances: Floats
    is_cut: npt.NDArray[np.bool_]
    is_too_long: npt.NDArray[np.bool_]
    reached: npt.NDArray[np.uint8]
    rounds: npt.NDArray[np.int32]


def check_war(turn: object) -> Turn:
    """Return `turn`; raise an error if whole games cannot be played from it."""
    if not isinstance(turn, Turn):
        raise MalformedError(f"turn must be a Turn, got {quote(turn)}")
    for rules in (turn.rules, *turn.rules_of.values()):
        if not rules.mode.fits_plans:
            raise make_unfit_rules_error(rules, "for the whole game")
    refuse_large_board(turn.board, "whole games")
    most = load_library("whole games").constant("MAX_ARMIES")
    if sum(turn.armies) > most:
        raise TooLargeError(
            f"armies must be at most {most:,} in total for whole games, got {sum(turn.armies):,}"
        )
    return turn


def list_seats(turn: Turn) -> tuple[str, ...]:
    """Return the player to move and the players with territories or cards, in order of play."""
    return tuple(
        player
        for player in turn.players
        if player in (*turn.owners, turn.player) or player in (turn.cards or ())
    )


def _hide_missions(played: PlayedTurn, dealt: Turn, turn: Turn) -> PlayedTurn:
    """Return a copy of a played turn in which the dealt missions are hidden again."""

    def hide(each: Turn) -> Turn:
        is_same = each.victory == dealt.victory
        return each.with_options(victory=turn.victory) if is_same else each

    moves = tuple(move._replace(turn=hide(move.turn)) for move in played.moves)
    return PlayedTurn(moves, hide(played.end))


class War:
    """Whole games from one turn, played by the core. Instances are immutable and thread-safe.

    turn: the turn from which games are played, with two to six players.

    Raises `IactaError` for other numbers of players, and for rules under which a battle can gain
    armies.
    """

    def __init__(self, turn: Turn) -> None:
        self._war = None
        self._library = load_library("whole games")
        self._core = self._library.functions
        self.turn = check_war(turn)
        self.seats = list_seats(turn)
        number, most = len(self.seats), self._library.constant("MAX_PLAYERS")
        if not 2 <= number <= most:
            raise IllegalError(f"players must be from 2 to {most}, got {number}")
        tables = make_tables(self._library, turn, self.seats)
        self.features = self._library.constant("FEATURES")
        self.card_lands = tables.turn.arrays["card_land"].tolist()
        self._actions = {number: name for name, number in self._library.names("ACTION_").items()}
        self._kinds = {
            number: name.replace("_", " ") for name, number in self._library.names("AIM_").items()
        }
        self._war = self._library.open_handle(
            "war_open", tables.problem.reference, tables.turn.reference
        )

    def __del__(self) -> None:
        if self._war:
            self._core.iacta_war_close(self._war)

    def _call(self, function: Call, deadline: Deadline | None) -> None:
        """Call a function of the core with a budget; raise `TimeIsOverError` at the deadline."""
        unsound = "the core received an invalid request"
        code = call_core(
            self._library, function, deadline or Deadline(), Lock(), is_short=True, unsound=unsound
        )
        if code == self._library.constant("STOPPED"):
            raise TimeIsOverError

    def compute_odds(self, to: int, able: int, defenders: int) -> tuple[float, float, float]:
        """Return the chance to win a whole battle, and the expected losses of both sides.

        to: the index of the attacked territory.
        able: the attacking armies, excluding the garrison.
        defenders: the armies on the attacked territory.
        """
        found = np.zeros(3)
        self._core.iacta_war_read_odds(self._war, to, able, defenders, make_pointer(found))
        won, lost, killed = found.tolist()
        return won, lost, killed

    def judge(self, weights: Weights) -> tuple[Floats, npt.NDArray[np.float32]]:
        """Return the value of V for each player, and the features from which it is computed."""
        seen = np.zeros((len(self.seats), self.features), dtype=np.float32)
        chances = np.zeros(len(self.seats))
        self._core.iacta_war_evaluate(
            self._war,
            make_pointer(weights),
            make_pointer(seen),
            make_pointer(chances),
        )
        return chances, seen

    def judge_aims(
        self, ai: Player, seed: int, deadline: Deadline | None = None
    ) -> list[tuple[Aim, float]]:
        """Return the aims that an AI compares in this turn with their values; its choice is first.

        The value of an aim is the mean of V after simulated turns with this aim. The AI adds its
        `margin` to the value of `as liked` before it chooses. Clearly worse aims are simulated less
        often, and an elimination whose value nearly equals the best value is simulated more often.
        The list is empty for an AI that chooses its aim without simulations. Raises
        `TimeIsOverError` at the deadline.
        """
        if ai.samples <= 0:
            return []
        room = len(AIMS) + 2 * len(self.seats) + 4 * len(self.turn.board.continents)
        count = np.zeros(1, dtype=np.int32)
        found, values = np.zeros((room, 2), dtype=np.int32), np.zeros(room)
        weights, choosing = self._list_weights((ai,))

        def call(budget: Any) -> int:
            count[0] = room
            code: int = self._core.iacta_war_judge_aims(
                self._war,
                budget,
                make_pointer(weights),
                make_pointer(choosing),
                seed,
                make_pointer(found),
                make_pointer(values),
                make_pointer(count),
            )
            return code

        self._call(call, deadline)
        aims = [Aim(self._kinds[kind], which) for kind, which in found[: count.item()].tolist()]
        return [*zip(aims, values.tolist(), strict=False)]

    def choose_action(self, ai: Player, seed: int, aim: Aim = CHOSEN_AIM) -> tuple[Action, Aim]:
        """Return the next action of an AI with a given aim, and its aim after the action."""
        given = (get_kind_number(self._library, aim), aim.which)
        chosen = np.zeros(2, dtype=np.int32)
        rows = self._library.make_rows("action", 1)
        weights, choosing = self._list_weights((ai,))

        def call(budget: Any) -> int:
            chosen[:] = given
            code: int = self._core.iacta_war_choose_action(
                self._war,
                budget,
                make_pointer(weights),
                make_pointer(choosing),
                seed,
                make_pointer(chosen),
                rows,
            )
            return code

        self._call(call, None)
        action, _ = self._read_action(self.turn, rows[0])
        kind, which = chosen.tolist()
        return action, Aim(self._kinds[kind], which) if kind >= 0 else CHOSEN_AIM

    def play_turn(
        self, ai: Player, seed: int, aim: Aim = CHOSEN_AIM, deadline: Deadline | None = None
    ) -> PlayedTurn:
        """Let an AI play the rest of the turn.

        Hidden missions are dealt at random for this call; the returned turn hides them again.
        Raises `TimeIsOverError` at the deadline.
        """
        dealt = deal_missions(self.turn, seed)
        if dealt != self.turn:
            played = War(dealt).play_turn(ai, seed, aim, deadline)
            return _hide_missions(played, dealt, self.turn)
        room, lands = 1000, len(self.turn.armies)
        owners, armies = np.zeros(lands, np.uint8), np.zeros(lands, np.int32)
        cards = np.zeros(len(self.seats), np.int32)
        weights, choosing = self._list_weights((ai,))
        log: Any = None
        count = np.zeros(1, dtype=np.int32)

        def call(budget: Any) -> int:
            nonlocal log
            log = self._library.make_rows("action", room)
            count[0] = room
            code: int = self._core.iacta_war_play_turn(
                self._war,
                budget,
                make_pointer(weights),
                make_pointer(choosing),
                get_kind_number(self._library, aim),
                aim.which,
                seed,
                log,
                make_pointer(count),
                make_pointer(owners),
                make_pointer(armies),
                make_pointer(cards),
            )
            return code

        while True:
            self._call(call, deadline)
            if count.item() <= room:
                break
            room = int(count.item())
        played = self._replay(log[: count.item()])
        end, seats = played.end, dict(enumerate(self.seats))
        named = [seats.get(owner, "") for owner in owners.tolist()]
        ours = [owner if owner in self.seats else "" for owner in end.owners]
        held = [end.hand_of(name).number for name in self.seats]
        if (ours, [*end.armies], held) != (named, armies.tolist(), cards.tolist()):
            raise IactaError("the core and Python disagree about the end of a turn")
        return played

    def play_games(
        self,
        players: tuple[Player, ...],
        *,
        games: int,
        seed: int = 0,
        first: int = 0,
        aim: Aim = CHOSEN_AIM,
        cut: int = 0,
        most_rounds: int = 200,
        is_dealt: bool = False,
        deadline: Deadline | None = None,
    ) -> PlayedGames:
        """Play games until the deadline.

        players: the AI in each seat.
        games: the number of games.
        seed: the seed of the dice.
        first: the index of the first game. Each index has its own dice.
        aim: the aim of the first turn.
        cut: the number of rounds after which games stop and V scores them; 0 plays to the end.
        most_rounds: the maximum number of rounds in a game.
        is_dealt: whether each game begins with a random deal of the territories.
        """
        chances = np.zeros((games, len(self.seats)))
        ended, reached = np.zeros(games, np.uint8), np.zeros(games, np.uint8)
        rounds = np.zeros(games, np.int32)
        weights, choosing = self._list_weights(players)
        request = CoreData(
            self._library,
            "games",
            weights=weights,
            ending=load_weights("ending" if self.turn.victory.is_judged_by_v else "missions"),
            aim=get_kind_number(self._library, aim),
            which=aim.which,
            is_dealt=is_dealt,
            cut=cut,
            max_rounds=most_rounds,
            games=games,
            seed=seed % 2**64,
            first=first,
        )
        if choosing is not None:
            request.set_fields(choosing=choosing)
        results = CoreData(
            self._library, "played", chances=chances, ended=ended, reached=reached, rounds=rounds
        )
        code = self._core.iacta_war_play_games(
            self._war,
            make_budget(self._library, deadline or Deadline(), inf),
            request.reference,
            results.reference,
        )
        if code not in (self._library.constant("DONE"), self._library.constant("STOPPED")):
            raise IactaError("the core ran out of memory, or received an invalid request")
        n: int = results.data.played
        is_cut, is_too_long = (
            ended[:n] == self._library.constant(end) for end in ("END_CUT", "END_TOO_LONG")
        )
        return PlayedGames(chances[:n], is_cut, is_too_long, reached[:n], rounds[:n])

    def record_game(
        self,
        players: tuple[Player, ...],
        *,
        sample_chance: float,
        seed: int,
        most_rounds: int = 200,
        max_samples: int = 400,
    ) -> tuple[npt.NDArray[np.float32], Floats]:
        """Play a game from a random deal; return the features of sampled turns and the result.

        players: the AI in each seat.
        sample_chance: the probability of sampling the start of a turn.
        seed: the seed of the dice.
        most_rounds: the maximum number of rounds in the game.
        max_samples: the maximum number of sampled turns.
        """
        seen = np.zeros((max_samples, len(self.seats), self.features), dtype=np.float32)
        count, chances = np.array([max_samples], np.int32), np.zeros(len(self.seats))
        weights, choosing = self._list_weights(players)
        self._core.iacta_war_record_game(
            self._war,
            make_pointer(weights),
            make_pointer(choosing),
            most_rounds,
            sample_chance,
            seed % 2**64,
            make_pointer(seen),
            make_pointer(count),
            make_pointer(chances),
        )
        return seen[: count.item()], chances

    def _list_weights(self, players: Sequence[Player]) -> tuple[Floats, Weights | None]:
        """Return the weights of AIs, and the weights of their value functions."""
        rows = [list_weights(self._library, player) for player in players]
        return np.concatenate(rows), stack_weights(players, self.turn.victory)

    def _replay(self, log: Any) -> PlayedTurn:
        """Replay the core's log through `Turn`; the core plays legal actions only."""
        turn, moves = self.turn, list[Move]()
        for row in log:
            action, result = self._read_action(turn, row)
            moves.append(Move(turn, action, result))
            turn = turn.apply_legal(action, result)
        return PlayedTurn(tuple(moves), turn)

    def _read_action(self, turn: Turn, row: Any) -> tuple[Action, Result]:
        names = turn.board.territories
        start, to = names[max(row.a, 0)], names[max(row.b, 0)]
        mask = (row.y & 0xFFFFFFFF) << 32 | row.x & 0xFFFFFFFF
        match self._actions[row.kind]:
            case "reveal":
                return Reveal(), self._read_hand(mask)
            case "trade":
                return TradeAction(self._read_hand(mask), start if row.a >= 0 else ""), None
            case "place":
                return Place(start, row.number), None
            case "attack":
                attack = Attack(start, to, row.number)
                if row.y < 0:
                    return attack, turn.find_choice(attack).throws[row.x]
                return attack, Losses(row.x, row.y)
            case "defend":
                return Defend(row.number), Losses(row.x, row.y)
            case "advance":
                return Advance(row.number), None
            case "fortify":
                return Fortify(start, to, row.number), None
        return EndPhase(), None

    def _read_hand(self, mask: int) -> Hand:
        of_symbol = self._library.constant("CARDS_OF_SYMBOL")
        cards = [*bits(mask)]
        counts = [sum(k // of_symbol == symbol for k in cards) for symbol in range(4)]
        lands = (self.card_lands[k] for k in cards)
        names = tuple(sorted(self.turn.board.territories[t] for t in lands if t >= 0))
        return Hand._make((*counts, 0, names))


def choose_best_aim_per_goal(
    war: War, ai: Player, seed: int, deadline: Deadline | None = None
) -> list[tuple[Aim, float]]:
    """Return the AI's best aim for each goal, with its value; the best goal comes first.

    Raises `TimeIsOverError` at the deadline.
    """
    best = dict[str, tuple[Aim, float]]()
    for aim, value in war.judge_aims(ai, seed, deadline):
        best.setdefault(describe_aim(war, aim), (aim, value))
    return [*best.values()]


def describe_aim(war: War, aim: Aim) -> str:
    """Return the goal of an aim in words, such as "take Asia"."""
    continents = war.turn.board.continents
    if aim.kind in (CONTINENT, GUARD):
        return f"take {continents[aim.which].name}"
    if aim.kind in (BREAK, RAID):
        held = continents[aim.which]
        owner = war.turn.owner_of(held.territories[0])
        return f"break {owner}'s {held.name}"
    if aim.kind in (CHASE, ELIMINATE):
        return f"eliminate {war.seats[aim.which]}"
    return "take one card" if aim.kind in CARD_AIMS else OPEN_AIMS[aim.kind]
