"""The attack phase agrees with an independent twin, and whole games keep their invariants."""

import pickle
from collections import Counter
from collections.abc import Iterable
from math import fsum
from pydoc import render_doc
from random import Random
from typing import Any, assert_never

import numpy as np
import pytest

import iacta
from iacta import IactaError, Losses, Turn, classic_board, evaluate
from iacta.game import (
    Action,
    Actions,
    Advance,
    Attack,
    Defend,
    EndPhase,
    Fortify,
    Hand,
    Move,
    Place,
    Reveal,
    Throw,
    Trade,
)
from tests.cases import choose_seeds, for_each
from tests.game.positions import PLAYERS, at_random, classic_turn, make_line_turn, small_turn
from tests.plan.boards import small_game
from tests.plan.twin import Action as TwinAction
from tests.plan.twin import Play, State

GAMES = 40
MOST_STATES = 60


def make_state(turn: Turn) -> State:
    """Return the twin's state for a turn."""
    return State(turn.armies, tuple(owner == turn.player for owner in turn.owners))


def attacks(actions: Iterable[Action]) -> list[Attack]:
    return [each for each in actions if isinstance(each, Attack)]


def normalise_throws(
    rows: Iterable[tuple[float, Iterable[Iterable[tuple[float, int, int]]]]],
) -> Any:
    """Return throws in a common form: the defender's options and the chance of each throw."""
    throws = []
    for weight, replies in rows:
        found = []
        for reply in replies:
            law: Counter[tuple[int, int]] = Counter()
            for p, lost, killed in reply:
                law[lost, killed] += p  # type: ignore[assignment] # chances, not counts
            if law not in found:
                found.append(law)
        throws.append((weight, found))
    if all(len(found) == 1 for _, found in throws):  # no defender has a choice
        whole: Counter[tuple[int, int]] = Counter()
        for weight, (law,) in throws:
            for losses, p in law.items():
                whole[losses] += weight * p  # type: ignore[assignment]
        throws = [(1.0, [whole])]
    key: dict[Any, float] = {}
    for weight, found in throws:
        name = tuple(tuple(sorted((k, round(p, 12)) for k, p in law.items())) for law in found)
        key[name] = key.get(name, 0.0) + weight
    return key


def list_throws(turn: Turn, attack: Attack) -> Any:
    """Return the throws of an attack from the game."""
    results = turn.results(attack)
    if not any(isinstance(each, Throw) for each in results):
        return [(1.0, [[(p, *losses) for losses, p in results.items()]])]
    rows = []
    for throw, weight in results.items():
        answering = turn.after(attack, throw)
        assert answering.phase == "defend"
        assert answering.to_act == turn.owners[turn.board.territories.index(attack.to)]
        replies = [
            [(p, *losses) for losses, p in answering.results(answer).items()]
            for answer in answering.actions()
            if isinstance(answer, Defend)
        ]
        rows.append((weight, replies))
    return rows


def follow(turn: Turn, attack: Attack, losses: Losses) -> list[Turn]:
    """Return the possible turns after losses; the player may choose between them."""
    for result in turn.results(attack):
        if not isinstance(result, Throw):
            after = turn.after(attack, losses)
            break
        answering = turn.after(attack, result)
        answers = [a for a in answering.actions() if losses in answering.results(a)]
        if answers:
            after = answering.after(answers[0], losses)
            break
    if after.phase != "advance":
        return [after]
    return [after.after(each) for each in after.actions()]


@for_each("battles", [False, True])
@for_each("seed", choose_seeds(range(GAMES)))
def test_the_attack_phase_agrees_with_an_independent_implementation(
    seed: int, battles: bool
) -> None:
    game = small_game(seed)
    # In the twin's whole battles, no defender sees the dice first.
    battles &= all(each.mode.dice_chosen_first for each in (game.rules, *game.rules_of.values()))
    twin = Play(game.position, game.goal, game.rules, battles=battles, **game.options)
    first = small_turn(game, whole_battles=battles)
    names = first.board.territories
    waiting, seen = [first], set[State]()
    while waiting and len(seen) < MOST_STATES:
        turn = waiting.pop(0)
        state = make_state(turn)
        if state in seen:
            continue
        seen.add(state)
        legal = attacks(turn.actions())
        places = [TwinAction(names.index(a.start), names.index(a.to), a.dice) for a in legal]
        assert sorted(places) == sorted(twin.actions(state))
        for attack, place in zip(legal, places, strict=True):
            ends = twin.throws(state, place)
            found, wanted = (
                normalise_throws(list_throws(turn, attack)),
                normalise_throws(
                    (weight, [[end[:3] for end in reply] for reply in replies])
                    for weight, replies in ends
                ),
            )
            assert found.keys() == wanted.keys()
            assert all(found[key] == pytest.approx(wanted[key], abs=1e-12) for key in wanted)
            for end in {end[1:3]: end for _, rs in ends for reply in rs for end in reply}.values():
                following = follow(turn, attack, Losses(end.lost, end.killed))
                assert [make_state(each) for each in following] == twin.after(state, place, end)
                waiting += following


class Taken:
    """An adapter that makes a twin's goal a goal of the game."""

    def __init__(self, twin: Play) -> None:
        self.twin = twin

    def worth(self, turn: Turn) -> float:
        """Return the payoff according to the twin."""
        return float(self.twin.paid(make_state(turn)))

    def is_reached(self, turn: Turn) -> bool:
        """Return whether no further payoff is possible."""
        return self.twin.is_over(make_state(turn)) and turn.phase == "attack"


@for_each("seed", choose_seeds(range(GAMES)))
def test_the_twin_s_best_policy_has_the_twin_s_value(seed: int) -> None:
    game = small_game(seed, most_armies=7)
    twin = Play(game.position, game.goal, game.rules, **game.options)
    names = game.position.board.territories

    def best(turn: Turn) -> Action:
        if turn.phase == "advance":
            return max(turn.actions(), key=lambda each: twin.value(make_state(turn.after(each))))
        move = twin.best_action(make_state(turn)) if turn.phase == "attack" else None
        return EndPhase() if move is None else Attack(names[move.start], names[move.to], move.dice)

    found = evaluate(best, small_turn(game), Taken(twin))
    assert found.interval is None
    assert found.value == pytest.approx(twin.value(), abs=1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_whole_games_keep_their_invariants(seed: int) -> None:
    board, rng = classic_board(), Random(seed)  # noqa: S311 # plays games, no secrets
    turn = classic_turn(board, seed)
    phases = set[str]()
    for step in range(400):
        phases.add(turn.phase)
        if step % 10 == 0:
            read = Turn.from_code(turn.to_code())
            assert (read, read.to_code()) == (turn, turn.to_code())
            again = pickle.loads(pickle.dumps(turn))  # noqa: S301 # our own bytes
            assert (again, hash(again), again.actions()[:3]) == (
                turn,
                hash(turn),
                turn.actions()[:3],
            )
        if turn.phase == "over":
            if len(turn.survivors) == 1:
                break
            assert not turn.actions()
            turn = turn.next()
            continue
        action = at_random(turn, rng)
        results = turn.results(action)
        assert fsum(map(float, results.values())) == pytest.approx(1, abs=1e-12)
        (result,) = results.sample(1, rng.randrange(10**6))
        after = turn.after(action, result)
        moved = sum(after.armies) - sum(turn.armies)
        if isinstance(result, Losses):
            assert moved == -sum(result)
        else:
            assert moved == (action.armies if isinstance(action, Place) else 0)
        assert all(
            n >= (1 if owner else 0) for n, owner in zip(after.armies, after.owners, strict=True)
        )
        assert after.position.player == turn.player
        turn = after
    assert phases >= {"place", "attack", "advance", "fortify"}


@pytest.mark.parametrize("seed", range(3))
def test_an_action_is_accepted_exactly_if_it_is_listed(seed: int) -> None:
    turn, rng = make_line_turn("r4 b2 r2 g1 r3", place=2), Random(seed)  # noqa: S311 # no secrets
    turn, names, accepted = turn.with_options(keep={"C": 2}), turn.board.territories, set[str]()
    actions: list[Action] = [EndPhase()]
    for start in names:
        actions += [Place(start, number) for number in range(4)]
        for to in names:
            actions += [make(start, to, n) for make in (Attack, Fortify) for n in range(5)]
    actions += [Advance(number) for number in range(7)]
    while turn.phase != "over":
        listed = [*turn.actions()]
        for action in actions:
            try:
                turn.results(action)
                is_accepted = True
            except IactaError:
                is_accepted = False
            assert is_accepted == (action in listed), (turn, action)
        action = at_random(turn, rng)
        accepted.add(turn.phase)
        expected = turn.results(action).sample(1, np.random.default_rng(seed))[0]
        after, result = turn.play_action(action, np.random.default_rng(seed))
        assert (after, result) == (turn.after(action, result), expected)
        turn = after
    assert accepted >= {"place", "attack"}


def test_nothing_illegal_is_played() -> None:
    turn = classic_turn(classic_board(), 1)
    wrong: list[Action] = [
        EndPhase(),
        Attack("Alaska", "Alberta", 3),
        Place("Alaska", 0),
        Place("Alaska", 1000),
        Place("Atlantis", 1),
        Advance(1),
    ]
    for action in wrong:
        if action not in [*turn.actions()]:
            with pytest.raises(
                IactaError, match=r"^action must be legal in the phase '\w+'"
            ) as caught:
                turn.after(action)
            assert f"such as {turn.actions()[0]!r}, got" in str(caught.value)
    over = Turn(turn.position, phase="over")
    with pytest.raises(
        IactaError, match=r"^action must be legal in the phase 'over', got EndPhase\(\)"
    ):
        over.after(EndPhase())
    for other in (None, "EndPhase()", ["Alaska"], iacta.StopRule()):
        with pytest.raises(IactaError, match=r"^action must be an action class of iacta\.game"):
            turn.after(other)  # type: ignore[arg-type] # that is the claim
    ready = Turn(turn.position)
    roll = next(each for each in ready.actions() if isinstance(each, Attack) and each.dice == 3)
    for result in (None, (3, 0), Losses(1, 2), "won", [0, 2], float("nan"), np.array([0, 2])):
        with pytest.raises(IactaError, match=r"^result must be one of results\(Attack"):
            ready.after(roll, result)  # type: ignore[arg-type] # that is the claim
    with pytest.raises(IactaError, match="must be None"):
        ready.after(EndPhase(), Losses(0, 1))


@pytest.mark.parametrize(
    ("start", "to", "why"),
    [
        ("B", "A", "B cannot attack A: it is not red's"),
        ("C", "D", "C cannot attack D: red owns it already"),
        ("D", "B", "D cannot attack B: no border leads there"),
        ("A", "B", "A cannot attack B: 1 must stay, and it has 1"),
        ("D", "E", "D cannot attack E: it is empty"),
        ("C", "B", "C cannot attack B: its armies must stay"),
    ],
)
def test_an_attack_that_is_not_possible_is_refused_with_the_reason(
    start: str, to: str, why: str
) -> None:
    turn = make_line_turn("r1 b2 r5 r3", stay=["C"])
    with pytest.raises(IactaError) as caught:
        turn.apply_battle(start, to, 1, 0)
    assert str(caught.value) == why


def test_no_attack_is_made_once_a_turn_is_over() -> None:
    over = make_line_turn("r5 b2", phase="over")
    with pytest.raises(IactaError, match=r"^A cannot attack B: the turn is over"):
        over.apply_battle("A", "B", 3, 0)


def describe_action(action: Action) -> str:
    """Return the fields of an action. The type checker ensures that every class is handled."""
    match action:
        case Reveal() | EndPhase():
            return ""
        case Trade(cards):
            return f"{cards}"
        case Place(territory, armies):
            return f"{territory!r}, {armies}"
        case Attack(start, to, number) | Fortify(start, to, number):
            return f"{start!r}, {to!r}, {number}"
        case Defend(number) | Advance(number):
            return f"{number}"
        case _:
            assert_never(action)


EACH_ACTION: tuple[Action, ...] = (
    Reveal(),
    Trade(Hand(infantry=3)),
    Place("Peru", 2),
    Attack("Peru", "Brazil", 3),
    Defend(2),
    Advance(4),
    Fortify("Peru", "Brazil", 5),
    EndPhase(),
)


@pytest.mark.parametrize("action", EACH_ACTION, ids=repr)
def test_each_action_is_handled(action: Action) -> None:
    assert isinstance(action, Action)
    assert repr(action) == f"{type(action).__name__}({describe_action(action)})"
    assert eval(repr(action)) == action  # noqa: S307 # the claim is that it can be evaluated
    assert pickle.loads(pickle.dumps(action)) == action  # noqa: S301 # our own bytes


@pytest.mark.parametrize("shown", [Turn, Turn.after, Turn.decide, Actions, Move, evaluate])
def test_help_names_an_action(shown: object) -> None:
    text = render_doc(shown)
    assert "iacta.game.actions.Action" in text
    assert "actions.Reveal" not in text


def test_long_lists_of_actions_are_lazy() -> None:
    turn = Turn(classic_turn(classic_board(), 3).position, place=1_000_000)
    actions = turn.actions()
    own = [t for t in turn.board.territories if turn.position.find_holding(t).owner == "red"]
    assert len(actions) == (len(own) - 1) * 1_000_000 + 1
    assert actions[0] == Place(own[0], 1)
    assert actions[-1] == Place(own[-1], 1_000_000)
    assert actions[1_000_000] == Place(own[1], 1)
    assert Place(own[3], 777_777) in actions
    assert Place(own[-1], 5) not in actions
    assert isinstance(actions, Actions)
    with pytest.raises(IndexError):
        actions[len(actions)]


def test_players_are_spelled_as_on_the_board() -> None:
    turn = classic_turn(classic_board(), 2)
    again = Turn(turn.position, place=5, cards=turn.cards, players=("Red", "BLUE", "green"))
    assert again == turn
    assert turn.players == PLAYERS
    assert turn.survivors == PLAYERS
