"""Rules and battles with three dice against two, for tests of the closed form."""

from itertools import product

from iacta import CLASSIC, Dice, Rules, find_rules

UP = Dice((6, 6, 6), bonus=(6, 6, 6))
SEVERAL_RULES = {
    "classic": CLASSIC,
    "attacker wins ties": Rules(ties="attacker"),
    "garrison 0": Rules(garrison=0),
    "garrison 3": Rules(garrison=3),
    "dominating12": find_rules("dominating12"),
    "uneven dice": Rules(attack=Dice((8, 6, 4)), defence=Dice((10, 4), reroll=(1,))),
    "attacker cannot lose": Rules(attack=UP),
    "attacker cannot win": Rules(defence=Dice((6, 6), bonus=(6, 6))),
    "never lose two": Rules(full_attack=Dice((6, 6, 6), bonus=(6, 0))),
    "never take two": Rules(full_defence=Dice((6, 6), bonus=(6, 0))),
    "always one each": Rules(full_attack=Dice((6, 6, 6), bonus=(6, -6), sort_again=False)),
}
EDGES = [*product((1, 2, 3, 4, 5, 6), (1, 2, 3, 4)), (12, 3), (3, 12), (17, 17), (18, 17), (4, 19)]
