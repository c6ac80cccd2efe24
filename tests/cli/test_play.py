"""`iacta play`: whole games in the terminal, every command, and wrong input."""

import io
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from iacta import Game, Position, Turn, deal
from iacta.board.built_in import classic_board
from iacta.cli.dialogue import Dialogue, start_dialogue
from iacta.cli.game_text import LEVELS, describe_hint, format_map
from iacta.cli.play import PlayCommand
from iacta.cli.play_commands import COMMANDS, HELP, answer_line
from iacta.cli.saved_game import SavedGame, load_game
from iacta.cli.typed_names import find_abbreviated
from iacta.game.cards import Hand
from iacta.inputs.errors import IactaError
from iacta.war.players import PLAYERS
from tests.cli.run import Run

SMALL = "1;classic;red;Peru:red:9,Venezuela:red:2,Brazil:blue:1,Argentina:blue:2,Siam:blue:9"

HANDS_OF_FIVE = ("3.1.1.0.0", "0.0.5.0.0", "1.2.0.2.0")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Play in an empty folder, into which games are saved."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def start(code: str = SMALL, seed: int = 5) -> Dialogue:
    turn = Turn.from_code(code)
    seats = {name: "person" if name == turn.player else "simple" for name in turn.survivors}
    return start_dialogue(SavedGame(Game(turn, seats, seed)))[0]


def say(dialogue: Dialogue, *lines: str) -> tuple[Dialogue, str]:
    """Type lines; return the dialogue, and the answer to the last line."""
    answer = list[str]()
    for line in lines:
        dialogue, answer = answer_line(dialogue, line)
    return dialogue, "\n".join(answer)


def refuse(dialogue: Dialogue, line: str) -> str:
    """Type a wrong line; return the message."""
    with pytest.raises(IactaError) as refused:
        answer_line(dialogue, line)
    return str(refused.value)


def type_lines(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))


def follow_hint(hint: str) -> Iterator[str]:
    """Yield the commands that play a hint."""
    move = hint.partition(":")[0].rstrip(".")
    if move.startswith("Place "):
        yield from (f"place {part}" for part in move.removeprefix("Place ").split(", "))
    elif move.startswith(("Keep", "Stop", "Move no")):
        yield "done"
    elif move.startswith("Trade"):
        yield "trade"
    else:
        yield f"{move} all" if move.startswith("Attack") else move


@pytest.mark.parametrize(
    ("options", "ends"),
    [
        ("--against easy --win-by share=60% --seed 1", "of the 42 territories"),
        ("--seed 2 --against easy,medium", "no other player is left"),
        ("--seed 1 --against easy,medium --edition teg", "mission is fulfilled"),
        ("--seed 3 --against easy --edition two-players", "no other player is left"),
        ("--seed 4 --against medium,easy,hard --win-by missions", "mission is fulfilled"),
        ("--seed 4 --against medium,easy --win-by missions=or20", "they own 20 territories"),
    ],
)
def test_a_game_by_hints_ends_with_its_winner(
    run: Run, monkeypatch: pytest.MonkeyPatch, options: str, ends: str
) -> None:
    words = options.split()
    given = {
        key.lstrip("-").replace("-", "_"): value
        for key, value in zip(words[::2], words[1::2], strict=True)
    }
    dialogue, _ = start_dialogue(SavedGame(PlayCommand.parse(given).deal_game()))
    script = list[str]()
    while not dialogue.is_ended:
        dialogue, lines = answer_line(dialogue, "hint")
        script += ["hint", *follow_hint(lines[0])]
        for command in follow_hint(lines[0]):
            dialogue, lines = answer_line(dialogue, command)
    type_lines(monkeypatch, "\n".join(script))
    said = run(f"play {options}")
    assert (said.code, said.stderr) == (0, "")
    won, length, helped = said.stdout.splitlines()[-3:]
    assert dialogue.game.winner is not None
    assert won.startswith(f"{dialogue.game.winner.capitalize()} has won: ")
    assert ends in won
    assert length == f"The game ended in round {dialogue.game.rounds + 1}."
    assert helped.startswith(f"You asked for {script.count('hint')} hints and took back 0 ")
    assert not [*Path().iterdir()], "a game that is over needs no file"


def test_a_game_begins_with_the_map_and_the_players(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    type_lines(monkeypatch, "")
    said = run("play --seed 3")
    assert (said.code, said.stderr) == (0, "")
    assert "North America +5: red 2, blue 3, green 4 of 9" in said.stdout
    assert "*  Ontario                red    4" in said.stdout
    assert "red (you)                14      35            4      0" in said.stdout
    assert "green (medium)           14      35            4      0" in said.stdout
    assert "Round 1: your turn, red. Place 4 armies" in said.stdout
    assert "Type help for a list of the commands." in said.stdout
    assert max(map(len, said.stdout.splitlines())) <= 80
    assert not [*Path().iterdir()], "no decision needs no file"


def test_the_map_shows_each_territory_once_in_every_width() -> None:
    turn = deal(classic_board(), ["red", "blue"], seed=1)
    for width in (1, 40, 80, 200):
        text = "\n".join(format_map(turn, width))
        assert all(f" {name} " in text for name in turn.board.territories)
    names = "\n".join(format_map(Turn.from_code(SMALL), 80))
    assert "Siam" in names
    assert "Alaska" not in names, "an empty territory"


def test_armies_are_placed_in_parts() -> None:
    dialogue, said = say(start(f"{SMALL};place;place=5"), "place 3 Peru")
    assert said == "Peru has 12. 2 armies left."
    assert dialogue.prompt == "place 2> "
    assert "Peru" in describe_hint(dialogue.turn) or "Venezuela" in describe_hint(dialogue.turn)
    assert refuse(dialogue, "place 3 venezuela") == "armies must be at most 2, got 3"
    assert refuse(dialogue, "place 1 siam") == "Siam belongs to blue, not to you"
    assert say(dialogue, "undo")[0].prompt == "place 5> "
    dialogue, said = say(dialogue, "pl ven")
    assert said.startswith("Place 3 on Peru, 2 on Venezuela.")
    assert dialogue.game.turn.armies_on("Venezuela") == 4
    assert dialogue.prompt == "attack> "
    assert dialogue.is_saved is False


def test_an_attack_shows_its_chance_and_losses() -> None:
    dialogue, said = say(start(), "attack Peru Argentina")
    first, dice, losses, left = said.splitlines()
    assert first == "Peru (9) takes Argentina (2) with a chance of 98.03%."
    assert re.fullmatch(r"Dice: \d \d \d against \d \d\.", dice)
    assert losses.startswith("Peru to Argentina: red loses ")
    assert left.startswith("Peru has ")
    assert dialogue.game.steps[-1].step["dice"] == 3
    again, _ = say(dialogue, "attack")
    assert len(again.game.steps) == 2
    after, said = say(dialogue, "att all")
    assert "Argentina is taken." in said
    assert after.prompt.startswith("move ")


def test_armies_move_into_a_conquest() -> None:
    dialogue, said = say(start(), "attack peru brazil all")
    assert said.splitlines()[-1] == "Move 3 to 7 armies into Brazil; move alone moves 7."
    assert "into Brazil must be a whole number from 3 to 7, got 9" in refuse(dialogue, "move 9")
    assert refuse(dialogue, "move many").startswith("move must be followed by a number")
    assert "Move 3 to 7 armies into Brazil" in refuse(dialogue, "done")
    assert "you cannot attack now; move 3 to 7 armies" in refuse(dialogue, "attack peru argentina")
    assert say(dialogue, "move 4")[0].game.turn.armies_on("Brazil") == 4
    assert say(dialogue, "move")[0].game.turn.armies_on("Brazil") == 7
    assert say(dialogue, "move all")[0].game.turn.armies_on("Brazil") == 7


def test_a_single_choice_of_armies_is_made_at_once() -> None:
    code = "1;classic;red;Peru:red:4,Venezuela:red:2,Brazil:blue:1,Siam:blue:9"
    for seed in range(9):
        dialogue, said = say(start(code, seed), "attack peru brazil")
        if "is taken" in said:
            assert "3 armies move into Brazil." in said
            assert dialogue.prompt == "attack> "
            before = say(dialogue, "undo")[0]
            assert (before.prompt, before.game.steps, before.undone) == ("attack> ", (), 1)
            return
    pytest.fail("no attack succeeded")


def test_a_turn_ends_after_the_fortification_and_the_computers_are_told() -> None:
    dialogue, said = say(start(), "fortify Peru Venezuela 3")
    assert said.startswith("3 armies move from Peru to Venezuela.\nblue:\n  Place ")
    assert "your turn, red" in said
    assert dialogue.game.turn.player == "red"
    assert say(start(), "fort per ven")[0].game.steps[1].step["armies"] == 8
    fortifying, said = say(start(), "done")
    assert fortifying.prompt == "fortify> "
    assert "no armies can move from Peru to Siam now" in refuse(fortifying, "fortify Peru Siam")
    assert "your turn, red" in say(fortifying, "done")[1]


def test_a_conquered_continent_and_an_elimination_are_told() -> None:
    code = "1;classic;red;Peru:red:30,Venezuela:red:9,Argentina:red:9,Brazil:blue:1,Siam:green:9"
    said = say(start(code), "attack peru brazil all")[1]
    assert "red takes South America: +2 a turn; eliminates blue." in said


def test_cards_are_traded_and_kept() -> None:
    code = f"{SMALL};trade;place=3;cards=red:3.1.1.0.0"
    dialogue = start(code)
    assert dialogue.prompt == "trade> "
    assert refuse(dialogue, "done") == "you must trade a set of cards first: type trade"
    assert "from 1 to 2, got 7" in refuse(dialogue, "trade 7")
    after, said = say(dialogue, "trade")
    assert said.startswith("Trade ")
    assert after.prompt == "place 7> "
    assert after.game.turn.hand_of("red").number == 2
    kept = start(f"{SMALL};trade;place=3;cards=red:3.0.0.0.0")
    assert say(kept, "")[1].endswith("done to keep your cards. 1: 3 infantry for 4 armies.")
    assert say(kept, "done")[0].prompt == "place 3> "


def test_the_cards_of_computers_stay_secret() -> None:
    code = f"{SMALL};attack;cards=blue:3.1.1.0.0"
    dialogue = start(code)
    assert dialogue.turn.hand_of("blue") == Hand(unknown=5)
    assert ";cards=blue:5" in say(dialogue, "link")[1]
    story = say(dialogue, "done", "done")[1]
    assert "Reveal" not in story
    assert "Trade 3 infantry for 4 armies" in story or "Trade 1 infantry, 1 cavalry" in story


def test_hidden_cards_do_not_change_a_hint() -> None:
    hints = {say(start(f"{SMALL};attack;cards=blue:{cards}"), "hint")[1] for cards in HANDS_OF_FIVE}
    assert len(hints) == 1


def test_a_hint_is_one_sentence_and_is_counted() -> None:
    dialogue, said = say(start(), "hint", "hint")
    assert dialogue.hints == 2
    assert said.startswith("Attack from Peru to ")
    assert "\n" not in said
    assert say(start(f"{SMALL};place;place=5"), "hint")[1].startswith("Place ")


def test_odds_lists_the_best_attacks_first() -> None:
    lines = say(start(), "odds")[1].splitlines()
    assert lines[0].startswith("Peru (9) takes Brazil (1) with a chance of ")
    assert (
        say(start(), "odds per arg")[1] == "Peru (9) takes Argentina (2) with a chance of 98.03%."
    )
    assert refuse(start(), "odds peru siam") == "Peru cannot attack Siam: no border leads there"


def test_the_map_of_a_territory_shows_its_neighbours() -> None:
    said = say(start(), "map peru")[1]
    assert said.startswith("Peru: red 9. Its neighbours:")
    assert "Argentina" in said
    assert "Round 1" in say(start(), "map")[1]


def test_undo_returns_to_the_last_decision() -> None:
    dialogue, _ = say(start(), "attack peru argentina", "attack", "undo")
    assert len(dialogue.game.steps) == 1
    assert dialogue.undone == 1
    dialogue, said = say(dialogue, "undo")
    assert dialogue.game.steps == ()
    assert "Round 1: your turn, red." in said
    assert refuse(dialogue, "undo") == ("no person has made a decision that can be taken back")
    later, _ = say(start(), "done", "done", "undo")
    assert later.prompt == "fortify> "


def test_link_shows_the_code_of_the_turn() -> None:
    dialogue = start()
    assert Turn.from_code(say(dialogue, "link")[1].splitlines()[1]) == dialogue.game.turn


def test_to_resign_lets_computers_play_to_the_end() -> None:
    dialogue, said = say(start(), "resign")
    assert dialogue == start()
    assert "resign yes" in said
    game = PlayCommand(seed=1, against=("easy",)).deal_game()
    dialogue, said = say(start_dialogue(SavedGame(game))[0], "resign yes")
    assert dialogue.is_ended
    assert said.startswith("You have resigned.\nNo person is left in the game")
    assert "has won: no other player is left." in said


def test_an_eliminated_person_sees_only_the_end() -> None:
    held = {"Peru": ("red", 1), "Siam": ("green", 1), "India": ("green", 3)}
    code = Position(classic_board(), "red", held, others=("blue", 9)).to_code()
    dialogue, said = say(start(code), "done")
    assert dialogue.is_ended
    assert "eliminates red." in said
    assert said.count("No person is left in the game; the computers play on.") == 1
    assert "Blue has won" in said


def test_names_and_commands_may_be_abbreviated() -> None:
    board = classic_board().territories
    assert find_abbreviated("n afr", board) == ["North Africa"]
    assert find_abbreviated("north-africa", board) == ["North Africa"]
    assert find_abbreviated("Siam", board) == ["Siam"]
    assert len(find_abbreviated("north", board)) == 3
    assert find_abbreviated("xyz", board) == []
    assert refuse(start(), "m") == "unknown command 'm'; did you mean move or map?"
    assert say(start(), "ATT PER BRA")[0].game.steps


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("dance", "unknown command 'dance'; type help for a list"),
        ("attack", "name two territories, as in: attack Alaska Alberta"),
        ("attack Peru", "name two territories"),
        ("attack Peru Narnia", "has no territory 'Narnia'"),
        ("attack Peru Bra zil x y", "name two territories"),
        ("attack Peru Venezuela", "Peru cannot attack Venezuela: red owns it already"),
        ("attack Siam Peru", "Siam cannot attack Peru: it is not red's"),
        ("place 3 Peru", "you have no armies to place; attack"),
        ("move 3", "no armies can move in now; attack"),
        ("trade", "you cannot trade cards now; attack"),
        ("fortify Peru Venezuela 99", "armies to move must be a whole number from 1 to 8, got 99"),
        ("fortify Peru", "name two territories, as in: fortify Alaska Alberta 4"),
        ("fortify Peru Venezuela 1.5", "armies must be a whole number"),
        ("map north", "'north' may be "),
        ("save", "name a file, as in: save game.json"),
        ("save /nowhere/game.json", "no such folder"),
    ],
)
def test_wrong_input_is_refused_in_one_sentence(line: str, message: str) -> None:
    said = refuse(start(), line)
    assert message in said
    assert "\n" not in said
    assert len(said) < 250


def test_a_wrong_line_is_printed_and_loses_nothing(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    type_lines(monkeypatch, "place 9 Peru\nplace 1 Peru\ndance\n\nplace x\nattack\nplace 1 Peru\n")
    said = run("play --seed 3")
    assert (said.code, said.stderr) == (0, "")
    assert "armies must be at most 4, got 9." in said.stdout
    assert "unknown command 'dance'" in said.stdout
    assert "Peru has 5. 2 armies left." in said.stdout
    assert "Traceback" not in said.stdout


def test_a_question_in_an_error_ends_with_its_mark(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    type_lines(monkeypatch, "place 1 Perru\n")
    said = run("play --seed 3").stdout
    assert "did you mean 'Peru'?\n" in said


def test_an_edition_for_two_has_one_usual_opponent(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    type_lines(monkeypatch, "")
    said = run("play --seed 3 --edition two-players")
    assert (said.code, said.stderr) == (0, "")
    assert "blue (medium)" in said.stdout
    assert "green" not in said.stdout


def test_bytes_that_are_no_text_are_a_wrong_command(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"\xff\xfe\n\x00\n")))
    said = run("play --seed 3")
    assert (said.code, said.stderr) == (0, "")
    assert said.stdout.count("unknown command") == 2


def test_each_command_is_in_the_help() -> None:
    assert {usage.split()[0] for usage, _ in HELP} | {"help"} == {*COMMANDS}
    said = say(start(), "help")[1]
    assert all(usage.format("Alaska", "Alberta") in said for usage, _ in HELP)
    assert max(map(len, said.splitlines())) <= 100


def test_a_game_is_saved_and_loaded(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    type_lines(monkeypatch, "hint\nplace 4 Peru\nsave game.json\nundo\nsave\nquit\n")
    said = run("play --seed 3")
    assert said.stdout.count("Saved. Go on later with: iacta play --load game.json") == 2
    assert said.stdout.endswith("The game is saved. Go on with: iacta play --load game.json\n")
    loaded = load_game("game.json", 1)
    assert (loaded.hints, loaded.undone, loaded.game.steps) == (1, 1, ())
    type_lines(monkeypatch, "place 4 Peru\nsave other.json\n")
    said = run("play --load game.json --seed 1")
    assert "Round 1: your turn, red. Place 4 armies" in said.stdout
    assert len(load_game("other.json").game.steps) == 1
    type_lines(monkeypatch, "save game.json\n")
    assert "'game.json' exists already; choose another name." in run("play --seed 3").stdout


def test_the_end_of_input_saves_the_game(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("risk-game.json", "risk-game-2.json"):
        type_lines(monkeypatch, "place 4 Peru")
        said = run("play --seed 3")
        assert (said.code, said.stderr) == (0, "")
        assert said.stdout.endswith(f"The game is saved. Go on with: iacta play --load {name}\n")
        assert load_game(name).game.turn.armies_on("Peru") == 7


def test_ctrl_c_saves_the_game(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = iter(["place 4 Peru"])

    def read(prompt: str) -> str:
        for line in lines:
            return line
        raise KeyboardInterrupt

    monkeypatch.setattr("builtins.input", read)
    said = run("play --seed 3")
    assert (said.code, said.stderr) == (130, "")
    assert said.stdout.endswith("Go on with: iacta play --load risk-game.json\n")


def test_a_closed_input_is_refused(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    assert run("play") == (2, "", "iacta: standard input is closed\n")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("--against giant", "--against must be easy, medium, hard, simple, usual or strong"),
        ("--against easy,easy,easy,easy,easy,easy", "--against must name at most 5 opponents"),
        ("--win-by luck", "--win-by must be one of survivor, share, capitals, missions"),
        (
            "--win-by missions=or43",
            "missions must be at most 42, the number of territories, got 43",
        ),
        ("--load nothing.json", "cannot read 'nothing.json': no such file"),
        ("--load list.json", "game file 'list.json': the file must contain a JSON object"),
        ("--load empty.json", "game file 'empty.json': turn must be a code"),
        ("--load bytes.json", "game file 'bytes.json': the file is not UTF-8"),
        ("--load list.json --against easy", "cannot be combined with --load"),
        ("--board nothing.toml", "no such file"),
    ],
)
def test_wrong_options_are_refused(run: Run, options: str, message: str) -> None:
    for name, content in (("list", b"[]"), ("empty", b"{}"), ("bytes", b"\xff")):
        Path(f"{name}.json").write_bytes(content)
    said = run(f"play {options}")
    assert (said.code, said.stdout) == (2, "")
    assert message in said.stderr
    assert said.stderr.count("\n") == 1


def test_other_boards_and_ways_to_win_can_be_played(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("ring.toml").write_text(
        'name = "ring"\n[territories]\nA = ["B", "C"]\nB = ["C", "D"]\nC = ["D"]\nD = []\n'
    )
    type_lines(monkeypatch, "map\n")
    said = run("play --board ring.toml --seed 1 --against hard --win-by capitals")
    assert (said.code, said.stderr) == (0, "")
    assert "Without a continent: red 2, blue 2 of 4" in said.stdout
    assert "capital" in said.stdout
    assert max(map(len, said.stdout.splitlines())) <= 80


def test_levels_are_known_ais() -> None:
    assert {*LEVELS.values()} <= {*PLAYERS}
