"""AIs decide from what their player sees: not from hidden cards or missions of other players."""

from collections.abc import Iterator
from random import Random

import pytest

from iacta import Hand, IactaError, Missions, Turn, classic_board, deal
from iacta.game.cards import DECK
from iacta.inputs.checks import FrozenDict
from iacta.war.players import PLAYERS
from iacta.war.policy import choose_action
from tests.cases import choose_seeds, for_each
from tests.game.positions import at_random
from tests.war.games import NAMES, random_turn

pytestmark = pytest.mark.usefixtures("core")
BOARD = classic_board()
# Seeds for which the usual AI and the keeper would choose another aim if they saw everything.
TELLING = (1, 7, 31)


def deal_hidden(turn: Turn, viewer: str, rng: Random) -> Turn:
    """Return a turn in which everything that a player does not see is dealt again."""
    seen = turn.seen_by(viewer)
    victory = seen.victory.deal(seen, rng)
    cards, left = seen.cards, DECK - seen.hand_of(viewer).known
    if cards is not None and not seen.symbols:
        deck = [k for k in range(4) for _ in range(left.counts[k])]
        rng.shuffle(deck)
        hands = dict[str, Hand]()
        for name, hand in cards.items():
            counts = [0, 0, 0, 0]
            known = rng.randint(0, min(hand.number, len(deck))) if name != viewer else 0
            for _ in range(known):
                counts[deck.pop()] += 1
            own = Hand._make((*counts, hand.number - known, ()))
            hands[name] = hand if name == viewer else own
        cards = FrozenDict(hands)
    return turn.replace_state(turn.state._replace(cards=cards, victory=victory))


def list_turns(seed: int) -> Iterator[Turn]:
    """Yield moments of random turns, some with secret missions, in which a player can act."""
    rng = Random(seed)  # noqa: S311 # no secrets
    for number in range(6):
        if number % 2:
            turn = random_turn(rng)
        else:
            players = NAMES[: rng.randint(2, 6)]
            turn = deal(BOARD, players, seed=rng.randrange(10**6), victory="missions")
            hands = {name: Hand(unknown=rng.randint(0, 4)) for name in players}
            turn = turn.replace_state(turn.state._replace(cards=FrozenDict(hands)))._enter("trade")
            for _ in range(rng.choice((0, 1, 5, 15))):
                action = at_random(turn, rng)
                (result,) = turn.results(action).sample(1, rng.randrange(10**6))
                after = turn.after(action, result)
                turn = turn if after.phase == "over" else after
        if turn.actions() and len(turn.survivors) > 1 and turn.player in turn.survivors:
            yield turn


@for_each("name, seed", [(name, seed) for name in PLAYERS for seed in TELLING])
def test_the_hidden_part_of_a_game_changes_neither_action_nor_aim_of_an_ai(
    name: str, seed: int
) -> None:
    rng, dealt = Random(seed), 0  # noqa: S311 # no secrets
    for number, turn in enumerate(list_turns(seed)):
        chosen = choose_action(PLAYERS[name], turn, number)
        for _ in range(4):
            other = deal_hidden(turn, turn.to_act, rng)
            dealt += other != turn
            assert choose_action(PLAYERS[name], other, number) == chosen, turn.to_code()
    assert dealt > 4


@for_each("seed", choose_seeds(range(40), 10))
def test_what_a_player_sees_does_not_depend_on_the_hidden_part(seed: int) -> None:
    rng = Random(seed)  # noqa: S311 # no secrets
    for turn in list_turns(seed):
        for player in turn.players:
            seen = turn.seen_by(player)
            assert deal_hidden(turn, player, rng).seen_by(player) == seen
            assert seen.seen_by(player) is seen
            assert seen.hand_of(player) == turn.hand_of(player)
            others = [name for name in turn.players if name != player]
            assert not any(seen.hand_of(name).known.number for name in others)
            numbers = [seen.hand_of(name).number for name in others]
            assert numbers == [turn.hand_of(name).number for name in others]


def test_a_player_sees_only_their_own_secret_mission() -> None:
    texts = {"red": "secret Asia, Africa", "blue": "secret Europe, any", "green": "Asia"}
    start = deal(BOARD, [*texts], seed=1, victory=Missions(texts))
    seen = start.seen_by("Blue").victory.format_texts()[1]
    assert seen == {**texts, "red": "hidden"}


def test_an_unknown_player_sees_nothing() -> None:
    with pytest.raises(IactaError, match="player must be one of red, blue, got 'pink'"):
        deal(BOARD, ["red", "blue"], seed=1).seen_by("pink")
