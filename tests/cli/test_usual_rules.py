"""The default rules of commands."""

from pathlib import Path

import pytest

from tests.cli.run import Run


def test_the_environment_sets_the_usual_rules(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    capital, wall = run("battle 12 10 --rules capital"), run("battle 12 10 --rules wall")
    monkeypatch.setenv("IACTA_RULES", "Capital")
    assert run("battle 12 10") == capital
    assert run("battle 12 10 --rules wall") == wall
    monkeypatch.setenv("IACTA_RULES", "")
    assert run("battle 12 10") not in (capital, wall)


def test_a_rules_file_comes_before_the_usual_rules(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("IACTA_RULES", "wall")
    house = tmp_path / "house.toml"
    house.write_text('name = "house"\n', encoding="utf-8")
    assert "(rules: house)" in run(f"battle 12 10 --rules-file {house}").stdout


def test_the_usual_rules_do_not_affect_iacta_rules(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    listed = run("rules")
    monkeypatch.setenv("IACTA_RULES", "capital")
    assert run("rules") == listed


def test_wrong_rules_in_the_environment_are_refused(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("IACTA_RULES", "capitol")
    assert run("battle 12 10").stderr.startswith("iacta: IACTA_RULES: unknown rules")
