"""Turns for the tests of the game."""

from random import Random

from iacta import Turn
from iacta.board import Board, Holding, Position
from iacta.game import Action
from tests.plan.boards import SmallGame

LINE = Board.from_edges("line", [("A", "B"), ("B", "C"), ("C", "D"), ("D", "E")])
PLAYERS = ("red", "blue", "green")


def make_line_turn(holdings: str, **options: object) -> Turn:
    """Return red's turn on a line of territories; `"r4 b1 g2"` gives owners and armies."""
    owners = {name[0]: name for name in PLAYERS} | {"n": "neutral"}
    rows = [Holding(owners[each[0]], int(each[1:])) for each in holdings.split()]
    rows += [Holding("", 0)] * (len(LINE.territories) - len(rows))
    return Turn(Position(LINE, "red", rows), **options)  # type: ignore[arg-type] # any of them


def small_turn(game: SmallGame, *, whole_battles: bool = False) -> Turn:
    """Convert a small game to a turn."""
    return Turn(
        game.position,
        game.rules,
        keep=game.keep,
        rules_of=game.rules_of,
        stay=game.stay,
        whole_battles=whole_battles,
    )


def classic_turn(board: Board, seed: int) -> Turn:
    """Return the first turn of a randomly dealt game of three players on a board."""
    rng = Random(seed)  # noqa: S311 # deals games, no secrets
    holdings = [Holding(rng.choice(PLAYERS), rng.randint(1, 6)) for _ in board.territories]
    holdings[0] = Holding("red", 9)
    hand = {name: rng.randint(0, 4) for name in PLAYERS}
    return Turn(Position(board, "red", holdings), place=5, cards=hand, players=PLAYERS)


def skip_to_end(turn: Turn) -> Turn:
    """Return the turn as if it were over."""
    return turn.replace_state(turn.state._replace(phase="over"))


def at_random(turn: Turn, rng: Random) -> Action:
    """Return a random legal action that rarely ends a phase."""
    actions = turn.actions()
    if turn.phase == "attack" and len(actions) > 1 and rng.random() < 0.95:
        return actions[rng.randrange(len(actions) - 1)]
    return actions[rng.randrange(len(actions))]
