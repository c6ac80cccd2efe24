"""Turns for the board page: a turn as JSON, and the turns after recorded steps.

The server stores no games. A client sends the code of a turn and the steps to take, and receives
the codes of the turns that follow. To undo a step, the client sends an earlier code.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import islice
from secrets import randbits
from typing import Any

import numpy as np

from iacta.board import Board
from iacta.board.built_in import classic_board
from iacta.board.codes import Code
from iacta.board.formats.reading import FileTable
from iacta.board.scene import shorten_name
from iacta.forms.moment import describe_condition, describe_count, describe_winner
from iacta.forms.percentages import describe_luck, percent, short_percent
from iacta.forms.reasons import describe_reason
from iacta.forms.sentences import add_noun, capitalise
from iacta.game import BorderOdds, Throw, Turn, list_border_odds
from iacta.game.action_records import PlayedStep
from iacta.game.codes import (
    OPTIONS,
    format_options,
    format_rules,
    make_turn,
    read_fields,
    read_rules,
)
from iacta.game.deal import count_starting_armies, deal_armies
from iacta.game.legal import list_fortify_limits
from iacta.game.setup import list_owners
from iacta.game.step_dice import throw_faces, throw_last_faces
from iacta.game.step_fields import (
    Step,
    find_attack,
    list_advances,
    name_territories,
    read_border,
    read_losses,
)
from iacta.game.step_text import STEP_TEXTS, format_step_text, parse_step_text
from iacta.game.steps import TreeTurn, check_version, read_tree, record_step, take_step
from iacta.inputs.checks import parse_int, quote, read_int, read_list, refuse_unknown_keys
from iacta.inputs.errors import IllegalError, MalformedError
from iacta.plan.judge import measure_army_luck
from iacta.probability.distribution import Probability
from iacta.rules.roll import Losses
from iacta.war.game import PERSON, Game
from iacta.war.games import list_seats
from iacta.war.players import PLAYERS
from iacta.web.hands import describe_hands, describe_trade_phase, encode_seen
from iacta.web.labels import read_goal_step
from iacta.web.progress import describe_ways_to_win
from iacta.web.read_question import read_sent_board, read_sent_players, read_text

MAX_ARMIES_FOR_LUCK = 1_000  # the luck of larger battles takes too long to compute
NAMES = ("red", "blue", "green", "yellow", "purple", "orange", "black", "white")  # new players
SETUP_KEYS = (
    *("players", "neutral", "mover", "owners", "armies", "rules", "keep", "stay", "fresh"),
    "fields",
)
# The keys of the fields of a turn that have no control on the page.
FIELD_KEYS = ("phase", *(key for key in OPTIONS if key not in (*SETUP_KEYS, "place")))
GOAL_STEP = re.compile(r"o(?:\d{1,10}(?:-\d{1,10})*)?")  # the text of a step that changes the goal
KNOWN_PHASES = ("trade", "place", "over")  # the phases at the start and the end of a turn
MAX_LOGGED_STEPS = 20_000  # maximum number of steps in a log
MAX_ROLLS_SHOWN = 12  # maximum number of results of a roll that are shown as buttons


def read_turn(body: Mapping[str, Any], *more: str) -> Turn:
    """Return the turn of a request.

    body: the request, with the `code` of the turn or, if allowed, its `setup`, and the `board`
        unless it is the classic board.
    more: the other keys that are allowed.
    """
    refuse_unknown_keys(body, ("code", "board", *more))
    board = read_sent_board(body)
    if "setup" in body and "setup" in more:
        return read_setup(body["setup"], board or classic_board())
    return Turn.from_code(read_text(body, "code"), board)


def read_setup(setup: object, board: Board) -> Turn:
    """Return the turn that the page sets up.

    setup: the record of the page: `players`; the numbers of the `neutral` ones among them, of the
        `mover` and of the `owners` (-1 for nobody); the `armies`, `rules`, `keep`, `stay` and
        `fresh` (the number of new armies); and further `fields` as in a position file, by key.
    """
    if not isinstance(setup, Mapping):
        raise MalformedError(f"setup must be an object, got {quote(setup)}")
    refuse_unknown_keys(setup, SETUP_KEYS)
    players, size = read_sent_players(setup), len(board.territories)

    def read_numbers(name: str, maximum: int | None = None) -> list[int]:
        given = read_list(setup.get(name, []), name, "numbers")
        return [
            read_int(each, name, minimum=-1 if name == "owners" else 0, maximum=maximum)
            for each in given
        ]

    owners, armies = read_numbers("owners", len(players) - 1), read_numbers("armies")
    if len(owners) != size or len(armies) != size:
        raise IllegalError(f"owners and armies must have {size} numbers, got {len(owners)}")
    mover = players[read_int(setup.get("mover"), "mover", maximum=len(players) - 1)]
    neutral, texts = read_numbers("neutral"), setup.get("fields", {})
    if not isinstance(texts, Mapping) or not all(isinstance(text, str) for text in texts.values()):
        raise MalformedError(f"fields must be an object of strings, got {quote(texts)}")
    refuse_unknown_keys(texts, FIELD_KEYS)
    # In games with cards or an own victory condition, players without territories still count.
    has_all = "win" in texts or "cards" in texts
    order = [
        name for k, name in enumerate(players) if k not in neutral and (has_all or k in owners)
    ]
    keep = setup.get("keep", {})
    if not isinstance(keep, Mapping):
        raise MalformedError(f"keep must be an object, got {quote(keep)}")
    kept = {board.territories[parse_int(t, "keep", 0, size - 1)]: n for t, n in keep.items()}
    fresh = read_int(setup.get("fresh", 0), "fresh")
    holders = [players[owner] if owner >= 0 else "" for owner in owners]
    held = [number if owner else 0 for owner, number in zip(holders, armies, strict=True)]
    phase = texts.get("phase", "place" if fresh else "attack")
    fields = read_fields(phase, FileTable(texts), board)
    fields = replace(fields, rules=read_rules(read_text(setup, "rules", "classic")))
    fields.options["players"] = order if order != [*list_owners(holders)] else None
    fields.options["place"], fields.options["keep"] = fresh, kept
    fields.options["stay"] = [board.territories[t] for t in read_numbers("stay", size - 1)]
    return make_turn(Turn, Code(board, mover, tuple(holders), tuple(held), ()), fields)


def describe_setup(turn: Turn) -> dict[str, Any]:
    """Return a turn in the format of `read_setup`; all players are in the order of play."""
    players = [*turn.players]
    neutral = [name for name in list_owners(turn.owners) if name not in players]
    free = (name for name in NAMES if name not in (*players, *neutral))
    players += islice(free, max(2 - len(players), 0))
    names, places = [*players, *neutral], turn.board.territories
    return {
        "players": names,
        "neutral": [*range(len(players), len(names))],
        "mover": names.index(turn.player),
        "owners": [names.index(name) if name else -1 for name in turn.owners],
        "armies": list(turn.armies),
        "rules": format_rules(turn.rules),
        "keep": {places.index(name): number for name, number in turn.keep.items()},
        "stay": [places.index(name) for name in turn.stay],
        "fresh": turn.place,
        "fields": {key: text for key, text in format_options(turn).items() if key in FIELD_KEYS},
    }


def write_position_file(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return the JSON text of a position file with the turn that the page sets up.

    body: the request, with the `setup`, and the `board` unless it is the classic board.
    """
    turn = read_turn(body, "setup")
    record = {
        "board": body.get("board") or "classic",
        "player": turn.player,
        "territories": {
            name: {"owner": owner, "armies": armies}
            for name, owner, armies in zip(
                turn.board.territories, turn.owners, turn.armies, strict=True
            )
            if owner
        },
        **format_options(turn),
    }
    return {"text": json.dumps(record, indent=2)}


def deal_territories(body: Mapping[str, Any]) -> dict[str, Any]:
    """Deal territories at random, with equal numbers of armies placed at random.

    body: the request, with the number of `players`, of `territories`, and of `armies` per player,
        as in the rule book if left out.
    """
    refuse_unknown_keys(body, ("players", "territories", "armies"))
    count = read_int(body.get("players"), "players", minimum=1, maximum=100)
    size = read_int(body.get("territories"), "territories", minimum=1, maximum=1024)
    given = body.get("armies")
    usual = count_starting_armies(count, size) if given is None else given
    each = read_int(usual, "armies", minimum=1, maximum=10**4)
    rng = np.random.default_rng()
    owners, armies = deal_armies(count, each, rng.permutation(size), rng)
    return {"owners": owners.tolist(), "armies": armies.tolist()}


def step_turn(body: Mapping[str, Any]) -> dict[str, Any]:
    """Take a step in a turn; return the next turn, and the step as links and logs record it.

    body: the request, with the `code` of the turn, the `step`, the `players` for the text of the
        step, and the `board` unless it is the classic board.
    """
    turn, step = read_turn(body, "step", "players"), body.get("step")
    if not isinstance(step, Mapping):
        raise MalformedError(f"step must be an object, got {quote(step)}")
    after, words = take_step(turn, step)
    recorded = record_step(turn, step, after)
    return {
        **describe_turn(after),
        **_describe_step(turn, recorded, after, words, read_sent_players(body)),
        **({"faces": throw_faces(turn, step)} if step["do"] == "roll" else {}),
    }


def play_turn(body: Mapping[str, Any]) -> dict[str, Any]:
    """Let an AI play the rest of a turn; return the turn after each step.

    body: the request, with the `code` of the turn; the name of the `ai`; the `seed` of the dice,
        random if left out; the `players` for the texts of steps; and the `board` unless it is the
        classic board.

    The AI decides from what its player sees. Unless the game is won, the last step begins the next
    player's turn.
    """
    turn, players = read_turn(body, "ai", "seed", "players"), read_sent_players(body)
    ai = read_text(body, "ai")
    if ai not in PLAYERS:
        raise IllegalError(
            f"ai must be one of {', '.join(PLAYERS)}, got {quote(ai)}", parameter="ai"
        )
    seats = {name: ai if name == turn.player else PERSON for name in list_seats(turn)}
    game = Game(turn, seats, body.get("seed"))
    return {"turns": [_describe_rolled(step, players) for step in game]}


def _describe_rolled(played: PlayedStep, players: Sequence[str]) -> dict[str, Any]:
    """Return the turn after a step of a computer that has just been played, with its last dice."""
    faces = throw_last_faces(played.turn, played.step, randbits(32))
    return {**_describe_played(played, players), **({"faces": faces} if faces else {})}


def _describe_played(played: PlayedStep, players: Sequence[str]) -> dict[str, Any]:
    """Return the turn after a step of a computer, and the step, whose words name both players."""
    before, step, after = played
    return {**describe_turn(after), **_describe_step(before, step, after, played.words, players)}


def replay_turns(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return a turn, and the turn after each step of a tree.

    body: the request, with the `code` of the turn or its `setup`; the `steps` as for
        `iacta.game.steps.read_tree`, or as short texts such as `{"after": 0, "text": "m7"}`; the
        `players` for these texts; the `computers`, players whose steps name both players in
        words; the `shown` numbers of the steps whose turns have odds, legal moves and hands, all
        steps if left out; and the `board` unless it is the classic board.

    An impossible step and all later steps have a `problem` instead of a turn. Short texts after an
    unreadable text are left out. A setup that is not a turn, such as an empty board, has no turns
    but a `problem`.
    """
    try:
        turn = read_turn(body, "setup", "steps", "version", "players", "computers", "shown")
    except IllegalError as error:
        if "setup" not in body:
            raise
        return {"turns": [], "problem": str(error)}
    check_version(body)
    players, computers = read_sent_players(body), read_sent_players(body, "computers")
    nodes = read_tree(turn, read_step_texts(body.get("steps", []), turn.board, players))
    # The last steps may be unreadable.
    shown = _read_shown(body, max(len(nodes), len(body.get("steps", [])) + 1))
    states = [describe_turn(turn, is_brief=0 not in shown)]
    for number, node in enumerate(nodes[1:], 1):
        before = nodes[node.before].turn
        if before is None or node.turn is None or node.step is None:
            states.append({"problem": node.words, "step": dict(node.step or {})})
        else:
            played = PlayedStep(before, node.step, node.turn)
            words = played.words if before.player in computers else node.words
            step = _describe_step(before, node.step, node.turn, words, players)
            states.append({**describe_turn(node.turn, is_brief=number not in shown), **step})
    return {"turns": states}


def _read_shown(body: Mapping[str, Any], count: int) -> Sequence[int]:
    """Return the numbers of the steps whose turns are described in full."""
    if "shown" not in body:
        return range(count)
    given = read_list(body["shown"], "shown", "numbers")
    return [read_int(each, "shown", maximum=count - 1) for each in given]


def _read_step_text(text: str, board: Board, players: Sequence[str]) -> Step:
    is_goal = GOAL_STEP.fullmatch(text)
    return (
        read_goal_step(text, board, players) if is_goal else parse_step_text(text, players, board)
    )


def read_step_texts(given: object, board: Board, players: Sequence[str]) -> list[Any]:
    """Read the short texts among recorded steps, up to the first unreadable text."""
    steps = list[Any]()
    for record in read_list(given, "steps", "steps"):
        if isinstance(record, Mapping) and "text" in record:
            refuse_unknown_keys(record, ("after", "text"))
            try:
                step = _read_step_text(read_text(record, "text"), board, players)
            except MalformedError:
                break
            record = {"after": record.get("after"), **step}
        steps.append(record)
    return steps


def _describe_step(
    before: Turn, step: Step, after: Turn, words: str, players: Sequence[str]
) -> dict[str, Any]:
    """Return a recorded step: in words, as JSON, as a short text, its losses and its luck."""
    known = players or [*before.players, *list_owners(before.owners)]
    luck = _measure_step_luck(before, step, after)
    return {
        "words": words,
        "reason": _describe_reason(PlayedStep(before, step, after)),
        "losses": [*read_losses(before, step)] if step["do"] == "attack" else None,
        # An advance rolls no dice: the luck of its battle still applies.
        "luck": None
        if step["do"] in ("advance", "goal")
        else ""
        if luck is None
        else describe_luck(luck),
        "luck_armies": luck,
        "step": {name: value for name, value in step.items() if name != "after"},
        "text": format_step_text(step, before.board, known) if step["do"] in STEP_TEXTS else "",
    }


def _describe_reason(played: PlayedStep) -> str:
    """Return a sentence about the reason of an attack that matters; otherwise empty."""
    player, reason = played.turn.player, describe_reason(played)
    return f"{capitalise(player)} {reason}." if reason else ""


def write_log(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return a path through the tree of steps as a log for `iacta review`.

    body: the request, with the `code` of the first turn, the tree of `steps` with the goals of
        turns, also as short texts with the `players` for these texts, the `goal` of the first turn,
        the `line` of numbers of the steps on the path, and the `board` unless it is the classic
        board.

    Each turn is a line of text, with all its steps.
    """
    turn = read_turn(body, "steps", "goal", "line", "players")
    steps = read_step_texts(body.get("steps", []), turn.board, read_sent_players(body))
    nodes = read_tree(turn, steps, body.get("goal"), maximum=MAX_LOGGED_STEPS)
    path = [read_int(k, "line", minimum=1, maximum=len(nodes) - 1) for k in body.get("line", [])]
    lines = list[dict[str, Any]]()

    def begin(node: TreeTurn) -> None:
        assert node.turn is not None  # noqa: S101 # all steps of the line are possible
        is_known = lines or body.get("board") in (None, "classic")
        board = {} if is_known else {"board": body["board"]}
        goal = {} if node.goal is None else {"goal": node.goal}
        lines.append({"turn": node.turn.to_code(), **board, **goal, "steps": []})

    begin(nodes[0])
    for node in (nodes[k] for k in path):
        if node.step is None or node.turn is None:
            break
        if node.step["do"] == "next":
            begin(node)
        else:
            start = nodes[node.before].turn
            assert start is not None  # noqa: S101 # the step is possible
            lines[-1]["steps"].append(name_territories(start.board, node.step))
    return {"log": "".join(f"{json.dumps(each)}\n" for each in lines if each["steps"])}


def _measure_step_luck(before: Turn, step: Step, after: Turn) -> float | None:
    """Return the luck of the dice of a step in armies; `None` if it has no dice or is too large."""
    if step["do"] != "attack":
        return None
    border, losses = read_border(before, step), read_losses(before, step)
    if sum(map(before.armies_on, border)) > MAX_ARMIES_FOR_LUCK:
        return None
    dice = step.get("dice"), step.get("their_dice")
    return measure_army_luck(before, after, border, losses, *dice)


def describe_turn(turn: Turn, *, is_brief: bool = False) -> dict[str, Any]:
    """Return a turn as JSON values. Territories are numbers in the order of the board.

    is_brief: whether to leave out the parts that the page needs only for the turn on the screen:
        the odds, the legal moves, the condition and the hand.
    """
    state: dict[str, Any] = {
        "code": turn.to_code(),
        "phase": turn.phase,
        "player": turn.player,
        "owners": list(turn.owners),
        "armies": list(turn.armies),
        "new": turn.place,
        "sentence": _describe_phase(turn),
        "winner": turn.winner,
        "is_brief": is_brief,
        "seen": encode_seen(turn) if not is_brief or turn.phase in KNOWN_PHASES else "",
    }
    if turn.phase == "advance" and turn.pending is not None:
        v, c = turn.index_ends(turn.pending)
        advances = list_advances(turn)
        state["advance"] = {"from": v, "to": c, "least": advances[0], "most": advances[-1]}
    return state if is_brief else {**state, **_describe_choices(turn)}


def _describe_choices(turn: Turn) -> dict[str, Any]:
    """Return the part of a turn that a brief description leaves out."""
    numbers = {name: t for t, name in enumerate(turn.board.territories)}
    state: dict[str, Any] = {
        "usual": turn.new_armies(),
        "odds": [_describe_border(turn, odds, numbers) for odds in list_border_odds(turn)]
        if turn.phase == "attack"
        else [],
        "condition": " ".join(filter(None, [*describe_condition(turn), describe_winner(turn)])),
        "standings": {name: _describe_standing(turn, name) for name in turn.survivors}
        if turn.winner is None
        else {},
        "hands": {name: turn.hand_of(name).number for name in turn.survivors}
        if turn.cards is not None
        else {},
        **describe_hands(turn),
        "count": describe_count(turn),
        **describe_ways_to_win(turn),
    }
    if turn.phase == "fortify":
        most = list_fortify_limits(turn).items()
        state["fortify"] = [[numbers[v], numbers[c], number] for (v, c), number in most]
    return state


def _describe_standing(turn: Turn, player: str) -> str:
    """Return the income of a player's next turn, and their continents."""
    names = turn.position.list_territories(player)
    lands = [
        shorten_name(each.name)
        for each in turn.board.continents
        if each.territories and {*each.territories} <= {*names}
    ]
    income = f"{turn.new_armies(player):+} next turn"
    return f"{income}, with {', '.join(lands)}" if lands else income


def _describe_border(turn: Turn, odds: BorderOdds, numbers: Mapping[str, int]) -> dict[str, Any]:
    """Return the odds of a battle, and the possible losses in its next roll."""
    attack = find_attack(turn, odds.start, odds.to)
    assert attack is not None  # noqa: S101 # a border with odds has an attack
    thrown = add_noun(attack.dice, "die", "dice")
    rolls = [
        [*losses, *_describe_losses(losses, thrown, chance)]
        for losses, chance in turn.results(attack).items()
        if not isinstance(losses, Throw)
    ]
    return {
        "from": numbers[odds.start],
        "to": numbers[odds.to],
        "chance": odds.win_probability,
        "words": f"{odds.attackers:,} against {odds.defenders:,}: {percent(odds.win_probability)} "
        "to take it",
        "dice": attack.dice,
        "rolls": rolls if len(rolls) <= MAX_ROLLS_SHOWN else [],
    }


def _describe_losses(losses: Losses, thrown: str, chance: Probability) -> tuple[str, str]:
    """Return the losses of a roll as a short button label and as a sentence."""
    lost, killed = losses.attackers, losses.defenders
    words = f"I lose {lost}, they lose {killed} with {thrown}: {short_percent(chance, 1)}"
    return f"I lose {lost}, they {killed}", words


def _describe_phase(turn: Turn) -> str:
    player, actor = (capitalise(name) for name in (turn.player, turn.to_act))
    if turn.phase != "advance" and turn.winner:
        return describe_winner(turn)
    match turn.phase:
        case "trade":
            return describe_trade_phase(turn)
        case "place":
            return f"{player} places {add_noun(turn.place, 'new army', 'new armies')}."
        case "attack":
            return f"{player} attacks."
        case "advance":
            to = turn.pending.to if turn.pending is not None else ""
            return f"{to} is taken: how many armies move in?"
        case "fortify":
            return f"{player} may move armies once, and the turn ends."
        case "over":
            return f"{player}'s turn is over."
    return f"{actor} decides."
