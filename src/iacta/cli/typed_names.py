"""Names and numbers that a player types, with abbreviations."""

import re
from collections.abc import Iterable, Sequence
from typing import TypeAlias

from iacta.board.board import fold_name
from iacta.game.turn import Turn
from iacta.inputs.checks import parse_int, quote
from iacta.inputs.errors import IllegalError, MalformedError

NOISE = {"to", "from", "on", "in", "into", "with", "army", "armies"}  # words that may be left out
Words: TypeAlias = Sequence[str]
Pair: TypeAlias = tuple[str, str]


def find_abbreviated(text: str, names: Iterable[str]) -> list[str]:
    """Return the names that a text abbreviates; only the equal name if there is one.

    >>> find_abbreviated("n afr", ["North Africa", "North Korea"])
    ['North Africa']
    >>> find_abbreviated("b", ["Bo", "Ba"])
    ['Bo', 'Ba']
    """
    short = {name: " ".join(drop_noise(name.split()) or [name]) for name in names}
    folded = {name: fold_name(each) for name, each in short.items()}
    typed = fold_name(text)
    if equal := [name for name, each in folded.items() if each == typed]:
        return equal
    parts = [re.escape(fold_name(part)) for part in re.split(r"[\s_-]+", text) if part]
    begins = re.compile(r"\w*\W+".join(parts), re.IGNORECASE)
    return [
        name for name, each in folded.items() if each.startswith(typed) or begins.match(short[name])
    ]


def drop_noise(words: Words) -> list[str]:
    """Return the words without prepositions, as in `attack from Ural to China`."""
    return [word for word in words if word.lower() not in NOISE]


def find_territory(turn: Turn, words: Words) -> str:
    """Return the territory that words abbreviate."""
    text = " ".join(words)
    found = find_abbreviated(text, turn.board.territories)
    if len(found) > 1:
        raise IllegalError(f"{quote(text)} may be {' or '.join(found[:4])}")
    return found[0] if found else turn.board.find(text)


def find_pair(turn: Turn, words: Words, pairs: Sequence[Pair], usage: str) -> Pair:
    """Return two territories that words abbreviate, preferably a pair that is possible now.

    pairs: the possible pairs.
    usage: an example of the command, for error messages.
    """
    splits = [(" ".join(words[:k]), " ".join(words[k:])) for k in range(1, len(words))]
    found = {pair for split in splits for pair in _match_pairs(split, pairs)}
    if len(found) > 1:
        which = " or ".join(f"{start} to {to}" for start, to in sorted(found)[:4])
        raise IllegalError(f"{quote(' '.join(words))} may be {which}")
    if found:
        return found.pop()
    for split in splits:
        start, to = (find_abbreviated(text, turn.board.territories) for text in split)
        if len(start) == len(to) == 1:
            return start[0], to[0]
    if len(words) == 2:
        return find_territory(turn, words[:1]), find_territory(turn, words[1:])
    raise MalformedError(f"name two territories, as in: {usage}; got {quote(' '.join(words))}")


def _match_pairs(split: Pair, pairs: Sequence[Pair]) -> list[Pair]:
    """Return the pairs whose two names two texts abbreviate."""
    starts = find_abbreviated(split[0], dict.fromkeys(start for start, _ in pairs))
    ends = {
        start: find_abbreviated(split[1], [to for each, to in pairs if each == start])
        for start in starts
    }
    return [(start, to) for start in starts for to in ends[start]]


def split_number(words: Words) -> tuple[int | None, Words]:
    """Return the number at the start or the end of words, and the other words."""
    for at in (0, -1):
        if words and words[at][:1].isdigit():
            return parse_int(words[at], "armies", 1), words[1:] if at == 0 else words[:-1]
    return None, words
