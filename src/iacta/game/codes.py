"""The text of a turn: one-line codes and TOML files.

A code continues the code of a position with the phase, then with `key=value` fields. A file has the
same keys. Its values are texts as in a code, or numbers, lists and tables.
"""

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, TypeAlias, TypeVar, cast, get_args

from iacta.board import Board, Holding, Position
from iacta.board.board import format_json
from iacta.board.codes import (
    Code,
    escape_name,
    read_code,
    unescape_name,
    write_code,
)
from iacta.board.formats.reading import FileTable
from iacta.game.actions import Attack
from iacta.game.cards import (
    DECK,
    MAX_MUST_TRADE,
    MAX_PICTURED,
    MAX_SET_ARMIES,
    SMALLEST_FULL_HAND,
    SYMBOLS,
    Hand,
    Sets,
)
from iacta.game.legal import check_conquest, find_legal_action
from iacta.game.setup import MAX_NEW_ARMIES, STARTS, TurnOptions, list_owners
from iacta.game.state import FortifyReach, Phase, TurnData
from iacta.game.victory import SURVIVAL, Victory, make_victory
from iacta.inputs.checks import check_choice, parse_int, quote, read_int
from iacta.inputs.errors import IllegalError, MalformedError, add_parameter
from iacta.inputs.json_and_toml import parse_json
from iacta.rules.files import read_rules_record, rules_record
from iacta.rules.rules import CLASSIC, Rules
from iacta.rules.variants import RULE_SETS, find_rules, rules_name

D = TypeVar("D")
T = TypeVar("T")
TurnT = TypeVar("TurnT", bound=TurnData)
Value: TypeAlias = str | int | Sequence[str | int] | Mapping[str, str | int]

OPTIONS = (
    *("rules", "place", "cards", "sets", "keep", "own", "stay", "fortify", "whole", "players"),
    *("conquered", "first", "attack", "throw", "then", "symbols", "named", "pictured", "win"),
)
# The keys of arguments of `Turn` whose names differ from their keys.
KEYS = {
    "trade": "sets",
    "cards_due": "conquered",
    "rules_of": "own",
    "whole_battles": "whole",
    "victory": "win",
}
FIXED = "fixed"
NUCLEAR = "nuclear"
NUMBERED = {"at": "must_trade", "own": "pictured"}  # the prefixes of house rules for sets
LIMITS = {"must_trade": (SMALLEST_FULL_HAND, MAX_MUST_TRADE), "pictured": (0, MAX_PICTURED)}
EACH_CONQUEST = "each"
HOUSE_RULES = {**NUMBERED, EACH_CONQUEST: "has_card_per_conquest"}
HOUSE_RULE = re.compile(rf"({'|'.join(NUMBERED)})(\d+)|{EACH_CONQUEST}")
MAX_CODE_DICE = 10**6  # the maximum number of attack dice in a code
OWN_NAMES = {rule_set.name for rule_set in RULE_SETS}
LETTERS = {symbol[0]: symbol for symbol in SYMBOLS} | {"-": ""}


@dataclass(frozen=True)
class TurnFields:
    """The fields of a turn after its position.

    phase: the phase; any phase, also `defend` and `advance`.
    rules, options: the same as for `Turn`.
    first: the first territory on which new armies may still be placed; `None` for any
        territory.
    attack: the attack in progress, in the phases `defend` and `advance`.
    throw: the index of the attack dice among the possible throws, in the phase `defend`.
    then: the phase after the advance.
    """

    phase: Phase
    rules: Rules
    options: TurnOptions
    first: str | None
    attack: Attack | None
    throw: int | None
    then: str

    def replace_garrison(self, garrison: int | None) -> "TurnFields":
        """Return the fields with another garrison; `None` for the same garrison."""
        if garrison is None:
            return self
        return replace(self, rules=replace(self.rules, garrison=garrison))


class CodedTurn(NamedTuple):
    """A turn that was read from a text, before the rules of the game are checked.

    code: the position.
    fields: the other fields.
    """

    code: Code
    fields: TurnFields


# Whole turns.


def write_turn_code(turn: TurnData) -> str:
    """Return a turn as a one-line code."""
    texts = format_options(turn)
    written = (f"{key}={texts[key]}" for key in OPTIONS if key in texts)
    return write_code(turn.board, turn.player, turn.owners, turn.armies, turn.phase, *written)


def write_turn_toml(turn: TurnData) -> str:
    """Return a turn as the content of a TOML file."""
    lines = [
        f"{key} = {text if text.isdigit() else format_json(text)}"
        for key, text in format_options(turn).items()
    ]
    player, mark, lands = turn.position.to_toml().partition("\n\n[territories]")
    return "\n".join([player, *lines]) + mark + lands


def make_turn(turn_class: Callable[..., TurnT], code: Code, fields: TurnFields) -> TurnT:
    """Make a turn from the fields of a code or a file, in any phase.

    turn_class: the class `Turn`.
    code: the position.
    fields: the other fields.

    Raises `IactaError` for fields that contradict each other or the rules of the game. Its
    `parameter` is the name of the argument of `Turn`, or of the field.
    """
    phase, held = fields.phase, map(Holding, code.owners, code.armies)
    start = phase if phase in STARTS else "attack"
    # A nuclear set can make the player's last territory neutral; their turn is over then.
    order = fields.options.get("players") or ()
    is_out = phase == "over" and code.player in order and code.player not in code.owners
    rival = next((name for name in order if name in code.owners), code.player)
    position = Position(code.board, rival if is_out else code.player, held)
    turn = turn_class(position, fields.rules, phase=start, **fields.options)
    if turn.phase != phase and phase in STARTS:
        raise IllegalError(
            f"phase must be {turn.phase!r} with these cards, got {phase!r}", parameter="phase"
        )
    if is_out:
        turn = turn.replace_state(turn.state._replace(player=code.player))
    if fields.first is not None:
        with add_parameter("first"):
            turn = _skip_territories_before(turn, fields.first)
    if phase not in ("defend", "advance"):
        return turn
    with add_parameter("attack"):
        missing = "attack" if fields.attack is None else "throw"
        if fields.attack is None or (phase == "defend" and fields.throw is None):
            raise MalformedError(f"{missing} must be given in the phase {phase!r}, got none")
        return _resume_battle(turn, fields, fields.attack)


def _skip_territories_before(turn: TurnT, name: str) -> TurnT:
    first = turn.setting.index[turn.board.find(name)]
    if turn.phase != "place" or not any(t >= first for t in turn.list_own()):
        raise IllegalError(f"first must be a territory that can get new armies, got {quote(name)}")
    return turn.replace_state(turn.state._replace(first=first))


def _resume_battle(turn: TurnT, fields: TurnFields, attack: Attack) -> TurnT:
    """Return the turn during an attack, in the phase `defend` or `advance`."""
    throw, then = None, turn.then
    if fields.phase == "defend":
        attack = find_legal_action(turn, attack)
        throws = turn.find_choice(attack).throws
        throw = throws[read_int(fields.throw, "throw", 0, len(throws) - 1)]
        if all(len(each.options) == 1 for each in throws):
            raise IllegalError(f"the defender cannot choose dice against {attack!r}")
    else:
        check_choice(fields.then, ("attack", "trade", "over"), "then")
        check_conquest(turn, attack)
        then = cast(Phase, fields.then)
    return turn.replace_state(
        turn.state._replace(phase=fields.phase, pending=attack, throw=throw, then=then)
    )


def read_turn_code(text: str, board: Board | None = None) -> CodedTurn:
    """Read the code of a turn or of a position; raise `IactaError` for a malformed code.

    text: the code.
    board: the board of the code; `None` for the classic board.
    """
    code = read_code(text, board)
    phase, *rest = code.rest or ("attack",)
    return CodedTurn(code, read_fields(phase, FileTable(_read_options(rest)), code.board))


def format_options(turn: TurnData) -> dict[str, str]:
    """Return the phase and all fields of a turn that differ from their defaults.

    turn: the turn.

    The keys and the texts are entries of a JSON or TOML file with the turn, beside its position.

    >>> from iacta.game import Turn
    >>> format_options(Turn.from_code("1;classic;red;Peru:red:3;over;keep=Peru:2"))
    {'phase': 'over', 'keep': 'Peru:2'}
    """
    hands = {name: turn.cards[name] for name in turn.players if turn.cards and name in turn.cards}
    named = {t: name for name, hand in hands.items() for t in hand.territories}
    players = None if turn.players == list_owners(turn.owners) else format_names(turn.players)
    throw = None
    if turn.pending is not None and turn.throw is not None:
        throw = str(turn.find_choice(turn.pending).throws.index(turn.throw))
    texts = {
        "phase": turn.phase if turn.phase != ("place" if turn.place else "attack") else None,
        "rules": escape_name(format_rules(turn.rules)) if turn.rules != CLASSIC else None,
        "place": str(turn.place) if turn.place else None,
        "cards": None if turn.cards is None else format_pairs(_map_values(format_hand, hands)),
        "sets": format_sets(turn.trade) if turn.trade != Sets() else None,
        "keep": format_pairs(turn.keep) or None,
        "own": format_pairs(_map_values(format_rules, turn.rules_of)) or None,
        "stay": format_names(turn.stay) or None,
        "fortify": turn.fortify if turn.fortify != "connected" else None,
        "whole": "1" if turn.whole_battles else None,
        "players": players,
        "conquered": str(turn.cards_due) if turn.cards_due else None,
        "first": escape_name(turn.board.territories[turn.first]) if turn.first else None,
        "attack": None if turn.pending is None else format_attack(turn.pending),
        "throw": throw,
        "then": turn.then if turn.then != "attack" else None,
        "symbols": format_symbols(turn.symbols, turn.board.territories) if turn.symbols else None,
        "named": format_pairs(named) or None,
        "pictured": "1" if turn.pictured else None,
        "win": format_victory(turn.victory) if turn.victory != SURVIVAL else None,
    }
    return {key: text for key, text in texts.items() if text is not None}


def _map_values(convert: Callable[[T], D], values: Mapping[str, T]) -> dict[str, D]:
    return {name: convert(value) for name, value in values.items()}


def _read_options(fields: Iterable[str]) -> dict[str, str]:
    """Read `key=value` fields into a mapping; refuse unknown and repeated keys."""
    found: dict[str, str] = {}
    for field in fields:
        key, equals, value = field.partition("=")
        if not equals or key not in OPTIONS:
            raise MalformedError(
                f"code must continue with key=value, where key is one of {', '.join(OPTIONS)}, got "
                f"{quote(field)}"
            )
        if key in found:
            raise IllegalError(f"{key!r} appears twice in the code")
        found[key] = value
    return found


def read_fields(phase: str, table: FileTable, board: Board) -> TurnFields:
    """Read the fields of a turn from their values in a code or a file.

    phase: the name of the phase.
    table: the values by their keys, each a `Value`. Options that are off have no key.
    board: the board of the turn.

    Raises `IactaError` for a malformed value, with its line in the table.
    """
    given: Mapping[str, Value] = table.entries

    def read(key: str, convert: Callable[[Value], T], default: D) -> T | D:
        if key not in given:
            return default
        with table.add_line((key,)):
            return convert(given[key])

    def read_text(key: str) -> Callable[[Value], str]:
        return lambda value: _read_text(value, key)

    def read_flag(key: str) -> bool:
        return read(key, lambda value: _read_flag(value, key), default=False)

    def read_each(key: str, convert: Callable[[str], T]) -> Callable[[Value], dict[str, T]]:
        return lambda value: _map_values(convert, read_pairs(value, key))

    with table.add_line(("phase",)):
        check_choice(phase, get_args(Phase), "phase of the code")
    cards = read("cards", read_each("cards", read_hand), None)
    if cards is not None:
        for territory, name in read("named", read_each("named", str), {}).items():
            cards[name] = cards.get(name, Hand()) + Hand(territories=(territory,))
    options = TurnOptions(
        place=read("place", lambda value: _read_number(value, "place", MAX_NEW_ARMIES), 0),
        cards=cards,
        trade=read("sets", read_sets, None),
        keep=read("keep", _read_keep, {}),
        rules_of=read("own", read_each("own", read_rules), {}),
        stay=read("stay", lambda value: read_names(value, "stay"), []),
        fortify=cast(FortifyReach, read("fortify", read_text("fortify"), "connected")),
        whole_battles=read_flag("whole"),
        players=read("players", lambda value: read_names(value, "players"), None),
        cards_due=read("conquered", lambda value: _read_number(value, "conquered", DECK.number), 0),
        symbols=read("symbols", lambda value: read_symbols(value, board.territories), None),
        pictured=read_flag("pictured"),
        victory=read("win", read_victory, None),
    )
    return TurnFields(
        phase=phase,  # type: ignore[arg-type] # checked
        rules=read("rules", lambda value: read_rules(_read_text(value, "rules")), CLASSIC),
        options=options,
        first=read("first", read_text("first"), None),
        attack=read("attack", lambda value: read_attack(value, board), None),
        throw=read("throw", lambda value: _read_number(value, "throw"), None),
        then=read("then", read_text("then"), "attack"),
    )


# Values of a field.


def _read_text(value: Value, name: str) -> str:
    if isinstance(value, str | int):
        return unescape_name(str(value))
    raise MalformedError(f"{name} must be text, got {quote(value)}")


def _read_number(value: Value, name: str, maximum: int | None = None) -> int:
    return (
        parse_int(value, name, 0, maximum)
        if isinstance(value, str)
        else read_int(value, name, 0, maximum)
    )


def _read_flag(value: Value, name: str) -> bool:
    if isinstance(value, str | int):
        return True
    raise MalformedError(f"{name} must be true or false, got {quote(value)}")


def _read_keep(value: Value) -> dict[str, int]:
    return {
        name: parse_int(text, f"keep of {name}") for name, text in read_pairs(value, "keep").items()
    }


def format_pairs(values: Mapping[str, object]) -> str:
    """Format a mapping from names to values, for `read_pairs`.

    >>> format_pairs({"North Africa": 3, "Peru": 2}), read_pairs("North%20Africa:3", "keep")
    ('North%20Africa:3,Peru:2', {'North Africa': '3'})
    """
    pairs = values.items()
    return ",".join(f"{escape_name(name)}:{escape_name(str(value))}" for name, value in pairs)


def read_pairs(value: Value, key: str) -> dict[str, str]:
    """Read pairs of a name and a text, the inverse of `format_pairs`; refuse repeated names.

    value: the text of the pairs, or a mapping.
    key: the key of the pairs, for error messages.
    """
    if isinstance(value, Mapping):
        return {str(name): str(each) for name, each in value.items()}
    found: dict[str, str] = {}
    for entry in filter(None, value.split(",") if isinstance(value, str) else _list_texts(value)):
        name, colon, text = entry.partition(":")
        if not colon or unescape_name(name) in found:
            raise MalformedError(
                f"{key} must be pairs name:value, with each name once, got {quote(entry)}"
            )
        found[unescape_name(name)] = unescape_name(text)
    return found


def _list_texts(value: int | Sequence[str | int]) -> list[str]:
    return [str(value)] if isinstance(value, int) else [escape_name(str(each)) for each in value]


def format_names(names: Iterable[str]) -> str:
    """Format names, for `read_names`."""
    return ",".join(map(escape_name, names))


def read_names(value: Value, key: str) -> list[str]:
    """Read names, the inverse of `format_names`.

    value: the text of the names, or a list.
    key: the key of the names, for error messages.
    """
    if isinstance(value, Mapping):
        raise MalformedError(f"{key} must be a list of names, got {quote(value)}")
    texts = value.split(",") if isinstance(value, str) else _list_texts(value)
    return [unescape_name(name) for name in filter(None, texts)]


def format_hand(hand: Hand) -> str:
    """Format a hand: as its size if all cards are unknown, otherwise as five numbers.

    >>> format_hand(Hand(unknown=3)), format_hand(Hand(infantry=2)), read_hand("2.0.0.0.0")
    ('3', '2.0.0.0.0', Hand(infantry=2))
    """
    return ".".join(map(str, hand.counts)) if hand.known.number else str(hand.unknown)


def read_hand(text: str) -> Hand:
    """Read a hand, the inverse of `format_hand`."""
    parts = text.split(".")
    if len(parts) not in (1, len(DECK.counts)):
        raise MalformedError(
            f"cards must be one number, or {len(DECK.counts)} numbers separated by dots, "
            f"got {quote(text)}"
        )
    numbers = [parse_int(part, "cards", 0, DECK.number) for part in parts]
    return Hand._make((*numbers, ())) if len(numbers) > 1 else Hand(unknown=numbers[0])


def format_symbols(symbols: Mapping[str, str], territories: Iterable[str]) -> str:
    """Format the symbols on cards as one letter for each territory of the board.

    The letter is `-` for a territory without a card.

    >>> format_symbols({"B": "cavalry"}, "ABC"), read_symbols("-c-", "ABC")
    ('-c-', {'B': 'cavalry'})
    """
    return "".join(symbols[name][0] if name in symbols else "-" for name in territories)


def read_symbols(value: Value, territories: Sequence[str]) -> dict[str, str]:
    """Read the symbol on each territory's card, the inverse of `format_symbols`.

    value: the text of the symbols, or a mapping from territories to symbols or letters.
    territories: the territories in the order of the board.
    """
    if isinstance(value, Mapping):
        return {name: LETTERS.get(str(each), str(each)) for name, each in value.items()}
    text = _read_text(value, "symbols")
    if len(text) != len(territories) or not {*text} <= {*LETTERS}:
        raise MalformedError(
            f"symbols must be {len(territories)} letters of {''.join(LETTERS)!r}, got {quote(text)}"
        )
    return {
        name: LETTERS[each] for name, each in zip(territories, text, strict=True) if each != "-"
    }


def format_sets(trade: Sets) -> str:
    """Format the armies for sets: as the armies for the next sets, as `fixed` or as `nuclear`.

    House rules follow. With `each`, a turn brings a card for each conquest; with `at6`, a player
    must trade when they hold six cards; with `own3`, a card that pictures one of the player's
    territories brings three armies.

    >>> format_sets(Sets((10, 12), must_trade=6)), read_sets("fixed,own3").pictured
    ('10,12,at6', 3)
    """
    if trade.is_nuclear:
        return ",".join([NUCLEAR, *list_house_rules(trade)])
    fixed = [format_fixed_sets(trade)] if trade.is_fixed else []
    return ",".join([*fixed, *map(str, trade.values), *list_house_rules(trade)])


def list_house_rules(trade: Sets) -> list[str]:
    """Return the notation of each rule about cards that differs from the usual rule."""
    found = [EACH_CONQUEST] if trade.has_card_per_conquest else []
    return found + [
        f"{prefix}{number}"
        for prefix, name in NUMBERED.items()
        if (number := getattr(trade, name)) != getattr(Sets, name)
    ]


def format_fixed_sets(trade: Sets) -> str:
    """Format the armies for sets in the fixed mode: `fixed`, or as in `fixed/6/8/4/10/12`.

    trade: the armies. The numbers are those of `fixed`, then `joker` if it is given.
    """
    numbers = (*trade.fixed, *([] if trade.joker is None else [trade.joker]))
    return FIXED if numbers == Sets.fixed else "/".join([FIXED, *map(str, numbers)])


def read_fixed_sets(text: str, key: str = "sets") -> Sets:
    """Read the armies for sets in the fixed mode, the inverse of `format_fixed_sets`.

    text: the text of the armies.
    key: the name of the text in error messages.

    >>> read_fixed_sets("fixed/6/8/4/10/12").joker
    12
    """
    numbers = [parse_int(part, key, 0, MAX_SET_ARMIES) for part in text.split("/")[1:]]
    if not numbers:
        return Sets(is_fixed=True)
    if len(numbers) not in (len(Sets.fixed), len(Sets.fixed) + 1):
        raise MalformedError(
            f"{key} must have no number after fixed, or 4 or 5 numbers as in fixed/6/8/4/10/12, "
            f"got {quote(text)}"
        )
    fixed, joker = numbers[: len(Sets.fixed)], numbers[len(Sets.fixed) :]
    return Sets(is_fixed=True, fixed=tuple(fixed), joker=joker[0] if joker else None)


def read_sets(value: Value, key: str = "sets") -> Sets:
    """Read the armies for sets, the inverse of `format_sets`.

    value: the text of the armies, or a list.
    key: the name of the value in error messages.
    """
    if isinstance(value, Mapping):
        raise MalformedError(f"{key} must be a list of armies, got {quote(value)}")
    parts = value.split(",") if isinstance(value, str) else _list_texts(value)
    texts, house = [part.strip() for part in parts], dict[str, Any]()
    while texts and (found := HOUSE_RULE.fullmatch(texts[-1])):
        text = texts.pop()
        field, number = HOUSE_RULES[found[1] or text], parse_int(found[2] or "1", key)
        if found[1]:
            read_int(number, f"{key} {found[1]}", *LIMITS[field])
        if field in house:
            raise IllegalError(f"{key} must contain each house rule once, got {quote(value)}")
        house[field] = text == EACH_CONQUEST or number
    if NUCLEAR in texts:
        if texts != [NUCLEAR] or "pictured" in house:
            raise IllegalError(
                f"{key} must contain no armies beside {NUCLEAR}, because a nuclear set brings "
                f"none, got {quote(value)}"
            )
        return Sets(is_nuclear=True, **house)
    if misplaced := next((text for text in texts if HOUSE_RULE.fullmatch(text)), None):
        raise IllegalError(
            f"{key} must name house rules after the armies, got {quote(misplaced)} before them"
        )
    is_fixed = bool(texts) and texts[0].split("/")[0] == FIXED
    values = tuple(parse_int(text, key, 0, MAX_SET_ARMIES) for text in texts[is_fixed:])
    trade = read_fixed_sets(texts[0], key) if is_fixed else Sets()
    if values or not (is_fixed or house):
        trade = replace(trade, values=values)
    return replace(trade, **house)


def format_rules(rules: Rules) -> str:
    """Format rules: as their name, or as a JSON object with the fields that are not classic.

    >>> format_rules(find_rules("capital")), read_rules("capital") == find_rules("capital")
    ('capital', True)
    >>> house = find_rules("capital", garrison=2)
    >>> read_rules(format_rules(house)) == house
    True
    >>> format_rules(Rules(most_advance=3))
    '{"most_advance":3}'
    """
    name = rules_name(rules)
    # Another process may not have loaded the rules file that defines a name.
    if {*name.split("+")} <= OWN_NAMES and find_rules(name) == rules:
        return name
    classic = rules_record(CLASSIC)
    record = {key: value for key, value in rules_record(rules).items() if value != classic[key]}
    return json.dumps(record, separators=(",", ":"))


def read_rules(text: str) -> Rules:
    """Read rules, the inverse of `format_rules`."""
    if not text.startswith("{"):
        return find_rules(text)
    try:
        record = parse_json(text)
    except ValueError:
        raise MalformedError(f"rules must be a name or a JSON object, got {quote(text)}") from None
    return read_rules_record(record)


def format_attack(attack: Attack) -> str:
    """Format an attack, for `read_attack`.

    >>> format_attack(Attack("Peru", "North Africa", 3))
    'Peru:North%20Africa:3'
    """
    return f"{escape_name(attack.start)}:{escape_name(attack.to)}:{attack.dice}"


def read_attack(value: Value, board: Board) -> Attack:
    """Read an attack, the inverse of `format_attack`."""
    parts = value.split(":") if isinstance(value, str) else []
    if len(parts) != 3:
        raise MalformedError(f"attack must be written as from:to:dice, got {quote(value)}")
    start, to = (board.find(unescape_name(part)) for part in parts[:2])
    return Attack(start, to, parse_int(parts[2], "dice", 1, MAX_CODE_DICE))


def format_victory(victory: Victory) -> str:
    """Format a victory condition, for `read_victory`.

    >>> from iacta.game import Share
    >>> format_victory(Share("70%")), read_victory("share:7/10")
    ('share:7/10', Share(share=Fraction(7, 10)))
    """
    value, player_texts = victory.format_texts()
    return format_pairs({victory.word: value, **player_texts})


def read_victory(value: Value) -> Victory:
    """Read a victory condition, the inverse of `format_victory`.

    value: the name and the value of the condition, such as `share:70%`, then pairs of a player and
        a text; or a mapping.
    """
    given = f"{value}:" if isinstance(value, str) and ":" not in value else value
    return make_victory(read_pairs(given, "win"))
