"""The dialogue of `iacta play`: a game, and the lines that tell how it goes on.

A `Dialogue` is immutable: a decision returns the next dialogue with the lines to print, so that a
whole game can be played without a terminal. `iacta.cli.play_commands` reads what a player types.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from textwrap import wrap

from iacta.cli.game_text import (
    describe_end,
    describe_trade,
    format_map,
    format_players,
    list_trades,
    tell_dice,
    tell_eliminations,
    tell_reason,
    tell_steps,
)
from iacta.cli.saved_game import SavedGame, save_game
from iacta.cli.typed_names import Pair
from iacta.forms.moment import describe_condition
from iacta.forms.sentences import name_armies
from iacta.game.actions import Action, EndPhase
from iacta.game.step_fields import Step, describe_cards, list_advances
from iacta.game.turn import Turn
from iacta.inputs.checks import FrozenDict
from iacta.war.game import PERSON, Game

MIN_TEXT_WIDTH = 40
NOTHING_PLACED = FrozenDict[str, int]({})


@dataclass(frozen=True)
class Dialogue:
    """A game in conversation with its player.

    game: the game. It waits for a person, or it is over.
    width: the width of the terminal.
    hints, undone: how often the player asked for a hint, and took back a decision.
    file: the file of the game; empty before the game is saved.
    is_saved: whether the file contains the latest decisions.
    placed: the placements so far, until all new armies are placed.
    last: the last attack, or `None`.
    is_ended: whether the player has left the game.

    >>> from iacta import Turn
    >>> turn = Turn.from_code("1;classic;red;Peru:red:9,Brazil:blue:1")
    >>> game = Game(turn, {"red": "person", "blue": "usual"}, seed=5)
    >>> dialogue, _ = start_dialogue(SavedGame(game))
    >>> dialogue, lines = dialogue.decide({"do": "roll", "from": "Peru", "to": "Brazil"})
    >>> lines[1]
    'Peru to Brazil: red loses 1, blue loses 1; Brazil is taken.'
    >>> lines[0], dialogue.prompt
    ('Dice: 6 2 1 against 4.', 'move 3-7> ')
    """

    game: Game
    width: int = 80
    hints: int = 0
    undone: int = 0
    file: str = ""
    is_saved: bool = True
    placed: FrozenDict[str, int] = NOTHING_PLACED
    last: Pair | None = None
    is_ended: bool = False

    @property
    def turn(self) -> Turn:
        """The present turn as its player sees it, with the armies that are placed so far."""
        seen = self.game.turn.seen_by(self.game.turn.player)
        if not self.placed:
            return seen
        held = zip(seen.board.territories, seen.armies, strict=True)
        armies = tuple(number + self.placed.get(name, 0) for name, number in held)
        return seen.replace_armies(seen.owners, armies)

    @property
    def left(self) -> int:
        """The number of new armies that are not placed yet."""
        return self.game.turn.place - sum(self.placed.values())

    @property
    def prompt(self) -> str:
        """The phase, as the prompt for the next line."""
        if self.game.waits_for is None:
            return ""
        turn = self.game.turn
        if turn.phase == "place":
            return f"place {self.left}> "
        if turn.phase == "advance":
            numbers = list_advances(turn)
            return f"move {numbers[0]}-{numbers[-1]}> "
        return f"{turn.phase}> "

    def save(self, file: str) -> "Dialogue":
        """Save the game, and return the dialogue with the name of the file."""
        save_game(file, SavedGame(self.game, self.hints, self.undone))
        return replace(self, file=file, is_saved=True)

    def decide(self, *decisions: Action | Step) -> tuple["Dialogue", list[str]]:
        """Return the dialogue after decisions of the player, and the lines to print."""
        game, lines = self.game, list[str]()
        for decision in decisions:
            lines += tell_dice(game, decision)
            game = game.decide(decision)
        while game.waits_for and len(moves := list_moves(game.turn)) == 1:
            game = game.decide({"do": "advance", "armies": moves[0]})
        for played in game.steps[len(self.game.steps) :]:
            if played.step["do"] != "stop":
                lines.append(f"{played.words}.")
            lines += tell_reason(played)
        told = replace(
            self, game=game, is_saved=False, placed=NOTHING_PLACED, is_ended=game.is_over
        )
        return told.play_on(lines, is_attack_new=self.game.turn.phase in ("trade", "place"))

    def play_on(
        self, lines: Sequence[str] = (), *, is_attack_new: bool = False
    ) -> tuple["Dialogue", list[str]]:
        """Let the computers play until the player must decide, and add their story to lines.

        lines: the lines before the story.
        is_attack_new: whether the phase `attack` is explained, because it has just begun.
        """
        lines = [*lines]
        before, game = self.game, self.game.play()
        steps = game.steps[len(before.steps) :]
        watched = [*takewhile(lambda step: _has_person(game, step.turn), steps)]
        lines += tell_steps(watched)
        if rest := steps[len(watched) :]:
            lines += ["No person is left in the game; the computers play on."]
            lines += (each for step in rest for each in tell_eliminations(step.turn, step.after))
        told = replace(self, game=game, is_ended=game.is_over)
        is_new = any(step.step["do"] == "next" for step in steps)
        if game.is_over:
            lines += ["", *describe_end(game, self.hints, self.undone)]
        elif is_new:
            lines += ["", *show_turn(told)]
        elif game.turn.phase != "attack" or is_attack_new:
            lines.append(explain_phase(told))
        return told, lines


def start_dialogue(
    saved: SavedGame, *, width: int = 80, file: str = ""
) -> tuple[Dialogue, list[str]]:
    """Return the dialogue about a game, and the lines that begin it.

    saved: the game, with the help that the player has used. Computers may move first.
    width, file: the same as for `Dialogue`.
    """
    dialogue = Dialogue(saved.game, width, saved.hints, saved.undone, file)
    if not saved.game.waits_for:
        return dialogue.play_on()
    return dialogue, [*show_turn(dialogue), "Type help for a list of the commands."]


def _has_person(game: Game, turn: Turn) -> bool:
    """Return whether a person is left in a turn."""
    return any(game.seats.get(player) == PERSON for player in turn.survivors)


def list_moves(turn: Turn) -> list[int]:
    """Return the numbers of armies that may move into a conquest; empty in other phases."""
    return list_advances(turn) if turn.phase == "advance" else []


def show_turn(dialogue: Dialogue) -> list[str]:
    """Return the map, the players, the condition of victory, and the phase."""
    turn, game, width = dialogue.turn, dialogue.game, max(dialogue.width, MIN_TEXT_WIDTH)
    now = f"Round {game.rounds + 1}: your turn, {turn.player}. {explain_phase(dialogue)}"
    return [
        *format_map(turn, width),
        "",
        *format_players(turn, game.seats),
        *(line for sentence in describe_condition(turn) for line in wrap(sentence, width)),
        "",
        *wrap(now, width),
    ]


def explain_phase(dialogue: Dialogue) -> str:
    """Return a sentence about the next decision of the player."""
    turn = dialogue.turn
    if turn.phase == "trade":
        trades = list_trades(turn)
        sets = "; ".join(f"{k}: {describe_trade(turn, t)}" for k, t in enumerate(trades[:9], 1))
        end = "" if EndPhase() not in turn.actions() else ", or done to keep your cards"
        return f"Your cards: {describe_cards(turn.hand)}. Type trade{end}. {sets}."
    if turn.phase == "place":
        return f"Place {name_armies(dialogue.left)}, as in: place {dialogue.left} {_name_own(turn)}"
    if turn.phase == "advance" and turn.pending is not None:
        numbers = list_advances(turn)
        return (
            f"Move {numbers[0]} to {numbers[-1]} armies into {turn.pending.to}; "
            f"move alone moves {choose_move(turn)}."
        )
    if turn.phase == "fortify":
        return "Move armies with fortify, or type done to end your turn."
    return "Attack, or type done to stop attacking; odds lists the chances."


def _name_own(turn: Turn) -> str:
    """Return the player's largest border territory, as an example."""
    own = [name for name in turn.board.territories if turn.owner_of(name) == turn.player]
    return max(own, key=lambda name: (_is_border(turn, name), turn.armies_on(name)))


def _is_border(turn: Turn, name: str) -> bool:
    """Return whether a territory has a neighbour of another player."""
    owners = map(turn.owner_of, turn.board.neighbours(name))
    return any(owner not in ("", turn.player) for owner in owners)


def choose_move(turn: Turn) -> int:
    """Return the usual number of armies that move into a conquered territory.

    All armies move, unless only the old territory has other players as neighbours.
    """
    numbers = list_advances(turn)
    assert turn.pending is not None  # noqa: S101 # armies move after an attack
    stays = _is_border(turn, turn.pending.start) and not _is_border(turn, turn.pending.to)
    return numbers[0] if stays else numbers[-1]
