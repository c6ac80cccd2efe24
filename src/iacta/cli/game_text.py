"""A game as text for the terminal: the map, the players, and the story of played steps."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest

from iacta.cli.terminal import format_rows
from iacta.forms.moment import describe_winner
from iacta.forms.percentages import percent
from iacta.forms.reasons import describe_reason
from iacta.forms.sentences import add_noun, name_armies
from iacta.game import list_border_odds
from iacta.game.action_records import PlayedStep
from iacta.game.actions import Action, Advance, Attack, Fortify, Place, Trade
from iacta.game.step_fields import Step, describe_cards, describe_gain
from iacta.game.turn import Turn
from iacta.war.game import PERSON, Game, Seat, get_seat_name
from iacta.war.policy import ai

LEVELS = {"easy": "simple", "medium": "usual", "hard": "strong"}  # the AI of each strength
GAP = 3  # spaces between the columns of the map
UNTOLD = ("stop", "next", "goal")


def format_map(turn: Turn, width: int) -> Iterator[str]:
    """Yield the lines of the map: a block for each continent, in as many columns as fit.

    turn: the turn. The territories of its player are marked with `*`.
    width: the width of the terminal.

    >>> turn = Turn.from_code("1;classic;red;Peru:red:6,Brazil:blue:2")
    >>> for line in format_map(turn, 40):
    ...     print(line)
    South America +2: red 1, blue 1 of 4
    *  Peru                   red   6
       Brazil                 blue  2
    """
    in_continents = {name for each in turn.board.continents for name in each.territories}
    blocks = [(f"{each.name} {each.bonus:+}", each.territories) for each in turn.board.continents]
    blocks.append(("Without a continent", tuple({*turn.board.territories} - in_continents)))
    lines = dict(zip(turn.board.territories, _list_holdings(turn), strict=True))
    for title, names in blocks:
        shown = [line for name, line in lines.items() if name in names and turn.owner_of(name)]
        if shown:
            yield f"{title}: {_describe_owners(turn, names)}"
            yield from _set_columns(shown, width)


def _list_holdings(turn: Turn) -> Iterator[str]:
    """Yield a line for each territory: its mark, name, owner and armies."""
    rows = [
        ["*" if owner == turn.player else " ", name, owner, str(armies)]
        for name, owner, armies in zip(
            turn.board.territories, turn.owners, turn.armies, strict=True
        )
    ]
    _, *lines = format_rows(["", "", "", " "], rows)
    yield from lines


def _describe_owners(turn: Turn, names: Sequence[str]) -> str:
    """Return the owner of a continent, or the number of territories of each owner."""
    owners = [turn.owner_of(name) for name in names]
    if len({*owners}) == 1:
        return f"all {owners[0]}"
    counts = [f"{name} {owners.count(name)}" for name in turn.survivors if name in owners]
    return f"{', '.join(counts)} of {len(names)}"


def _set_columns(cells: Sequence[str], width: int) -> Iterator[str]:
    """Yield lines that show texts in columns, from top to bottom."""
    longest = max(map(len, cells)) + GAP
    number = max(min(width // longest, len(cells)), 1)
    height = -(-len(cells) // number)
    columns = [cells[k : k + height] for k in range(0, len(cells), height)]
    for line in zip_longest(*columns, fillvalue=""):
        yield "".join(f"{cell:<{longest}}" for cell in line).rstrip()


def format_players(turn: Turn, seats: Mapping[str, Seat]) -> Iterator[str]:
    """Yield a table of the surviving players.

    turn: the turn as its player sees it.
    seats: the seats of the game.
    """
    names = {ai_name: level for level, ai_name in LEVELS.items()}
    rows = []
    for player in turn.survivors:
        seat = get_seat_name(seats.get(player, "neutral"))
        who = "you" if seat == PERSON and player == turn.player else names.get(seat, seat)
        armies = sum(
            turn.armies_on(t) for t in turn.board.territories if turn.owner_of(t) == player
        )
        row = [turn.owners.count(player), armies, turn.new_armies(player)]
        row += [] if turn.cards is None else [turn.hand_of(player).number]
        rows.append([f"{player} ({who})", *map(str, row)])
    heading = [
        "",
        "territories",
        "armies",
        "next income",
        *(["cards"] if turn.cards is not None else []),
    ]
    yield from format_rows(heading, rows)


def format_neighbours(turn: Turn, name: str) -> Iterator[str]:
    """Yield a territory and its neighbours, with their owners and armies."""
    yield f"{name}: {turn.owner_of(name)} {turn.armies_on(name)}. Its neighbours:"
    rows = [
        ("", each, turn.owner_of(each), str(turn.armies_on(each)))
        for each in turn.board.neighbours(name)
    ]
    yield from format_rows(["", "", "", " "], rows)


def tell_steps(steps: Sequence[PlayedStep]) -> Iterator[str]:
    """Yield the story of the steps of computers: a heading for each turn, a line for each battle.

    The cards that a computer looks at stay secret. A second line tells why a battle matters.
    """
    told = ""
    for number, (turn, step, _) in enumerate(steps):
        if step["do"] == "reveal" or step["do"] in UNTOLD or step["do"] == "advance":
            continue
        if turn.player != told:
            told = turn.player
            yield f"{told}:"
        line = f"  {steps[number].words}"
        if number + 1 < len(steps) and steps[number + 1].step["do"] == "advance":
            line += f", {name_armies(steps[number + 1].step['armies'], 'moves', 'move')} in"
        yield line
        yield from (f"  {each}" for each in tell_reason(steps[number]))


def tell_reason(played: PlayedStep) -> Iterator[str]:
    """Yield a sentence about the reason of an attack that matters."""
    if reason := describe_reason(played):
        yield f"{played.turn.player} {reason}."


def tell_dice(game: Game, decision: Action | Step) -> Iterator[str]:
    """Yield the dice of the last roll of a decision; nothing without single rolls."""
    if faces := game.throw_faces(decision):
        ours, theirs = (" ".join(map(str, dice)) for dice in faces)
        yield f"Dice: {ours} against {theirs}."


def tell_eliminations(turn: Turn, after: Turn) -> Iterator[str]:
    """Yield a sentence for each eliminated player."""
    for loser in turn.survivors:
        if loser not in after.owners:
            yield f"{after.player} eliminates {loser}."


def describe_odds(turn: Turn, start: str, to: str) -> str:
    """Return the chance to take a territory; empty if the battle is impossible.

    >>> turn = Turn.from_code("1;classic;red;Peru:red:7,Brazil:blue:3")
    >>> describe_odds(turn, "Peru", "Brazil")
    'Peru (7) takes Brazil (3) with a chance of 85.69%'
    """
    for border in list_border_odds(turn):
        if (border.start, border.to) == (start, to):
            armies = f"{start} ({border.attackers}) takes {to} ({border.defenders})"
            return f"{armies} with a chance of {percent(border.win_probability)}"
    return ""


def list_trades(turn: Turn) -> list[Trade]:
    """Return the legal trades, the most armies first, and then the fewest jokers."""
    trades = [action for action in turn.actions() if isinstance(action, Trade)]
    worth = turn.trade.worth
    return sorted(
        trades, key=lambda each: (-worth(each.cards), each.cards.jokers, not each.territory)
    )


def describe_trade(turn: Turn, trade: Trade) -> str:
    """Return a trade in words."""
    return f"{describe_cards(trade.cards)} {describe_gain(turn, trade)}"


def describe_hint(turn: Turn) -> str:
    """Return the next move of the usual AI in a sentence.

    turn: the turn as its player sees it.
    """
    policy = ai("usual").follow()
    action = policy(turn)
    match action:
        case Place():
            places = list[str]()
            while turn.phase == "place" and isinstance(action, Place):
                places.append(f"{action.armies} on {action.territory}")
                turn = turn.after(action)
                action = policy(turn) if turn.phase == "place" else action
            return f"Place {', '.join(places)}."
        case Attack(start, to):
            return f"Attack from {start} to {to}: {describe_odds(turn, start, to)}."
        case Advance(armies):
            return f"Move {name_armies(armies)} in."
        case Fortify(start, to, armies):
            return f"Fortify from {start} to {to} with {name_armies(armies)}."
        case Trade():
            return f"Trade {describe_trade(turn, action)}."
    done = {"trade": "Keep your cards", "attack": "Stop attacking", "fortify": "Move no armies"}
    return f"{done[turn.phase]}: done."


def describe_end(game: Game, hints: int, undone: int) -> Iterator[str]:
    """Yield the end of a game: who won and how, its length, and the help that was used."""
    yield describe_winner(game.turn) or "Nobody has won: the game has reached its last round."
    yield f"The game ended in round {min(game.rounds + 1, game.max_rounds)}."
    asked = add_noun(hints, "hint", "hints")
    yield f"You asked for {asked} and took back {add_noun(undone, 'decision', 'decisions')}."
