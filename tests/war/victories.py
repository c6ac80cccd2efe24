"""Victory conditions for the tests of whole games: random ones, and ones close to a win."""

from collections.abc import Callable
from fractions import Fraction
from random import Random

from iacta import Board, Capitals, Continent, Missions, Position, Share, Turn, Victory
from iacta.game import Eliminate, Mission, OwnContinents, OwnNamed, OwnParts, OwnTerritories
from iacta.inputs.errors import IllegalError

NAMES = tuple("ABCDEFGH")
BORDERS = tuple(zip(NAMES, (*NAMES[1:], NAMES[0]), strict=True))
RING = Board(
    "ring",
    NAMES,
    (*BORDERS, *((to, start) for start, to in BORDERS)),
    (
        Continent("West", 1, ("A", "B")),
        Continent("South", 2, ("C", "D")),
        Continent("East", 2, ("E", "F")),
        Continent("North", 1, ("G", "H")),
    ),
)
PLAYERS = ("red", "blue", "green")


def random_share(rng: Random, turn: Turn) -> Victory:
    """Return a victory by a share of the territories that no player has reached at the start."""
    most = max(turn.owners.count(name) for name in turn.players)
    if rng.random() < 0.3 and most < 0.7 * len(turn.owners):
        return Share(Fraction(7, 10))
    return Share(min(most + rng.choice((1, 1, 2, 3)), len(turn.owners)))


def random_capitals(rng: Random, turn: Turn) -> Victory:
    """Return a capital for each player, owned by the player at first if possible."""
    names = turn.board.territories
    free = [t for t, owner in enumerate(turn.owners) if owner]
    capitals = {}
    for player in turn.players:
        own = [t for t in free if turn.owners[t] == player] or free
        chosen = rng.choice(own if rng.random() < 0.9 else free)
        free.remove(chosen)
        capitals[player] = names[chosen]
    return Capitals(capitals, rng.choice((None, None, max(len(capitals) - 1, 1))))


def random_missions(rng: Random, turn: Turn) -> Victory:
    """Return a random mission of any kind for each player."""
    names = [each.name for each in turn.board.continents if each.territories]
    number = len(turn.owners)

    def draw(player: str) -> Mission:
        kind = rng.choice(("lands", "armies", "continents", "eliminate", "named", "parts"))
        if kind == "named":
            some = rng.sample(turn.board.territories, min(number, rng.randint(1, 4)))
            return OwnNamed(tuple(some))
        if kind == "parts" and names:
            return draw_parts(rng, turn)
        if kind == "continents" and names:
            chosen = tuple(rng.sample(names, rng.randint(0, min(2, len(names) - 1))))
            return OwnContinents(chosen, 1 if not chosen or rng.random() < 0.3 else 0)
        if kind == "eliminate":
            return Eliminate(rng.choice(turn.players))
        held = zip(turn.owners, turn.armies, strict=True)
        armies = 0 if kind == "lands" else rng.randint(1, 4)
        own = sum(owner == player and each >= armies for owner, each in held)
        return OwnTerritories(min(own + rng.randint(1, 2), number), armies)

    missions = {player: draw(player) for player in turn.players}
    instead = rng.choice((None, None, max(number // 2, 1)))
    most = max(turn.owners.count(name) for name in turn.players)
    common = min(most + rng.choice((1, 2, 3)), number) if rng.random() < 0.3 else None
    return Missions(missions, instead, rng.random() < 0.3, common=common)


def draw_parts(rng: Random, turn: Turn) -> OwnParts:
    """Return a mission for parts of one or two continents, perhaps with three neighbours."""
    sizes = {each.name: len(each.territories) for each in turn.board.continents}
    names = [name for name, size in sizes.items() if size]
    chosen = rng.sample(names, min(len(names), rng.randint(1, 2)))
    parts = {name: rng.randint(1, sizes[name]) for name in chosen}
    whole = tuple(name for name in names if name not in parts and rng.random() < 0.2)
    if rng.random() < 0.5:
        try:
            return OwnParts(parts, whole, True).resolve_names(turn)
        except IllegalError:  # no three territories border one another
            pass
    return OwnParts(parts, whole)


def random_hidden(rng: Random, turn: Turn) -> Victory:
    """Return hidden, secret and known missions."""
    known = random_missions(rng, turn)
    assert isinstance(known, Missions)
    missions = {
        name: rng.choice(("hidden", "hidden", each, f"secret {each.format_text()}"))
        for name, each in known.missions.items()
        if isinstance(each, Mission)
    }
    cards = ("3 territories", *(f"{k} territories with 2 armies" for k in range(2, 9)))
    most = len(turn.owners)
    fit = [each for each in cards if int(each.split()[0]) <= most]
    return Missions(
        missions, known.instead, known.at_end, (*fit * 3, *map(Eliminate, turn.players))
    )


def choose_winning_share(number: int, owners: dict[str, str]) -> Victory:
    """Return a share for which red lacks one to three territories."""
    return Share([*owners.values()].count("red") + 1 + number % 3)


def choose_winning_capitals(number: int, owners: dict[str, str]) -> Victory:
    """Return capitals for which red can win this turn, by owning all or two of three."""
    first = {owner: name for name, owner in reversed([*owners.items()])}
    return Capitals(first, (None, 2)[number % 2])


def choose_winning_missions(number: int, owners: dict[str, str]) -> Victory:
    """Return missions of which red can fulfil theirs this turn."""
    lacking = [each for each in RING.continents if owners[each.territories[0]] != "red"]
    own: tuple[Mission, ...] = (
        OwnContinents((lacking[0].name,)),
        OwnContinents((lacking[-1].name,), 1),
        OwnParts({lacking[0].name: 1, lacking[-1].name: 1}),
        Eliminate("green"),
        OwnTerritories(5),
    )
    more = {"blue": Eliminate("red"), "green": OwnTerritories(7)}
    return Missions({"red": own[number % 5], **more}, None if number % 3 else 6, number % 7 == 0)


def winning_hidden(number: int, owners: dict[str, str]) -> Victory:
    """Return a secret mission that red can fulfil in this turn, and hidden missions of others."""
    known = choose_winning_missions(number, owners)
    assert isinstance(known, Missions)
    red = known.missions["red"]
    assert isinstance(red, Mission)
    missions = {"red": f"secret {red.format_text()}", "blue": "hidden", "green": "hidden"}
    return Missions(missions, cards=("7 territories", "8 territories"))


def winnable_turn(condition: str, number: int) -> Turn:
    """Return a turn on a ring of territories in which red can win at once."""
    rng = Random(number)  # noqa: S311 # deals games, no secrets
    rivals = ("blue", "green", "blue", "green", "blue")
    cyclic = (*NAMES[number % 8 :], *NAMES[: number % 8])
    owners = dict(zip(cyclic, ("red", "red", "red", *rivals), strict=True))
    held = {name: (owner, 24 if owner == "red" else 1) for name, owner in owners.items()}
    position = Position(RING, "red", held)
    new = rng.choice((0, 0, 3, 6))
    victory = WINNABLE[condition](number, owners)
    return Turn(position, place=new, players=PLAYERS, victory=victory)


CONDITIONS: dict[str, Callable[[Random, Turn], Victory]] = {
    "share": random_share,
    "capitals": random_capitals,
    "missions": random_missions,
    "hidden": random_hidden,
}
WINNABLE: dict[str, Callable[[int, dict[str, str]], Victory]] = {
    "share": choose_winning_share,
    "capitals": choose_winning_capitals,
    "missions": choose_winning_missions,
    "hidden": winning_hidden,
}
