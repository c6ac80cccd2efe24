"""An independent implementation of balanced blitz: the published steps, on lists of 40 digits."""

from dataclasses import replace
from fractions import Fraction

from mpmath import mp, mpf

from iacta import Rules
from iacta.rules.modes import TrueRandom
from tests import brute

Distribution = dict[tuple[int, int], mpf]


def list_outcomes(attackers: int, defenders: int, rules: Rules) -> Distribution:
    """Return the distribution of (attackers, defenders) left, garrison included, without zeros.

    attackers: the armies on the attacking territory, more than the garrison.
    defenders: the armies on the defended territory.
    rules: the rules of the battle. Their dice mode is ignored.
    """
    with mp.workdps(40):
        true = brute.outcomes(attackers, defenders, replace(rules, mode=TrueRandom()))
        able = attackers - rules.garrison
        al = [to_decimal(true.get((attackers - i, 0), 0)) for i in range(able)]
        dl = [to_decimal(true.get((rules.garrison, defenders - j), 0)) for j in range(defenders)]
        al, dl = four_steps(al, dl)
        won = {(attackers - i, 0): p for i, p in enumerate(al) if p}
        lost = {(rules.garrison, defenders - j): p for j, p in enumerate(dl) if p}
        return won | lost


def to_decimal(value: Fraction | int) -> mpf:
    """Convert a fraction to a decimal of 40 digits."""
    return mpf(value.numerator) / value.denominator


def four_steps(al: list[mpf], dl: list[mpf]) -> tuple[list[mpf], list[mpf]]:
    """Apply the four published steps to the chances of a battle."""
    won, lost = sum(al), sum(dl)
    if won <= mpf("0.05"):
        al, dl, won, lost = scale(al, 0), scale(dl, 1), mpf(0), mpf(1)
    elif lost <= mpf("0.05"):
        al, dl, won, lost = scale(al, 1), scale(dl, 0), mpf(1), mpf(0)
    power = mpf("1.3")
    won = won**power / (won**power + lost**power)
    al, dl = scale(al, won), scale(dl, 1 - won)
    line = trim_front(al + dl[::-1])
    line = trim_front(line[::-1])[::-1]
    line = scale(line, 1)
    al, dl = line[: len(al)], line[len(al) :][::-1]
    won, lost = sum(al), sum(dl)
    power = mpf("1.8")
    return scale([p**power for p in al], won), scale([p**power for p in dl], lost)


def scale(entries: list[mpf], total: object) -> list[mpf]:
    """Scale entries to the sum `total`."""
    size = sum(entries)
    return [p * total / size for p in entries] if size else list(entries)


def trim_front(line: list[mpf]) -> list[mpf]:
    """Remove a probability of one tenth from the front of a list."""
    line, running = list(line), mpf(0)
    for place, entry in enumerate(line):
        running += entry
        if running >= mpf("0.1"):
            line[place] = running - mpf("0.1")
            break
        line[place] = mpf(0)
    return line
