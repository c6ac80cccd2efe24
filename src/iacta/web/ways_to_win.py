"""The choice of the way to win on the board page, for positions and for new games."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import ceil
from typing import Any

from iacta.board import Board
from iacta.board.built_in import classic_board
from iacta.forms.moment import CAPITAL
from iacta.game import Capitals, Eliminate, Missions, OwnTerritories, Share, Survivor, Victory
from iacta.game.codes import (
    format_pairs,
    format_rules,
    format_victory,
    read_pairs,
    read_rules,
    read_victory,
)
from iacta.game.missions import BOX_CARDS, Hidden, Mission, OwnContinents, read_mission
from iacta.game.victory import SURVIVOR
from iacta.inputs.checks import check_choice, parse_int, quote, read_int, refuse_unknown_keys
from iacta.inputs.errors import IllegalError, MalformedError
from iacta.web.progress import mark_capitals
from iacta.web.read_question import read_sent_board, read_sent_players, read_text
from iacta.web.turns import read_setup

SHARE, CAPITALS, MISSIONS = Share.word, Capitals.word, Missions.word
WAYS = {
    SURVIVOR: "Last survivor",
    SHARE: "Share of the map",
    CAPITALS: "Capitals",
    MISSIONS: "Missions",
}
VICTORY_KEYS = ("by", "share", "choose", "dice", "capitals", "missions", "secret", "common")
USUAL_SHARE = 70  # percent


def choose_way_to_win(body: Mapping[str, Any]) -> dict[str, Any]:
    """Change or describe the way to win of a position that the page sets up.

    body: the request, with the `setup`; the `victory` condition to set, and the `board` unless it
        is the classic board. The `victory` has the way to win, `by`; the `share` in percent; the
        `capitals`, a territory by player (if left out, the largest stack of each player), and
        whether they defend with more `dice`; the `missions` by player (hidden if left out),
        whether they are `secret`, and the number of territories with which any player also wins,
        `common` (if left out or `None`, only missions win).

    The answer has the `fields` of the setup, the `victory` condition in the same form, the
    `capitals` to mark, and the `missions` to choose from.
    """
    refuse_unknown_keys(body, ("setup", "board", "victory"))
    board, setup = read_sent_board(body) or classic_board(), body.get("setup")
    if not isinstance(setup, Mapping) or not isinstance(setup.get("fields", {}), Mapping):
        raise MalformedError(f"setup must be an object with fields, got {quote(setup)}")
    fields = dict(setup.get("fields", {}))
    players = read_sent_players(setup)
    if "victory" in body:
        fields = _set_victory({**setup, "fields": fields}, board, read_wish(body["victory"]))
    victory = read_victory(fields.get("win", SURVIVOR))
    own = read_pairs(fields.get("own", ""), "own")
    capitals = victory.capitals if isinstance(victory, Capitals) else {}
    return {
        "fields": fields,
        "victory": _describe_victory(victory, board, bool({*own} & {*capitals.values()})),
        "capitals": mark_capitals(board, capitals, read_text(setup, "rules", "classic"), own),
        "missions": [card.format_text() for card in list_cards(board, players)],
    }


def read_wish(given: object) -> Mapping[str, Any]:
    """Return a wish for a way to win; raise an error for an unknown way or key."""
    if not isinstance(given, Mapping):
        raise MalformedError(f"victory must be an object, got {quote(given)}")
    refuse_unknown_keys(given, VICTORY_KEYS)
    check_choice(read_text(given, "by"), tuple(WAYS), "by")
    return given


def read_share(wish: Mapping[str, Any]) -> Share:
    """Return the share of the map that a wish names in percent."""
    return Share(f"{read_int(wish.get('share', USUAL_SHARE), 'share', 1, 100)}%")


def read_missions(wish: Mapping[str, Any], board: Board, players: Sequence[str]) -> Missions:
    """Return the missions of a wish; hidden missions are dealt from the cards of the board.

    wish: the wish, with `missions` by player, whether they are `secret`, and the number of
        territories with which any player also wins, `common`.
    board: the board.
    players: the players in the order of play.
    """
    texts = wish.get("missions") or {}
    if not isinstance(texts, Mapping):
        raise MalformedError(f"missions must be an object, got {quote(texts)}")
    given = {name: str(texts.get(name) or Hidden().format_text()) for name in players}
    common = wish.get("common")
    if common is not None:
        common = parse_int(str(common), "number of territories", 1, len(board.territories))
    cards = None if _has_box_cards(board) else list_cards(board, players)
    found = Missions(given, cards=cards, common=common)
    if wish.get("secret", True) is not True:
        return found
    named = (name for name, mission in found.missions.items() if mission != Hidden())
    return replace(found, secret=tuple(named))


def _has_box_cards(board: Board) -> bool:
    """Return whether a board has all continents of the mission cards of the board game."""
    names = {continent.name for continent in board.continents}
    cards = map(read_mission, BOX_CARDS)
    return all({*card.continents} <= names for card in cards if isinstance(card, OwnContinents))


def list_cards(board: Board, players: Sequence[str]) -> tuple[Mission, ...]:
    """Return the mission cards of a board: the cards of the board game, or similar cards.

    board: the board.
    players: the players; a card tells to eliminate each of them.

    >>> [card.format_text() for card in list_cards(classic_board(), ["red", "blue"])][:2]
    ['24 territories', '18 territories with 2 armies']
    """
    targets = tuple(Eliminate(name) for name in players)
    if _has_box_cards(board):
        return (*map(read_mission, BOX_CARDS), *targets)
    size = len(board.territories)
    lands = (OwnTerritories(ceil(size * 24 / 42)), OwnTerritories(ceil(size * 18 / 42), 2))
    continents = [each for each in board.continents if each.territories]
    pairs = [
        OwnContinents((first.name, second.name))
        for k, first in enumerate(continents)
        for second in continents[k + 1 :]
        if 3 <= len(first.territories) + len(second.territories) <= size / 2
    ]
    return (*lands, *pairs[:12], *targets)


def _set_victory(setup: Mapping[str, Any], board: Board, wish: Mapping[str, Any]) -> dict[str, str]:
    """Return the fields of a setup with another way to win."""
    fields: dict[str, str] = dict(setup["fields"])
    before = read_victory(fields.pop("win", SURVIVOR))
    rules = read_rules(read_text(setup, "rules", "classic"))
    own = read_pairs(fields.pop("own", ""), "own")
    extra = format_rules(CAPITAL.apply(rules))
    if isinstance(before, Capitals):
        old = {*before.capitals.values()}
        own = {name: text for name, text in own.items() if name not in old or text != extra}
    try:
        turn = read_setup({**setup, "fields": fields}, board)
    except IllegalError:
        turn = None  # for example, the board is still empty
    players = [name for k, name in enumerate(setup["players"]) if k not in setup["neutral"]]
    victory: Victory = Survivor()
    match wish["by"]:
        case Share.word:
            victory = read_share(wish)
        case Missions.word:
            victory = read_missions(wish, board, players)
            if isinstance(before, Missions):
                cards = before.cards or victory.cards
                victory = replace(
                    victory, instead=before.instead, at_end=before.at_end, cards=cards
                )
        case Capitals.word:
            victory = Capitals(wish.get("capitals") or _find_stacks(setup, board, players))
    if turn is not None and victory != Survivor():
        texts = {**fields, "win": format_victory(victory)}
        victory = read_setup({**setup, "fields": texts}, board).victory
    if isinstance(victory, Capitals) and wish.get("dice", True) is True:
        own |= dict.fromkeys(victory.capitals.values(), extra)
    if victory != Survivor():
        fields["win"] = format_victory(victory)
    return {**fields, "own": format_pairs(own)} if own else fields


def _find_stacks(setup: Mapping[str, Any], board: Board, players: Sequence[str]) -> dict[str, str]:
    """Return the territory with the most armies of each player who owns a territory."""
    held = [*zip(setup["owners"], setup["armies"], board.territories, strict=True)]
    names, stacks = setup["players"], dict[str, str]()
    for name in players:
        own = [
            (armies, place) for owner, armies, place in held if names[owner] == name and owner >= 0
        ]
        if not own:
            raise IllegalError(f"{name} must own a territory to have a capital, got none")
        stacks[name] = max(own, key=lambda each: each[0])[1]
    return stacks


def _describe_victory(victory: Victory, board: Board, has_capital_dice: bool) -> dict[str, Any]:
    """Return a victory condition in the form of a wish."""
    described: dict[str, Any] = {"by": victory.word}
    if isinstance(victory, Share):
        size, share = len(board.territories), victory.share
        part = share / size if isinstance(share, int) else share
        described["share"] = min(round(100 * float(part)), 100)
    elif isinstance(victory, Capitals):
        described |= {"capitals": dict(victory.capitals), "dice": has_capital_dice}
    elif isinstance(victory, Missions):
        hidden = Hidden().format_text()
        texts = {
            name: mission.format_text() if isinstance(mission, Mission) else mission
            for name, mission in victory.missions.items()
        }
        described["missions"] = {name: text for name, text in texts.items() if text != hidden}
        described |= {"secret": bool(victory.secret), "common": victory.common}
    return described
