"""The parts of a turn's code that follow those of its position: a phase, then key=value each."""

import json
from collections.abc import Iterable, Mapping, Sequence

from iacta.board.codes import escape_name, unescape_name
from iacta.game.cards import DECK, MOST_VALUE, SYMBOLS, Hand, Sets
from iacta.inputs.checks import parse_int, quote
from iacta.inputs.errors import IllegalError, MalformedError
from iacta.inputs.json_and_toml import parse_json
from iacta.rules.files import read_rules_record, rules_record
from iacta.rules.rules import Rules
from iacta.rules.variants import RULE_SETS, find_rules, rules_name

OPTIONS = (
    *("rules", "place", "cards", "sets", "keep", "own", "stay", "fortify", "whole", "players"),
    *("conquered", "first", "attack", "throw", "then", "symbols", "named", "pictured"),
)
FIXED = "fixed"
MOST_DICE = 10**6  # of one throw
OWN_NAMES = {rule_set.name for rule_set in RULE_SETS}
LETTERS = {symbol[0]: symbol for symbol in SYMBOLS} | {"-": ""}


def read_options(fields: Iterable[str], known: tuple[str, ...]) -> dict[str, str]:
    """Return the values of fields `key=value`; unknown and repeated keys are refused."""
    found: dict[str, str] = {}
    for field in fields:
        key, equals, value = field.partition("=")
        if not equals or key not in known:
            raise MalformedError(
                f"code must go on with key=value, keys being {', '.join(known)}, got {quote(field)}"
            )
        if key in found:
            raise IllegalError(f"{key!r} appears twice in the code")
        found[key] = value
    return found


def pairs_text(values: Mapping[str, object]) -> str:
    """Return names with a value each, which `read_pairs` reads.

    >>> pairs_text({"North Africa": 3, "Peru": 2}), read_pairs("North%20Africa:3,Peru:2")
    ('North%20Africa:3,Peru:2', [('North Africa', '3'), ('Peru', '2')])
    """
    return ",".join(f"{escape_name(name)}:{value}" for name, value in values.items())


def read_pairs(text: str) -> list[tuple[str, str]]:
    """Return names and the value of each; a name that comes twice is refused."""
    found: dict[str, str] = {}
    for entry in filter(None, text.split(",")):
        name, colon, value = entry.partition(":")
        if not colon or unescape_name(name) in found:
            raise MalformedError(f"entry must be written as name:value once, got {quote(entry)}")
        found[unescape_name(name)] = value
    return list(found.items())


def names_text(names: Iterable[str]) -> str:
    """Return a row of names, which `read_names` reads."""
    return ",".join(map(escape_name, names))


def read_names(text: str) -> list[str]:
    """Return the names in a row of them."""
    return [unescape_name(name) for name in filter(None, text.split(","))]


def hand_text(hand: Hand) -> str:
    """Return a hand: how many cards of which nothing is known, or all numbers.

    >>> hand_text(Hand(unknown=3)), hand_text(Hand(infantry=2)), read_hand("2.0.0.0.0")
    ('3', '2.0.0.0.0', Hand(infantry=2))
    """
    return ".".join(map(str, hand.counts)) if hand.known.number else str(hand.unknown)


def read_hand(text: str) -> Hand:
    """Return the hand that a text says."""
    parts = text.split(".")
    if len(parts) not in (1, len(DECK.counts)):
        raise MalformedError(f"cards must be one number or {len(DECK.counts)}, got {quote(text)}")
    numbers = [parse_int(part, "cards", 0, DECK.number) for part in parts]
    return Hand._make((*numbers, ())) if len(numbers) > 1 else Hand(unknown=numbers[0])


def symbols_text(symbols: Mapping[str, str], territories: Iterable[str]) -> str:
    """Return the symbols of territories' cards: a letter each in the board's order, `-` for none.

    >>> symbols_text({"B": "cavalry"}, "ABC"), read_symbols("-c-", "ABC")
    ('-c-', {'B': 'cavalry'})
    """
    return "".join(symbols[name][0] if name in symbols else "-" for name in territories)


def read_symbols(text: str, territories: Sequence[str]) -> dict[str, str]:
    """Return the symbols that a text says."""
    if len(text) != len(territories) or not {*text} <= {*LETTERS}:
        raise MalformedError(
            f"symbols must be {len(territories)} letters of {''.join(LETTERS)!r}, got {quote(text)}"
        )
    return {
        name: LETTERS[each] for name, each in zip(territories, text, strict=True) if each != "-"
    }


def sets_text(trade: Sets) -> str:
    """Return what sets bring: the values for the next ones, or `fixed`.

    >>> sets_text(Sets((10, 12))), read_sets("fixed").is_fixed
    ('10,12', True)
    """
    return ",".join([FIXED] * trade.is_fixed + [str(value) for value in trade.values])


def read_sets(text: str) -> Sets:
    """Return what sets bring as a text says it."""
    first, *rest = text.split(",")
    is_fixed = first == FIXED
    values = rest if is_fixed else [first, *rest]
    numbers = tuple(parse_int(each, "sets", 0, MOST_VALUE) for each in values)
    return Sets(numbers, is_fixed) if numbers else Sets(is_fixed=is_fixed)


def rules_text(rules: Rules) -> str:
    """Return rules by their name, or all that they say.

    >>> rules_text(find_rules("capital")), read_rules("capital") == find_rules("capital")
    ('capital', True)
    >>> house = find_rules("capital", garrison=2)
    >>> read_rules(rules_text(house)) == house
    True
    """
    name = rules_name(rules)
    record = {key: value for key, value in rules_record(rules).items() if value is not None}
    # A name that a file has given is known to this process only.
    if {*name.split("+")} <= OWN_NAMES and find_rules(name) == rules:
        return escape_name(name)
    return escape_name(json.dumps(record, separators=(",", ":")))


def read_rules(text: str) -> Rules:
    """Return the rules that a text says."""
    plain = unescape_name(text)
    if not plain.startswith("{"):
        return find_rules(plain)
    try:
        record = parse_json(plain)
    except ValueError:
        raise MalformedError(f"rules must be a name or a JSON object, got {quote(plain)}") from None
    return read_rules_record(record)


def attack_text(start: str, to: str, dice: int) -> str:
    """Return an attack: the two territories and its dice, which `read_attack` reads."""
    return f"{escape_name(start)}:{escape_name(to)}:{dice}"


def read_attack(text: str) -> tuple[str, str, int]:
    """Return the two territories and the dice of an attack."""
    parts = text.split(":")
    if len(parts) != 3:
        raise MalformedError(f"attack must be written as from:to:dice, got {quote(text)}")
    start, to, dice = parts
    return unescape_name(start), unescape_name(to), parse_int(dice, "dice", 1, MOST_DICE)
