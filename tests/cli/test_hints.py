"""Words that probably mean something else get a hint that works."""

import pytest

from tests.cli.run import Run

GAME = "1;classic;red;Brazil:red:12,Peru:blue:3,North%20Africa:green:4"
QUOTES = "text with spaces needs quotes: "

# The command, and the end of its error message.
HINTS = {
    "battle 12 10 5": "for several territories, use iacta campaign 12 10 5",
    "battle 12 7:capital": "did you mean 7 --rules capital?",
    "battle 12-10": "separate numbers by spaces: 12 10",
    "battle 12:10": "separate numbers by spaces: 12 10",
    "battle 12,10": "separate numbers by spaces: 12 10",
    "decide 12 10 5": "did you mean --prize 5?",
    "defend 12 90": "did you mean --chance 90%?",
    f"win {GAME} --win-by 70%": "did you mean share=70%?",
    f"win {GAME} --win-by capital": "did you mean capitals?",
    f"win {GAME} --win-by share=70": "did you mean 70%?",
    f"win {GAME} share=70%": "did you mean --win-by share=70%?",
    "need 10 --chance 150%": "--chance must lie between 0% and 100%, 0% excluded, got '150%'",
    f"plan {GAME} --take Asien": (
        "its continents are North America, South America, Europe, Africa, Asia, Australia"
    ),
    "battle 12 10 --rules attack-leader+defence-leader": (
        "To combine other rules, write a rules file"
    ),
    f"plan {GAME} --hold Peru": "did you mean --take Peru --hold?",
    "roll 4 2": "attack dice must be a whole number from 1 to 3, got 4",
    "plan --take South America": f'{QUOTES}--take "South America"',
    f"plan {GAME} --take South America --hold": f'{QUOTES}--take "South America"',
    "plan --from North Africa=9 --others 2 --take Asia": f'{QUOTES}--from "North Africa=9"',
    f"win {GAME} --win-by missions --mission red=Asia, South America": (
        f'{QUOTES}--mission "red=Asia, South America"'
    ),
    "win --win-by missions --mission red=Asia, South America": (
        f'{QUOTES}--mission "red=Asia, South America"'
    ),
}


@pytest.mark.parametrize("line", HINTS)
def test_an_error_ends_with_the_form_that_works(run: Run, line: str) -> None:
    result = run(line)
    assert (result.code, result.stdout, result.stderr.count("\n")) == (2, "", 1)
    assert result.stderr.rstrip().endswith(HINTS[line])


def test_a_suggested_command_works(run: Run) -> None:
    for line in ("campaign 12 10 5", "battle 12 7 --rules capital", "decide 12 10 --prize 5"):
        assert run(line).code == 0


def test_a_probable_chance_gets_a_hint(run: Run) -> None:
    hint = "If 95 is the chance and not a territory, ask: iacta need 10 --chance 95%.\n"
    assert hint in run("need 10 95").stdout
    for line in ("need 10 12", "need 10", "need 10 8 95", "need 60 95"):
        assert "is the chance" not in run(line).stdout


def test_a_path_after_an_option_is_not_a_part_of_a_name(run: Run) -> None:
    assert run("plan --take Asia game.toml").stderr == (
        "iacta: cannot read 'game.toml': no such file\n"
    )


@pytest.mark.parametrize("question", ["goals", "threats", "win", "plan"])
def test_questions_about_a_moment_accept_armies_without_a_file(run: Run, question: str) -> None:
    more = " --take Peru" if question == "plan" else ""
    assert run(f"{question} --from Brazil=9 --others 1{more} --time-limit 1").code == 0
    missing = run(f"{question} --from Brazil=9{more}")
    assert missing.stderr == "iacta: --from also needs --others\n"
    both = run(f"{question} {GAME} --from Brazil=9 --others 2{more}")
    assert (both.code, both.stderr.count("cannot be combined")) == (2, 1)


def test_a_roll_says_that_it_depends_on_a_defender_who_sees_first(run: Run) -> None:
    first, second, *_ = run("roll 3 2 --rules defender-sees-first").stdout.splitlines()
    assert first.startswith(
        "If they throw 2 dice, a roll of 3 attack dice against 2 costs you 0.92"
    )
    assert second.startswith("Under these rules they choose how many dice to throw after seeing")
    assert "choose how many dice" not in run("roll 3 2").stdout
