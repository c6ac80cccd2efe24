"""Whole games with a seat for each player: persons, AIs and policies.

A `Game` is immutable: a start, the seats, and the steps played so far. Iterating over a game yields
the steps that need no person, and stops where a person must decide. Every seat decides from what
its player sees (`Turn.seen_by`). The dice of each step depend only on the seed and on the number of
earlier steps.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from secrets import randbits
from typing import Any, TypeAlias

import numpy as np

from iacta.board.board import fold_name
from iacta.board.built_in import classic_board
from iacta.board.files import read_board
from iacta.game.action_records import PlayedStep, play_step, record_action, record_moves
from iacta.game.actions import Action, Reveal
from iacta.game.deal import deal_missions
from iacta.game.step_dice import throw_faces
from iacta.game.step_fields import Step
from iacta.game.steps import STEPS_VERSION, check_version
from iacta.game.turn import Move, PlayedTurn, Policy, Turn, TurnPolicy
from iacta.inputs.checks import (
    FrozenDict,
    quote,
    read_int,
    read_list,
    refuse_unknown_keys,
    set_field,
)
from iacta.inputs.errors import IactaError, IllegalError, MalformedError, add_location
from iacta.war.games import War, check_war, list_seats
from iacta.war.players import PLAYERS, find_player

PERSON = "person"
MAX_ROUNDS = 200  # a game ends without a winner after this many rounds
GAME_KEYS = ("version", "board", "turn", "seats", "max_rounds", "steps")
TABLE_DICE = ("attack", "faces")  # the steps that enter dice thrown at a table
DECISIONS = ("trade", "place", "roll", *TABLE_DICE, "advance", "fortify", "stop")

Seat: TypeAlias = str | Policy


def read_seat(player: object) -> Seat:
    """Return `player`; raise an error unless it is the name of an AI or a policy."""
    if isinstance(player, str):
        find_player(player)
        return player
    if not callable(player):
        raise MalformedError(
            f"player must be one of {', '.join(PLAYERS)}, or a policy, got {quote(player)}"
        )
    return player


@dataclass(frozen=True, repr=False)
class Game:
    """A whole game, with the steps that have been played.

    start: the turn from which the game starts, such as a turn from `deal`. Hidden missions are
        dealt.
    seats: a mapping from each player to `"person"`, to the name of an AI (`"simple"`, `"usual"`,
        `"keeper"`, `"strong"`), or to a policy.
    seed: the seed of dice, cards and missions; `None` for a random seed.
    steps: the steps that have been played. A battle of an AI is one step, with its losses.
    max_rounds: the number of rounds after which the game ends without a winner.

    `for step in game` yields the next steps of computers, until a person must decide or the game is
    over. If an attacked player may choose defence dice after seeing the attack dice, the game
    chooses the best number for them.

    >>> from iacta.game import deal
    >>> from iacta.board.built_in import classic_board
    >>> start = deal(classic_board(), ["red", "blue", "green"], seed=1)
    >>> game = Game(start, {"red": "person", "blue": "usual", "green": "simple"}, seed=1)
    >>> game.waits_for, [step.words for step in game]
    ('red', [])
    """

    start: Turn
    seats: Mapping[str, Seat]
    seed: int | None = None
    steps: tuple[PlayedStep, ...] = ()
    max_rounds: int = MAX_ROUNDS

    def __post_init__(self) -> None:
        turn = check_war(self.start)
        if turn.phase == "defend":
            raise IllegalError("start must not be in the phase 'defend'", parameter="start")
        seed = randbits(62) if self.seed is None else read_int(self.seed, "seed")
        set_field(self, "seed", seed)
        set_field(self, "start", deal_missions(turn, seed))
        set_field(self, "max_rounds", read_int(self.max_rounds, "max_rounds", 1))
        if not isinstance(self.seats, Mapping):
            raise MalformedError(
                f"seats must be a mapping from players to seats, got {quote(self.seats)}"
            )
        given = {fold_name(str(name)): seat for name, seat in self.seats.items()}
        players = list_seats(turn)
        if {*map(fold_name, players)} != {*given}:
            raise IllegalError(
                f"seats must be given for {', '.join(players)}, got {quote([*self.seats])}"
            )
        seats = {name: given[fold_name(name)] for name in players}
        for seat in seats.values():
            if seat != PERSON:
                read_seat(seat)
        set_field(self, "seats", FrozenDict(seats))

    def __hash__(self) -> int:
        return hash((self.start, self.seed, len(self.steps)))

    def __repr__(self) -> str:
        seats = ", ".join(f"{name}: {get_seat_name(seat)}" for name, seat in self.seats.items())
        return f"<Game: {seats}, {len(self.steps)} steps>"

    @property
    def turn(self) -> Turn:
        """The present turn. Show a player only `turn.seen_by(player)`."""
        return self.steps[-1].after if self.steps else self.start

    @property
    def winner(self) -> str | None:
        """The winner; `None` before the end, and if the game was too long."""
        return self.turn.winner

    @cached_property
    def rounds(self) -> int:
        """The number of rounds that have ended."""
        return sum(_ends_round(step) for step in self.steps)

    @property
    def is_over(self) -> bool:
        """Whether somebody has won, or the maximum number of rounds has been played."""
        return _is_won(self.turn) or self.rounds >= self.max_rounds

    @property
    def waits_for(self) -> str | None:
        """The person to decide next; `None` before a step of a computer and after the end."""
        is_waiting = not self.is_over and _waits_for_person(self.turn, self.seats)
        return self.turn.player if is_waiting else None

    def __iter__(self) -> Iterator[PlayedStep]:
        turn, number, rounds = self.turn, len(self.steps), self.rounds
        while not _is_won(turn) and rounds < self.max_rounds:
            if _waits_for_person(turn, self.seats):
                return
            for step in _play_on(turn, self.seats, self._draw_seed(number)):
                yield step
                turn, number = step.after, number + 1
                rounds += _ends_round(step)

    def play(self) -> "Game":
        """Return the game after the next steps of computers, until a person must decide."""
        return replace(self, steps=(*self.steps, *self))

    def decide(self, decision: Action | Step, *, has_table_dice: bool = False) -> "Game":
        """Return the game after a decision of the person for whom it waits.

        decision: a legal action, or a step as for `iacta.game.steps.take_step`: `roll` without
            `once` or `dice` rolls to the end of a battle, and `place` places all new armies.
        has_table_dice: whether the steps `attack` and `faces` are possible, which enter dice that
            were thrown at a table. A player who may enter dice decides the losses.

        Raises `IactaError` for an illegal decision, and if no person must decide.

        >>> from iacta.game import Attack
        >>> turn = Turn.from_code("1;classic;red;Peru:red:9,Brazil:blue:2,Argentina:blue:1")
        >>> game = Game(turn, {"red": "person", "blue": "usual"}, seed=5)
        >>> game.decide(Attack("Peru", "Brazil", 3)).steps[-1].losses
        Losses(attackers=2, defenders=0)
        """
        if self.waits_for is None:
            now = "the game is over" if self.is_over else f"the computer plays {self.turn.player}"
            raise IllegalError(f"no person can decide now: {now}")
        step = self._read_decision(decision)
        if step["do"] in TABLE_DICE and not has_table_dice:
            raise IllegalError(f"the game rolls the dice, so do must not be {quote(step['do'])}")
        return replace(self, steps=(*self.steps, play_step(self.turn, step)))

    def throw_faces(self, decision: Action | Step) -> tuple[list[int], list[int]] | None:
        """Return the dice of both sides in the last roll of a decision, the highest first.

        decision: the decision, as for `decide`, which rolls the same dice.

        Return `None` for a decision that rolls no dice, and for a battle without single rolls.

        >>> from iacta.game import Attack
        >>> turn = Turn.from_code("1;classic;red;Peru:red:9,Brazil:blue:2,Argentina:blue:1")
        >>> game = Game(turn, {"red": "person", "blue": "usual"}, seed=5)
        >>> game.throw_faces(Attack("Peru", "Brazil", 3))
        ([1, 1, 1], [6, 5])
        """
        step = self._read_decision(decision)
        return throw_faces(self.turn, step) if step["do"] == "roll" else None

    def _read_decision(self, decision: Action | Step) -> Step:
        """Return a decision as a step; a roll gets the seed of its dice."""
        step = decision if isinstance(decision, Mapping) else record_action(decision)
        if step.get("do") not in DECISIONS:
            raise MalformedError(f"do must be one of {', '.join(DECISIONS)}, got {quote(step)}")
        if step["do"] != "roll":
            return step
        if "seed" in step:
            raise MalformedError("seed must be left out, because the game rolls the dice")
        return {**step, "seed": self._draw_seed(len(self.steps))}

    def take_back(self) -> "Game":
        """Return the game before the last decision of a person, with another seed.

        Raises `IllegalError` if no person has decided.
        """
        for number in reversed(range(len(self.steps))):
            turn, step = self.steps[number].turn, self.steps[number].step
            if self.seats.get(turn.player) == PERSON and step["do"] in DECISIONS:
                return replace(self, steps=self.steps[:number], seed=self._draw_seed(-1))
        raise IllegalError("no person has made a decision that can be taken back")

    def resign(self, player: str, ai: str = "usual") -> "Game":
        """Return the game in which an AI continues for a person.

        player: the person's player.
        ai: the name of the AI.
        """
        if not isinstance(player, str) or self.seats.get(player) != PERSON:
            raise IllegalError(f"player must be a person of the game, got {quote(player)}")
        find_player(ai)
        return replace(self, seats={**self.seats, player: ai})

    def to_record(self) -> dict[str, Any]:
        """Return the game as JSON, for `from_record`.

        The record contains secret missions, and no seed, so that nobody can foresee the dice.
        Raises `MalformedError` for a game with a policy.
        """
        for seat in self.seats.values():
            if not isinstance(seat, str):
                raise MalformedError(f"seats must be names to be saved, got {quote(seat)}")
        board = self.start.board
        return {
            "version": STEPS_VERSION,
            **({} if board == classic_board() else {"board": board.to_record()}),
            "turn": self.start.to_code(),
            "seats": dict(self.seats),
            "max_rounds": self.max_rounds,
            "steps": [dict(step.step) for step in self.steps],
        }

    @classmethod
    def from_record(cls, record: Mapping[str, Any], *, seed: int | None = None) -> "Game":
        """Restore a game from JSON, the inverse of `to_record`.

        record: the game. Each step must be possible.
        seed: the seed of the next dice; `None` for a random seed.

        >>> turn = Turn.from_code("1;classic;red;Peru:red:9,Brazil:blue:2,Argentina:blue:1")
        >>> game = Game(turn, {"red": "usual", "blue": "usual"}, seed=5).play()
        >>> Game.from_record(game.to_record(), seed=5) == game
        True
        """
        if not isinstance(record, Mapping):
            raise MalformedError(f"game must be a JSON object, got {quote(record)}")
        refuse_unknown_keys(record, GAME_KEYS)
        check_version(record)
        given, code = record.get("board"), record.get("turn")
        if not isinstance(given, Mapping | None) or not isinstance(code, str):
            raise MalformedError(f"turn must be a code, and board an object, got {quote(code)}")
        turn = Turn.from_code(code, None if given is None else read_board(given))
        rounds = record.get("max_rounds", MAX_ROUNDS)
        game = cls(turn, record.get("seats", {}), seed, max_rounds=rounds)
        turn, steps = game.start, list[PlayedStep]()
        for number, step in enumerate(read_list(record.get("steps", []), "steps", "steps"), 1):
            with add_location(f"step {number}"):
                if not isinstance(step, Mapping):
                    raise MalformedError(f"step must be a JSON object, got {quote(step)}")
                steps.append(play_step(turn, step))
            turn = steps[-1].after
        return replace(game, steps=tuple(steps))

    def _draw_seed(self, number: int) -> int:
        """Return the seed of the step with an index; -1 for the seed after a step back."""
        entropy = [self.seed or 0, number + 1, len(self.steps) if number < 0 else 0]
        return int(np.random.default_rng(entropy).integers(2**62))


def get_seat_name(player: Seat) -> str:
    """Return the name of an AI or a policy."""
    if isinstance(player, str):
        return player
    return str(getattr(player, "__name__", type(player).__name__))


def _is_won(turn: Turn) -> bool:
    """Return whether somebody has won, and no armies must move into the last conquest."""
    return turn.phase != "advance" and turn.winner is not None


def _ends_round(step: PlayedStep) -> bool:
    """Return whether a step ends a round: the next player is not later in the order of play."""
    order = step.turn.players
    is_next = step.step["do"] == "next"
    return is_next and order.index(step.after.player) <= order.index(step.turn.player)


def _waits_for_person(turn: Turn, seats: Mapping[str, Seat]) -> bool:
    return seats[turn.player] == PERSON and turn.phase != "over" and not must_reveal(turn)


def must_reveal(turn: Turn) -> bool:
    """Return whether the player looks at unknown cards before a trade."""
    return turn.phase == "trade" and turn.hand.unknown > 0


def _play_on(turn: Turn, seats: Mapping[str, Seat], seed: int) -> Iterator[PlayedStep]:
    """Yield the next steps that need no person: at most the rest of the turn."""
    seat = seats[turn.player]
    if turn.phase == "over":
        yield play_step(turn, {"do": "next"})
    elif must_reveal(turn):
        yield play_step(turn, {"do": "reveal", "seed": seed})
    elif isinstance(seat, str):
        yield from record_moves(*play_ai(turn, seat, seed))
    else:
        yield from record_moves(*turn.play(_blindfold(seat), seed=seed))


def _blindfold(policy: Policy) -> Policy:
    """Return a policy for one turn that decides from what the player sees."""
    follow = policy.follow() if isinstance(policy, TurnPolicy) else policy
    return lambda turn: follow(turn.seen_by(turn.player))


def play_ai(turn: Turn, name: str, seed: int) -> PlayedTurn:
    """Let an AI play until its turn is over or it must reveal cards.

    The core plays the turn as the AI's player sees it. Where a hidden card or mission makes a
    difference, the AI chooses its next actions again.
    """
    moves, player = list[Move](), turn.player
    while turn.phase != "over" and not must_reveal(turn):
        number, seen = len(moves), turn.seen_by(player)
        if turn.winner is not None:  # after the winning conquest, all armies advance
            action = turn.actions()[-1]
            plan = PlayedTurn((Move(seen, action, None),), seen.after(action))
        else:
            plan = _plan_turn(seen, name, seed + number)
        is_open = seen is turn  # nothing is hidden, so the plan contains the next turns
        ends = [*(move.turn for move in plan.moves[1:]), plan.end]
        for move, end in zip(plan.moves, ends, strict=False):  # a plan may have no moves
            if isinstance(move.action, Reveal):
                break
            if not is_open and move.turn != turn.seen_by(player):
                break
            moves.append(Move(turn, move.action, move.result))
            # The action is legal in `turn`, because it is legal in the same turn as seen.
            turn = end if is_open else turn.apply_legal(move.action, move.result)
        if len(moves) == number:
            action = turn.actions()[-1]  # the end of the phase if possible
            moves.append(Move(turn, action, None))
            turn = turn.after(action)
    return PlayedTurn(tuple(moves), turn)


def _plan_turn(seen: Turn, name: str, seed: int) -> PlayedTurn:
    """Let an AI plan a turn as it sees it; return no moves if the AI cannot play from there."""
    try:
        return War(seen).play_turn(PLAYERS[name], seed)
    except IactaError:  # for example, the armies are too many for the core
        return PlayedTurn((), seen)
