"""The checks: each returns the contradictions that it finds, in words."""

import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from iacta import Turn
from iacta.analysis.goals import Conquest, make_goal_key
from iacta.game import Advance, Attack, Fortify
from iacta.native.deadline import Deadline
from iacta.plan.named_goals import read_goal_record
from iacta.plan.policy import best_policy
from iacta.plan.problem import pose_problem
from tests.coherence.play import Moment, Record, analyse, ask_about, ask_api, plan, write_board

SAME = 1e-9
MIN_NEEDED = 0.01  # without a territory that is worth attacking, the chance falls by this much
MAX_STATES = 20_000  # the detour of a larger problem is not checked
SEARCH_ERROR = 0.002  # values of successive quick searches differ by less
WIN_GAMES = 40
RANGE = re.compile(r"\d-\d[\d.]*%")  # such as 93-100%
Findings = Iterator[str]


def find_contradictions(
    moments: Sequence[Moment], level: str, checked: Counter[str]
) -> Iterator[tuple[str, str]]:
    """Yield the name of a check with a contradiction in words.

    moments: the states of a turn with their plans.
    level: the level of all answers.
    checked: counts how often each check ran.
    """
    for number, moment in enumerate(moments):
        is_end = number in (0, len(moments) - 2)
        lists = (check_faces, check_order, check_texts) if is_end else ()
        for check in (*lists, check_mean, check_advice, check_advance, check_last_move):
            found = check(moment, level)
            if found is not None:
                checked[check.__name__] += 1
                yield from ((check.__name__, each) for each in found)
    for whole in (check_steps, check_review, check_next_player, check_win):
        checked[whole.__name__] += 1
        yield from ((whole.__name__, each) for each in whole(moments, level))


def differ(one: float | None, other: float | None, error: float = SAME) -> bool:
    if one is None or other is None:
        return one is not other
    return abs(one - other) > error


def find_entry(found: Record, goal: Record) -> Record | None:
    """Return the entry of a goal in an analysis."""
    key = make_goal_key(goal)
    entries = (each for each in found["goals"] if make_goal_key(each["parameters"]) == key)
    return next(entries, None)


def get_half_width(answer: Record) -> float:
    interval = answer.get("interval")
    return (interval["high"] - interval["low"]) / 2 if interval else 0.0


def check_faces(moment: Moment, level: str) -> Findings | None:
    """Check that one event has one number in the list, as a headline, in `plan` and `steps`."""
    return _compare_faces(moment, level) if moment.plan else None


def _compare_faces(moment: Moment, level: str) -> Findings:
    turn, goal, value = moment.turn, moment.goal, moment.plan["value"]
    price = {} if moment.price is None else {"price": moment.price}
    named = find_entry(analyse(turn, level, goals=[{**goal, **price}]), goal)
    if named is None:
        yield f"{goal} was asked for and is not in the analysis"
        return
    if differ(named.get("chance"), value):
        yield f"{goal}: headline {named.get('chance')}, plan {value}"
    if named["figure"] != moment.plan["figure"]:
        yield f"{goal}: headline {named['figure']!r}, plan {moment.plan['figure']!r}"
    steps = ask_about("steps", turn, level=level, **goal)["values"][0]
    fresh = plan(turn, level, goal)
    if steps is None or differ(steps["value"], fresh["value"]):
        yield f"{goal}: first step {steps and steps['value']}, plan {fresh['value']}"
    if moment.price is not None:
        return
    listed = find_entry(analyse(turn, level, parts=["goals"]), goal)
    if listed is not None and differ(listed.get("chance"), value):
        yield f"{goal}: list {listed.get('chance')}, plan {value}"
    rows = ask_about("goals", turn, level=level)["goals"]
    row = next((each for each in rows if each.get("parameters") == goal), None)
    if listed is not None and (row is None or differ(row.get("chance"), listed.get("chance"))):
        yield f"{goal}: goals {row and row.get('chance')}, list {listed.get('chance')}"


def check_order(moment: Moment, level: str) -> Findings | None:
    """Check that an event is never likelier than an event that it implies."""
    if moment.turn.phase not in ("place", "attack"):
        return None
    return _compare_order(moment.turn, level)


def _compare_order(turn: Turn, level: str) -> Findings:
    found = analyse(turn, level, parts=["goals"])
    here = Turn.from_code(found["code"], turn.board)
    known = list[tuple[str, Conquest, float]]()
    for each in found["goals"]:
        goal = read_goal_record(here, each["parameters"])
        if goal is not None and goal.is_chance and "chance" in each:
            known.append((each["goal"], Conquest.for_goal(goal, here), each["chance"]))
    for words, one, chance in known:
        for others, other, least in known:
            if words != others and one.implies(other) and chance > least + SAME:
                yield f"{words} {chance} implies {others} {least}"


def check_mean(moment: Moment, level: str) -> Findings | None:
    """Check that the chance before a roll is the mean of the chances after it."""
    if moment.turn.phase != "attack" or not moment.plan.get("moves") or moment.price is None:
        return None
    return _compare_mean(moment, level)


def _compare_mean(moment: Moment, level: str) -> Findings:
    first, turn = moment.plan["moves"][0], moment.turn
    action = Attack(first["from"], first["to"], first["dice"])
    mean, error = 0.0, get_half_width(moment.plan)
    for losses, chance in turn.results(action).items():
        after = plan(turn.after(action, losses), level, moment.options)
        mean += float(chance) * after["value"]
        error += float(chance) * get_half_width(after)
    if not moment.plan["proven"]:
        error += SEARCH_ERROR
    best, bound = moment.plan["value"] - first["loss"], moment.plan["upper_bound"]
    if not best - error - SAME <= mean <= max(bound, best) + error + SAME:
        yield f"{action}: {best} (at most {bound}, error {error}), mean afterwards {mean}"


def check_advice(moment: Moment, level: str) -> Findings | None:
    """Check that the recommended attack gives up at most the margin, and serves the goal."""
    if moment.turn.phase != "attack" or not moment.plan.get("moves"):
        return None
    return _judge_advice(moment, level)


def _judge_advice(moment: Moment, level: str) -> Findings:
    moves, value = moment.plan["moves"], moment.plan["value"]
    first, least = moves[0], min(each["loss"] for each in moves)
    margin = min(0.005, (value - min(least, 0.0)) / 100)
    if first["loss"] - least > margin + 2 * get_half_width(moment.plan) + SAME:
        yield f"{first['from']} to {first['to']} gives up {first['loss'] - least}, margin {margin}"
    if value <= 0 or ("stop" in moment.plan and moment.plan["stop"]["loss"] <= 0):
        return
    goal = read_goal_record(moment.turn, moment.goal)
    if goal is None or not goal.is_chance or first["to"] in goal.names:
        return
    problem = pose_problem(moment.turn, goal)
    other = 1 << problem.place(first["to"])
    without = replace(problem, focus=(1 << len(problem.out)) - 1 & ~other)
    policy = best_policy(without, Deadline(), MAX_STATES)
    if policy is not None:
        rest = policy.decide(without.start).value
        if rest > value - min(MIN_NEEDED, value / 2):
            yield (
                f"{moment.goal}: {first['from']} to {first['to']} is advised, but without "
                f"{first['to']} the chance is {rest} instead of {value}"
            )


def check_advance(moment: Moment, level: str) -> Findings | None:
    """Check that the armies to move in keep the chance that was promised."""
    if moment.turn.phase != "advance" or not moment.plan.get("move_in"):
        return None
    return _compare_advance(moment, level)


def _compare_advance(moment: Moment, level: str) -> Findings:
    found = moment.plan["move_in"]
    after = plan(moment.turn.after(Advance(found["best"])), level, moment.options)
    if differ(after["value"], moment.plan["value"], get_half_width(moment.plan) + SAME):
        yield f"moving {found['best']} in: {moment.plan['value']} before, {after['value']} after"


def check_last_move(moment: Moment, level: str) -> Findings | None:
    """Check that the last move of a turn lowers the threat to the promised chance."""
    if moment.turn.phase != "fortify":
        return None
    return _compare_last_move(moment.turn, level)


def _compare_last_move(turn: Turn, level: str) -> Findings:
    move = analyse(turn, level, parts=["threats"]).get("move")
    if not move:
        return
    after = turn.after(Fortify(move["from"], move["to"], move["armies"]))
    for there, promised in ((turn, move["before"]), (after, move["after"])):
        rows = analyse(there, level, parts=["threats"])["threats"]
        chances = [each["chance"] for each in rows if each["goal"] == move["goal"]]
        if differ(max(chances, default=0.0), promised, 0.005 if not chances else SAME):
            yield f"{move['words']}: promised {promised}, threatened {max(chances, default=0.0)}"
    if move["before"] - move["after"] < MIN_NEEDED:
        yield f"{move['words']} helps by less than a point"


def check_texts(moment: Moment, level: str) -> Findings | None:
    """Check that no figure is a range, no goal disappears, and at most one goal is marked."""
    if moment.turn.phase == "over":
        return None
    return _read_texts(moment, level)


def _read_texts(moment: Moment, level: str) -> Findings:
    found = analyse(moment.turn, level, parts=["goals"])
    is_last = moment.turn.phase == "fortify"
    rows = analyse(moment.turn, level, parts=["threats"])["threats"] if is_last else []
    for each in (*found["goals"], *rows):
        if RANGE.search(each["figure"]):
            yield f"{each['goal']}: {each['figure']}"
        if each["figure"] in ("0%", "100%") and 0 < each.get("chance", 0) < 1:
            yield f"{each['goal']}: {each['figure']} for {each['chance']}"
    words = [each["goal"] for each in found["goals"]]
    if len({*words}) < len(words):
        yield f"a goal is listed twice: {words}"
    if any(each.lower() == "win the game" for each in words):
        yield "the list offers to win the game"
    marks = sum("best for the game" in each["words"] for each in found["goals"])
    if marks > 1:
        yield f"{marks} goals are best for the game"
    again = analyse(moment.turn, level, parts=["goals"], known={"goals": found["goals"]})
    if lost := {*words} - {each["goal"] for each in again["goals"]}:
        yield f"goals disappear: {lost}"


def make_tree(moments: Sequence[Moment]) -> list[Record]:
    return [{**moment.step, "after": k} for k, moment in enumerate(moments[1:])]


def check_steps(moments: Sequence[Moment], level: str) -> Findings:
    """Check that steps have the chances that were shown when they were played."""
    start = moments[0]
    if not start.goal:
        return
    tree = make_tree(moments)
    found = ask_about("steps", start.turn, steps=tree, level=level, **start.goal)
    last = None
    for k, (moment, value) in enumerate(zip(moments, found["values"], strict=True)):
        if value is None or value["value"] is None:
            yield f"step {k} has no value"
            continue
        shown = moment.plan.get("value") if moment.plan else None
        # A later step may show that the plan was better than its search knew.
        most = (moment.plan.get("upper_bound") or 1.0) if moment.plan else 1.0
        if shown is not None and not shown - SAME <= value["value"] <= max(most, shown) + SAME:
            yield f"step {k}: {value['value']}, shown before {shown} (at most {most})"
        if last is not None and value["luck"] is not None and value["cost"] is not None:
            if differ(value["change"], value["value"] - last):
                yield f"step {k}: change {value['change']}, values {last} to {value['value']}"
            if differ(value["change"], value["luck"] - value["cost"], 1e-6):
                yield f"step {k}: change {value['change']} is not luck less cost"
        last = value["value"]


def check_review(moments: Sequence[Moment], level: str) -> Findings:
    """Check that a review begins with the chance of the plan where the attacks begin."""
    start = next((each for each in moments if each.turn.phase == "attack"), None)
    if start is None or not start.goal or "win" in start.goal:
        return
    battles = list[dict[str, Any]]()
    for moment in moments[moments.index(start) + 1 :]:
        if moment.step["do"] == "attack":
            battles.append({key: moment.step[key] for key in moment.step if key != "do"})
        if moment.step["do"] == "advance":
            battles[-1]["moved"] = moment.step["armies"]
    if not battles:
        return
    line = {"turn": start.turn.to_code(), "goal": start.goal, "battles": battles}
    log = json.dumps({**line, **write_board(start.turn)})
    found = ask_api("review", log=log, level=level)
    value = plan(start.turn, level, start.goal)["value"]
    first = found["steps"][0]["before"]
    if differ(first, value):
        yield f"the review begins with {first}, the plan with {value}"


def check_next_player(moments: Sequence[Moment], level: str) -> Findings:
    """Check that a threat at the end of a turn is the next player's chance for the goal."""
    end = moments[-1].turn
    if end.winner is not None:
        return
    after = end.next()
    rows = analyse(end, level, parts=["threats"])["threats"]
    mine = [each for each in rows if each["player"] == after.player and not each["is_certain"]]
    goals = [each["parameters"] for each in mine]
    listed = analyse(after, level, parts=["goals"])
    named = analyse(after, level, goals=goals) if goals else listed
    if analyse(end, level, parts=["goals"])["goals"] != listed["goals"]:
        yield "the goals after the end of a turn are not those of the next player"
    for each in mine:
        is_listed = each["kind"] != "take"  # the list has no single territories
        faces = {"headline": named, **({"list": listed} if is_listed else {})}
        for face, found in faces.items():
            entry = find_entry(found, each["parameters"])
            if entry is None or differ(entry.get("chance"), each["chance"]):
                yield (
                    f"{after.player} threatens to {each['goal']} with {each['chance']}, {face}: "
                    f"{entry and entry.get('chance')}"
                )


def check_win(moments: Sequence[Moment], level: str) -> Findings:
    """Check that chances to win are the same after the turn has passed, and fit the events."""
    turns = [moments[0].turn, moments[-1].turn]
    if turns[-1].winner is None:
        turns.append(turns[-1].next())
    answers = [ask_about("win", turn, games=WIN_GAMES) for turn in turns]
    for turn, answer in zip(turns, answers, strict=True):
        chances = {each["player"]: each["win"] for each in answer["players"]}
        if differ(sum(chances.values()), 1.0, 1e-6):
            yield f"the chances to win sum to {sum(chances.values())}"
        for player, chance in chances.items():
            is_out = player not in turn.survivors
            if (is_out and chance) or (turn.winner == player and chance < 1):
                yield f"{player} wins {chance}, out: {is_out}, winner: {turn.winner}"
    if len(answers) > 2 and answers[1]["players"] != answers[2]["players"]:
        first, second = ([each["win"] for each in answer["players"]] for answer in answers[1:])
        yield f"the chances to win are {first} before the next player, {second} after"
