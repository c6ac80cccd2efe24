"""Answers for frames of every type agree with `ask`."""

import json
import tomllib
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from iacta import IactaError, Rules, ask, find_rules, read_position
from iacta.batch import answer
from iacta.forms.question import QUESTIONS
from iacta.rules.variants import RULE_SETS

BOARD = {
    "territories": {"A": ["B"], "B": ["C"], "C": []},
    "continents": {"X": {"bonus": 2, "territories": ["A", "B"]}},
}
HELD = {"A": {"owner": "red", "armies": 6}, "B": {"owner": "blue", "armies": 2}}
POSITION = json.dumps({"player": "red", "board": BOARD, "territories": HELD})
POSITION_IN_TOML = """player = "red"
[board.territories]
A = ["B"]
B = ["C"]
C = []
[board.continents.X]
bonus = 2
territories = ["A", "B"]
[territories]
A = { owner = "red", armies = 6 }
B = { owner = "blue", armies = 2 }
"""
BATTLES = {"attackers": [12, 5, 12], "defenders": [10, 4, 10], "note": ["=1", "b", None]}
ADDED = [
    "win_probability",
    "expected_attackers_left",
    "expected_defenders_left",
    "expected_attackers_left_if_won",
]
# Bounds on the relative error of a chance for at most 256, and for at most 1,024 armies on each
# side; see `iacta/batch/tables.py`.
BOUND, LARGE_BOUND = 1e-12, 5e-12


def records(question: str, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the records of the corresponding single questions."""
    read = {POSITION: json.loads(POSITION), POSITION_IN_TOML: tomllib.loads(POSITION_IN_TOML)}
    return [
        ask(question, **{name: read.get(str(each), each) for name, each in row.items()}).record()
        for row in rows
    ]


def list_columns(frame: Any) -> list[str]:
    """Return the names of a frame's columns."""
    names = getattr(frame, "column_names", None) or getattr(frame, "columns", frame)
    return list(frame.schema.names if isinstance(frame, pa.RecordBatch) else names)


FRAMES = {
    "polars": pl.DataFrame,
    "pandas": lambda columns: pd.DataFrame(columns, index=[5, 3, 4]),
    "arrow": pa.table,
    "batch": pa.RecordBatch.from_pydict,
    "mapping": dict,
    "arrays": lambda columns: {name: np.array(each) for name, each in columns.items()},
}


@pytest.mark.parametrize("kind", FRAMES)
def test_each_type_of_frame_gets_additional_columns(kind: str) -> None:
    frame = FRAMES[kind](BATTLES)
    found: Any = answer(frame)
    assert type(found) is type(frame)
    assert list_columns(found) == [*BATTLES, *ADDED, "error"]
    wanted = records("battle", [{"attackers": 12, "defenders": 10}])[0]
    for name in ADDED:
        values = [float(str(each)) for each in found[name]]
        assert values[0] == values[2] == pytest.approx(wanted[name], rel=2 * BOUND, abs=0)
    if kind == "pandas":
        assert list(found.index) == [5, 3, 4]
    if kind == "mapping":
        assert found["note"] == BATTLES["note"]


def check_answers(rows: list[dict[str, Any]], bound: float, absolute: float = 0.0) -> None:
    """Compare the answers for battles with those of single questions.

    bound: the bound on the relative error of a chance. The check allows three times this error,
        because a conditional mean is a quotient.
    absolute: the maximum absolute error, if the relative error is not bounded.
    """
    names = {name for row in rows for name in row}
    found = answer({name: [row.get(name) for row in rows] for name in names})
    for row, record in enumerate(records("battle", rows)):
        for name in ADDED:
            value, wanted = float(found[name][row]), record[name]
            assert np.isnan(value) == (wanted is None), (rows[row], name)
            if wanted is not None:
                error = abs(value - wanted)
                assert error <= 3 * bound * wanted + absolute, (rows[row], name, value, wanted)


@pytest.mark.parametrize("rules", [each.name for each in RULE_SETS])
def test_tables_agree_with_single_battles_under_all_rules(rules: str) -> None:
    rng = np.random.default_rng(1)
    battles = rng.integers(1, 40, (9, 2)).tolist()
    battles += [(1, 1), (2, 1), (1, 3), (33, 33), (34, 2), (4, 60)]
    rows = [{"attackers": a, "defenders": d, "rules": rules} for a, d in battles]
    if find_rules(rules).mode.certain:
        check_answers(rows, BOUND, absolute=1e-11)  # the kernel bounds only this error
    else:
        check_answers(rows, BOUND)


def test_the_tables_agree_with_garrisons_and_armies_kept_back() -> None:
    rng = np.random.default_rng(2)
    rows: list[dict[str, Any]] = [
        {"attackers": int(a), "defenders": int(d), "rules": rules, "garrison": g, "hold_back": kept}
        for a, d in rng.integers(1, 60, (4, 2))
        for rules in ("classic", "capital", "dominating12")
        for g in (None, 0, 1, 5)
        for kept in (None, 0, 3)
    ]
    check_answers(rows, BOUND)
    check_answers([{**row, "rules": "balanced blitz"} for row in rows[:12]], BOUND, absolute=1e-11)


def test_the_columns_hold_back_and_stop_at_are_the_parameters_of_these_names() -> None:
    both = [(None, None), (3, None), (None, 3), (2, 5), (0, 0), (30, None), (None, 30)]
    battles: list[dict[str, Any]] = [
        {"attackers": 10, "defenders": 5, "garrison": g, "hold_back": held, "stop_at": least}
        for g in (None, 0, 2)
        for held, least in both
    ]
    check_answers(battles, BOUND)
    ways: list[dict[str, Any]] = [
        {"attackers": 12, "territories": [3, 2], "hold_back": held, "stop_at": least}
        for held, least in both
    ]
    found = answer({name: [row[name] for row in ways] for name in ways[0]}, "campaign")
    for row, won in zip(ways, found["win_probability"], strict=True):
        given = {name: value for name, value in row.items() if value is not None}
        single: Any = ask("campaign", **given)
        assert won == pytest.approx(single.win_probability, rel=1e-12)


@pytest.mark.parametrize("rules", [each.name for each in RULE_SETS])
def test_campaigns_agree_with_single_campaigns_under_all_rules(rules: str) -> None:
    rng = np.random.default_rng(4)
    ways = [rng.integers(1, 9, count).tolist() for count in (1, 2, 3, 5)]
    rows = [
        {"attackers": int(n), "territories": way, "rules": rules, "garrison": g, "hold_back": kept}
        for way in ways
        for n, g, kept in (
            (1, None, None),
            (9, None, 2),
            (35, 2, None),
            (rng.integers(2, 60), 0, 0),
        )
    ]
    if rules == "five ones":
        rows = rows[:2]
    if find_rules(rules).mode.is_used_up:
        rows = rows[:4]  # longer ways are refused
    else:
        rows.append({"attackers": 50, "territories": [2, 1], "rules": rules, "garrison": 40})
    names = rows[0].keys()
    found = answer({name: [row.get(name) for row in rows] for name in names}, "campaign")
    least = 1e-11 if find_rules(rules).mode.certain else 0.0
    for row, record in enumerate(records("campaign", rows)):
        wanted = record["win_probability"]
        error = abs(found["win_probability"][row] - wanted)
        assert error <= 5 * BOUND * wanted + least, rows[row]


def test_territories_may_be_lists_texts_or_json() -> None:
    ways = ["5 3 2", "5,3,2", "[5, 3, 2]", "5 3 2:classic", "5  3 2"]
    found = answer({"attackers": 14, "territories": ways}, "campaign")["win_probability"]
    assert found == pytest.approx(found[0], rel=5 * BOUND, abs=0)
    lists = answer({"attackers": 14, "territories": [[5, 3, 2]]}, "campaign")["win_probability"]
    assert lists[0] == found[0]
    thousands = answer({"attackers": 14, "territories": ["8200", "8,200", "8 200"]}, "campaign")
    one, same, two = thousands["win_probability"]
    assert one == same != two
    wrong = answer({"attackers": 14, "territories": ["5 0", "[5 3]", "[]"]}, "campaign")["error"]
    assert [each[:16] for each in wrong] == [
        "defenders must b",
        "line 1: invalid ",
        "missing territor",
    ]


def test_large_battles_agree_within_the_bound_of_their_table() -> None:
    sizes = [(200, 200), (257, 250), (258, 256), (300, 12), (12, 300), (900, 1024), (1026, 1000)]
    rows = [{"attackers": a, "defenders": d} for a, d in sizes]
    check_answers(rows, LARGE_BOUND)
    check_answers(
        [{"attackers": 2, "defenders": 900}, {"attackers": 5000, "defenders": 4000}], BOUND
    )


def test_rows_outside_the_tables_equal_single_answers() -> None:
    rows: list[dict[str, Any]] = [
        {"attackers": 30, "defenders": 20, **more}
        for more in ({"charge": True}, {"max_losses": 4}, {"max_rolls": 3}, {"exact": True})
    ]
    rows.append({"attackers": 9, "defenders": 9, "rules": "five ones"})
    names = {name for row in rows for name in row}
    found = answer({name: [row.get(name) for row in rows] for name in names})
    for row, record in enumerate(records("battle", rows)):
        for name in ADDED:
            value, wanted = found[name][row], record[name]
            assert value == wanted or (wanted is None and np.isnan(value)), (rows[row], name)


@pytest.mark.parametrize("rules", ["classic", "balanced blitz"])
def test_an_answer_does_not_depend_on_other_rows(rules: str) -> None:
    rng = np.random.default_rng(3)
    frame = pl.DataFrame(rng.integers(1, 90, (200, 2)), schema=["attackers", "defenders"])
    whole = answer(frame, rules=rules)
    for part in (frame[:1], frame[7:100:3], frame[::-1]):
        alone = answer(part, rules=rules)
        assert alone.equals(part.join(whole.unique(), on=part.columns, maintain_order="left"))
    ways = pl.Series("territories", rng.integers(1, 9, (200, 3)), pl.Array(pl.Int64, 3))
    campaigns = pl.DataFrame([frame["attackers"], ways.cast(pl.List(pl.Int64))])
    whole = answer(campaigns, "campaign", rules=rules)
    for rows in (slice(1), slice(7, 100, 3)):
        assert answer(campaigns[rows], "campaign", rules=rules).equals(whole[rows])


def test_an_invalid_row_does_not_affect_others() -> None:
    rows = {
        "attackers": ["12", "-3", "many", None, "12", " 1,200 "],
        "defenders": ["10", "10", "10", "10", "10.5", "1e3"],
        "rules": ["classic", "", None, "capital", "wall", "nonsense"],
    }
    found = answer(pl.DataFrame(rows))
    assert found["win_probability"].is_null().to_list() == [False, True, True, True, True, True]
    assert found["error"].to_list()[:5] == [
        None,
        "attackers must be a whole number of at least 1, got -3",
        "attackers must be a whole number of at least 1, got 'many'",
        "missing attackers",
        "defenders must be a whole number of at least 1, got '10.5'",
    ]
    assert found["error"][5].startswith("unknown rules")


def test_values_are_parsed_like_those_of_a_question() -> None:
    frame = pd.DataFrame({"attackers": [12.0, None], "defenders": ["1,000", 10]})
    found = answer(frame, rules=Rules(ties="attacker"))
    wanted = ask("battle", attackers=12, defenders=1000, rules=Rules(ties="attacker")).record()
    assert found["win_probability"][0] == pytest.approx(wanted["win_probability"], rel=BOUND)
    assert found["error"][1] == "missing attackers"
    mixed = answer({"attackers": [12, "x", 2.5, True], "defenders": 3})
    assert [each is None for each in mixed["error"]] == [True, False, False, False]
    huge = answer({"attackers": [12, 10**30], "defenders": 3})
    assert huge["error"].tolist() == [None, "armies must be at most 10^18 for the method 'leap'"]


def test_pandas_integers_with_missing_values_are_exact() -> None:
    large = 10**18 + 1
    for kind in ("int64[pyarrow]", "Int64"):
        frame = pd.DataFrame({"attackers": pd.Series([large, None, 12], dtype=kind)})
        found = answer(frame, defenders=3)
        wanted = ask("battle", attackers=large, defenders=3).record()["win_probability"]
        assert found["attackers"].dtype == kind
        assert found["attackers"][0] == large
        assert found["win_probability"][0] == wanted
        assert found["error"][1] == "missing attackers"


@pytest.mark.parametrize("kind", FRAMES)
def test_booleans_are_not_armies(kind: str) -> None:
    frame: Any = FRAMES[kind]({name: [name == "attackers"] * 3 for name in BATTLES_ROW})
    sentence = "attackers must be a whole number of at least 1, got True"
    assert [*map(str, answer(frame)["error"])] == [sentence] * 3


def test_whole_numbers_may_have_a_decimal_point() -> None:
    wanted = answer({"attackers": [12], "defenders": 10})["win_probability"][0]
    decimals = [Decimal("12.00"), Decimal("12.50")]
    for attackers in ([12.0, 12.5], ["12.0", "12.5"], [12, 12.5], ["12.00", "12.5"], decimals):
        found = answer({"attackers": attackers, "defenders": 10})
        assert found["win_probability"][0] == wanted, attackers
        assert found["error"][0] is None
        assert found["error"][1].startswith("attackers must be a whole number"), attackers
    ways = answer({"attackers": 14, "territories": [[5.0, 3.0], [5, 3]]}, "campaign")
    assert ways["win_probability"][0] == ways["win_probability"][1]
    assert answer({"attackers": 14, "territories": [5.0, 4.5]}, "campaign")["error"][0] is None


WAR = "1;classic;red;Peru:red:9,Venezuela:green:4,Brazil:blue:6,Argentina:blue:1"
QUESTIONS_ASKED: dict[str, list[dict[str, Any]]] = {
    "campaign": [
        {"attackers": 20, "territories": [5, "3:capital", 1]},
        {"attackers": 9, "territories": [2, 2], "hold_back": 2},
        {"attackers": 9, "territories": [2, 2], "stop_at": 4},
    ],
    "need": [{"territories": [8, 2], "chance": "95%", "keep": 2}, {"territories": [10]}],
    "cards": [{"cards": 4}, {"hand": "2 infantry, 1 wild", "opponents": {"blue": 3}}],
    "roll": [{"attack_dice": 3, "defence_dice": 2}, {"attack_dice": 1, "defence_dice": 1}],
    "decide": [
        {"attackers": 20, "defenders": 10, "prize": 10},
        {"attackers": 8, "defenders": 6, "dice": True},
    ],
    "defend": [{"attackers": 12, "chance": 0.9}, {"attackers": 20, "armies": 12, "territories": 3}],
    "plan": [{"position": POSITION, "take": "B"}, {"position": POSITION_IN_TOML, "worth": True}],
    "win": [{"code": WAR, "games": 10, "seed": 1}, {"code": WAR, "games": 10, "seed": 2}],
    "goals": [{"code": WAR, "games": 4}, {"code": WAR, "games": 4, "win": True}],
    "threats": [{"code": WAR}, {"code": "1;classic;red;Peru:red:9"}],
    "analysis": [{"code": WAR}, {"code": "1;classic;red;Peru:red:9"}],
}


@pytest.mark.parametrize("question", QUESTIONS_ASKED)
def test_other_questions_have_the_values_of_their_records(question: str) -> None:
    rows = QUESTIONS_ASKED[question]
    names = {name: None for row in rows for name in row}
    found = answer({name: [row.get(name) for row in rows] * 2 for name in names}, question)
    form = {each.name: each for each in QUESTIONS.load_all()}[question]
    parameters = {parameter.name for parameter in form.parameters()}
    for row, record in enumerate(records(question, rows) * 2):
        assert found["error"][row] is None
        for name in form.usual_columns():
            column = f"answer_{name}" if name in parameters else name
            value, wanted = found[column][row], record.get(name)
            if isinstance(wanted, dict):
                assert json.loads(value) == wanted
            elif isinstance(wanted, list):
                assert pl.Series([value]).str.json_decode(infer_schema_length=1).to_list() == [
                    wanted
                ]
            elif wanted is None:
                assert value is None or value != value
            elif question == "campaign":  # batches compute it from matrices
                assert value == pytest.approx(wanted, rel=5 * BOUND, abs=0)
            else:
                assert value == wanted


def test_every_question_has_its_declared_columns() -> None:
    asked = {each.name for each in QUESTIONS.load_all() if each.usual_columns()}
    assert asked == {*QUESTIONS_ASKED, "battle"}
    for question, rows in {**QUESTIONS_ASKED, "battle": [BATTLES_ROW]}.items():
        form = {each.name: each for each in QUESTIONS.load_all()}[question]
        keys = {key for record in records(question, rows) for key in record}
        assert {*form.usual_columns()} <= keys, question


BATTLES_ROW = {"attackers": 12, "defenders": 10}


def test_positions_may_be_paths_or_texts(tmp_path: Path) -> None:
    file = tmp_path / "position.json"
    file.write_text(POSITION)
    found = answer({"position": [str(file), POSITION, "-", "none.toml"]}, "plan", take="B")
    wanted = ask("plan", position=str(file), take="B").record()["win_probability"]
    assert found["win_probability"][:2].tolist() == [wanted, wanted]
    assert found["error"][2] == "position cannot be read from standard input in a batch"
    assert found["error"][3].startswith("cannot read 'none.toml': no such file")
    one = answer({"position": read_position(file), "take": ["B", "Nowhere"]}, "plan")
    assert one["win_probability"][0] == wanted
    assert "Nowhere" in one["error"][1]


def test_columns_are_chosen_by_name_from_the_record() -> None:
    chosen = ["win_probability_exact", "outcomes", "method"]
    found = answer(pl.DataFrame(BATTLES), columns=chosen, exact=True)
    assert found.columns == [*BATTLES, *chosen, "error"]
    record = ask("battle", attackers=5, defenders=4, exact=True).record()
    assert found["win_probability_exact"][1] == record["win_probability_exact"]
    assert len(found["outcomes"].str.json_decode(infer_schema_length=9)[1]) == len(
        record["outcomes"]
    )
    way = answer({"attackers": [9], "territories": [[2]]}, "campaign", columns=["territories"])
    assert way["territories"] == [[2]]
    assert '"conquer_probability"' in way["answer_territories"][0]


def test_an_executor_answers_the_same_in_parts() -> None:
    rows = {"territories": [[n % 7 + 1, 2] for n in range(1500)]}
    with ThreadPoolExecutor(2) as pool:
        parts = answer(pl.DataFrame(rows), "need", executor=pool)
    assert parts.equals(answer(pl.DataFrame(rows), "need"))


def test_frames_without_rows_get_columns_without_rows() -> None:
    assert answer(pl.DataFrame(BATTLES)[:0]).columns == [*BATTLES, *ADDED, "error"]
    assert answer(pd.DataFrame({"attackers": []}), defenders=3).shape == (0, 6)


REFUSED = [
    (lambda: answer(7), "a frame must be a Polars or pandas frame, an Arrow table or a mapping"),
    (lambda: answer({"attackers": 12}), "a mapping must have columns of the same length, got none"),
    (lambda: answer({"attackers": [1], "defenders": [1, 2]}), "got 1 and 2"),
    (lambda: answer({"attackers": [12]}), "missing column defenders"),
    (lambda: answer(BATTLES, "simulate"), "question must be one of analysis, battle, campaign"),
    (lambda: answer(BATTLES, columns=["chance"]), "columns must be some of win_probability"),
    (lambda: answer(BATTLES, columns=[]), "columns must contain at least one name"),
    (lambda: answer(BATTLES, columns=5), "columns must be a list of names, got 5"),  # type: ignore[arg-type]
    (lambda: answer(BATTLES, columns="method"), "columns must be a list of names, got 'method'"),
    (
        lambda: answer(pd.DataFrame([[5, 3, 1]], columns=["a", "b", "a"])),
        "the column 'a' appears twice",
    ),
    (lambda: answer(BATTLES, columns=["method"] * 2), "columns must differ"),
    (
        lambda: answer({**BATTLES, "note": [1] * 3, "chance": 5}),
        "parameters must be some of attackers",
    ),
    (lambda: answer(BATTLES, rule="capital"), "parameters must be some of attackers"),
    (lambda: answer(BATTLES, rules="nonsense"), "unknown rules 'nonsense'"),
    (lambda: answer(BATTLES, defenders=3), "defenders is given both as a column and"),
    (lambda: answer({"attackers": [3], "defenders": 3}, defenders=3), "defenders is given twice"),
    (
        lambda: answer(answer(pl.DataFrame(BATTLES))),
        "'win_probability' clashes with a column that iacta adds",
    ),
]


@pytest.mark.parametrize(("call", "sentence"), REFUSED)
def test_invalid_arguments_are_refused_in_one_sentence(call: Any, sentence: str) -> None:
    with pytest.raises(IactaError) as refused:
        call()
    assert sentence in str(refused.value)
