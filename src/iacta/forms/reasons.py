"""The reason why an attack matters, in words, such as "takes Africa: +3 a turn".

The reason follows from the turn before and after the attack, for players and computers alike. It
lists the changes by the conquest: continents, players, capitals, cards, or the winner of the game.
The conquest of a territory that changes nothing else has no reason.
"""

from collections.abc import Iterator

from iacta.forms.sentences import add_noun
from iacta.game import PlayedStep, Turn
from iacta.game.step_fields import read_border

_CARD = "a card"


def describe_reason(played: PlayedStep) -> str:
    """Return the gain of an attack as a verb phrase; empty for a step that changes little.

    played: the step. If an attack has not taken the territory, the phrase begins with "would" and
        states the gain of a conquest.

    >>> from iacta.game import play_step
    >>> code = "1;classic;red;Peru:red:9,Venezuela:red:1,Argentina:red:1,Brazil:blue:2"
    >>> step = {"do": "attack", "from": "Peru", "to": "Brazil", "left": 9, "their_left": 0}
    >>> describe_reason(play_step(Turn.from_code(code), step))
    'takes South America: +2 a turn; eliminates blue; wins the game'
    >>> describe_reason(play_step(Turn.from_code(code), {**step, "left": 7, "their_left": 2}))
    'would take South America: +2 a turn; eliminate blue; win the game'
    """
    turn, step, after = played
    if step["do"] != "attack":
        return ""
    to = read_border(turn, step)[1]
    if after.owner_of(to) == turn.player:
        return "; ".join(f"{verb}s {words}" for verb, words in _list_changes(turn, to, after))
    wished = [
        f"{verb} {words}"
        for verb, words in _list_changes(turn, to, _take(turn, to))
        if words != _CARD
    ]
    return f"would {'; '.join(wished)}" if wished else ""


def _take(turn: Turn, to: str) -> Turn:
    """Return the turn after the conquest of a territory, without the movement of armies."""
    owners = tuple(
        turn.player if name == to else owner
        for name, owner in zip(turn.board.territories, turn.owners, strict=True)
    )
    return turn.replace_armies(owners, turn.armies)


def _list_changes(turn: Turn, to: str, after: Turn) -> Iterator[tuple[str, str]]:
    """Yield the changes by a conquest, each as a verb and further words."""
    player, loser, found = turn.player, turn.owner_of(to), False
    for land in turn.board.continents:
        if to not in land.territories or not land.bonus:
            continue
        before, now = ({*map(each.owner_of, land.territories)} for each in (turn, after))
        if now == {player}:
            yield "take", f"{land.name}: {land.bonus:+} a turn"
            found = True
        if before == {loser}:
            yield "break", f"{land.name}: {-land.bonus:+} a turn for {loser}"
            found = True
    if prize := turn.victory.describe_prize(to, player):
        yield "take", prize
        found = True
    if loser and loser not in after.owners:
        number = turn.hand_of(loser).number if turn.cards is not None else 0
        cards = f" and takes {add_noun(number, 'card', 'cards')}" if number else ""
        yield "eliminate", f"{loser}{cards}"
        found = True
    if after.winner is not None and turn.winner is None:
        yield ("win", "the game") if after.winner == player else ("let", f"{after.winner} win")
        found = True
    if not found and turn.cards is not None and after.cards_due and not turn.cards_due:
        yield "earn", _CARD
