"""The rules that commands take where none are given."""

from pathlib import Path

import pytest

from tests.cli.run import Run


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.delenv("IACTA_RULES", raising=False)
    (tmp_path / "iacta").mkdir()
    return tmp_path / "iacta" / "config.toml"


def test_the_environment_sets_the_usual_rules(
    run: Run, settings: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    capital, wall = run("battle 12 10 --rules capital"), run("battle 12 10 --rules wall")
    monkeypatch.setenv("IACTA_RULES", "Capital")
    assert run("battle 12 10") == capital
    assert run("battle 12 10 --rules wall") == wall
    settings.write_text('rules = "wall"\n', encoding="utf-8")
    assert run("battle 12 10") == capital, "the environment comes before the file"
    monkeypatch.setenv("IACTA_RULES", "")
    assert run("battle 12 10") == wall


def test_a_rules_file_comes_before_the_usual_rules(
    run: Run, settings: Path, tmp_path: Path
) -> None:
    settings.write_text('rules = "wall"\n', encoding="utf-8")
    house = tmp_path / "house.toml"
    house.write_text('name = "house"\n', encoding="utf-8")
    assert "(house)" in run(f"battle 12 10 --rules-file {house}").stdout


def test_the_rules_that_are_explained_are_not_played(
    run: Run, settings: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    listed = run("rules")
    monkeypatch.setenv("IACTA_RULES", "capital")
    assert run("rules") == listed


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ('rules = "capitol"', "unknown rules 'capitol'; did you mean 'capital'?"),
        ('ruls = "wall"', "unknown key 'ruls'; expected rules"),
        ("rules = 3", "rules must be a text, got 3"),
        ("rules", "invalid TOML: Expected"),
    ],
)
def test_wrong_settings_are_refused_with_their_file(
    run: Run, settings: Path, content: str, sentence: str
) -> None:
    settings.write_text(content, encoding="utf-8")
    ended = run("battle 12 10")
    assert (ended.code, ended.stdout) == (2, "")
    assert str(settings) in ended.stderr
    assert sentence in ended.stderr


def test_wrong_rules_in_the_environment_are_refused(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("IACTA_RULES", "capitol")
    assert run("battle 12 10").stderr.startswith("iacta: IACTA_RULES: unknown rules")


def test_without_a_home_nothing_is_read_from_the_current_folder(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "~" / ".config" / "iacta"
    folder.mkdir(parents=True)
    (folder / "config.toml").write_text('rules = "capital"\n')
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    monkeypatch.setattr("os.path.expanduser", lambda path: path)  # as for a user without a home
    assert "capital" not in run("battle 9 8").stdout
    assert run("battle 9 8 --plot x.html").code == 0
    assert sorted(each.name for each in tmp_path.iterdir()) == ["x.html", "~"]
    assert [each.name for each in (tmp_path / "~").iterdir()] == [".config"]
