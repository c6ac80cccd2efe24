"""Validation of the arguments of `Turn`: the setting, the phase, cards, and constraints."""

from collections.abc import Iterable, Mapping
from typing import Any, TypedDict, TypeVar

from iacta.board import Board, Position
from iacta.board.board import fold_name, read_name
from iacta.game.cards import DECK, NEUTRAL, SYMBOLS, Hand, Sets
from iacta.game.state import FORTIFY, FortifyReach, Phase, Setting, TurnState
from iacta.game.victory import SURVIVAL, Victory
from iacta.inputs.checks import FrozenDict, check_choice, quote, read_int, read_list
from iacta.inputs.errors import IllegalError, MalformedError, add_parameter
from iacta.rules.rules import Rules
from iacta.rules.variants import find_rules, make_unfit_rules_error

V = TypeVar("V")

STARTS: tuple[Phase, ...] = ("trade", "place", "attack", "fortify", "over")
MAX_NEW_ARMIES = 10**6  # the maximum number of new armies in a turn


class ChangeableOptions(TypedDict, total=False):
    """The options of `Turn` that `Turn.with_options` can change; there, `None` changes nothing."""

    place: int | None
    keep: Mapping[str, int] | None
    rules_of: Mapping[str, Rules | str] | None
    stay: Iterable[str] | None
    fortify: FortifyReach | None
    whole_battles: bool | None
    victory: Victory | None


class TurnOptions(ChangeableOptions, total=False):
    """The options of `Turn` besides the position and the rules."""

    phase: Phase | None
    cards: Mapping[str, Hand | int] | None
    trade: Sets | None
    players: Iterable[str] | None
    cards_due: int
    symbols: Mapping[str, str] | None
    pictured: bool


def check_option_names(options: Mapping[str, object], kind: type[Any]) -> None:
    """Raise `TypeError` for an option that a `TypedDict` does not have."""
    for name in options:
        if name not in kind.__annotations__:
            raise TypeError(f"unexpected keyword argument {name!r}")


def read_setting(
    board: Board,
    player: str,
    owners: tuple[str, ...],
    rules: Rules | str,
    options: TurnOptions,
) -> Setting:
    """Validate the setting of a turn.

    board: the board.
    player: the player whose turn it is.
    owners: the owner of each territory in the order of the board; `""` for no owner.
    rules, options: the same as for `Turn`.

    Raises `IactaError`, with the name of the argument as its `parameter`.
    """
    fortify, whole_battles = options.get("fortify"), options.get("whole_battles")
    fortify = FORTIFY[0] if fortify is None else fortify
    whole_battles = whole_battles is not None and whole_battles
    with add_parameter("rules"):
        usual = find_rules(rules)
        _refuse_unfit(usual)
    check_choice(fortify, FORTIFY, "fortify")
    check_choice(whole_battles, (True, False), "whole_battles")
    with add_parameter("players"):
        order = _read_players(options.get("players"), player, owners)
    with add_parameter("symbols"):
        named = _read_card_symbols(options.get("symbols"), board)
    with add_parameter("rules_of"):
        differing = _read_rules_of(options.get("rules_of"), board, usual)
    with add_parameter("keep"):
        kept = _read_keep(options.get("keep"), board, usual.garrison)
    with add_parameter("stay"):
        resting = _read_stay(options.get("stay"), board, player, owners)
    return Setting(
        board=board,
        rules=usual,
        players=order,
        symbols=named,
        rules_of=differing,
        keep=kept,
        stay=resting,
        fortify=fortify,
        whole_battles=whole_battles,
    )


def _refuse_unfit(rules: Rules) -> None:
    if not rules.mode.fits_turns:
        raise make_unfit_rules_error(rules, "for a turn")


def read_state(position: Position, setting: Setting, options: TurnOptions) -> TurnState:
    """Validate the state at the start of a turn or of one of its phases.

    position: the owners and armies of the territories, and the player whose turn it is.
    setting: the setting.
    options: the same as for `Turn`. The names in `victory` are not resolved.

    Raises `IactaError`, with the name of the argument as its `parameter`.
    """
    owners = tuple(holding.owner for holding in position.holdings)
    armies = tuple(holding.armies for holding in position.holdings)
    refuse_empty_territories(position.board, owners, armies, setting.rules)
    place, phase, trade = options.get("place"), options.get("phase"), options.get("trade")
    new = 0 if place is None else read_int(place, "place", 0, MAX_NEW_ARMIES)
    cards_due = read_int(options.get("cards_due", 0), "cards_due", 0, DECK.number)
    pictured = options.get("pictured", False)
    now = phase if phase is not None else "place" if new else "attack"
    check_choice(now, STARTS, "phase")
    with add_parameter("place"):
        if new and now not in ("trade", "place"):
            raise IllegalError(f"place must be 0 in the phase {now!r}, got {new}")
        if now == "place" and not new:
            raise IllegalError("place must be at least 1 in the phase 'place', got 0")
    check_choice(pictured, (True, False), "pictured")
    table = Sets() if trade is None else trade
    if not isinstance(table, Sets):
        raise MalformedError(f"trade must be Sets, got {quote(trade)}", parameter="trade")
    with add_parameter("cards"):
        held = _read_cards(options.get("cards"), setting.players, setting.symbols, setting.board)
        if now == "trade" and held is None:
            raise IllegalError("cards must be given in the phase 'trade', got None")
    if table.is_nuclear and not setting.symbols:
        raise IllegalError(
            "symbols must be given with nuclear sets, which strike the territories on cards, got "
            "none",
            parameter="symbols",
        )
    if table.is_nuclear and NEUTRAL in map(fold_name, setting.players):
        raise IllegalError(
            f"players must not include {NEUTRAL!r} with nuclear sets, which give territories to it",
            parameter="players",
        )
    return TurnState(
        player=position.player,
        phase=now,
        owners=owners,
        armies=armies,
        place=new,
        cards=held,
        trade=table,
        victory=read_victory_condition(options.get("victory")),
        cards_due=cards_due,
        pictured=pictured,
    )


def refuse_empty_territories(
    board: Board, owners: Iterable[str], armies: Iterable[int], rules: Rules
) -> None:
    """Raise `IllegalError` if a territory has an owner but no armies under rules with a garrison.

    board: the board.
    owners, armies: the owner of each territory and the armies on it, in the order of the board.
    rules: the rules of battles.
    """
    name = find_empty_territory(board, owners, armies)
    if name is not None and rules.garrison:
        raise IllegalError(
            f"{name} must have at least 1 army, got 0; only rules without a garrison let players "
            "leave a territory empty"
        )


def find_empty_territory(board: Board, owners: Iterable[str], armies: Iterable[int]) -> str | None:
    """Return the first territory that has an owner but no armies, or `None`."""
    rows = zip(board.territories, owners, armies, strict=True)
    return next((name for name, owner, number in rows if owner and not number), None)


def read_victory_condition(victory: Victory | None) -> Victory:
    """Return a victory condition; `SURVIVAL` for `None`."""
    if victory is None:
        return SURVIVAL
    if not isinstance(victory, Victory):
        raise MalformedError(
            f"victory must be a Victory, got {quote(victory)}", parameter="victory"
        )
    return victory


def list_owners(owners: Iterable[str]) -> tuple[str, ...]:
    """Return the owners without duplicates, in the order of their first territories."""
    return tuple(dict.fromkeys(filter(None, owners)))


def _read_players(
    players: Iterable[str] | None, player: str, owners: tuple[str, ...]
) -> tuple[str, ...]:
    """Return the order of play: `players`, or by default the owners in the order of the board."""
    known = list_owners(owners)
    if players is None:
        return known
    spelling = {fold_name(each): each for each in known}
    names = [read_name(each, "player") for each in read_list(players, "players", "names")]
    found = tuple(spelling.get(fold_name(name), name) for name in names)
    if len({*map(fold_name, found)}) < len(found):
        raise IllegalError(f"players must name each player once, got {quote(list(found))}")
    if player not in found:
        raise IllegalError(f"players must include {player!r}, got {quote(list(found))}")
    return found


def _read_card_symbols(symbols: Mapping[str, str] | None, board: Board) -> FrozenDict[str, str]:
    """Return the symbol on each territory's card; refuse symbols that exceed the deck."""
    given = {} if symbols is None else symbols
    if not isinstance(given, Mapping):
        raise MalformedError(
            f"symbols must be a mapping from names to symbols, got {quote(symbols)}"
        )
    found = {board.find(name): symbol for name, symbol in given.items()}
    for name, symbol in found.items():
        check_choice(symbol, SYMBOLS, f"symbol of {name}")
    for symbol, most in zip(SYMBOLS, DECK[:3], strict=True):
        number = sum(each == symbol for each in found.values())
        if number > most:
            raise IllegalError(f"symbols must contain {symbol} at most {most} times, got {number}")
    return _sort_by_board(found, board)


def _read_cards(
    cards: Mapping[str, Hand | int] | None,
    players: tuple[str, ...],
    symbols: Mapping[str, str],
    board: Board,
) -> FrozenDict[str, Hand] | None:
    """Return the hands of all players with cards; refuse hands that exceed one deck."""
    if cards is None:
        return None
    if not isinstance(cards, Mapping):
        raise MalformedError(f"cards must be a mapping from players to hands, got {quote(cards)}")
    spelling = {fold_name(each): each for each in players}
    found: dict[str, Hand] = {}
    for name, held in cards.items():
        player = spelling.get(fold_name(name)) if isinstance(name, str) else None
        if player is None or player in found:
            raise IllegalError(f"cards must name players of the game, each once, got {quote(name)}")
        what = f"cards of {player}"
        if isinstance(held, tuple):
            if len(held) > len(Hand._fields):
                raise MalformedError(f"{what} must be a Hand or a whole number, got {quote(held)}")
            hand = Hand._make((*(read_int(n, what, 0, DECK.number) for n in held[:5]), ()))
            hand = Hand() + hand._replace(territories=_read_pictured(held[5:], what, board))
        else:
            hand = Hand(unknown=read_int(held, what, 0, DECK.number))
        if hand != Hand():
            found[player] = hand
    every = sum(found.values(), Hand())
    if every.number > DECK.number or any(n < 0 for n in (DECK - every)[:4]):
        raise IllegalError(f"cards must all come from one deck, {DECK!r}, got {every!r}")
    if len({*every.territories}) < len(every.territories):
        raise IllegalError(f"cards must picture each territory at most once, got {every!r}")
    for name in every.territories:
        if name not in symbols:
            raise IllegalError(f"cards must show territories that have a symbol, got {name}")
    for k, symbol in enumerate(SYMBOLS):
        plain = DECK.counts[k] - sum(each == symbol for each in symbols.values())
        for name, hand in (*found.items(), ("all players", every)):
            named = sum(symbols[territory] == symbol for territory in hand.territories)
            if not named <= hand.counts[k] <= named + plain:
                raise IllegalError(
                    f"cards of {name} must include {named} to {named + plain} {symbol} cards, "
                    f"to match their territories, got {hand!r}"
                )
    return FrozenDict({name: found[name] for name in players if name in found})


def _read_pictured(given: tuple[object, ...], what: str, board: Board) -> tuple[str, ...]:
    names = read_list(given[0], f"territories in {what}", "names") if given else ()
    return tuple(board.find(name) for name in names)


def _read_keep(keep: Mapping[str, int] | None, board: Board, garrison: int) -> FrozenDict[str, int]:
    """Return the armies that must remain on territories; omit numbers up to the garrison."""
    given = {} if keep is None else keep
    if not isinstance(given, Mapping):
        raise MalformedError(f"keep must be a mapping from names to armies, got {quote(keep)}")
    kept = {board.find(name): read_int(n, f"keep of {name}") for name, n in given.items()}
    return _sort_by_board({name: n for name, n in kept.items() if n > garrison}, board)


def _read_rules_of(
    rules_of: Mapping[str, Rules | str] | None, board: Board, usual: Rules
) -> FrozenDict[str, Rules]:
    """Return the rules of each territory whose rules differ from `usual`."""
    given = {} if rules_of is None else rules_of
    if not isinstance(given, Mapping):
        raise MalformedError(
            f"rules_of must be a mapping from names to rules, got {quote(rules_of)}"
        )
    found = {board.find(name): find_rules(own, usual.garrison) for name, own in given.items()}
    for own in found.values():
        _refuse_unfit(own)
    return _sort_by_board({name: own for name, own in found.items() if own != usual}, board)


def _read_stay(
    stay: Iterable[str] | None, board: Board, player: str, owners: tuple[str, ...]
) -> tuple[str, ...]:
    """Return the territories whose armies must stay, in the order of the board."""
    given = () if stay is None else stay
    names = [given] if isinstance(given, str) else read_list(given, "stay", "names")
    owned = {name for name, owner in zip(board.territories, owners, strict=True) if owner == player}
    found = {board.find(name): None for name in names}
    for name in found:
        if name not in owned:
            raise IllegalError(f"stay must be the player's own territories, got {name}")
    return tuple(_sort_by_board(found, board))


def _sort_by_board(named: Mapping[str, V], board: Board) -> FrozenDict[str, V]:
    return FrozenDict({name: named[name] for name in board.territories if name in named})
