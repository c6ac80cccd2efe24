"""The log of a game: its turns, from JSON lines or from a recording of RiskGameRecorder.

A recording shows the map, not the attacks. Where a battle is not clear, or is none that the rules
of the turn allow, the turn breaks: it goes on with the next battle, from the map as it is then.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

from iacta.board import Board, Position
from iacta.board.board import folded
from iacta.board.files import read_board
from iacta.checks import check_choice, row_of, shown, whole_number
from iacta.errors import IllegalError, MalformedError, TooLargeError, at
from iacta.fairness.recording import Change, Land, Recording, read_recording
from iacta.files import read_bytes
from iacta.game import Advance, Attack, Turn
from iacta.json_and_toml import parse_json
from iacta.plan.goals import Goal, TakeAll, TakeAny, Worth, eliminate
from iacta.plan.problem import begin_attacks

MOST_BYTES = 2**24  # of a log: thousands of turns
TURN_KEYS = ("turn", "board", "goal", "battles", "stops")
BATTLE_KEYS = ("from", "to", "left", "their_left", "moved", "dice")
GOAL_KEYS = ("take", "take_any", "eliminate", "worth")
NOBODY = "nobody"  # who defends what no player owns


class LoggedBattle(NamedTuple):
    """A battle of a log."""

    start: str  # the attacking territory
    to: str  # the attacked one
    lost: int  # the armies of the attacker
    killed: int  # those of the defender
    moved: int  # the armies that moved in
    # Each number of attack dice with which it may have begun, the most first, and the turn after
    # the dice, before any armies move in.
    ways: tuple[tuple[int, Turn], ...]
    after: Turn  # after armies have moved in
    is_roll: bool  # whether it is one roll, or may be
    is_assumed: bool  # whether a log would have to say the number of dice, and does not


class LoggedTurn(NamedTuple):
    """A turn of a log, or a part of it."""

    number: int  # from 1 on
    turn: Turn  # before the first battle
    goal: Goal
    battles: tuple[LoggedBattle, ...]
    is_over: bool = True  # whether the player stops after the last of them

    @property
    def end(self) -> Turn:
        return self.battles[-1].after if self.battles else self.turn


def read_game(
    log: str | Path, board: Board | str | Path | None = None
) -> tuple[list[LoggedTurn], tuple[tuple[str, int], ...]]:
    """Return the turns of a log, and what a recording does not show for certain, and how often.

    log: the text of a log, or its path.
    board: the board of a recording, or of the lines before one that names its own.
    """
    if isinstance(log, Path):
        log = read_bytes(log, MOST_BYTES).decode("utf-8", "replace")
    if not isinstance(log, str):
        raise MalformedError(f"log must be text or a path, got {shown(log)}")
    if len(log) > MOST_BYTES:
        raise TooLargeError(f"the log must have at most {MOST_BYTES:,} letters, got {len(log):,}")
    known = board if board is None or isinstance(board, Board) else read_board(board)
    if '"roundInfo"' in log:
        recorded = _Recorded(read_recording(parse_json(log)), known or read_board("classic"))
        turns = list(recorded.turns())
        if not turns:
            raise MalformedError("the recording has no turns")
        return turns, tuple(recorded.unclear.items())
    return list(_lines(log, known)), ()


# JSON lines.


def _lines(log: str, board: Board | None) -> Iterator[LoggedTurn]:
    lines = [(number, line) for number, line in enumerate(log.splitlines(), 1) if line.strip()]
    if not lines:
        raise MalformedError("log must have a line for each turn, got none")
    turn = 1
    for number, line in lines:
        try:
            given = parse_json(line)
        except ValueError:
            raise MalformedError(
                f"cannot read the log: line {number} is not a turn, a JSON object, "
                f"got {shown(line)}"
            ) from None
        with at(f"line {number}"):
            record = _object(given, "turn", TURN_KEYS)
            if "board" in record:  # never the path of a file, as logs come from strangers
                board = read_board(_object(record["board"], "board"))
            played = _played(turn, record, board)
        yield played
        turn += played.is_over


def _object(given: object, what: str, keys: tuple[str, ...] = ()) -> Mapping[str, Any]:
    if not isinstance(given, Mapping):
        raise MalformedError(f"{what} must be a JSON object, got {shown(given)}")
    for name in given:
        if keys and name not in keys:
            raise IllegalError(f"unknown key {shown(name)}; the keys are {', '.join(keys)}")
    return given


def _played(number: int, record: Mapping[str, Any], board: Board | None) -> LoggedTurn:
    code = record.get("turn")
    if not isinstance(code, str):
        raise MalformedError(f"turn must be a code, got {shown(code)}")
    coded = Turn.from_code(code, board)
    if coded.phase != "attack":
        raise IllegalError(f"turn must be at its attacks, got the phase {coded.phase!r}")
    turn = begin_attacks(coded)
    goal = _goal(record.get("goal", {"worth": True}), turn)
    battles, now = list[LoggedBattle](), turn
    for k, given in enumerate(row_of(record.get("battles", ()), "battles", "battles"), 1):
        with at(f"battle {k}"):
            battles.append(_fought(now, _object(given, "battle", BATTLE_KEYS)))
        now = battles[-1].after
    is_over = record.get("stops", True)
    check_choice(is_over, (True, False), "stops")
    return LoggedTurn(number, turn, goal, tuple(battles), is_over)


def _goal(given: object, turn: Turn) -> Goal:
    record = _object(given, "goal", GOAL_KEYS)
    if len(record) != 1:
        raise IllegalError(f"goal must have one of {', '.join(GOAL_KEYS)}, got {len(record)}")
    ((name, said),) = record.items()
    if name == "worth":
        if said is not True:
            raise MalformedError(f"worth must be true, got {shown(said)}")
        return Worth()
    if not isinstance(said, str):
        raise MalformedError(f"{name} must be text, got {shown(said)}")
    if name == "eliminate":
        return eliminate(turn.position, said)
    found = turn.board.find_set(said)
    return TakeAny(found) if name == "take_any" else TakeAll(found)


def _fought(turn: Turn, record: Mapping[str, Any]) -> LoggedBattle:
    for name in BATTLE_KEYS[:2]:
        if not isinstance(record.get(name), str):
            raise MalformedError(f"{name} must be a territory, got {shown(record.get(name))}")
    start, to = (turn.board.find(record[name]) for name in BATTLE_KEYS[:2])
    left, against = (whole_number(record.get(name), name) for name in BATTLE_KEYS[2:4])
    lost, killed = turn.position.of(start).armies - left, turn.position.of(to).armies - against
    dice, moved, armies = record.get("dice"), record.get("moved"), 0
    ends = [turn.fought(start, to, left, against, dice)]
    after = ends[0]
    legal = [
        each.dice
        for each in turn.actions()
        if isinstance(each, Attack) and (each.start, each.to) == (start, to)
    ]
    is_assumed = dice is None and len(legal) > 1
    fit = turn.dice_for(start, to, lost, killed) if dice is None else (dice,)
    ways = [(number, turn.fought(start, to, left, against, number)) for number in fit]
    if after.phase == "advance":
        if is_assumed:  # the last of several rolls, which says how many must move in
            last = turn.fought(start, to, left, 1) if lost or killed > 1 else turn
            numbers = last.dice_for(start, to, 0, 1)
            ends += [last.fought(start, to, left, 0, number) for number in numbers]
        armies = _armies_moved(moved, _advances(ends[0]), _advances(ends[-1]))
        ways = [way for way in ways if armies in _advances(way[1])]
        ends = [each for each in ends if armies in _advances(each)]
        after = ends[0].after(Advance(armies))
    elif moved:
        raise IllegalError(f"moved must be 0 where nothing is taken, got {shown(moved)}")
    several = [(number, ends[0]) for number in legal]
    return LoggedBattle(
        start, to, lost, killed, armies, tuple(ways or several), after, bool(ways), is_assumed
    )


def _advances(turn: Turn) -> list[int]:
    return [each.armies for each in turn.actions() if isinstance(each, Advance)]


def _armies_moved(moved: object, usual: list[int], possible: list[int]) -> int:
    """Return how many armies moved in, of those that the dice allow.

    usual: how many can after the dice that were said, or else the most dice.
    possible: how many can after any dice.
    """
    if moved is None and len(usual) > 1:
        raise MalformedError(f"moved must be given, from {possible[0]} to {possible[-1]}")
    number = usual[0] if moved is None else whole_number(moved, "moved")
    if number not in possible:
        raise IllegalError(f"moved must be from {possible[0]} to {possible[-1]}, got {number}")
    return number


# Recordings.


class _Recorded:
    """The turns of a recording; `unclear` counts what it does not show for certain."""

    def __init__(self, recording: Recording, board: Board) -> None:
        self.recording, self.board, self.unclear = recording, board, Counter[str]()
        names = {each: recording.name(each) for each in recording.players}
        often = Counter(map(folded, names.values()))
        self._names = {
            each: name if name and often[folded(name)] == 1 else f"{name} {each}".strip()
            for each, name in names.items()
        }

    def turns(self) -> Iterator[LoggedTurn]:
        number = 0
        for (round_number, _), changes in groupby(
            self.recording.changes(), key=lambda change: (change.round, change.player)
        ):
            with at(f"round {round_number}"):
                parts = self._parts(list(changes))
            if round_number == 0 and not any(part.battles for part in parts):
                continue  # capitals are chosen
            number += bool(parts)
            yield from (part._replace(number=number) for part in parts)

    def _parts(self, changes: list[Change]) -> list[LoggedTurn]:
        """Return the parts of a turn; one begins where the map is not as a battle left it."""
        parts, last, player = list[LoggedTurn](), changes[0].lands, changes[0].player
        for change in _advanced(changes):
            before = self._turn(player, change.lands) if change.attack else None
            if change.attack and before:
                if not parts or parts[-1].end.position != before.position:
                    parts.append(LoggedTurn(0, before, Worth(), (), is_over=False))
                (start, to), (left, against) = change.attack, change.left
                record = {"from": start, "to": to, "left": left, "their_left": against}
                if change.is_won:
                    record["moved"] = change.changed[to].armies
                try:
                    battle = _fought(before, record)
                except IllegalError:  # across a portal, or broken off where battles are whole
                    self.unclear["attacks that the rules do not allow"] += 1
                else:
                    parts[-1] = parts[-1]._replace(battles=(*parts[-1].battles, battle))
            elif change.unclear:
                self.unclear[change.unclear] += 1
            if not _is_move(change):
                last = {**change.lands, **change.changed}
        end = self._turn(player, last)
        if end is not None:
            if not parts or parts[-1].end.position != end.position:
                parts.append(LoggedTurn(0, end, Worth(), ()))
            parts[-1] = parts[-1]._replace(is_over=True)
        return [part for part in parts if part.battles or part.is_over]

    def _turn(self, player: str, lands: Mapping[str, Land]) -> Turn | None:
        recording, names = self.recording, self._names
        owners = {each: names.get(str(land.owner), NOBODY) for each, land in lands.items()}
        if player not in names or names[player] not in owners.values():
            return None
        try:
            found = {self.board.find(each): each for each in lands}
        except IllegalError as error:
            raise IllegalError(f"the map {recording.map!r} needs its board: {error}") from None
        held = {name: (owners[each], lands[each].armies) for name, each in found.items()}
        rules = {name: recording.rules_of(lands[each]) for name, each in found.items()}
        return Turn(
            Position(
                self.board, names[player], {name: each for name, each in held.items() if each[1]}
            ),
            recording.rules,
            rules_of={name: own for name, own in rules.items() if own != recording.rules},
            phase="attack",
        )


def _advanced(changes: Iterable[Change]) -> list[Change]:
    """Return the changes, with armies that moved on after a conquest as part of it."""
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
