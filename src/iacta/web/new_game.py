"""New games for the board page: the wishes of the players, and the turn that is dealt.

The page sends the wishes again after each territory that a person picks and each capital that a
person chooses before the first turn. The server keeps no games.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from secrets import randbits
from typing import Any

import numpy as np

from iacta.board import Board
from iacta.board.built_in import classic_board
from iacta.board.files import read_board
from iacta.forms.moment import CAPITAL
from iacta.forms.sentences import add_noun, capitalise
from iacta.game import Capitals, Missions, Sets, Turn, Victory
from iacta.game.cards import DECK, NEUTRAL, SYMBOLS
from iacta.game.codes import format_rules, read_rules
from iacta.game.deal import deal
from iacta.game.editions import EDITIONS, Edition, deal_edition, find_edition
from iacta.game.missions import Hidden
from iacta.game.victory import SURVIVOR, Survivor
from iacta.inputs.checks import check_choice, quote, read_int, read_list, refuse_unknown_keys
from iacta.inputs.errors import IllegalError
from iacta.rules.rules import Rules
from iacta.rules.variants import find_rules
from iacta.war.game import PERSON, Game
from iacta.war.picking import complete_order
from iacta.war.players import PLAYERS
from iacta.web.progress import mark_capitals
from iacta.web.read_question import read_sent_board, read_sent_players, read_text
from iacta.web.turns import describe_setup, read_setup
from iacta.web.ways_to_win import CAPITALS, MISSIONS, SHARE, read_missions, read_share, read_wish

# The words of the dialog of a new game, by the values that the page sends.
SEATS = {PERSON: "person", "simple": "easy", "usual": "medium", "strong": "hard"}
RISING, FIXED, NUCLEAR, NONE = "rising", "fixed", "nuclear", "none"
TRADES = {FIXED: Sets(is_fixed=True), NUCLEAR: Sets(is_nuclear=True)}
SETS = {
    RISING: "Rising: 4, 6, 8, 10 … armies",
    FIXED: "Fixed: 4, 6, 8 or 10 armies",
    NUCLEAR: "Nuclear: a set makes its territories neutral",
    NONE: "No cards",
}
DEALS = {"random": "At random", "pick": "Picked in turn"}
WISH_KEYS = (
    *("board", "players", "seats", "rules", "sets", "victory", "deal", "order", "capitals"),
    *("again", "edition"),
)


@dataclass(frozen=True)
class Wishes:
    """The wishes for a new game.

    players: the names of the players in the order of play.
    seats: the seat of each player: `"person"` or the name of an AI.
    rules: the rules of battles.
    sets: `"rising"`, `"fixed"`, `"nuclear"` or `"none"`: the armies for sets of cards.
    victory: the victory condition; `"capitals"` for drawn capitals and `"missions"` for dealt
        missions.
    number: the number of capitals that a player must own; `None` for all capitals.
    has_capital_dice: whether capitals defend with one more die.
    is_open: whether all players know the dealt missions.
    chooses_capitals: whether persons choose their capitals.
    is_picked: whether the territories are picked in turn.
    edition: the edition of the game; it determines all wishes except the seats, and how territories
        and capitals are dealt.
    """

    board: Board
    players: Sequence[str]
    seats: Sequence[str]
    rules: Rules
    sets: str
    victory: Victory | str | None
    number: int | None = None
    has_capital_dice: bool = False
    is_open: bool = False
    chooses_capitals: bool = False
    is_picked: bool = False
    edition: Edition | None = None


def deal_game(body: Mapping[str, Any]) -> dict[str, Any]:
    """Deal a new game, or return the next question to a person before the first turn.

    body: the request, with the `board` unless it is the classic board; the names of the `players`;
        the `seats`, `"person"` or the name of an AI for each player; the `rules`, the `sets` and
        the `victory` condition (`by`, and `share` in percent, `choose` and `dice` of capitals, or
        `missions` by player and `secret`); the `deal`; and after questions the `order` in which
        territories were dealt, and the `capitals` that persons have chosen. An `edition` replaces
        `rules`, `sets` and `victory`. Instead of the wishes, `again` may be the setup of a game
        whose wishes apply again.

    The answer has the `setup` of the first turn. If a person must decide before, `ask` contains the
    `player`, the `territories` to choose from and a `sentence`, and the answer has the `order`.
    """
    refuse_unknown_keys(body, WISH_KEYS)
    wishes = _read_again(body) if "again" in body else _read_wishes(body)
    board, players, seed = wishes.board, wishes.players, randbits(62)
    order = tuple(_read_territories(body, "order", board))
    chosen = _read_territories(body, "capitals", board)
    # V cannot judge hidden missions or capitals before they are dealt.
    known = wishes.victory if isinstance(wishes.victory, Victory) else None
    if wishes.is_picked:
        computers = [
            name for name, seat in zip(players, wishes.seats, strict=True) if seat != PERSON
        ]
        order = complete_order(
            board, players, order, computers, seed=seed, rules=wishes.rules, victory=known
        )
    elif wishes.chooses_capitals and not order:
        order = tuple(np.random.default_rng(seed).permutation(board.territories).tolist())
    if len(order) < len(board.territories) and (order or wishes.is_picked):
        return _ask_for_territory(wishes, order)
    victory = wishes.victory
    if wishes.chooses_capitals:
        persons = [k for k, seat in enumerate(wishes.seats) if seat == PERSON]
        if len(chosen) < len(persons):
            return _ask_for_capital(wishes, order, persons[len(chosen)], chosen)
        drawn = {name: order[k] for k, name in enumerate(players)}
        victory = Capitals(
            drawn | {players[k]: name for k, name in zip(persons, chosen, strict=False)}
        )
    symbols = None if wishes.sets == NONE else _deal_symbols(board, seed)
    if wishes.edition is not None:
        turn = deal_edition(
            wishes.edition.name, players, seed=seed, order=order or None, symbols=symbols
        )
        Game(turn, dict(zip(players, wishes.seats, strict=True)))
        return {"setup": describe_setup(turn), "order": [], "ask": None}
    turn = deal(
        board,
        players,
        seed=seed,
        rules=wishes.rules,
        victory=victory,
        cards=wishes.sets != NONE,
        order=order or None,
        trade=TRADES.get(wishes.sets),
        symbols=symbols,
    )
    turn = _set_options(turn, wishes)
    Game(turn, dict(zip(players, wishes.seats, strict=True)))  # refuse rules that AIs cannot play
    return {"setup": describe_setup(turn), "order": [], "ask": None}


def _deal_symbols(board: Board, seed: int) -> dict[str, str] | None:
    """Return random symbols for the territories' cards; `None` if the deck has too few cards."""
    names = board.territories
    if len(names) > sum(DECK[:3]):
        return None
    order = np.random.default_rng(seed).permutation(names).tolist()
    return {name: SYMBOLS[k % len(SYMBOLS)] for k, name in enumerate(order)}


def _set_options(turn: Turn, wishes: Wishes) -> Turn:
    """Return a dealt turn with the wishes that `deal` does not know."""
    victory = turn.victory
    if isinstance(victory, Missions) and wishes.is_open:
        return turn.with_options(victory=replace(victory, secret=()))
    if isinstance(victory, Capitals):
        own = dict.fromkeys(victory.capitals.values(), CAPITAL.apply(turn.rules))
        return turn.with_options(
            victory=replace(victory, number=wishes.number),
            rules_of=own if wishes.has_capital_dice else None,
        )
    return turn


def _read_wishes(body: Mapping[str, Any]) -> Wishes:
    players, seats = read_sent_players(body), _read_seats(body)
    board, given = (
        read_sent_board(body) or classic_board(),
        read_wish(body.get("victory", {"by": SURVIVOR})),
    )
    by = given["by"]
    victory: Victory | str | None = CAPITALS if by == CAPITALS else None
    if by == SHARE:
        victory = read_share(given)
    elif by == MISSIONS:
        victory = read_missions(given, board, players)
    sets, dealt = read_text(body, "sets", RISING), read_text(body, "deal", "random")
    check_choice(sets, tuple(SETS), "sets")
    check_choice(dealt, tuple(DEALS), "deal")
    if name := read_text(body, "edition", ""):
        return _wish_edition(find_edition(name), board, players, seats, is_picked=dealt == "pick")
    return Wishes(
        board=board,
        players=players,
        seats=seats,
        rules=read_rules(read_text(body, "rules", "classic")),
        sets=sets,
        victory=victory,
        has_capital_dice=given.get("dice", True) is True,
        is_open=given.get("secret", True) is False,
        chooses_capitals=by == CAPITALS and given.get("choose") is True and PERSON in seats,
        is_picked=dealt == "pick",
    )


def _wish_edition(
    edition: Edition,
    board: Board,
    players: Sequence[str],
    seats: Sequence[str],
    *,
    is_picked: bool = False,
) -> Wishes:
    """Return the wishes for a game of an edition; refuse another board."""
    if board != read_board(edition.board):
        raise IllegalError(
            f"board must be {edition.board!r} for {edition.name}, got {board.name!r}"
        )
    if is_picked and edition.has_neutral:
        raise IllegalError(f"deal must be random for {edition.name}, got 'pick'")
    victory = edition.make_victory(players)
    rules = find_rules(edition.rules)
    return Wishes(
        board, players, seats, rules, RISING, victory, is_picked=is_picked, edition=edition
    )


def _recognise_edition(turn: Turn, players: Sequence[str]) -> Edition | None:
    """Return the edition of a turn if it has missions or a neutral army, otherwise `None`."""
    for edition in EDITIONS:
        wished = edition.make_victory(players)
        rows = (turn.rules, turn.board, turn.trade.is_fixed)
        if rows != (find_rules(edition.rules), read_board(edition.board), edition.trade.is_fixed):
            continue
        if edition.has_neutral and NEUTRAL in turn.owners and isinstance(turn.victory, Survivor):
            return edition
        if isinstance(wished, Missions) and isinstance(turn.victory, Missions):
            made = wished.resolve_names(turn)
            keys = ("cards", "instead", "common")
            if all(getattr(made, key) == getattr(turn.victory, key) for key in keys):
                return edition
    return None


def _read_again(body: Mapping[str, Any]) -> Wishes:
    """Return the wishes of a game that has been dealt. Its capitals and secret missions change."""
    board = read_sent_board(body) or classic_board()
    setup = body["again"]
    turn = read_setup(setup, board)
    # Eliminated players play again.
    players = [name for k, name in enumerate(setup["players"]) if k not in setup["neutral"]]
    if (edition := _recognise_edition(turn, players)) is not None:
        return _wish_edition(edition, board, players, _read_seats(body, len(players)))
    before = turn.victory
    victory: Victory | str | None = None if isinstance(before, Survivor) else before
    number = None
    if isinstance(before, Capitals):
        victory, number = CAPITALS, before.number
    elif isinstance(before, Missions):
        hidden = dict.fromkeys(before.secret, Hidden())
        victory = replace(before, missions={**before.missions, **hidden}, secret=())
    sets = FIXED if turn.trade.is_fixed else NUCLEAR if turn.trade.is_nuclear else RISING
    sets = NONE if turn.cards is None else sets
    return Wishes(
        board,
        players,
        _read_seats(body, len(players)),
        turn.rules,
        sets,
        victory,
        number,
        has_capital_dice=bool(turn.rules_of),
    )


def _read_seats(body: Mapping[str, Any], number: int | None = None) -> list[str]:
    seats = read_list(body.get("seats", []), "seats", "seats")
    known = (PERSON, *PLAYERS)
    if wrong := [seat for seat in seats if seat not in known]:
        raise IllegalError(f"seats must be of {', '.join(known)}, got {quote(wrong[0])}")
    count = len(body.get("players", [])) if number is None else number
    if len(seats) != count:
        raise IllegalError(f"seats must be given for {count} players, got {len(seats)}")
    return seats


def _read_territories(body: Mapping[str, Any], name: str, board: Board) -> list[str]:
    given = read_list(body.get(name, []), name, "numbers")
    most = len(board.territories) - 1
    return [board.territories[read_int(t, name, maximum=most)] for t in given]


def _ask_for_territory(wishes: Wishes, order: Sequence[str]) -> dict[str, Any]:
    number, players = len(wishes.players), wishes.players
    player = len(order) % number
    size = len(wishes.board.territories)
    left = len(range(len(order), size, number))
    name = capitalise(players[player])
    sentence = f"{name} picks {add_noun(left, 'more territory', 'more territories')}: tap one."
    return _ask(wishes, order, (), player, {*wishes.board.territories} - {*order}, sentence)


def _ask_for_capital(
    wishes: Wishes, order: Sequence[str], player: int, chosen: Sequence[str]
) -> dict[str, Any]:
    own = {*order[player :: len(wishes.players)]}
    if chosen and len({*chosen}) < len(chosen):
        raise IllegalError(f"capitals must differ, got {quote([*chosen])}")
    name = wishes.players[player]
    sentence = f"{capitalise(name)} chooses a capital: tap one of their territories."
    return _ask(wishes, order, chosen, player, own, sentence)


def _ask(
    wishes: Wishes,
    order: Sequence[str],
    chosen: Sequence[str],
    player: int,
    choices: set[str],
    sentence: str,
) -> dict[str, Any]:
    """Return a question to a player, and the territories that have been dealt."""
    names, number = wishes.board.territories, len(wishes.players)
    places = {name: t for t, name in enumerate(names)}
    owners = [-1] * len(names)
    for k, name in enumerate(order):
        owners[places[name]] = k % number
    rules, extra = format_rules(wishes.rules), format_rules(CAPITAL.apply(wishes.rules))
    setup = {
        "players": [*wishes.players],
        "neutral": [],
        "mover": player,
        "owners": owners,
        "armies": [int(owner >= 0) for owner in owners],
        "rules": rules,
        "keep": {},
        "stay": [],
        "fresh": 0,
        "fields": {},
    }
    return {
        "setup": setup,
        "order": [places[name] for name in order],
        "ask": {
            "player": player,
            "sentence": sentence,
            "territories": sorted(places[name] for name in choices),
            "capitals": mark_capitals(
                wishes.board,
                {wishes.players[owners[places[name]]]: name for name in chosen},
                rules,
                dict.fromkeys(chosen, rules if not wishes.has_capital_dice else extra),
            ),
        },
    }
