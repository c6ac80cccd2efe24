"""The words that titles are made of."""

__all__ = ["armies", "joined", "per_cent", "under_rules"]


def per_cent(chance: float) -> str:
    """Return a chance as a title says it; what is not quite certain is not called so.

    chance: the chance.

    >>> per_cent(0.65382), per_cent(0.9999), per_cent(1e-9), per_cent(0.0)
    ('65 %', 'more than 99 %', 'less than 1 %', '0 %')
    """
    if 0.995 <= chance < 1:
        return "more than 99 %"
    if 0 < chance < 0.005:
        return "less than 1 %"
    return f"{100 * chance:.0f} %"


def armies(count: int, what: str = "army", many: str = "") -> str:
    """Return a number with its noun.

    count: the number.
    what: the noun for one.
    many: the noun for several, if it is not the usual one.

    >>> armies(1), armies(2), armies(3, "defender")
    ('1 army', '2 armies', '3 defenders')
    """
    several = many or ("armies" if what == "army" else f"{what}s")
    return f"{count} {what if count == 1 else several}"


def joined(words: list[str]) -> str:
    """Return words as a list in a sentence.

    words: at least one.

    >>> joined(["14"]), joined(["14", "23", "31"])
    ('14', '14, 23 and 31')
    """
    *most, last = words
    return f"{', '.join(most)} and {last}" if most else last


def under_rules(name: str, garrison: int) -> str:
    """Return the note of a subtitle on the rules.

    name: the name of the rules.
    garrison: armies that must stay behind.

    >>> under_rules("classic", 1), under_rules("capital", 0)
    ('classic rules', 'capital rules, garrison 0')
    """
    return f"{name} rules" if garrison == 1 else f"{name} rules, garrison {garrison}"
