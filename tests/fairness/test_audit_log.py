"""Logs of dice: all formats give equal results, and errors have line numbers."""

import bz2
import gzip
import io
import json
import lzma
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pytest

from iacta import Battle, IactaError, audit
from iacta.fairness import log as audit_log
from iacta.fairness.audit import Audit
from iacta.fairness.log import read_log
from iacta.fairness.recording import recover_battles
from iacta.fairness.trials import Entry, Notes, Trial, compute_outcome_chances
from iacta.inputs import tabular
from iacta.inputs.errors import MissingError
from iacta.rules.variants import find_rules
from tests.cases import for_each
from tests.tables import table

CLASSIC = find_rules("classic")


def entries(log: Any) -> list[Entry]:
    """Return the entries of a log."""
    blocks = read_log(log, CLASSIC, Notes())
    return [block.entries[code] for block in blocks for code in block.codes]


def counts(found: Audit) -> dict[str, list[int]]:
    """Return how often each result occurred."""
    return {each.name: each.counts.tolist() for each in found.throws}


ROLLS = [((6, 5, 3), (5, 5)), ((2, 1), (1,)), ((4,), (6, 1))]
FORMATS = {
    "CSV": "attack,defence\n6 5 3,5 5\n2 1,1\n4,6 1\n",
    "digits": "attack,defence\n653,55\n21,1\n4,61\n",
    "semicolons": "Attack;Defense\n6,5,3;5,5\n2,1;1\n4;6,1\n",
    "tabs": "attack\tdefence\r\n6-5-3\t5-5\r\n2-1\t1\r\n4\t6-1\r\n",
    "quotes": 'attack,defence\n"6,5,3","[5, 5]"\n"2,1",1\n4,"6,1"',
    "remarks": "# an evening\n\nattack,defence\n6 5 3,5 5\n# tea\n2 1,1\n\n4,6 1\n",
    "a mark of UTF-8": "\ufeffattack,defence\n6 5 3,5 5\n2 1,1\n4,6 1\n",
    "JSON lines": '{"attack": [6, 5, 3], "defence": [5, 5]}\n{"attack": [2, 1], "defence": [1]}\n'
    '{"attack": "4", "defence": "6 1"}\n',
    "JSON": json.dumps([{"attack": ours, "defence": theirs} for ours, theirs in ROLLS]),
}


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_shows_the_same(name: str, tmp_path: Path) -> None:
    wanted = entries([{"attack": ours, "defence": theirs} for ours, theirs in ROLLS])
    assert [each.outcome for each in wanted] == [(1, 1), (0, 1), (1, 0)]
    assert entries(FORMATS[name]) == wanted
    assert entries(FORMATS[name].encode()) == wanted
    file = tmp_path / "log.txt"
    file.write_text(FORMATS[name], encoding="utf-8", newline="")
    assert entries(file) == wanted


PACKED: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "bzip2": bz2.compress,
    "xz": lzma.compress,
    "zstd": lambda content: bytes(pa.Codec("zstd").compress(content)),
}


@pytest.mark.parametrize("name", PACKED)
def test_packed_logs_are_unpacked(name: str, tmp_path: Path) -> None:
    text = FORMATS["quotes"].encode()
    file = tmp_path / "log"
    file.write_bytes(PACKED[name](text))
    assert entries(file) == entries(PACKED[name](text)) == entries(text)


def test_tables_of_other_programs_show_the_same(tmp_path: Path) -> None:
    wanted = entries(FORMATS["CSV"])
    columns = {"Attack": ["6 5 3", "2-1", "4"], "Defense": [55, 1, 61], "Count": [1.0, 1.0, 1.0]}
    frame = pl.DataFrame(columns)
    frame.write_excel(tmp_path / "log.xlsx")
    frame.write_parquet(tmp_path / "log.parquet")
    frame.write_ipc(tmp_path / "log.arrow")
    frame.write_ipc_stream(tmp_path / "stream.arrow")
    for name in ("log.xlsx", "log.parquet", "log.arrow", "stream.arrow"):
        assert entries(tmp_path / name) == wanted, name
    wrong = frame.with_columns(Defense=pl.Series([55, 1, 7]))
    wrong.write_excel(tmp_path / "log.xlsx")
    with pytest.raises(IactaError, match="row 3: defence must be dice that show 1 to 6, got '7'"):
        audit(tmp_path / "log.xlsx")


@pytest.mark.parametrize(
    ("content", "lacks"), [(b"PAR1", "Parquet needs polars"), (b"(\xb5/\xfd", "zstd needs pyarrow")]
)
def test_formats_that_need_other_packages_say_so(
    content: bytes, lacks: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "polars", None)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingError, match=f"{lacks}, which is not installed: pip install"):
        audit(content)
    assert audit(gzip.compress(b"die\n3\n")).lines == 1


def test_losses_show_what_the_dice_would() -> None:
    dice = audit("attack,defence\n653,55\n653,55\n21,1\n")
    lost = audit("attack_dice,defence_dice,attackers_lost\n3,2,1\n3,2,1\n2,1,0\n")
    counted = audit("attack_dice,defence_dice,defenders_lost,count\n3,2,1,2\n2,1,1,1\n")
    assert counts(lost) == counts(counted)
    assert counts(lost).items() < counts(dice).items()
    assert not counted.is_ordered


def test_single_dice_may_stand_without_a_heading() -> None:
    assert entries("3\n6\n6\n") == entries([3, 6, 6])
    assert audit("die,faces\n8,8\n1,8\n").throws[0].name == "dice of 8 faces"


def test_rolls_battles_and_dice_may_be_mixed() -> None:
    battle = {"attackers": 9, "defenders": 4}
    lines = [
        {"die": 4},
        {"attack_dice": 3, "defence_dice": 2, "attackers_lost": 0},
        battle | {"attackers_left": 6, "defenders_left": 0},
        battle | {"attackers_left": 1, "defenders_left": 2},
        battle | {"attackers_left": 5, "defenders_left": 2},
        battle | {"attackers_left": 6, "defenders_left": 0, "rules": "capital"},
    ]
    found = audit("\n".join(map(json.dumps, lines)))
    thrown = {each.kind: int(each.counts.sum()) for each in found.throws}
    assert thrown == {"dice": 1, "rolls": 1, "battles": 3}
    assert found.broken_off == 1
    assert found.lines == 5


def test_rules_change_what_dice_cost() -> None:
    rolls = (
        "attack,defence,rules\n6 5 3,6 1,classic\n6 5 3,6 1,zombie defender\n6 5 3,6 1 1,capital\n"
    )
    assert [each.outcome for each in entries(rolls)] == [(1, 1), (0, 2), (1, 2)]


def test_ignored_columns_are_named() -> None:
    assert audit("die,weather,Time\n3,fine,8\n").unread == ("weather", "time")


@pytest.mark.parametrize(
    "log", [None, 5, {"die": 3}, [None], [{}], [[3]], [True], [2.5], np.eye(2), object()]
)
def test_values_that_are_not_logs_are_refused(log: Any) -> None:
    with pytest.raises(IactaError):
        audit(log)


def test_a_file_is_named(tmp_path: Path) -> None:
    file = tmp_path / "log.csv"
    file.write_text("die\n9\n", encoding="utf-8")
    with pytest.raises(IactaError, match=r"^log file '.*log.csv': line 2: die must be"):
        audit(file)
    with pytest.raises(IactaError, match=r"^cannot read .*none.csv': no such file$"):
        audit(tmp_path / "none.csv")
    with pytest.raises(IactaError, match=r"^cannot read .*: it is a folder$"):
        audit(tmp_path)


BOMBS: dict[str, tuple[bytes, str]] = {
    "zipped twice": (
        gzip.compress(gzip.compress(b"die\n3\n")),
        "line 1: the text must be UTF-8, got",
    ),
    "zipped zeros": (gzip.compress(bytes(10**7)), "line 1: a line must be at most 10000 bytes"),
    "cut off": (gzip.compress(bytes(10**5))[:50], "ended before the end-of-stream marker"),
    "no workbook": (b"PK\x03\x04" + bytes(99), "file is not a zip file"),
    "UTF-16": ("die\n3\n".encode("utf-16"), "the text must be UTF-8, got UTF-16"),
    "Latin-1": ("die,player\n3,Zoë\n".encode("latin-1"), "line 2: the text must be UTF-8, got"),
    "endless line": (b"die\n3\n" + b"3" * 10**6, "line 3: a line must be at most 10000 bytes"),
    "endless heading": (b"die," * 10**5, "line 1: a line must be at most 10000 bytes"),
    "long name": (
        b"die,player\n3," + b"x" * 999 + b"\n",
        "line 2: player must be a name of at most",
    ),
    "deep": (
        b'{"die": ' + b"[" * 500 + b"]" * 500 + b"}\n",
        "line 1: lists and tables must be nested at most",
    ),
    "deep document": (b"[" * 10**5, "lists and tables must be nested at most 32 deep"),
    "long document": (b"[" + b'{"die":3},' * 2_000_000, "a JSON document must be at most 16777216"),
    "many digits": (b"die\n" + b"9" * 5000 + b"\n", "line 2: die must"),
    "many players": (
        b"die,player\n" + b"".join(b"3,%d\n" % n for n in range(1500)),
        "a log must have at most 1000 players, got more",
    ),
}


@for_each("name", BOMBS)
def test_a_bomb_is_refused_at_once(name: str, tmp_path: Path) -> None:
    content, sentence = BOMBS[name]
    file = tmp_path / "bomb"
    file.write_bytes(content)
    with pytest.raises(IactaError, match=r"bomb") as caught:
        audit(file)
    assert sentence in str(caught.value)
    assert len(str(caught.value)) < 500


class Endless(io.RawIOBase):
    """An endless pipe that repeats its lines and never returns more than is requested."""

    def __init__(self, head: bytes, lines: list[bytes], count: int) -> None:
        self.parts: Iterator[bytes] = iter([head, *(lines[n % len(lines)] for n in range(count))])
        self.buffer = self

    def read(self, _: int = -1) -> bytes:
        """Return the next bytes."""
        return next(self.parts, b"")


def test_a_long_log_is_read_from_a_pipe_in_bounded_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    part = b"".join(b"%d\n" % (n % 6 + 1) for n in range(60_000))
    pipe = Endless(b"die\n", [part[:100_001], part[100_001:]], 60)
    monkeypatch.setattr(sys, "stdin", pipe)
    largest = 0
    total = np.zeros(6, dtype=np.int64)
    for block in read_log(Path("-"), CLASSIC, Notes()):
        largest = max(largest, len(block.codes))
        faces = np.array([each.outcome[0] for each in block.entries])
        total += np.bincount(faces[block.codes] - 1, minlength=6)
    assert total.tolist() == [300_000] * 6
    assert largest < 400_000


def test_the_cache_forgets_lines_that_never_repeat(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(audit_log, "MAX_CACHED_LINES", 500)
    monkeypatch.setattr(tabular, "BLOCK_BYTES", 5000)
    text = "die,faces,player,time\n" + "".join(
        f"{n % 90 + 1},100,{n % 30},{n}\n" for n in range(9000)
    )
    made: list[Any] = []
    readers = audit_log._Reader  # the test checks how much this class stores

    def reader(*given: Any) -> Any:
        made.append(readers(*given))
        return made[-1]

    monkeypatch.setattr(audit_log, "_Reader", reader)
    pipe = Endless(b"", [text[n : n + 5000].encode() for n in range(0, len(text), 5000)], 10**4)
    pipe.parts = (text[n : n + 5000].encode() for n in range(0, len(text), 5000))
    monkeypatch.setattr(sys, "stdin", pipe)
    for _ in read_log(Path("-"), CLASSIC, Notes()):
        assert len(made[0].cache) <= 2000
        assert len(made[0].indices) <= 2000


def test_a_log_is_the_same_in_one_block_and_in_many(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    rows = rng.integers(1, 7, (700, 5))
    text = "attack,defence,player\n" + "".join(
        f"{a} {b} {c},{x} {y},{'Ada' if n % 3 else 'Ben'}\n"
        for n, (a, b, c, x, y) in enumerate(rows)
    )
    whole = audit(text)
    monkeypatch.setattr(audit_log, "BLOCK", 64)
    monkeypatch.setattr(tabular, "BLOCK_BYTES", 999)
    pipe = Endless(b"", [], 0)
    pipe.parts = (text[n : n + 999].encode() for n in range(0, len(text), 999))
    monkeypatch.setattr(sys, "stdin", pipe)
    parts = audit(Path("-"))
    assert counts(parts) == counts(whole)
    assert [each.p_value for each in parts.findings] == [each.p_value for each in whole.findings]
    assert parts.log_evidence == pytest.approx(whole.log_evidence, abs=1e-9)
    assert parts.most_evidence == pytest.approx(whole.most_evidence, abs=1e-9)
    assert [each.throws for each in parts.moments] == [each.throws for each in whole.moments]
    for one, other in zip(parts.lucks, whole.lucks, strict=True):
        assert one.player == other.player
        assert one.armies == pytest.approx(other.armies)


def land(owner: int | None, units: int, capital: bool = False) -> dict[str, Any]:
    """Return a territory as a recording shows it."""
    return {"ownedBy": owner, "units": units, "isCapital": capital}


def make_recording(
    first: dict[str, Any], changes: list[dict[str, Any]], dice: str = "TrueRandom", **info: Any
) -> dict[str, Any]:
    """Return a recording of one round in which player 1 moves."""
    snapshots = [
        {"type": "territory", "territories": each, "time": 100 * n}
        for n, each in enumerate(changes)
    ]
    return {
        "metadata": {"version": 1},
        "gameInfo": {"dice": dice, "gameMode": "CapitalConquest", **info},
        "players": {"1": {"name": "Ada"}, "2": {"name": "Ben"}},
        "roundInfo": {"1": {"mapState": first, "playerTurns": {"1": {"snapshots": snapshots}}}},
    }


FIRST = {"A": land(1, 12), "B": land(2, 5), "C": land(2, 4, capital=True), "D": land(None, 3)}


def read_recording(*changes: dict[str, Any], **info: Any) -> tuple[list[Entry], dict[str, int]]:
    """Return the entries of a recording and its unclear events."""
    notes = Notes()
    text = json.dumps(make_recording(FIRST, list(changes), **info))
    blocks = list(read_log(text, CLASSIC, notes))
    return [block.entries[code] for block in blocks for code in block.codes], notes.skipped


def test_a_conquest_is_reported_from_two_territories() -> None:
    before = {"previousUnits": 12}
    (entry,), skipped = read_recording(
        {"A": land(1, 2) | before, "B": land(1, 7) | {"previouslyOwnedBy": 2}}
    )
    assert entry.outcome == (3, 5)
    assert entry.trial == Trial("battle", 12, 5, CLASSIC, is_recorded=True)
    assert (entry.player, entry.opponent) == ("Ada", "Ben")
    assert not skipped


def test_capitals_neutral_players_and_dice_modes_have_their_rules() -> None:
    (entry,), _ = read_recording(
        {"A": land(1, 1), "C": land(1, 8, capital=True)}, dice="BalancedBlitz"
    )
    assert entry.trial is not None
    assert entry.trial.rules == find_rules("capital+balanced blitz")
    (entry,), _ = read_recording({"A": land(1, 1), "D": land(1, 9)})
    assert entry.opponent == ""
    (entry,), _ = read_recording(
        {"A": land(1, 1), "C": land(1, 8, capital=True)}, gameMode="WorldDomination"
    )
    assert entry.trial is not None
    assert entry.trial.rules == CLASSIC


def test_an_attack_that_failed_is_reported_if_defenders_fell() -> None:
    (entry,), _ = read_recording({"A": land(1, 1), "B": land(2, 3)})
    assert entry.outcome == (11, 2)
    found, skipped = read_recording({"A": land(1, 1)})
    assert not found
    assert skipped == {"attacks in which one side shows no loss": 1}


@pytest.mark.parametrize(*table(__file__, "not_guessed"))
def test_missing_facts_in_a_recording_are_not_guessed(change: dict[str, Any], why: str) -> None:
    found, skipped = read_recording(change)
    assert not found
    assert skipped == {why: 1}


def test_battles_that_may_be_one_roll_are_not_reported() -> None:
    small = {**FIRST, "B": land(2, 2)}
    change = {"A": land(1, 4), "B": land(1, 8)}  # two defenders killed, no attacker lost
    notes = Notes()
    assert not list(recover_battles(make_recording(small, [change]), notes))
    assert notes.skipped == {"attacks that may have been one roll": 1}
    more = {"A": land(1, 4), "B": land(1, 7)}
    (entry,) = recover_battles(make_recording(small, [more]), Notes())
    assert entry.outcome == (1, 2)


def test_moves_and_new_armies_are_not_battles() -> None:
    found, skipped = read_recording(
        {"A": land(1, 15)},
        {"A": land(1, 12), "E": land(1, 3)},
        {"B": land(2, 8), "C": land(2, 9, capital=True)},
        {"A": land(1, 12)},
    )
    assert not found
    assert skipped == {}


def test_only_outcomes_that_can_be_reported_are_compared() -> None:
    trial = Trial("battle", 6, 3, find_rules("classic"), is_recorded=True)
    every = compute_outcome_chances(trial._replace(is_recorded=False))
    kept = compute_outcome_chances(trial)
    assert set(every) - set(kept) == {(5, 0)}  # such battles leave no change to record
    total = sum(every[each] for each in kept)
    assert all(kept[each] == pytest.approx(every[each] / total) for each in kept)
    assert sum(kept.values()) == pytest.approx(1)
    small = Trial("battle", 4, 2, find_rules("classic"), is_recorded=True)
    assert (0, 2) not in compute_outcome_chances(small)


@pytest.mark.parametrize("dice", ["TrueRandom", "BalancedBlitz"])
def test_recordings_of_fair_battles_raise_no_alarm(dice: str) -> None:
    rng = np.random.default_rng(11)
    rounds = {}
    for number in range(400):
        attackers, defenders = int(rng.integers(3, 15)), int(rng.integers(1, 9))
        (end,) = (
            Battle(attackers, defenders, "classic" if dice == "TrueRandom" else dice)
            .outcomes()
            .sample(1, rng)
        )
        first = {"A": land(1, attackers), "B": land(2, defenders)}
        if end.defenders:
            change = {"A": land(1, 1)}
            if end.defenders < defenders:
                change["B"] = land(2, end.defenders)
        else:
            moved = int(rng.integers(1, end.attackers))
            change = {"A": land(1, end.attackers - moved), "B": land(1, moved)}
        rounds[str(number)] = make_recording(first, [change])["roundInfo"]["1"]
    document = make_recording(FIRST, [], dice) | {"roundInfo": rounds}
    found = audit(json.dumps(document))
    assert found.is_recording
    assert sum(found.skipped.values()) + found.lines == 400
    assert found.lines > 200
    assert not found.is_alarm
    assert not found.impossible


@pytest.mark.parametrize(*table(__file__, "wrong_recordings"))
def test_a_wrong_recording_is_refused(change: dict[str, Any], sentence: str) -> None:
    with pytest.raises(IactaError) as caught:
        audit(json.dumps(make_recording(FIRST, []) | change))
    assert sentence in str(caught.value)
