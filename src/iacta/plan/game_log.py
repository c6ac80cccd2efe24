"""Game logs: the turns of a game, read from JSON lines or from a RiskGameRecorder file.

A recording shows the map after each change, not the attacks themselves. If an attack is unclear or
illegal it is skipped, and the turn is split: a new `LoggedTurn` starts from the recorded map before
the next attack.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

from iacta.board import Board, Holding, Position
from iacta.board.board import fold_name
from iacta.board.files import read_board
from iacta.fairness.recording import Change, Land, Recording, read_recording
from iacta.game import Turn
from iacta.game.steps import (
    BATTLE_KEYS,
    LoggedBattle,
    check_version,
    fight_battle,
    read_corrections,
)
from iacta.inputs.checks import check_choice, quote, read_list, refuse_unknown_keys
from iacta.inputs.errors import IllegalError, MalformedError, TooLargeError, add_place
from iacta.inputs.files import read_bytes
from iacta.inputs.json_and_toml import parse_json
from iacta.plan.goals import Goal
from iacta.plan.named_goals import read_goal_record

MAX_BYTES = 2**24  # maximum length of a log, enough for thousands of turns
TURN_KEYS = ("version", "turn", "board", "goal", "corrected", "battles", "stops")
NOBODY = "nobody"  # the owner of a territory that belongs to no player of the recording


class LoggedTurn(NamedTuple):
    """A turn of a logged game, or a part of a turn that begins with a position of its own."""

    number: int  # the number of the turn in the log, from 1
    turn: Turn  # the state before the first battle
    goal: Goal | None  # the goal of the player; `None` if the log does not state a goal
    battles: tuple[LoggedBattle, ...]
    is_over: bool = True  # whether the player stops attacking after the last battle
    # Territories whose owner or armies the user corrected by hand before this turn, with the new
    # owner and armies.
    corrected: Mapping[str, Holding] = {}

    @property
    def end(self) -> Turn:
        return self.battles[-1].after if self.battles else self.turn


def read_game(
    log: str | Path, board: Board | str | Path | None = None
) -> tuple[list[LoggedTurn], tuple[tuple[str, int], ...]]:
    """Return the turns of a log, and for a recording the number of unclear events of each kind.

    log: the text of a log, or its path.
    board: the board of a recording, or of all lines before the first line with a key `board`.
    """
    if isinstance(log, Path):
        log = read_bytes(log, MAX_BYTES).decode("utf-8", "replace")
    if not isinstance(log, str):
        raise MalformedError(f"log must be text or a path, got {quote(log)}")
    if len(log) > MAX_BYTES:
        raise TooLargeError(f"the log must have at most {MAX_BYTES:,} characters, got {len(log):,}")
    known = board if board is None or isinstance(board, Board) else read_board(board)
    if '"roundInfo"' in log:
        reader = _RecordingReader(read_recording(parse_json(log)), known or read_board("classic"))
        turns = list(reader.list_turns())
        if not turns:
            raise MalformedError("the recording has no turns")
        return turns, tuple(reader.unclear.items())
    return list(_read_lines(log, known)), ()


def _read_lines(log: str, board: Board | None) -> Iterator[LoggedTurn]:
    lines = [(number, line) for number, line in enumerate(log.splitlines(), 1) if line.strip()]
    if not lines:
        raise MalformedError("log must have a line for each turn, got none")
    turn = 1
    for number, line in lines:
        try:
            given = parse_json(line)
        except ValueError:
            raise MalformedError(
                f"cannot read the log: line {number} must be a JSON object that describes a turn, "
                f"got {quote(line)}"
            ) from None
        with add_place(f"line {number}"):
            record = _check_object(given, "turn", TURN_KEYS)
            if "board" in record:
                # Accept only a JSON object: an untrusted log must not name a file on this machine.
                board = read_board(_check_object(record["board"], "board"))
            played = _read_turn(turn, record, board)
        yield played
        turn += played.is_over


def _check_object(given: object, what: str, keys: tuple[str, ...] = ()) -> Mapping[str, Any]:
    if not isinstance(given, Mapping):
        raise MalformedError(f"{what} must be a JSON object, got {quote(given)}")
    if keys:
        refuse_unknown_keys(given, keys)
    return given


def _read_turn(number: int, record: Mapping[str, Any], board: Board | None) -> LoggedTurn:
    code = record.get("turn")
    if not isinstance(code, str):
        raise MalformedError(f"turn must be the code of a turn, got {quote(code)}")
    coded = Turn.from_code(code, board)
    if coded.phase != "attack":
        raise IllegalError(f"turn must be in the attack phase, got phase {coded.phase!r}")
    # The new turn has no cards, because a review ignores them.
    turn = Turn(
        coded.position,
        coded.rules,
        keep=coded.keep,
        rules_of=coded.rules_of,
        stay=coded.stay,
        whole_battles=coded.whole_battles,
        players=coded.players,
        victory=coded.victory,
        phase="attack",
    ).replace_armies(coded.owners, coded.armies)
    check_version(record)
    goal = None
    if record.get("goal") is not None:
        goal = read_goal_record(coded, record["goal"])
        if goal is None:
            raise IllegalError("goal must name a player who owns a territory")
    battles, now = list[LoggedBattle](), turn
    for k, given in enumerate(read_list(record.get("battles", ()), "battles", "battles"), 1):
        with add_place(f"battle {k}"):
            battles.append(fight_battle(now, _check_object(given, "battle", BATTLE_KEYS)))
        now = battles[-1].after
    is_over = record.get("stops", True)
    check_choice(is_over, (True, False), "stops")
    corrected = read_corrections(turn, record.get("corrected", ()))
    return LoggedTurn(number, turn, goal, tuple(battles), is_over, corrected)


class _RecordingReader:
    """Converts a recording of a game to turns, and counts the unclear events of each kind."""

    def __init__(self, recording: Recording, board: Board) -> None:
        self.recording, self.board, self.unclear = recording, board, Counter[str]()
        names = {each: recording.find_name(each) for each in recording.players}
        often = Counter(map(fold_name, names.values()))
        self._names = {
            each: name if name and often[fold_name(name)] == 1 else f"{name} {each}".strip()
            for each, name in names.items()
        }

    def list_turns(self) -> Iterator[LoggedTurn]:
        """Yield the turns of the recording.

        Run this iterator once, to its end, before you read `unclear`: it counts the events.
        """
        number = 0
        for (round_number, _), changes in groupby(
            self.recording.list_changes(), key=lambda change: (change.round, change.player)
        ):
            with add_place(f"round {round_number}"):
                parts = self._make_logged_turns(list(changes))
            if round_number == 0 and not any(part.battles for part in parts):
                continue  # in round 0 the players only choose their capitals
            number += bool(parts)
            yield from (part._replace(number=number) for part in parts)

    def _make_logged_turns(self, changes: list[Change]) -> list[LoggedTurn]:
        """Convert the changes of the map in a recorded turn to logged turns.

        A new logged turn starts wherever the map changed between two battles.
        """
        parts, last, player = list[LoggedTurn](), changes[0].lands, changes[0].player
        for change in _join_moves(changes):
            before = self._make_turn(player, change.lands) if change.attack else None
            if change.attack and before:
                if not parts or parts[-1].end.position != before.position:
                    parts.append(LoggedTurn(0, before, None, (), is_over=False))
                (start, to), (left, against) = change.attack, change.left
                record = {"from": start, "to": to, "left": left, "their_left": against}
                if change.is_won:
                    record["moved"] = change.changed[to].armies
                try:
                    battle = fight_battle(before, record)
                except IllegalError:  # the recorded map may have portals, which the board lacks
                    self.unclear["attacks that the rules do not allow"] += 1
                else:
                    parts[-1] = parts[-1]._replace(battles=(*parts[-1].battles, battle))
            elif change.unclear:
                self.unclear[change.unclear] += 1
            if not _is_move(change):
                last = {**change.lands, **change.changed}
        end = self._make_turn(player, last)
        if end is not None:
            if not parts or parts[-1].end.position != end.position:
                parts.append(LoggedTurn(0, end, None, ()))
            parts[-1] = parts[-1]._replace(is_over=True)
        return [part for part in parts if part.battles or part.is_over]

    def _make_turn(self, player: str, lands: Mapping[str, Land]) -> Turn | None:
        recording, names = self.recording, self._names
        owners = {each: names.get(str(land.owner), NOBODY) for each, land in lands.items()}
        if player not in names or names[player] not in owners.values():
            return None
        try:
            found = {self.board.find(each): each for each in lands}
        except IllegalError as error:
            raise IllegalError(f"board must match the map {recording.map!r}: {error}") from None
        held = {name: (owners[each], lands[each].armies) for name, each in found.items()}
        rules = {name: recording.find_rules(lands[each]) for name, each in found.items()}
        return Turn(
            Position(
                self.board, names[player], {name: each for name, each in held.items() if each[1]}
            ),
            recording.rules,
            rules_of={name: own for name, own in rules.items() if own != recording.rules},
            phase="attack",
        )


def _join_moves(changes: Iterable[Change]) -> list[Change]:
    """Merge each conquest with the later change that moves more armies into the territory."""
    found = list[Change]()
    for change in changes:
        conquest = found[-1] if found and found[-1].attack is not None else None
        if (
            conquest is not None
            and conquest.is_won
            and _is_move(change)
            and {*change.changed} <= {*conquest.changed}
        ):
            found[-1] = conquest._replace(changed={**conquest.changed, **change.changed})
        else:
            found.append(change)
    return found


def _is_move(change: Change) -> bool:
    before, after = [change.lands[each] for each in change.changed], change.changed.values()
    return (
        not change.unclear
        and {each.owner for each in before} == {each.owner for each in after}
        and len({each.owner for each in before}) == 1
        and sum(each.armies for each in before) == sum(each.armies for each in after)
    )
