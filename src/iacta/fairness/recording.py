"""Recordings of games by RiskGameRecorder, and the battles that can be deduced from them."""

from collections.abc import Iterator, Mapping
from operator import itemgetter
from typing import Any, NamedTuple

from iacta.fairness.trials import (
    MAX_NAME_LENGTH,
    Entry,
    Notes,
    Trial,
    count_losses_of_first_roll,
    refuse_large,
)
from iacta.inputs.checks import parse_int, quote, read_int
from iacta.inputs.errors import IllegalError, MalformedError, add_location
from iacta.rules.rules import Rules
from iacta.rules.variants import find_rules


class Land(NamedTuple):
    """A territory at some moment of a recorded game.

    owner: the player who owns the territory.
    armies: the number of armies on the territory.
    is_capital: whether the territory is a capital.
    before: the number of armies before the last change, as recorded; `None` if not recorded.
    """

    owner: object
    armies: int
    is_capital: bool
    before: int | None = None


class Change(NamedTuple):
    """A recorded change of the map: one or more territories with new owners or armies.

    round: the number of the round.
    player: the number of the active player.
    lands: all territories before the change.
    changed: the recorded territories, as they are after the change.
    attack: the source and the target of the attack that caused the change; `None` if the change was
        not an attack, or if the territories are not certain.
    unclear: the reason why the source or target is not certain; otherwise empty.
    """

    round: int
    player: str
    lands: Mapping[str, Land]
    changed: Mapping[str, Land]
    attack: tuple[str, str] | None
    unclear: str

    @property
    def left(self) -> tuple[int, int]:
        """The armies of both sides after the attack, before the winner moves armies in."""
        if self.attack is None:
            raise ValueError("the change is not an attack, or its territories are not certain")
        after, against = (self.changed[name].armies for name in self.attack)
        return (after + against, 0) if self.is_won else (after, against)

    @property
    def is_won(self) -> bool:
        """Whether the attack conquered its target."""
        target = self.attack[1] if self.attack is not None else None
        return target is not None and self.changed[target].owner != self.lands[target].owner


class Recording(NamedTuple):
    """A recording made by RiskGameRecorder.

    map: the name of the map.
    dice: the name of the dice mode; empty for the usual mode.
    has_capitals: whether capitals have special rules.
    players: the recorded data of each player, by the number of the player.
    rounds: the recorded events of each round, by the number of the round.
    """

    map: str
    dice: str
    has_capitals: bool
    players: Mapping[str, Any]
    rounds: Mapping[str, Any]

    @property
    def rules(self) -> Rules:
        """The rules for all territories except capitals."""
        return find_rules(self.dice or "classic")

    def find_rules(self, land: Land) -> Rules:
        names = ("capital" if self.has_capitals and land.is_capital else "", self.dice)
        return find_rules("+".join(filter(None, names)) or "classic")

    def name_owner(self, owner: object) -> str:
        if owner is None:
            return ""
        return str(_read_part(self.players, str(owner)).get("name", owner))[:MAX_NAME_LENGTH]

    def list_changes(self) -> Iterator[Change]:
        """Yield the changes of the map in chronological order."""
        rounds = [
            (parse_int(name, "each round"), _read_part(self.rounds, name)) for name in self.rounds
        ]
        for number, events in sorted(rounds, key=itemgetter(0)):
            with add_location(f"round {number}"):
                lands = _read_lands(events, "mapState")
                for _, player, changed in _list_snapshots(_read_part(events, "playerTurns")):
                    attack, unclear = _deduce_attack(player, lands, changed)
                    yield Change(number, player, lands, changed, attack, unclear)
                    lands = lands | changed


def read_recording(document: object) -> Recording:
    """Read a RiskGameRecorder recording from parsed JSON."""
    if not isinstance(document, dict) or not isinstance(document.get("roundInfo"), dict):
        raise MalformedError(
            "a log that is one JSON document must be a list or a recording with roundInfo, got "
            f"{quote(document)}"
        )
    info = _read_part(document, "gameInfo")
    mode = str(info.get("gameMode", ""))
    if "zombie" in mode.casefold():
        raise IllegalError(f"recordings with zombies cannot be read, got gameMode {quote(mode)}")
    with add_location("gameInfo.dice"):
        dice = str(info.get("dice", ""))
        name = "" if find_rules(dice) == Rules() else dice
    return Recording(
        str(info.get("map", "")),
        name,
        "capital" in mode.casefold(),
        _read_part(document, "players"),
        document["roundInfo"],
    )


def _read_object(value: object, name: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise MalformedError(f"{name} must be a JSON object, got {quote(value)}")
    return value


def _read_part(document: Mapping[str, Any], name: str) -> dict[str, Any]:
    return _read_object(document.get(name, {}), name)


def _read_lands(document: Mapping[str, Any], name: str) -> dict[str, Land]:
    return {key: _read_land(land) for key, land in _read_part(document, name).items()}


def _read_land(value: object) -> Land:
    state = _read_object(value, "each territory")
    armies = read_int(state.get("units"), "units", 0)
    owner, before = state.get("ownedBy"), state.get("previousUnits")
    if not isinstance(owner, str | int | None):
        raise MalformedError(f"ownedBy must be a player, got {quote(owner)}")
    if before is not None:
        before = read_int(before, "previousUnits", 0)
    return Land(owner, armies, bool(state.get("isCapital", False)), before)


def _list_snapshots(turns: dict[str, Any]) -> list[tuple[int, str, dict[str, Land]]]:
    """Return the recorded changes of a round by time: time, active player, changed territories."""
    read = []
    for player in turns:
        snapshots = _read_part(turns, player).get("snapshots", [])
        if not isinstance(snapshots, list):
            raise MalformedError(f"snapshots must be a list, got {quote(snapshots)}")
        for snapshot in snapshots:
            if _read_object(snapshot, "each snapshot").get("type") == "territory":
                time = read_int(snapshot.get("time", 0), "time")
                read.append((time, player, _read_lands(snapshot, "territories")))
    return sorted(read, key=itemgetter(0))


def _deduce_attack(
    player: str, before: Mapping[str, Land], after: Mapping[str, Land]
) -> tuple[tuple[str, str] | None, str]:
    """Deduce the source and the target of an attack from the map before and after a change.

    If they are not certain, the result is `None` and the reason; the reason is empty if no attack
    was recognised.
    """
    changed = [
        name for name, land in after.items() if name not in before or before[name][:2] != land[:2]
    ]
    if any(name not in before for name in changed):
        return None, ""
    if any(after[name].before not in (None, before[name].armies) for name in changed):
        return None, "changes that do not fit the map before them"
    taken = [name for name in changed if before[name].owner != after[name].owner]
    fewer = [name for name in changed if after[name].armies < before[name].armies]
    match len(changed), len(taken), len(fewer):
        case 1, 0, 1:
            return None, "attacks in which one side shows no loss"
        case 2, 0, 2:
            mine = [name for name in changed if str(before[name].owner) == player]
            if len(mine) != 1:
                return None, "losses by an unknown attacker"
            (target,) = {*changed} - {*mine}
            return (mine[0], target), ""
        case 1 | 2, 1, _:
            for source in fewer:
                left = sum(after[name].armies for name in changed)
                is_left = source not in taken and left <= before[source].armies
                if is_left and before[source].owner == after[taken[0]].owner:
                    return (source, taken[0]), ""
            return None, "conquests from an unknown territory"
    if taken and len(changed) > 2:
        return None, "changes to more than two territories at once"
    return None, ""


def recover_battles(document: object, notes: Notes) -> Iterator[Entry]:
    """Yield the battles that can be deduced with certainty from a RiskGameRecorder recording.

    notes: an object that counts the ignored changes by reason.

    The recorder compares the map every 50 ms and writes down each territory that has changed. A
    battle can be recovered if exactly two territories changed: the source of the attack, and a
    target that changed its owner or lost armies. A battle is ignored in three cases:

    - The defenders lost no army. The target of the attack is then unknown.
    - The two sides lost no more armies in total than one roll takes. The attackers may have rolled
      just once by hand.
    - The attackers stopped with more armies left than the garrison.

    Whether an outcome is ignored depends only on the armies before the battle and on the rules.
    With fair dice, recovered battles therefore follow the usual distribution, conditional on the
    outcomes that are not ignored. This assumes that all armies except the garrison fought, and that
    nobody placed armies within the 50 ms of the battle.
    """
    recording = read_recording(document)
    notes.is_recording = True
    for change in recording.list_changes():
        entry: Entry | str = change.unclear
        if change.attack is not None:
            with add_location(f"round {change.round}"):
                entry = _recover_battle(recording, change, *change.attack)
        if isinstance(entry, Entry):
            yield entry
        elif entry:
            notes.skipped[entry] += 1


def _recover_battle(recording: Recording, change: Change, source: str, target: str) -> Entry | str:
    """Return the armies and losses of a battle as an `Entry`, or the reason for ignoring it."""
    mine, theirs = change.lands[source], change.lands[target]
    rules, (left, against) = recording.find_rules(theirs), change.left
    lost = mine.armies - left, theirs.armies - against
    if mine.armies <= rules.garrison or not theirs.armies or left < rules.garrison + change.is_won:
        return "attacks that the rules do not allow"
    if not change.is_won and left > rules.garrison:
        return "attacks broken off, or rolled by hand"
    if sum(lost) <= count_losses_of_first_roll(mine.armies, theirs.armies, rules):
        return "attacks that may have been one roll"
    refuse_large(mine.armies, theirs.armies)
    return Entry(
        Trial("battle", mine.armies, theirs.armies, rules, is_recorded=True),
        lost,
        player=recording.name_owner(mine.owner),
        opponent=recording.name_owner(theirs.owner),
    )
