"""Layouts of logs: common layouts are recognised in every source; unclear ones are refused."""

import io
import math
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from iacta import IactaError, audit
from iacta.cli.help import format_form_help
from iacta.fairness.layouts import ACCEPTED, EXAMPLES, find_layout, recognise_columns
from iacta.fairness.log import read_log
from iacta.fairness.trials import LOST, WON, Entry, Notes
from iacta.questions import ask
from iacta.questions.audit import AuditQuestion
from iacta.rules.variants import find_rules
from tests.cases import for_each
from tests.cli.run import Run
from tests.tables import table

CLASSIC = find_rules("classic")
ROLLS = [((6, 4, 1), (5, 3)), ((2,), (6,)), ((5, 5), (4, 1)), ((6, 2, 2), (2,))]


def read_entries(log: Any, rules: str = "classic") -> list[Entry]:
    """Return the entries of a log in order."""
    blocks = read_log(log, find_rules(rules), Notes())
    return [block.entries[code] for block in blocks for code in block.codes]


def remarks(log: Any) -> list[str]:
    """Return the remarks about the layout of a log."""
    notes = Notes()
    list(read_log(log, CLASSIC, notes))
    return list(notes.remarks)


def separate_dice(dice: Sequence[int], mark: str = " ") -> str:
    """Return dice with a separator between them."""
    return mark.join(map(str, dice))


# The rolls in every layout.
LAYOUTS = dict[str, str](table(__file__, "layouts")[1])
WANTED = read_entries([{"attack": attack, "defence": defence} for attack, defence in ROLLS])


@for_each("name", LAYOUTS)
def test_every_layout_shows_the_same_from_every_source(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert [each.outcome for each in WANTED] == [(0, 2), (1, 0), (0, 2), (0, 1)]
    text = LAYOUTS[name]
    file = tmp_path / "log.txt"
    file.write_text(text, encoding="utf-8", newline="")
    assert read_entries(text) == WANTED
    assert read_entries(text.encode()) == WANTED
    assert read_entries(text.replace("\n", "\r\n")) == WANTED
    assert read_entries(file) == WANTED
    stream = io.TextIOWrapper(io.BytesIO(text.encode()))
    monkeypatch.setattr(sys, "stdin", stream)
    assert read_entries(Path("-")) == WANTED
    if not name.startswith("list"):
        assert read_entries(iter(text.splitlines())) == WANTED
    assert len(remarks(text)) == 1, "the answer says how the log was read"


@pytest.mark.parametrize("name", ["digits", "cells", "several dice in a cell", "brackets"])
def test_the_command_says_how_it_read_a_log(
    name: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    run = Run(monkeypatch, capsys)
    (remark,) = remarks(LAYOUTS[name])
    file = tmp_path / "log.csv"
    file.write_text(LAYOUTS[name], encoding="utf-8")
    for words in (["audit", str(file)], ["audit", "--log", LAYOUTS[name]]):
        printed = run.words(words)
        assert printed.code == 0
        assert remark in printed.stdout
    assert ask("audit", log=LAYOUTS[name]).record()["remarks"] == [remark]


@pytest.mark.parametrize("has_heading", [True, False])
def test_excel_is_read_with_and_without_a_heading(has_heading: bool, tmp_path: Path) -> None:
    file = tmp_path / "log.xlsx"
    columns: dict[str, list[Any]] = {
        "Attack Dice": [separate_dice(attack) for attack, _ in ROLLS],
        "Defense Dice": [separate_dice(defence) for _, defence in ROLLS],
    }
    pl.DataFrame(columns).write_excel(file, include_header=has_heading)
    assert read_entries(file) == WANTED
    joined = {
        name: [int(text.replace(" ", "")) for text in texts] for name, texts in columns.items()
    }
    pl.DataFrame(joined).write_excel(file, include_header=has_heading)
    assert read_entries(file) == WANTED
    pl.DataFrame(
        {"x": [f"{separate_dice(a, '')}-{separate_dice(d, '')}" for a, d in ROLLS]}
    ).write_excel(file, include_header=False)
    assert read_entries(file) == WANTED


def test_other_tables_are_read_by_the_names_of_their_columns(tmp_path: Path) -> None:
    dice: dict[str, list[int | None]] = {
        f"{side[0]}{number + 1}": [
            roll[place][number] if number < len(roll[place]) else None for roll in ROLLS
        ]
        for place, (side, count) in enumerate((("attack", 3), ("defence", 2)))
        for number in range(count)
    }
    frame = pl.DataFrame(dice)
    frame.write_excel(tmp_path / "log.xlsx")
    frame.write_parquet(tmp_path / "log.parquet")
    frame.write_ipc(tmp_path / "log.arrow")
    for name in ("log.xlsx", "log.parquet", "log.arrow"):
        assert read_entries(tmp_path / name) == WANTED, name


def test_python_rows_may_be_pairs_or_strings() -> None:
    assert read_entries(ROLLS) == WANTED
    assert read_entries([[list(attack), list(defence)] for attack, defence in ROLLS]) == WANTED
    assert (
        read_entries([(separate_dice(attack), separate_dice(defence)) for attack, defence in ROLLS])
        == WANTED
    )
    assert read_entries(["attack,defence", *LAYOUTS["comma"].splitlines()]) == WANTED


@for_each("each", EXAMPLES)
def test_every_example_is_read(each: Any) -> None:
    log = f"{each.heading}\n{each.line}\n" if each.heading else each.line
    counts = {"100": 100, "12": 36, "5 3 6": 7, "6 6 5": 3}
    wanted = next((n for start, n in counts.items() if each.line.startswith(start)), 1)
    assert audit(log, draws=9).lines == wanted


def test_messages_name_three_layouts_and_the_help_that_lists_all_of_them() -> None:
    assert sum(f" {each.text}" in ACCEPTED for each in EXAMPLES if each.heading) == 2
    assert " 6 4 1 vs 5 3; see iacta audit --help" in ACCEPTED
    text = format_form_help([AuditQuestion], "iacta audit")
    for each in EXAMPLES:
        assert f"  {each.text}" in text


def test_the_docs_show_every_example() -> None:
    page = (Path(__file__).parents[2] / "docs/questions/fair-dice.md").read_text("utf-8")
    for each in EXAMPLES:
        if each.heading:
            assert f"`{each.heading}`" in page
        assert f"`{each.line}`" in page


def test_the_attacking_side_is_determined_by_the_first_lines() -> None:
    first = read_entries("5-3\n64-51\n641-53\n")
    second = read_entries("3-5\n51-64\n53-641\n")
    assert first == second
    assert first[0].dice == (5, 3)
    (remark,) = remarks("53-641\n")
    assert remark == (
        "The log has no header row: line 1, '53-641', was read as 641 in attack against 53 in "
        "defence, because the reverse would give one side too many dice."
    )


def test_the_separator_of_the_sides_is_determined_by_the_first_lines() -> None:
    assert [each.dice for each in read_entries("6,4 5\n6,4,1 5,3\n")] == [
        (6, 4, 5),
        (6, 4, 1, 5, 3),
    ]
    assert [each.dice for each in read_entries("6,4 5\n6,4,1 5\n")] == [(6, 4, 5), (6, 4, 1, 5)]


@for_each(*table(__file__, "totals"))
def test_totals_may_come_in_any_order_and_for_one_side(text: str) -> None:
    (wanted,) = read_entries("100 rolls 3 v 2: attackers lost 92, defenders 108")
    assert read_entries(text) == [wanted]
    assert (
        read_entries(f"{text}\n100 rolls 3 v 2: attackers lost 92, defenders 108\n") == [wanted] * 2
    )


@pytest.mark.parametrize(
    "text", ["5 3 6 1 2 2 4", "5, 3, 6, 1, 2, 2, 4,", "5;3;6;1;2;2\n4\n", "5 3 6 1 2 2\n\n4"]
)
def test_a_line_with_too_many_dice_for_a_roll_is_read_as_single_dice(text: str) -> None:
    assert read_entries(text) == read_entries("die\n5\n3\n6\n1\n2\n2\n4\n")
    assert remarks(text) == ["The log has no header row: its lines were read as single dice."]
    found = audit(text, draws=9)
    assert (found.lines, found.is_ordered) == (7, True)


# The rolls of `DATABASE` as exported by databases, with other names and with empty cells.
DATABASE = [((6, 4, 1), (5, 3)), ((6,), (3, 2)), ((4, 3), (4,))]
EXPORTS = {
    "long names": "attack_1,attack_2,attack_3,defend_1,defend_2\n6,4,1,5,3\n6,,,3,2\n4,3,,4,\n",
    "NULL": "a1,a2,a3,d1,d2\n6,4,1,5,3\n6,NULL,NULL,3,2\n4,3,NULL,4,NULL\n",
    "backslash N": "a1,a2,a3,d1,d2\n6,4,1,5,3\n6,\\N,\\N,3,2\n4,3,\\N,4,\\N\n",
    "NaN": "a1,a2,a3,d1,d2,player\n6,4,1,5,3,NaN\n6,NaN,nan,3,2,\n4,3,NaN,4,NaN,NULL\n",
    "defend": "attack,defend\n6 4 1,5 3\n6,3 2\n4 3,4\n",
}


@pytest.mark.parametrize("name", EXPORTS)
def test_exports_of_databases_are_read(name: str) -> None:
    wanted = [{"attack": attack, "defence": defence} for attack, defence in DATABASE]
    assert read_entries(EXPORTS[name]) == read_entries(wanted)


def test_a_column_of_floats_may_have_nan_in_empty_cells(tmp_path: Path) -> None:
    pl.DataFrame({"a1": [6.0, 5.0], "a2": [4.0, float("nan")], "d1": [5.0, 2.0]}).write_parquet(
        tmp_path / "log.parquet"
    )
    assert [each.dice for each in read_entries(tmp_path / "log.parquet")] == [(6, 4, 5), (5, 2)]


@pytest.mark.parametrize(
    "text",
    ["6 6 5\n5\n4 1\n", "665\n5\n41\n", "6,6,5\n5\n4,1\n", "5\n6 6 5\n4 1\n", "41\n665\n5\n"],
)
def test_the_dice_of_one_side_are_read_without_their_order(text: str) -> None:
    dice = sorted(each.outcome[0] for each in read_entries(text))
    assert dice == [1, 4, 5, 5, 6, 6]
    assert not audit(text, draws=9).is_ordered
    (remark,) = remarks(text)
    assert "was read as the dice of one side" in remark


@pytest.mark.parametrize(
    "text", ["12 sixes in 36 dice", "12 6s of 36", "12 x six out of 36 rolls.", "12 fives in 36"]
)
def test_a_number_that_came_up_too_often_is_compared_with_its_exact_odds(text: str) -> None:
    found = audit(text, draws=9)
    (luck,) = found.lucks
    wanted = sum(math.comb(36, n) * 5 ** (36 - n) for n in range(12, 37)) / 6**36
    assert luck.as_good == pytest.approx(wanted, rel=1e-9)
    assert luck.wins == pytest.approx(6, rel=1e-12)
    assert "chances of 1 in 6" in found.remarks[0]
    with pytest.raises(IactaError, match="unknown layout"):
        audit("12 sixes in 6 dice", draws=9)


@pytest.mark.parametrize(
    "words", [["6", "6", "5"], ["641-53", "6-5"], ["6 6 5"], ["6,6,5"], ["12", "sixes", "in", "36"]]
)
def test_dice_on_the_command_line_need_the_option_log(
    words: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    printed = Run(monkeypatch, capsys).words(["audit", *words])
    assert printed.code == 2
    assert "--log" in printed.stderr
    assert printed.stderr.count("\n") == 1


@for_each(*table(__file__, "unclear_logs"))
def test_no_unclear_log_is_guessed(text: str, sentence: str) -> None:
    with pytest.raises(IactaError) as caught:
        audit(text)
    assert str(caught.value).startswith(sentence)
    if sentence:
        assert str(caught.value).endswith(ACCEPTED)


def test_logs_with_three_dice_on_both_sides_need_a_heading() -> None:
    with pytest.raises(IactaError, match="which side attacked is not clear"):
        audit("641-53\n", rules="capital")
    assert read_entries("attack 641 defence 533\n", "capital")[0].outcome == (1, 2)


WRONG = dict(table(__file__, "wrong_logs")[1]) | {
    "9" * 9000 + "-5\n": "line 1: expected dice that show 1 to 6",
    "[" * 5000 + "6] [5]\n": "",
    "6 4 1,5 3\n" + "6 " * 4000 + "\n": "line 2: expected the dice of both sides",
    "6" + " " * 9000 + "v 1 lost x\n": "line 1: unknown",
}


@for_each("text", WRONG)
def test_a_wrong_log_is_refused_in_one_sentence(text: str) -> None:
    with pytest.raises(IactaError) as caught:
        audit(text)
    sentence = str(caught.value)
    assert sentence.startswith(WRONG[text])
    assert "\n" not in sentence
    assert len(sentence) < 1200


@for_each(
    "log",
    [
        [([6, 4], [])],
        [([6, 4], [True])],
        [([6, 4], [2.5])],
        [([[6]], [5])],
        [([6] * 21, [5])],
        [("641-53", None)],
        ["641-53", 6],
        [["6 4 1", "5 3"], {"die": 3}],
        ["6\ud800-5"],
        ["641-53", "6" * 20_000],
        ["641\n53"],
        [{"a1": {}, "d1": 5}],
        [{"Attack Dice": [[6]], "Defense Dice": [5]}],
        [{"attackers": 6, "defenders": 1, "won": []}],
        [{"attackers": 6, "defenders": 1, "result": {}}],
        [{("a",): 1}],
    ],
)
def test_wrong_rows_are_refused_in_one_sentence(log: Any) -> None:
    with pytest.raises(IactaError) as caught:
        audit(log)
    assert "\n" not in str(caught.value)


def test_counts_of_dice_are_not_taken_for_dice() -> None:
    text = "attack_dice,defence_dice,attackers_lost\n3,2,1\n1,1,0\n"
    assert [each.outcome for each in read_entries(text)] == [(1, 1), (0, 1)]
    assert not remarks(text)
    with pytest.raises(IactaError, match="line 2: defence_dice must be a whole number from 1 to 2"):
        audit("attack_dice,defence_dice,attackers_lost\n3,3,1\n")


def test_other_columns_do_not_change() -> None:
    text = "a1,a2,d1,player,time\n6,5,4,Ada,8\n"
    found = audit(text, draws=9)
    assert found.unread == ("time",)
    assert [luck.player for luck in found.lucks] == ["Ada"]
    rolls = audit("attack,defence,rolls,won\n6 5,4,17,yes\n", draws=9)
    assert rolls.unread == ("rolls", "won")
    assert rolls.lines == 1


def test_the_winner_may_be_named_in_common_words() -> None:
    for won, lost in (("won", "lost"), ("Yes", "No"), ("1", "0"), ("attacker", "defender")):
        text = f"attackers,defenders,result\n6,1,{lost}\n7,2,{won}\n"
        assert [each.outcome for each in read_entries(text)] == [LOST, WON]
    rows = [
        {"attackers": 6, "defenders": 1, "won": False},
        {"attackers": 7, "defenders": 2, "won": 1},
    ]
    assert [each.outcome for each in read_entries(rows)] == [LOST, WON]
    for text in (
        "6 v 1 lost, 9 v 3 lost, 7 v 2 won",
        "6 v 1 lost\n9 v 3 lost\nwon 7 v 2\n",
        "6,1,lost\n9,3,lost\n7,2,won\n",
        "6-1: loss; 9-3: loss and 7-2: win.",
        "6 vs 1 L\n9 vs 3 L\n7 vs 2 W\n",
    ):
        assert [each.outcome for each in read_entries(text)] == [LOST, LOST, WON]
        assert [each.fought for each in read_entries(text)] == [(6, 1), (9, 3), (7, 2)]


def test_long_logs_without_a_heading_are_read_block_by_block(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rng = np.random.default_rng(4)
    rows = rng.integers(1, 7, (4000, 5)).tolist()
    text = "".join(f"{separate_dice(row[:3], '')}-{separate_dice(row[3:], '')}\n" for row in rows)
    whole = read_entries(text)
    monkeypatch.setattr("iacta.inputs.tabular.BLOCK_BYTES", 999)
    assert read_entries(text) == whole
    assert [list(each.dice) for each in whole] == rows


def test_descriptions_of_layouts_and_columns_stand_alone() -> None:
    layout = find_layout([(3, "6 v 1 lost")], CLASSIC, "line")
    assert re.search("the garrison included, on 1, which failed", layout.remark)
    columns = recognise_columns([{"Attack Dice": "6 4 1", "Defense Dice": "5 3"}])
    assert "the dice in attack are in attack_dice" in columns.remark
