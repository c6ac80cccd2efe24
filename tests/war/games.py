"""Turns on random boards under random rules, for the tests of whole games."""

from random import Random
from typing import Any

from iacta import Board, Continent, Hand, Holding, Position, Rules, Sets, Turn
from iacta.game.cards import SYMBOLS
from iacta.rules.modes import BalancedBlitz, DefenderSeesFirst
from tests.game.positions import at_random

HOUSE_SETS = Sets(must_trade=6, pictured=3, has_card_per_conquest=True)
NUCLEAR_SETS = Sets(is_nuclear=True)
RISIKO_SETS = Sets(is_fixed=True, fixed=(6, 8, 4, 10), joker=12)

NAMES = ("red", "blue", "green", "black", "white", "pink")
RULES = (
    *("classic",) * 4,
    "capital",
    Rules(garrison=2),
    Rules(garrison=0),
    Rules(least_advance=False),
    Rules(mode=DefenderSeesFirst()),
    Rules(mode=BalancedBlitz()),
    Rules(least_advance=False, most_advance=3),
    Rules(most_advance=1, territories_per_army=2, least_new_armies=1),
)


def random_board(rng: Random) -> Board:
    """Return a random board that may have one-way borders and overlapping continents."""
    number = rng.choice((4, 7, 12, 20, 42, 70))
    names = tuple(f"T{t}" for t in range(number))
    borders = {pair for i in range(number - 1) for pair in ((i, i + 1), (i + 1, i))}
    for _ in range(number):
        i, j = rng.sample(range(number), 2)
        borders |= {(i, j)} if rng.random() < 0.2 else {(i, j), (j, i)}
    continents = [
        Continent(f"C{k}", rng.randint(-1, 5), tuple(rng.sample(names, rng.randint(1, 4))))
        for k in range(rng.randint(0, 4))
    ]
    return Board(
        "random", names, tuple((names[i], names[j]) for i, j in sorted(borders)), tuple(continents)
    )


def random_turn(rng: Random, rules: Rules | str | None = None) -> Turn:
    """Return a random moment of a turn with 2 to 6 players and possibly a neutral player.

    rules: the rules of all battles; `None` to draw them.
    """
    board = random_board(rng)
    number = rng.randint(2, min(6, len(board.territories) - 1))
    owners = [*NAMES[:number], *(["neutral"] if rng.random() < 0.3 else [])]
    most = rng.choice((3, 6, 30))
    lands = [Holding(rng.choice(owners), rng.randint(1, most)) for _ in board.territories]
    for t, name in enumerate(NAMES[:number]):
        lands[t] = Holding(name, rng.randint(1, most))
    if rng.random() < 0.2:
        lands[-1] = Holding("", 0)
    options: dict[str, Any] = {"players": NAMES[:number]}
    options["fortify"] = rng.choice(("connected", "adjacent", "none"))
    options["whole_battles"] = rng.random() < 0.2
    if rng.random() < 0.8:
        options["cards"] = {}
        for name in NAMES[:number]:
            n = rng.randint(0, 6)
            options["cards"][name] = Hand(
                rng.randint(0, 1), rng.randint(0, 1), rng.randint(0, 1), 0, n
            )
        options["trade"] = rng.choice(
            (None, Sets(is_fixed=True), Sets((10, 12)), RISIKO_SETS, HOUSE_SETS)
        )
        if rng.random() < 0.4:
            options["symbols"] = {t: rng.choice(SYMBOLS) for t in board.territories[:13]}
            if options.get("cards") and options["trade"] is None:
                options["trade"] = NUCLEAR_SETS
    if rng.random() < 0.2:
        options["keep"] = {board.territories[0]: 2}
        options["stay"] = [board.territories[0]]
    if rng.random() < 0.2:
        options["rules_of"] = {board.territories[1]: rng.choice(RULES[4:5])}
    rules = rng.choice(RULES) if rules is None else rules
    if rules == Rules(garrison=0):
        for t, held in enumerate(lands[number:], number):
            lands[t] = Holding(held.owner, rng.choice((0, held.armies)))
    turn = Turn(Position(board, "red", lands), rules, phase="over", **options)
    if "keep" in options:
        options["phase"] = "trade" if "cards" in options else "place"
        turn = Turn(Position(board, "red", lands), rules, place=rng.randint(1, 9), **options)
    else:
        turn = turn.next()
    for _ in range(rng.choice((0, 0, 1, 3, 9))):
        action = at_random(turn, rng)
        turn = turn.after(action, turn.results(action).sample(1, rng.randrange(10**6))[0])
        if turn.phase == "over" and turn.winner is not None:
            break
        turn = turn.next() if turn.phase == "over" else turn
    return turn
