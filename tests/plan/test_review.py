"""Reviews of games: costs and luck agree with a slow twin and add up over each turn."""

import json
import math
from itertools import pairwise
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pytest

from iacta import Capitals, IactaError, Rules, Share, Victory, read_position, review, win_chances
from iacta.board import Board, Holding, Position
from iacta.forms.record import OMITTED
from iacta.game import Advance, Attack, Defend, EndPhase, Losses, Turn
from iacta.plan import Goal, TakeAll, Worth, best_plan
from iacta.plan.game_log import read_game
from iacta.plan.goal_plan import plan_goal
from iacta.plan.margin import MARGIN
from iacta.plan.review import Review
from iacta.questions import ask
from iacta.questions.review import ReviewAnswer, ReviewQuestion
from iacta.rules.modes import BalancedBlitz, DefenderSeesFirst
from iacta.rules.variants import find_rules
from tests.cases import for_each
from tests.house_twin import HOUSES, TURN_HOUSES
from tests.plan import twin
from tests.tables import table

BORDERS = [(v, c) for v in "ABCD" for c in "ABCD" if v != c and {v, c} != {"A", "D"}]
BOARD = Board("square", tuple("ABCD"), tuple(BORDERS))
HELD = Holding("red", 5), Holding("red", 3), Holding("blue", 2), Holding("blue", 2)
START = Position(BOARD, "red", HELD)
GOALS: dict[str, tuple[dict[str, Any], Goal]] = {
    "take": ({"take": "D"}, TakeAll(("D",))),
    "worth": ({"worth": True}, Worth()),
}


RULES: dict[str, dict[str, Any]] = {
    "classic": {},
    "zombie attacker": {"rules": find_rules("zombie attacker")},
    "defender sees first": {"rules": Rules(mode=DefenderSeesFirst())},
    "whole battles": {"whole_battles": True},
    "balanced blitz": {"rules": Rules(mode=BalancedBlitz())},
    **{house: {"rules": HOUSES[house].rules} for house in TURN_HOUSES},
}
BREAK_OFF = Path(__file__).parents[2] / "examples" / "break-off.json"
Fights: TypeAlias = list[tuple[float, Losses]]  # results with their chances


def make_log_line(
    goal: dict[str, Any], battles: list[dict[str, Any]], turn: Turn | None = None, **more: Any
) -> str:
    """Return a line of a log for a turn, by default for the first turn."""
    turn = turn or Turn(START, phase="attack")
    record = {"turn": turn.to_code(), "board": turn.board.to_record(), "goal": goal}
    return json.dumps({**record, "battles": battles, **more})


def assert_known(number: float | None) -> float:
    """Return a number after asserting that it is not `None`."""
    assert number is not None
    return number


def list_attacks(turn: Turn) -> list[Attack]:
    return [each for each in turn.actions() if isinstance(each, Attack)]


def advance_randomly(turn: Turn, rng: np.random.Generator) -> tuple[Turn, dict[str, int]]:
    """Return a turn after a random advance, if one is due, and the log keys of the advance."""
    advances = [each for each in turn.actions() if isinstance(each, Advance)]
    if not advances:
        return turn, {}
    advance = advances[rng.integers(len(advances))]
    return turn.after(advance), {"moved": advance.armies}


def make_entry(turn: Turn, attack: Attack, losses: Losses) -> dict[str, Any]:
    left = turn.position.find_holding(attack.start).armies - losses.attackers
    against = turn.position.find_holding(attack.to).armies - losses.defenders
    names = {"from": attack.start, "to": attack.to}
    return {**names, "left": left, "their_left": against, "dice": attack.dice}


def fights(turn: Turn, attack: Attack) -> list[tuple[float, list[Fights]]]:
    """Return the throws of an attack with their chances, and the losses after each reply."""
    throws = turn.results(attack)
    known = [(float(p), losses) for losses, p in throws.items() if isinstance(losses, Losses)]
    if known:
        return [(1.0, [known])]
    found = []
    for throw, weight in throws.items():
        answering = turn.after(attack, throw)
        actions = [each for each in answering.actions() if isinstance(each, Defend)]
        answers = [answering.results(each) for each in actions]
        replies = [[(float(p), losses) for losses, p in each.items()] for each in answers]
        found.append((float(weight), replies))
    return found


@pytest.mark.parametrize("rules", RULES)
@pytest.mark.parametrize("kind", GOALS)
@pytest.mark.parametrize("seed", range(3))
def test_the_luck_of_a_roll_is_0_on_average(kind: str, seed: int, rules: str) -> None:
    record, goal = GOALS[kind]
    turn, rng = Turn(START, phase="attack", **RULES[rules]), np.random.default_rng(seed)
    for _ in range(6):
        if not list_attacks(turn) or (goal.is_chance and goal.is_reached(turn)):
            break
        attack = list_attacks(turn)[rng.integers(len(list_attacks(turn)))]
        throws, ends, lines = fights(turn, attack), dict[Losses, Turn](), []
        for losses in (each for _, replies in throws for reply in replies for _, each in reply):
            if losses not in ends:
                entry = make_entry(turn, attack, losses)
                fought = turn.apply_battle(*entry.values())
                ends[losses], moved = advance_randomly(fought, rng)
                lines.append(make_log_line(record, [entry | moved], turn, stops=False))
        found = review("\n".join(lines))
        steps = dict(zip(ends, found.steps, strict=True))
        assert found.proven
        assert {(each.dice, each.is_assumed) for each in found.steps} <= {(attack.dice, False)}
        if (step := steps.pop(Losses(0, 0), None)) is not None:
            assert (step.luck, step.cost, step.before) == (0.0, 0.0, step.after)
            ((_, (reply,)),) = throws
            costly = [(p, losses) for p, losses in reply if losses != Losses(0, 0)]
            total = math.fsum(p for p, _ in costly)
            throws = [(1.0, [[(p / total, losses) for p, losses in costly]])]
        mean = math.fsum(
            weight
            * min(
                math.fsum(p * assert_known(steps[end].luck) for p, end in reply)
                for reply in replies
            )
            for weight, replies in throws
        )
        assert mean == pytest.approx(0.0, abs=1e-9)
        if len(throws) == 1:
            ((_, (reply,)),) = throws
            spread = math.sqrt(
                math.fsum(p * assert_known(steps[end].luck) ** 2 for p, end in reply)
            )
            spreads = [each.spread for each in steps.values()]
            assert spreads == pytest.approx([spread] * len(steps))
        turn = [*ends.values()][rng.integers(len(ends))]


@pytest.mark.parametrize("said", [True, False])
@pytest.mark.parametrize(
    "rules", ["classic", "zombie attacker", "whole battles", "never fewer", "fumble", "fourth"]
)
@pytest.mark.parametrize("kind", GOALS)
@pytest.mark.parametrize("seed", range(6))
def test_a_turn_agrees_with_its_slow_twin(
    kind: str, seed: int, rules: str, said: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The twin maximises the chance alone.
    monkeypatch.setitem(plan_goal.__kwdefaults__ or {}, "margin", 0.0)
    record, goal = GOALS[kind]
    first = Turn(START, phase="attack", **RULES[rules])
    slow = twin.Play(START, goal, first.rules, battles=first.whole_battles)
    rng = np.random.default_rng(seed)
    turn, battles = first, list[dict[str, Any]]()
    expected = []  # pairs of luck and cost
    while len(battles) < 8 and list_attacks(turn) and not slow.is_over(slow.state(turn.position)):
        attack = list_attacks(turn)[rng.integers(len(list_attacks(turn)))]
        (result,) = turn.results(attack).sample(1, rng)
        assert isinstance(result, Losses)
        before, state, entry = turn, slow.state(turn.position), make_entry(turn, attack, result)
        turn, moved = advance_randomly(turn.after(attack, result), rng)
        after = slow.value(slow.state(turn.position))
        judged = []  # cost and luck for each number of dice that the log allows
        for action in slow.actions(state):
            names = slow.names[action.start], slow.names[action.to]
            ((_, (ends,)),) = slow.throws(state, action)
            if names != (attack.start, attack.to) or (said and action.dice != attack.dice):
                continue
            if (result.attackers, result.defenders) not in {each[1:3] for each in ends}:
                continue
            fought = before.apply_battle(*names, entry["left"], entry["their_left"], action.dice)
            advances = [each for each in fought.actions() if isinstance(each, Advance)]
            if moved and moved["moved"] not in {each.armies for each in advances}:
                continue
            follow = map(fought.after, advances) if advances else [fought]
            best = max(slow.value(slow.state(each.position)) for each in follow)
            worth = slow.find_action_value(state, action)
            judged.append((slow.value(state) - worth + best - after, best - worth))
        expected.append(min(judged))
        battles.append(entry | moved)
        if not said:
            del battles[-1]["dice"]
    found = review(make_log_line(record, battles, first))
    *steps, stop = found.steps
    assert found.proven
    assert len(steps) == len(expected)
    for step, (cost, luck) in zip(steps, expected, strict=True):
        assert (step.luck, step.cost) == pytest.approx((luck, cost), abs=1e-9), step
        assert step.spread is not None
    assert stop.cost == pytest.approx(
        assert_known(stop.before) - slow.paid(slow.state(turn.position)), abs=1e-9
    )
    gained = assert_known(found.steps[-1].after) - assert_known(found.steps[0].before)
    costs = math.fsum(assert_known(each.cost) for each in found.steps)
    lucks = math.fsum(assert_known(each.luck) for each in found.steps)
    assert lucks == pytest.approx(gained + costs, abs=1e-9)


@pytest.mark.parametrize(
    ("end", "dice", "cost"),
    [
        ({"left": 6, "their_left": 1}, 3, 0.00471),  # one die cannot cost both sides an army
        ({"left": 6, "their_left": 1, "dice": 2}, 2, 0.00673),
        ({"left": 7, "their_left": 1}, 1, 0.0),
        ({"left": 7, "their_left": 1, "dice": 1}, 1, 0.0),
    ],
)
def test_the_dice_that_are_judged_fit_the_losses(
    end: dict[str, int], dice: int, cost: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(plan_goal.__kwdefaults__ or {}, "margin", 0.0)
    record = json.loads(BREAK_OFF.read_text(encoding="utf-8"))
    record["territories"]["A"]["armies"], record["territories"]["C"]["armies"] = 7, 2
    turn = Turn(read_position(record), phase="attack")
    battle = {"from": "A", "to": "C"} | end
    answer = ReviewQuestion(
        log=make_log_line({"take": "C, D"}, [battle], turn, stops=False)
    ).answer()
    (step,) = answer.reviewed.steps
    assert (step.before, step.cost) == pytest.approx((0.78470, cost), abs=5e-6)
    assert (step.dice, step.is_assumed) == (dice, "dice" not in end)
    assert step.better == ("A to C with 1 die" if cost else "")
    assert step.spread == pytest.approx(0.022, abs=0.001)
    says = "The log lacks the dice of 1 attack"
    assert (says in str([*answer.sections()])) == step.is_assumed


def test_several_rolls_are_judged_with_the_best_dice() -> None:
    battle = {"from": "A", "to": "C", "left": 2, "their_left": 2}
    (step,) = review(make_log_line({"take": "D"}, [battle], stops=False)).steps
    assert (step.spread, step.is_assumed) == (None, True)
    costs = [
        review(make_log_line({"take": "D"}, [battle | {"left": left, "dice": dice}], stops=False))
        for dice, left in ((1, 4), (2, 3), (3, 3))
    ]
    assert step.cost == min(assert_known(each.steps[0].cost) for each in costs)


def test_the_costliest_decisions_name_a_better_decision() -> None:
    wrong = {"from": "A", "to": "B", "left": 4, "their_left": 3}
    with pytest.raises(IactaError, match=r"line 1: battle 1: A cannot attack B: red owns"):
        review(make_log_line({"take": "D"}, [wrong]))
    found = review(make_log_line({"take": "D"}, []))
    assert [each.name for each in found.costliest] == ["stop"]
    assert found.costliest[0].better
    assert found.players[0].cost == found.steps[0].before


@for_each(*table(__file__, "impossible_battles"))
def test_impossible_battles_are_refused(change: dict[str, Any], sentence: str) -> None:
    battle = {"from": "A", "to": "C", "left": 5, "their_left": 1} | change
    with pytest.raises(IactaError) as caught:
        review(make_log_line({"take": "D"}, [battle]))
    assert str(caught.value).startswith(sentence)


def test_battles_that_there_is_no_time_for_are_judged_in_armies_only(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = [0.0]
    monkeypatch.setattr("iacta.native.deadline.monotonic", lambda: now[0])
    battle = {"from": "A", "to": "C", "left": 5, "their_left": 1}
    log = "\n".join([make_log_line({"take": "D"}, [battle])] * 3)

    pending = []

    def wait(done: float, total: int, so_far: Review) -> None:
        now[0] += 10.0 if done else 0.0
        pending.append(so_far.pending)

    whole = review(log)
    found = review(log, time_limit=25, progress=wait)
    assert (len(found.steps), found.missed, whole.missed) == (6, 1, 0)
    assert (pending, found.pending) == ([2, 2, 1, 1, 0, 0], 0)
    assert found.steps[:3] == whole.steps[:3]
    assert found.steps[4].luck_armies == whole.steps[4].luck_armies
    assert found.steps[4].cost is None
    sections = [*ReviewAnswer(ReviewQuestion(log=log), found).sections()]
    assert "There was no time to judge 1 roll or battle; allow more time." in str(sections)


CONDITIONS: dict[str, Victory] = {
    "share": Share(3),
    "capitals": Capitals({"red": "A", "blue": "C"}),
}


@pytest.mark.parametrize("condition", CONDITIONS)
def test_a_battle_that_wins_the_game_leaves_nothing_to_gain(condition: str) -> None:
    turn = Turn(START, phase="attack", victory=CONDITIONS[condition])
    battle = {"from": "A", "to": "C", "left": 5, "their_left": 0, "moved": 4}
    line = make_log_line({"take": "D"}, [battle], turn)
    conquest, stop = review(line).steps
    assert conquest.after == stop.before == stop.after == 1.0
    assert (conquest.better, stop.cost, stop.better) == ("", 0.0, "")
    assert conquest.cost == pytest.approx(0.0, abs=MARGIN)
    end = read_game(line).turns[0].end
    assert (end.phase, end.winner) == ("over", "red")


def test_a_conquest_by_which_a_rival_wins_is_a_mistake_of_a_log() -> None:
    code = (
        "1;classic;{};Indonesia:red:9,New%20Guinea:green:1,Western%20Australia:blue:3,"
        "Eastern%20Australia:blue:1;attack;players=blue,red,green;"
        "win=missions:,red:Australia,blue:eliminate%20green,green:24%20territories"
    )
    miss = {"from": "Western Australia", "to": "New Guinea", "left": 2, "their_left": 1}
    taken = {"from": "Indonesia", "to": "New Guinea", "left": 9, "their_left": 0, "moved": 8}
    starts = Turn.from_code(code.format("blue")), Turn.from_code(code.format("red"))
    lines = [
        make_log_line({"take": "New Guinea"}, [miss], starts[0]),
        make_log_line({"take": "Australia"}, [taken], starts[1]),
    ]
    found = review("\n".join(lines))
    blue, _, conquest, stop = found.steps
    assert conquest in found.costliest
    assert conquest.better == "Indonesia to Western Australia"
    assert (conquest.after, stop.before, stop.after, stop.cost) == (0.0, 0.0, 0.0, 0.0)
    # One die takes New Guinea in 15 of 36 cases, which loses the game. Otherwise red goes on with
    # an army less.
    fewer = code.replace("red:9", "red:8").format("red")
    turns = starts[1], Turn.from_code(fewer)
    best, less = (best_plan(turn, TakeAll("Australia")).value for turn in turns)
    expected = 21 / 36 * assert_known(less)
    assert conquest.luck == pytest.approx(-expected)
    assert conquest.cost == pytest.approx(assert_known(best) - expected)
    assert assert_known(blue.luck) < 0


def test_a_log_keeps_the_players_who_are_gone() -> None:
    capitals = Capitals({"red": "A", "blue": "C", "green": "D"})
    players = ("green", "blue", "red")
    turn = Turn(START, phase="attack", players=players, victory=capitals)
    battle = {"from": "A", "to": "C", "left": 5, "their_left": 0, "moved": 4}
    read = read_game(make_log_line({"take": "D"}, [battle], turn)).turns[0].turn
    assert (read.players, read.victory) == (turn.players, capitals)
    assert assert_known(review(make_log_line({"take": "D"}, [battle], turn)).steps[0].after) < 1


def test_an_interrupted_review_keeps_the_battles_so_far() -> None:
    battle = {"from": "A", "to": "C", "left": 5, "their_left": 1}
    log = "\n".join([make_log_line({"take": "D"}, [battle])] * 3)

    def interrupt(done: float, total: int, so_far: Review) -> None:
        if len(so_far.steps) == 4:
            raise KeyboardInterrupt

    found = review(log, progress=interrupt)
    assert (len(found.steps), found.missed, found.pending) == (4, 1, 0)
    assert found.steps == review(log).steps[:4]


def test_progress_is_reported_for_turns_without_battles() -> None:
    parts: list[float | None] = []

    def watch(
        doing: str, part: float | None, *, keeps: bool = False, so_far: object = None
    ) -> None:
        parts.append(part)

    found = ReviewQuestion(log=make_log_line({"take": "D"}, [])).answer(watch)
    assert found.reviewed.players[0].battles == 0
    assert parts == [1.0]


def test_a_turn_may_continue_on_the_next_line() -> None:
    parts = [json.loads(make_log_line({"take_any": "C, D"}, [])) for _ in range(3)]
    parts[0]["stops"] = False
    found = review("\n".join(map(json.dumps, parts)))
    assert [(each.turn, each.name) for each in found.steps] == [(1, "stop"), (2, "stop")]
    parts[0]["stops"] = "no"
    with pytest.raises(IactaError, match="line 1: stops must be"):
        review(json.dumps(parts[0]))


def test_goals_of_two_kinds_are_refused() -> None:
    lines = [make_log_line(GOALS[kind][0], []) for kind in GOALS]
    with pytest.raises(IactaError, match="goals must all be chances, or all worths, got both"):
        review("\n".join(lines))


def test_a_useless_attack_has_no_luck() -> None:
    borders = ("A", "B"), ("B", "A"), ("A", "C"), ("C", "A")
    board = Board("fork", ("A", "B", "C"), borders)
    held = Holding("red", 5), Holding("blue", 2), Holding("blue", 2)
    code = Turn(Position(board, "red", held), phase="attack").to_code()
    battle = {"from": "A", "to": "B", "left": 3, "their_left": 2}
    turn = {"turn": code, "board": board.to_record(), "goal": {"take": "C"}, "battles": [battle]}
    step, _ = review(json.dumps(turn)).steps
    assert (step.is_useful, step.luck, step.better) == (False, 0.0, "A to C")
    assert step.cost == pytest.approx(assert_known(step.before) - assert_known(step.after))


@pytest.mark.parametrize("kind", GOALS)
@pytest.mark.parametrize("seed", range(8))
def test_steps_and_review_judge_a_random_game_alike(kind: str, seed: int) -> None:
    record, _ = GOALS[kind]
    few = Holding("red", 4), Holding("red", 3), Holding("blue", 2), Holding("blue", 2)
    first, rng = Turn(Position(BOARD, "red", few), phase="attack"), np.random.default_rng(seed)
    turn, battles, steps, ends = first, [], list[dict[str, Any]](), [0]
    while list_attacks(turn) and turn.position.find_holding("D").owner == "blue":
        attack = list_attacks(turn)[rng.integers(len(list_attacks(turn)))]
        (result,) = turn.results(attack).sample(1, rng)
        assert isinstance(result, Losses)
        entry = make_entry(turn, attack, result)
        turn, moved = advance_randomly(turn.after(attack, result), rng)
        battles.append(entry | moved)
        steps.append({"do": "attack", "after": len(steps), **entry})
        if moved:
            steps.append({"do": "advance", "after": len(steps), "armies": moved["moved"]})
        ends.append(len(steps))
    steps.append({"do": "stop", "after": len(steps)})
    ends.append(len(steps))
    reviewed = review(make_log_line(record, battles, first)).steps
    asked: dict[str, Any] = {"code": first.to_code(), "board": BOARD, "steps": steps, **record}
    rows = ask("steps", **asked).record()["values"]
    assert len(reviewed) == len(ends) - 1
    for step, (begin, end) in zip(reviewed, pairwise(ends), strict=True):
        parts = rows[begin + 1 : end + 1]
        assert step.before == pytest.approx(rows[begin]["value"], abs=1e-9)
        assert step.after == pytest.approx(rows[end]["value"], abs=1e-9)
        if step.is_useful:
            assert step.luck == pytest.approx(sum(row["luck"] for row in parts), abs=1e-9)
            assert step.cost == pytest.approx(sum(row["cost"] for row in parts), abs=1e-9)
        else:
            assert parts[0]["cost"] is None


ONE_TURN = (
    "1;classic;red;Peru:red:9,Brazil:blue:3,Argentina:blue:1,Egypt:blue:9,East%20Africa:red:1"
)


def test_each_turn_is_judged_by_its_own_goal() -> None:
    turns = [ONE_TURN, ONE_TURN.replace(";red;", ";blue;")]
    goals = [{"take": "Brazil"}, {"take": "East Africa"}]
    alone = [
        review(json.dumps({"turn": turn, "goal": goal, "battles": []})).steps[0]
        for turn, goal in zip(turns, goals, strict=True)
    ]
    lines = [
        json.dumps({"turn": turn, "goal": goal, "battles": []})
        for turn, goal in zip(turns, goals, strict=True)
    ]
    lines.append(json.dumps({"turn": ONE_TURN, "battles": []}))
    found = review("\n".join(lines))
    assert [(each.before, each.cost) for each in found.steps] == [
        *((each.before, each.cost) for each in alone),
        (None, None),
    ]
    red, blue = found.players
    assert (red.cost, blue.cost) == (alone[0].cost, alone[1].cost)


def summarise(*lines: dict[str, Any]) -> list[str]:
    """Return the first sentences of a review."""
    question = ReviewQuestion(log="\n".join(map(json.dumps, lines)))
    return [str(part) for part in next(iter(question.answer().sections())).parts]


def test_the_summary_is_one_sentence_for_each_player() -> None:
    lost = {"from": "Peru", "to": "Brazil", "left": 6, "their_left": 1}
    line: dict[str, Any] = {"turn": ONE_TURN, "battles": [lost]}
    assert summarise(line) == ["Red was 1.2 armies unlucky."]
    (said,) = summarise({**line, "goal": {"take": "Brazil"}})
    assert said.startswith("Red was 1.2 armies unlucky and made one mistake: stop in turn 1; ")
    assert said.endswith("; better: Peru to Brazil (cost 99.0 points).")
    other = {"turn": ONE_TURN.replace(";red;", ";blue;"), "goal": {"take": "East Africa"}}
    won = {"from": "Egypt", "to": "East Africa", "left": 9, "their_left": 0, "moved": 8, "dice": 3}
    first, second = summarise(line, {**other, "battles": [won]})
    assert first == "Red was 1.2 armies unlucky."
    assert second == "Blue was 0.7 armies lucky and made no mistake."
    (said,) = summarise({**line, "goal": {"worth": True}})
    assert "points" not in said
    assert said.endswith(" in territories and bonuses).")
    assert summarise({"turn": ONE_TURN, "battles": []}) == ["Red was neither lucky nor unlucky."]


def test_a_turn_without_a_goal_can_gain_the_most() -> None:
    line = {"turn": ONE_TURN, "battles": []}
    found = review(json.dumps(line), worth=True)
    assert found == review(json.dumps({**line, "goal": {"worth": True}}))
    assert not found.is_chance


def test_turns_without_a_goal_are_judged_by_the_chance_to_win() -> None:
    start = "1;classic;red;Peru:red:9,Argentina:red:1,Brazil:blue:2,Venezuela:blue:3"
    battle = {"from": "Peru", "to": "Brazil", "left": 1, "their_left": 1}
    lines = [
        {"turn": start, "goal": {"take": "Brazil"}, "battles": [battle]},
        {"turn": start, "battles": [battle]},
    ]
    log = "\n".join(map(json.dumps, lines))
    assert ReviewQuestion(log=log).answer().data.wins is OMITTED
    answer = ReviewQuestion(log=log, win=True).answer()
    (row,) = answer.data.wins
    before = Turn.from_code(start)
    after = before.apply_battle("Peru", "Brazil", 1, 1).after(EndPhase())
    chances = [
        win_chances(turn, games=200).chances.find_chance("red").chance for turn in (before, after)
    ]
    assert (row.turn, row.player) == (2, "red")
    assert [row.before, row.after] == chances
    assert row.change == pytest.approx(chances[1] - chances[0])
    assert row.change < -0.3
    rows = [each for section in answer.sections() for each in section.parts]
    assert any(f"{100 * row.change:+.1f}" in str(each) for each in rows)
