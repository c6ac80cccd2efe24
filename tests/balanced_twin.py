"""The slow twin of balanced blitz: its published steps on plain lists, with forty digits."""

from dataclasses import replace
from fractions import Fraction

from mpmath import mp, mpf

from iacta import Rules
from iacta.rules.modes import TrueRandom
from tests import brute

Distribution = dict[tuple[int, int], mpf]


def balanced(attackers: int, defenders: int, rules: Rules) -> Distribution:
    """Return the distribution of (attackers, defenders) left, garrison included, without zeros.

    attackers: armies on the attacking territory, more than the garrison.
    defenders: armies on the defended territory.
    rules: the rules; their dice mode does not matter.
    """
    with mp.workdps(40):
        true = brute.outcomes(attackers, defenders, replace(rules, mode=TrueRandom()))
        able = attackers - rules.garrison
        al = [fraction(true.get((attackers - i, 0), 0)) for i in range(able)]
        dl = [fraction(true.get((rules.garrison, defenders - j), 0)) for j in range(defenders)]
        al, dl = four_steps(al, dl)
        won = {(attackers - i, 0): p for i, p in enumerate(al) if p}
        lost = {(rules.garrison, defenders - j): p for j, p in enumerate(dl) if p}
        return won | lost


def fraction(value: Fraction | int) -> mpf:
    """Return a fraction with forty digits."""
    return mpf(value.numerator) / value.denominator


def four_steps(al: list[mpf], dl: list[mpf]) -> tuple[list[mpf], list[mpf]]:
    """Return the chances of a balanced battle."""
    won, lost = sum(al), sum(dl)
    if won <= mpf("0.05"):
        al, dl, won, lost = scaled(al, 0), scaled(dl, 1), mpf(0), mpf(1)
    elif lost <= mpf("0.05"):
        al, dl, won, lost = scaled(al, 1), scaled(dl, 0), mpf(1), mpf(0)
    power = mpf("1.3")
    won = won**power / (won**power + lost**power)
    al, dl = scaled(al, won), scaled(dl, 1 - won)
    line = without_front(al + dl[::-1])
    line = without_front(line[::-1])[::-1]
    line = scaled(line, 1)
    al, dl = line[: len(al)], line[len(al) :][::-1]
    won, lost = sum(al), sum(dl)
    power = mpf("1.8")
    return scaled([p**power for p in al], won), scaled([p**power for p in dl], lost)


def scaled(entries: list[mpf], total: object) -> list[mpf]:
    """Return entries that sum to `total`."""
    size = sum(entries)
    return [p * total / size for p in entries] if size else list(entries)


def without_front(line: list[mpf]) -> list[mpf]:
    """Return a line without a tenth of the whole at its front."""
    line, running = list(line), mpf(0)
    for place, entry in enumerate(line):
        running += entry
        if running >= mpf("0.1"):
            line[place] = running - mpf("0.1")
            break
        line[place] = mpf(0)
    return line
