"""Recordings of games: which battles they show, and which outcomes they never show."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from iacta.checks import parse_whole_number, shown, whole_number
from iacta.errors import IllegalError, MalformedError
from iacta.fairness.trials import Entry, Notes, Trial, armies_in_one_roll, at, refuse_large
from iacta.rules.rules import Rules
from iacta.rules.variants import find_rules

__all__ = ["recorded"]

LONGEST_NAME = 100


class _Land(NamedTuple):
    """A territory at some moment.

    owner: whose it is.
    armies: its armies.
    is_capital: whether it is a capital.
    before: its armies before a change, `None` if unknown.
    """

    owner: object
    armies: int
    is_capital: bool
    before: int | None = None


def recorded(document: object, notes: Notes) -> Iterator[Entry]:
    """Yield the battles that a recording of RiskGameRecorder shows.

    document: its JSON, parsed: `gameInfo`, `players` and `roundInfo`.
    notes: receives how many changes of armies show no battle, and why.

    The recorder compares the map every 50 ms, and writes each territory that has changed. A battle
    shows where exactly two have changed: one that an attacker left armies on, and one that changed
    its owner or lost armies. A battle of a attackers, g of whom must stay, against d defenders does
    not show, or not for certain,

    - if it failed without a loss of the defenders: then nobody knows where the attack went;
    - if it may have been a single roll by hand, as both sides together lost no more armies than
      such a roll takes;
    - if the attackers stopped with more than g left.

    What remains is a set of outcomes that depends on a, d and the rules alone. Each battle in it
    shows, so its outcome has the fair distribution given that set. This assumes that all armies but
    g fought, and that no armies were placed within the 50 ms of the battle.
    """
    if not isinstance(document, dict) or not isinstance(document.get("roundInfo"), dict):
        raise MalformedError(
            "a log of one JSON text must be a list or a recording with roundInfo, got "
            f"{shown(document)}"
        )
    notes.is_recording = True
    info = _part(document, "gameInfo")
    mode = str(info.get("gameMode", ""))
    if "zombie" in mode.casefold():
        raise IllegalError(
            f"recordings with zombies cannot be audited, got the gameMode {shown(mode)}"
        )
    with at("gameInfo.dice"):
        dice = str(info.get("dice", ""))
        names = [] if find_rules(dice) == Rules() else [dice]
    capitals = "capital" in mode.casefold()
    players = _part(document, "players")
    for number, events in _rounds(document["roundInfo"]):
        with at(f"round {number}"):
            lands = _lands(_part(events, "mapState"))
            for player, changes in _changes(_part(events, "playerTurns")):
                before, lands = lands, lands | changes
                told = _told(player, before, changes, notes)
                if told is None:
                    continue
                source, target = told
                is_capital = capitals and before[target].is_capital
                rules = find_rules("+".join(["capital"] * is_capital + names) or "classic")
                entry = _battle_told(before, lands, source, target, rules, notes)
                if entry is not None:
                    yield entry._replace(
                        player=_player(players, before[source].owner),
                        opponent=_player(players, before[target].owner),
                    )


def _part(document: Mapping[str, Any], name: str) -> dict[str, Any]:
    part = document.get(name, {})
    if not isinstance(part, dict):
        raise MalformedError(f"{name} must be an object of JSON, got {shown(part)}")
    return part


def _rounds(rounds: dict[str, Any]) -> list[tuple[int, dict[str, Any]]]:
    return sorted(
        ((parse_whole_number(name, "each round"), _part(rounds, name)) for name in rounds),
        key=lambda each: each[0],
    )


def _land(state: object) -> _Land:
    if not isinstance(state, dict):
        raise MalformedError(f"each territory must be an object of JSON, got {shown(state)}")
    armies = whole_number(state.get("units"), "units", 0)
    owner = state.get("ownedBy")
    if not isinstance(owner, str | int | None):
        raise MalformedError(f"ownedBy must be a player, got {shown(owner)}")
    before = state.get("previousUnits")
    if before is not None:
        before = whole_number(before, "previousUnits", 0)
    return _Land(owner, armies, bool(state.get("isCapital", False)), before)


def _lands(states: dict[str, Any]) -> dict[str, _Land]:
    return {name: _land(state) for name, state in states.items()}


def _changes(turns: dict[str, Any]) -> Iterator[tuple[str, dict[str, _Land]]]:
    """Yield whose turn it is and the territories that have changed, as time goes on."""
    found = []
    for player in turns:
        snapshots = _part(turns, player).get("snapshots", [])
        if not isinstance(snapshots, list):
            raise MalformedError(f"snapshots must be a list, got {shown(snapshots)}")
        for each in snapshots:
            if not isinstance(each, dict):
                raise MalformedError(f"each snapshot must be an object of JSON, got {shown(each)}")
            if each.get("type") == "territory":
                time = whole_number(each.get("time", 0), "time")
                found.append((time, player, _lands(_part(each, "territories"))))
    for _, player, lands in sorted(found, key=lambda each: each[0]):
        yield player, lands


def _told(
    player: str, before: dict[str, _Land], after: dict[str, _Land], notes: Notes
) -> tuple[str, str] | None:
    """Return from where to where an attack went, `None` if that is not clear."""
    changed = [
        name for name, land in after.items() if name not in before or before[name][:2] != land[:2]
    ]
    if any(name not in before for name in changed):
        return None
    if any(after[name].before not in (None, before[name].armies) for name in changed):
        notes.skip("changes that do not fit the map before them")
        return None
    taken = [name for name in changed if before[name].owner != after[name].owner]
    fewer = [name for name in changed if after[name].armies < before[name].armies]
    if len(changed) == 1 and len(fewer) == 1 and not taken:
        notes.skip("attacks of which one side shows no loss")
        return None
    if len(changed) == 1 and taken:
        notes.skip("conquests from an unknown territory")
        return None
    if len(changed) > 2 and taken:
        notes.skip("changes of several territories at once")
        return None
    if len(changed) != 2:
        return None
    if len(taken) == 1:
        (target,) = taken
        (source,) = (name for name in changed if name != target)
        left = after[source].armies + after[target].armies
        is_told = source in fewer and left <= before[source].armies
        if is_told and before[source].owner == after[target].owner:
            return source, target
        notes.skip("conquests from an unknown territory")
        return None
    if not taken and len(fewer) == 2:
        mine = [name for name in changed if str(before[name].owner) == player]
        if len(mine) == 1:
            (target,) = (name for name in changed if name != mine[0])
            return mine[0], target
        notes.skip("losses by an unknown attacker")
        return None
    return None


def _battle_told(
    before: dict[str, _Land],
    after: dict[str, _Land],
    source: str,
    target: str,
    rules: Rules,
    notes: Notes,
) -> Entry | None:
    attackers, defenders = before[source].armies, before[target].armies
    is_won = before[target].owner != after[target].owner
    left = after[source].armies + (after[target].armies if is_won else 0)
    lost = attackers - left, defenders - (0 if is_won else after[target].armies)
    why = ""
    if attackers <= rules.garrison or not defenders or left < rules.garrison + is_won:
        why = "attacks that the rules do not allow"
    elif not is_won and left > rules.garrison:
        why = "attacks broken off, or rolled by hand"
    elif sum(lost) <= armies_in_one_roll(attackers, defenders, rules):
        why = "attacks that may have been one roll"
    if why:
        notes.skip(why)
        return None
    refuse_large(attackers, defenders)
    return Entry(Trial("battle", attackers, defenders, rules, is_recorded=True), lost)


def _player(players: dict[str, Any], owner: object) -> str:
    if owner is None:
        return ""
    name = _part(players, str(owner)).get("name", owner)
    return str(name)[:LONGEST_NAME]
