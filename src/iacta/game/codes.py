"""The `key=value` fields that follow the position in the code of a turn."""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from iacta.board.codes import escape_name, unescape_name
from iacta.game.cards import DECK, MAX_VALUE, SYMBOLS, Hand, Sets
from iacta.inputs.checks import parse_int, quote
from iacta.inputs.errors import IllegalError, MalformedError
from iacta.inputs.json_and_toml import parse_json
from iacta.rules.files import read_rules_record, rules_record
from iacta.rules.rules import Rules
from iacta.rules.variants import RULE_SETS, find_rules, rules_name

OPTIONS = (
    *("rules", "place", "cards", "sets", "keep", "own", "stay", "fortify", "whole", "players"),
    *("conquered", "first", "attack", "throw", "then", "symbols", "named", "pictured", "win"),
)
FIXED = "fixed"
MAX_DICE = 10**6  # the maximum number of attack dice in a code
OWN_NAMES = {rule_set.name for rule_set in RULE_SETS}
LETTERS = {symbol[0]: symbol for symbol in SYMBOLS} | {"-": ""}


class AttackCode(NamedTuple):
    """The fields of the code of an attack.

    start: the name of the attacking territory.
    to: the name of the attacked territory.
    dice: the number of attack dice.
    """

    start: str
    to: str
    dice: int


def read_options(fields: Iterable[str], known: tuple[str, ...]) -> dict[str, str]:
    """Read `key=value` fields into a mapping; refuse unknown and repeated keys."""
    found: dict[str, str] = {}
    for field in fields:
        key, equals, value = field.partition("=")
        if not equals or key not in known:
            raise MalformedError(
                f"code must continue with key=value, where key is one of {', '.join(known)}, got "
                f"{quote(field)}"
            )
        if key in found:
            raise IllegalError(f"{key!r} appears twice in the code")
        found[key] = value
    return found


def format_pairs(values: Mapping[str, object]) -> str:
    """Format a mapping from names to values, for `read_pairs`.

    >>> format_pairs({"North Africa": 3, "Peru": 2}), read_pairs("North%20Africa:3,Peru:2")
    ('North%20Africa:3,Peru:2', [('North Africa', '3'), ('Peru', '2')])
    """
    return ",".join(f"{escape_name(name)}:{value}" for name, value in values.items())


def read_pairs(text: str) -> list[tuple[str, str]]:
    """Read pairs of a name and a value, the inverse of `format_pairs`; refuse repeated names."""
    found: dict[str, str] = {}
    for entry in filter(None, text.split(",")):
        name, colon, value = entry.partition(":")
        if not colon or unescape_name(name) in found:
            raise MalformedError(
                f"entry must be name:value, with each name once, got {quote(entry)}"
            )
        found[unescape_name(name)] = value
    return list(found.items())


def format_names(names: Iterable[str]) -> str:
    """Format names, for `read_names`."""
    return ",".join(map(escape_name, names))


def read_names(text: str) -> list[str]:
    """Read names, the inverse of `format_names`."""
    return [unescape_name(name) for name in filter(None, text.split(","))]


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


def read_symbols(text: str, territories: Sequence[str]) -> dict[str, str]:
    """Read the symbol on each territory's card, the inverse of `format_symbols`."""
    if len(text) != len(territories) or not {*text} <= {*LETTERS}:
        raise MalformedError(
            f"symbols must be {len(territories)} letters of {''.join(LETTERS)!r}, got {quote(text)}"
        )
    return {
        name: LETTERS[each] for name, each in zip(territories, text, strict=True) if each != "-"
    }


def format_sets(trade: Sets) -> str:
    """Format the armies for sets: as the armies for the next sets, or as `fixed`.

    >>> format_sets(Sets((10, 12))), read_sets("fixed").is_fixed
    ('10,12', True)
    """
    return ",".join([FIXED] * trade.is_fixed + [str(value) for value in trade.values])


def read_sets(text: str) -> Sets:
    """Read the armies for sets, the inverse of `format_sets`."""
    first, *rest = text.split(",")
    is_fixed = first == FIXED
    values = rest if is_fixed else [first, *rest]
    numbers = tuple(parse_int(each, "sets", 0, MAX_VALUE) for each in values)
    return Sets(numbers, is_fixed) if numbers else Sets(is_fixed=is_fixed)


def format_rules(rules: Rules) -> str:
    """Format rules: as their name, or as all fields if they have no name.

    >>> format_rules(find_rules("capital")), read_rules("capital") == find_rules("capital")
    ('capital', True)
    >>> house = find_rules("capital", garrison=2)
    >>> read_rules(format_rules(house)) == house
    True
    """
    name = rules_name(rules)
    record = {key: value for key, value in rules_record(rules).items() if value is not None}
    # Another process may not have loaded the rules file that defines a name.
    if {*name.split("+")} <= OWN_NAMES and find_rules(name) == rules:
        return escape_name(name)
    return escape_name(json.dumps(record, separators=(",", ":")))


def read_rules(text: str) -> Rules:
    """Read rules, the inverse of `format_rules`."""
    plain = unescape_name(text)
    if not plain.startswith("{"):
        return find_rules(plain)
    try:
        record = parse_json(plain)
    except ValueError:
        raise MalformedError(f"rules must be a name or a JSON object, got {quote(plain)}") from None
    return read_rules_record(record)


def format_attack_code(start: str, to: str, dice: int) -> str:
    """Format an attack, such as `Peru:Brazil:3`, for `read_attack_code`."""
    return f"{escape_name(start)}:{escape_name(to)}:{dice}"


def read_attack_code(text: str) -> AttackCode:
    """Read an attack, the inverse of `format_attack_code`."""
    parts = text.split(":")
    if len(parts) != 3:
        raise MalformedError(f"attack must be written as from:to:dice, got {quote(text)}")
    start, to, dice = parts
    return AttackCode(unescape_name(start), unescape_name(to), parse_int(dice, "dice", 1, MAX_DICE))
