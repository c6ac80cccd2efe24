"""A slow twin: the value of a whole turn, by recursion over `Turn` with all actions and results.

`WholeTurn` tries all placements, attacks with every number of dice, advances, stops and last moves.
It knows nothing of plans: a payoff is a function of the finished turn.
"""

from collections.abc import Callable, Iterator
from itertools import permutations
from random import Random

from iacta import ask
from iacta.board import Board, Continent, Holding, Position
from iacta.game import Action, Capitals, EndPhase, Missions, Share, Turn
from iacta.game.victory import Victory
from iacta.inputs.errors import IllegalError

TOLERANCE = 1e-9
Payoff = Callable[[Turn], float]


class WholeTurn:
    """The greatest expected payoff of the rest of a turn.

    payoff: the payoff of a finished turn.
    """

    def __init__(self, payoff: Payoff) -> None:
        self.payoff = payoff
        self._known: dict[tuple[object, ...], float] = {}

    def compute_state_value(self, turn: Turn) -> float:
        """Return the value of a turn in any phase."""
        if turn.phase == "over":
            return self.payoff(turn)
        key = turn.state
        if key not in self._known:
            values = (self._find_action_value(turn, action) for action in turn.actions())
            self._known[key] = max(values) if turn.to_act == turn.player else min(values)
        return self._known[key]

    def _find_action_value(self, turn: Turn, action: Action) -> float:
        results = turn.results(action).items()
        return sum(
            float(chance) * self.compute_state_value(turn.after(action, result))
            for result, chance in results
        )


def pay_win(end: Turn) -> float:
    """Return 1 if the player to move has won."""
    return float(end.winner == end.player)


def pay_conquest(names: tuple[str, ...], *, is_any: bool = False) -> Payoff:
    """Return a payoff of 1 for all (or any) of some territories, unless another player has won."""

    def pay(end: Turn) -> float:
        owners = dict(zip(end.board.territories, end.owners, strict=True))
        held = [owners[name] == end.player for name in names]
        return float((any(held) if is_any else all(held)) and end.winner in (None, end.player))

    return pay


def find_threat(turn: Turn, player: str, payoff: Payoff) -> float:
    """Return the chance of the best next turn of another player, with the usual new armies."""
    position = Position(
        turn.board,
        player,
        tuple(
            Holding(owner, armies) for owner, armies in zip(turn.owners, turn.armies, strict=True)
        ),
    )
    theirs = Turn(
        position,
        turn.rules,
        place=turn.new_armies(player),
        rules_of=turn.rules_of,
        fortify=turn.fortify,
        whole_battles=turn.whole_battles,
        players=turn.players,
        victory=turn.victory,
    )
    if theirs.winner is not None:
        return 0.0
    return WholeTurn(payoff).compute_state_value(theirs)


def list_last_turns(turn: Turn) -> Iterator[Turn]:
    """Yield the turns after each last move from a turn in its attack or fortify phase."""
    last = turn.after(EndPhase()) if turn.phase == "attack" else turn
    if last.phase != "fortify":
        yield last
        return
    for action in last.actions():
        yield last.after(action)


def draw_turn(seed: int, *, most_lands: int = 6, most_armies: int = 8) -> Turn:
    """Draw a turn on a small board with a way to win, neutral owners and one-way borders.

    most_armies: the largest number of armies of the player to move, new armies included.
    """
    rng = Random(seed)  # noqa: S311 # draws boards, no secrets
    while True:
        turn = _draw_turn(rng, most_lands, most_armies)
        if turn is not None and turn.winner is None:
            return turn


def _draw_turn(rng: Random, most_lands: int, most_armies: int) -> Turn | None:
    names = tuple("ABCDEFGH"[: rng.randint(4, most_lands)])
    players = ("red", "blue", "green")[: rng.choice((2, 3, 3))]
    dense = rng.uniform(0.3, 0.7)
    edges = [pair for pair in permutations(names, 2) if pair[0] < pair[1] and rng.random() < dense]
    one_way = rng.choice((0.0, 0.0, 0.3))
    ways = set[tuple[str, str]]()
    for a, b in edges:
        ways |= {(a, b)} if rng.random() < one_way else {(a, b), (b, a)}
    cut = rng.randint(1, len(names) - 1)
    continents = Continent("K", rng.randint(0, 2), names[:cut]), Continent("L", 1, names[cut:])
    board = Board("drawn", names, tuple(sorted(ways)), continents)
    owned = dict.fromkeys(names, "")
    for name, owner in zip(rng.sample(names, len(players)), players, strict=True):
        owned[name] = owner
    others = (*players, "red", rng.choice((*players, "grey")))
    for name in names:
        owned[name] = owned[name] or rng.choice(others)
    place = rng.choice((0, 0, 1, 2))
    armies = {name: rng.choice((1, 1, 1, 2, 3)) for name in names}
    mine = [name for name in names if owned[name] == "red"]
    left = most_armies - place - len(mine)
    if left < 0:
        return None
    armies |= dict.fromkeys(mine, 1)
    for _ in range(rng.randint(0, left)):
        armies[rng.choice(mine)] += 1
    position = Position(board, "red", tuple(Holding(owned[name], armies[name]) for name in names))
    turn = Turn(position, place=place, players=players)
    victory = _draw_victory(rng, turn)
    return Turn(
        position,
        place=place,
        players=players,
        fortify=rng.choice(("connected", "connected", "adjacent", "none")),
        victory=victory,
    )


def _draw_victory(rng: Random, turn: Turn) -> Victory | None:
    players, names = turn.players, turn.board.territories
    kind = rng.random()
    if kind < 0.1:
        return None
    if kind < 0.25:
        return Share(rng.randint(len(names) // 2 + 1, len(names)))
    if kind < 0.45:
        capitals = dict(zip(players, rng.sample(names, len(players)), strict=True))
        return Capitals(capitals, rng.choice((None, 2, rng.randint(1, len(players)))))
    texts = {name: _draw_mission(rng, turn, name) for name in players}
    instead = rng.choice((None, None, rng.randint(1, len(names))))
    return Missions(texts, instead=instead, at_end=rng.random() < 0.2)


def _draw_mission(rng: Random, turn: Turn, player: str) -> str:
    number = rng.randint(2, len(turn.board.territories))
    kind = rng.random()
    if kind < 0.5:
        return f"eliminate {rng.choice([name for name in turn.players if name != player])}"
    if kind < 0.6:
        return f"{number} territories"
    if kind < 0.75:
        return f"{number} territories with 2 armies"
    return rng.choice(("K", "L", "any", "any", "1 of K, 1 of L", "K, 1 of L"))


def find_win_fault(turn: Turn) -> str:
    """Return how the plan to win differs from the best whole turn; empty if both agree."""
    best = WholeTurn(pay_win).compute_state_value(turn)
    try:
        answer = ask("plan", position=turn, win=True)
    except IllegalError as refusal:
        return "" if best <= TOLERANCE else f"{turn.to_code()}: {refusal}, but {best}"
    value = answer.record()["value"]
    return "" if abs(value - best) <= TOLERANCE else f"{turn.to_code()}: {value} is not {best}"
