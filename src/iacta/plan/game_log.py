"""Game logs: the turns of a game, read from JSON lines or from a RiskGameRecorder file.

A recording shows the map after each change, not the attacks themselves. If an attack is unclear or
illegal it is skipped, and the turn is split: a new `LoggedTurn` starts from the recorded map before
the next attack.

Armies that move between the two territories of a conquest may belong to the advance, or be the
fortifying move that ends the turn. A reading is possible if the rules allow the advance, and if
nothing follows the fortifying move. If two readings are possible, armies that move forward belong
to the advance, and armies that move back are the fortifying move.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

from iacta.board import Board, Holding, Position
from iacta.board.board import fold_name
from iacta.board.files import read_board
from iacta.fairness.recording import Change, Land, Recording, read_recording
from iacta.game import Turn
from iacta.game.logged_battle import BATTLE_KEYS, LoggedBattle, fight_battle
from iacta.game.step_fields import read_corrections
from iacta.game.steps import TreeTurn, check_version, read_tree
from iacta.inputs.checks import check_choice, quote, read_list, refuse_unknown_keys
from iacta.inputs.errors import IllegalError, MalformedError, TooLargeError, add_location
from iacta.inputs.files import read_bytes
from iacta.inputs.json_and_toml import parse_json
from iacta.plan.goals import Goal
from iacta.plan.named_goals import read_goal_record

MAX_LOG_BYTES = 2**24  # maximum length of a log, enough for thousands of turns
TURN_KEYS = ("version", "turn", "board", "goal", "steps", "corrected", "battles", "stops")
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
    nodes: tuple[TreeTurn, ...] = ()  # the start and the steps of a turn that is recorded in steps

    @property
    def end(self) -> Turn:
        last = self.nodes[-1].turn if self.nodes else None
        return last or (self.battles[-1].after if self.battles else self.turn)

    @property
    def number_of_battles(self) -> int:
        rolled = (node for node in self.nodes if node.step and node.step["do"] == "attack")
        return len(self.battles) + sum(1 for _ in rolled)

    @property
    def goals(self) -> list[Goal]:
        """The goals of the turn, in the order in which the player chose them."""
        if not self.nodes:
            return [] if self.goal is None else [self.goal]
        chosen = [
            read_goal_record(node.turn, node.goal)
            for node in self.nodes
            if node.turn and node.goal is not None
            if node.step is None or node.step["do"] == "goal"
        ]
        return [goal for goal in chosen if goal is not None]


class GameLog(NamedTuple):
    """A logged game.

    turns: the turns in order.
    unclear: for a recording, the number of unclear events of each kind that are left out.
    ambiguous: for a recording, the number of turns in which the last movement of armies fits both
        the advance after a conquest and the fortifying move.
    """

    turns: list[LoggedTurn]
    unclear: tuple[tuple[str, int], ...] = ()
    ambiguous: int = 0


def read_game(log: str | Path, board: Board | str | Path | None = None) -> GameLog:
    """Return the turns of a log.

    log: the text of a log, or its path.
    board: the board of a recording, or of all lines before the first line with a key `board`.
    """
    if isinstance(log, Path):
        log = read_bytes(log, MAX_LOG_BYTES).decode("utf-8", "replace")
    if not isinstance(log, str):
        raise MalformedError(f"log must be text or a path, got {quote(log)}")
    if len(log) > MAX_LOG_BYTES:
        raise TooLargeError(
            f"the log must have at most {MAX_LOG_BYTES:,} characters, got {len(log):,}"
        )
    known = board if board is None or isinstance(board, Board) else read_board(board)
    if '"roundInfo"' in log:
        reader = _RecordingReader(read_recording(parse_json(log)), known or read_board("classic"))
        turns = list(reader.list_turns())
        if not turns:
            raise MalformedError("the recording has no turns")
        return GameLog(turns, tuple(reader.unclear.items()), reader.ambiguous)
    return GameLog(list(_read_lines(log, known)))


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
        with add_location(f"line {number}"):
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
    check_version(record)
    if "steps" in record:
        return LoggedTurn(number, coded, None, (), nodes=_read_steps(coded, record))
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
    goal = None
    if record.get("goal") is not None:
        goal = read_goal_record(coded, record["goal"])
        if goal is None:
            raise IllegalError("goal must name a player who owns a territory")
    battles, now = list[LoggedBattle](), turn
    for k, given in enumerate(read_list(record.get("battles", ()), "battles", "battles"), 1):
        with add_location(f"battle {k}"):
            battles.append(fight_battle(now, _check_object(given, "battle", BATTLE_KEYS)))
        now = battles[-1].after
    is_over = record.get("stops", True)
    check_choice(is_over, (True, False), "stops")
    corrected = read_corrections(turn, record.get("corrected", ()))
    return LoggedTurn(number, turn, goal, tuple(battles), is_over, corrected)


def _read_steps(turn: Turn, record: Mapping[str, Any]) -> tuple[TreeTurn, ...]:
    """Return the start and the steps of a turn; each step follows the step before it."""
    refuse_unknown_keys(record, ("version", "turn", "board", "goal", "steps"))
    given = read_list(record["steps"], "steps", "steps")
    steps = [{**_check_object(step, "step"), "after": k} for k, step in enumerate(given)]
    nodes = read_tree(turn, steps, record.get("goal"))
    for k, node in enumerate(nodes):
        if node.turn is None:
            raise IllegalError(f"step {k}: {node.words}")
        if node.goal is not None and (node.step is None or node.step["do"] == "goal"):
            read_goal_record(node.turn, node.goal)
    return tuple(nodes)


class _RecordingReader:
    """Converts a recording of a game to turns, and counts the unclear events of each kind."""

    def __init__(self, recording: Recording, board: Board) -> None:
        self.recording, self.board, self.unclear = recording, board, Counter[str]()
        self.ambiguous = 0  # the number of turns whose last move has two possible readings
        names = {player: recording.name_owner(player) for player in recording.players}
        often = Counter(map(fold_name, names.values()))
        self._names = {
            each: name if name and often[fold_name(name)] == 1 else f"{name} {each}".strip()
            for each, name in names.items()
        }

    def list_turns(self) -> Iterator[LoggedTurn]:
        """Yield the turns of the recording.

        Run this iterator once, to its end, before you read `unclear` and `ambiguous`.
        """
        number = 0
        for (round_number, _), changes in groupby(
            self.recording.list_changes(), key=lambda change: (change.round, change.player)
        ):
            with add_location(f"round {round_number}"):
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
        advances = set[int]()  # the numbers of the later changes that belong to an advance
        for k, change in enumerate(changes):
            before = self._make_turn(player, change.lands) if change.attack else None
            if before:
                if not parts or parts[-1].end.position != before.position:
                    parts.append(LoggedTurn(0, before, None, (), is_over=False))
                later, is_last = _find_moves_after(changes, k)
                battle, used = self._read_battle(before, change, later, is_last)
                advances |= {number for number, _ in later[:used]}
                if battle is not None:
                    parts[-1] = parts[-1]._replace(battles=(*parts[-1].battles, battle))
            elif change.unclear:
                self.unclear[change.unclear] += 1
            if k in advances or not _is_move(change):
                last = {**change.lands, **change.changed}
        moves = [k for k, each in enumerate(changes) if _is_move(each) and k not in advances]
        extra = len(moves) - (len(changes) - 1 in moves)  # the last move may be the fortifying move
        if extra:
            self.unclear["moves of armies that the rules do not allow"] += extra
        end = self._make_turn(player, last)
        if end is not None:
            if not parts or parts[-1].end.position != end.position:
                parts.append(LoggedTurn(0, end, None, ()))
            parts[-1] = parts[-1]._replace(is_over=True)
        return [part for part in parts if part.battles or part.is_over]

    def _read_battle(
        self, before: Turn, change: Change, moves: Sequence[tuple[int, int]], is_last: bool
    ) -> tuple[LoggedBattle | None, int]:
        """Return the battle of a change, and the number of later moves that are its advance.

        before: the turn before the battle.
        moves, is_last: the result of `_find_moves_after`.
        """
        readings = [len(moves)]
        if is_last:
            # The last move may be the fortifying move: armies that move back probably are.
            readings.insert(0 if moves[-1][1] < 0 else 1, len(moves) - 1)
        legal = [
            (each, used) for used in readings if (each := _try_battle(before, change, moves[:used]))
        ]
        if len(legal) > 1:
            self.ambiguous += 1
        if legal:
            return legal[0]
        for used in range(len(moves) - 1, -1, -1):
            if battle := _try_battle(before, change, moves[:used]):
                return battle, used
        self.unclear["attacks that the rules do not allow"] += 1
        return None, 0

    def _make_turn(self, player: str, lands: Mapping[str, Land]) -> Turn | None:
        recording, names = self.recording, self._names
        owners = {each: names.get(str(land.owner), NOBODY) for each, land in lands.items()}
        if player not in names or names[player] not in owners.values():
            return None
        try:
            found = {self.board.find(each): each for each in lands}
        except IllegalError as error:
            raise IllegalError(
                f"board must match the map {recording.map!r}: {error}. A recording has no borders: "
                "write the map as a board file"
            ) from None
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


def _try_battle(
    before: Turn, change: Change, moves: Sequence[tuple[int, int]]
) -> LoggedBattle | None:
    """Return the battle of a change, or `None` if the rules do not allow it.

    moves: the later moves that belong to the advance, as in the result of `_find_moves_after`.
    """
    if change.attack is None:
        return None
    (start, to), (left, against) = change.attack, change.left
    record = {"from": start, "to": to, "left": left, "their_left": against}
    if change.is_won:
        record["moved"] = change.changed[to].armies + sum(armies for _, armies in moves)
    try:
        return fight_battle(before, record)
    except IllegalError:  # the recorded map may have portals, which the board lacks
        return None


def _find_moves_after(changes: Sequence[Change], k: int) -> tuple[list[tuple[int, int]], bool]:
    """Return the moves between the territories of a conquest, up to the next attack of the turn.

    changes: the changes of a turn.
    k: the number of the change that is the conquest.

    Return the number of each change with its armies, negative for armies that move back, and
    whether the last move ends the turn.
    """
    conquest, moves, is_last = changes[k], list[tuple[int, int]](), False
    if conquest.attack is None or not conquest.is_won:
        return moves, is_last
    for number, change in enumerate(changes[k + 1 :], k + 1):
        if change.attack or change.unclear:
            return moves, False
        armies = _count_moved(change, *conquest.attack)
        if armies:
            moves.append((number, armies))
        is_last = armies != 0 and _is_move(change)  # new armies never come with the last move
    return moves, is_last


def _count_moved(change: Change, start: str, to: str) -> int:
    """Return the armies that move from one territory to another, negative if they move back.

    Both territories belong to one player, who may get new armies in the same change.
    """
    before, after = change.lands, {**change.lands, **change.changed}
    if len({lands[name].owner for lands in (before, after) for name in (start, to)}) > 1:
        return 0
    left = before[start].armies - after[start].armies
    arrived = after[to].armies - before[to].armies
    if 0 < left <= arrived:
        return left
    return arrived if left <= arrived < 0 else 0


def _is_move(change: Change) -> bool:
    """Return whether armies of the active player moved, without any other change."""
    before, after = [change.lands.get(each) for each in change.changed], change.changed.values()
    owners = {land and str(land.owner) for land in (*before, *after)}
    return (
        not change.unclear
        and owners == {change.player}
        and any(one and one[:2] != other[:2] for one, other in zip(before, after, strict=True))
        and sum(land.armies for land in before if land) == sum(land.armies for land in after)
    )
