"""`iacta plan`: the best way to take territories, to eliminate a player, or to gain the most."""

import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Timer
from types import FrameType
from typing import Annotated, NamedTuple

import typer

from iacta.board.position import Position
from iacta.checks import read_chance
from iacta.cli import options, plan_options, plan_show, show
from iacta.cli.picture import read_picture
from iacta.errors import IllegalError
from iacta.plan import Goal, Plan, Worth, armies_needed_for_plan, best_plan, simulate_plan
from iacta.plan.simulated import check_runs
from iacta.rules.rules import Rules

__all__ = ["plan"]

PositionFile = Annotated[
    str,
    typer.Argument(metavar="POSITION", help="Who holds what, a JSON or TOML file; - for stdin."),
]
Take = Annotated[
    str | None,
    typer.Option("--take", metavar="NAMES", help="Take all of these, or of a continent."),
]
TakeAnyOf = Annotated[
    str | None, typer.Option("--take-any", metavar="NAMES", help="Take at least one of these.")
]
Eliminate = Annotated[
    str | None, typer.Option("--eliminate", metavar="PLAYER", help="Take all that a player has.")
]
ForWorth = Annotated[
    bool, typer.Option("--worth", help="Gain the most in the mean, by the three values below.")
]
TerritoryValue = Annotated[
    str | None,
    typer.Option("--territory-value", metavar="X", help="Worth of a territory; usually 1."),
]
BonusValue = Annotated[
    str | None,
    typer.Option("--bonus-value", metavar="X", help="Worth of an army of a bonus; usually 1."),
]
ArmyValue = Annotated[
    str | None, typer.Option("--army-value", metavar="X", help="Worth of an army left; usually 0.")
]
Keep = Annotated[
    str | None,
    typer.Option("--keep", metavar="NAMES", help="Larger garrisons, such as Brazil:3,Egypt:2."),
]
Stay = Annotated[
    str | None, typer.Option("--stay", metavar="NAMES", help="Stacks that may not attack.")
]
TimeLimit = Annotated[
    str | None, typer.Option("--time-limit", metavar="SECONDS", help="Then search no further.")
]
NeedChance = Annotated[
    str | None,
    typer.Option("--need", metavar="CHANCE", help="Tell the fewest armies with that chance too."),
]
Source = Annotated[
    str | None,
    typer.Option("--source", metavar="NAME", help="With --need: where; else the largest stack."),
]
CheckRuns = Annotated[
    str | None,
    typer.Option("--check", metavar="RUNS", help="Play it so many times with real dice."),
]
Seed = Annotated[
    str | None, typer.Option("--seed", metavar="N", help="With --check: throw the same dice again.")
]


def plan(
    position: PositionFile,
    take: Take = None,
    take_any: TakeAnyOf = None,
    eliminate: Eliminate = None,
    worth: ForWorth = False,
    territory_value: TerritoryValue = None,
    bonus_value: BonusValue = None,
    army_value: ArmyValue = None,
    rules: options.RulesName = None,
    rules_file: options.RulesFile = None,
    garrison: options.Garrison = None,
    keep: Keep = None,
    stay: Stay = None,
    time_limit: TimeLimit = None,
    need: NeedChance = None,
    source: Source = None,
    check: CheckRuns = None,
    seed: Seed = None,
    as_json: options.Json = False,
    as_csv: options.Csv = False,
    plot: options.Plot = None,
    dark: options.Dark = False,
) -> None:
    """Tell the best way to take a continent, to eliminate a player, or to gain the most.

    Example: iacta plan examples/asia.toml --take Asia
    """
    chosen = options.output(as_json, as_csv)
    _refuse_alone(need, source, "--source", "--need")
    _refuse_alone(check, seed, "--seed", "--check")
    picture = read_picture(plot, dark)
    known = options.read_rules(rules, rules_file, garrison)
    start = plan_options.read(position)
    if picture:
        picture.refuse_board(start.board)
    words = plan_options.GoalWords(
        take, take_any, eliminate, worth, territory_value, bonus_value, army_value
    )
    asked = _Asked(
        start,
        plan_options.read_goal(words, start),
        known.rules,
        plan_options.read_keep(keep, start.board),
        () if stay is None else start.board.find_set(stay),
    )
    limit = plan_options.read_seconds(time_limit)
    answer, is_whole = _answer(asked, known.name, limit, (need, source), (check, seed))
    show.emit(
        chosen,
        record=lambda: plan_show.record(answer),
        rows=lambda: plan_show.rows(answer.plan),
        text=lambda console: plan_show.tell(console, answer),
    )
    if not is_whole:
        raise KeyboardInterrupt
    if picture:
        picture.draw(lambda charts: charts.plan_map(answer.plan))


class _Asked(NamedTuple):
    """What a plan is asked for."""

    position: Position
    goal: Goal
    rules: Rules
    keep: dict[str, int]
    stay: tuple[str, ...]


def _refuse_alone(with_it: str | None, option: str | None, name: str, other: str) -> None:
    if option is not None and with_it is None:
        raise IllegalError(f"{name} must stand with {other}, got {name} {option} alone")


def _answer(
    asked: _Asked,
    label: str,
    limit: float | None,
    need: tuple[str | None, str | None],
    check: tuple[str | None, str | None],
) -> tuple[plan_show.Answer, bool]:
    """Return the best plan and what is asked of it, and whether Ctrl-C left none of that out."""
    if need[0] is not None:
        read_chance(need[0])
    if need[0] is not None and isinstance(asked.goal, Worth):
        raise IllegalError("--need must go with --take, --take-any or --eliminate, got --worth")
    runs = None if check[0] is None else check_runs(options.runs(check[0]))
    number = options.seed(check[1]) if runs else 0
    with _best_so_far(asked) as progress:
        found = best_plan(
            asked.position,
            asked.goal,
            asked.rules,
            keep=asked.keep,
            may_not_move=asked.stay,
            time_limit=limit,
            progress=progress,
        )
    if need[0] is None:
        plan_options.refuse_hopeless(found)
    answer = plan_show.Answer(found, label, None, None)
    try:
        with _stopped_at_once(), show.patience():
            if need[0] is not None:
                answer = answer._replace(need=_need(asked, found, need[0], need[1]))
            if runs:
                checked = plan_show.Check(runs, number, simulate_plan(found, runs, number))
                answer = answer._replace(check=checked)
    except _Stopped:
        return answer, False
    return answer, True


class _Stopped(BaseException):
    """Ctrl-C, where no search for a plan may take it for its own end."""


@contextmanager
def _stopped_at_once() -> Iterator[None]:
    """Let Ctrl-C end all within, where a search alone would take it and tell wrong numbers."""

    def stop(number: int, frame: FrameType | None) -> None:
        """Stop.

        number: the signal's.
        frame: where it came.
        """
        raise _Stopped

    before = signal.getsignal(signal.SIGINT)
    if before is not signal.default_int_handler:  # who started this wants no Ctrl-C
        yield
        return
    signal.signal(signal.SIGINT, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _need(asked: _Asked, found: Plan, wanted: str, source: str | None) -> plan_show.Need:
    """Return the fewest armies with which the best plan has a chance."""
    name = plan_options.find_source(found, source)
    armies = armies_needed_for_plan(
        asked.position,
        asked.goal,
        wanted,
        name,
        asked.rules,
        keep=asked.keep,
        may_not_move=asked.stay,
    )
    return plan_show.Need(read_chance(wanted), name, armies)


@contextmanager
def _best_so_far(asked: _Asked) -> Iterator[Callable[[float, float], None] | None]:
    """While the search runs for long, tell on a terminal how good the best plan is."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console

    status = Console(stderr=True).status("Planning; Ctrl-C stops.")

    def tell(value: float, bound: float) -> None:
        """Show how good the best plan is.

        value: what it is worth.
        bound: the most that any plan can be worth.
        """
        if isinstance(asked.goal, Worth):
            best = f"{value:.2f} more than now, at most {bound:.2f}"
        else:
            best = f"{show.percent(value)}, at most {show.percent(min(bound, 1.0))}"
        status.update(f"Planning; best so far {best}; Ctrl-C takes it.")

    timer = Timer(0.5, status.start)
    timer.start()
    try:
        yield tell
    finally:
        timer.cancel()
        timer.join()
        status.stop()
