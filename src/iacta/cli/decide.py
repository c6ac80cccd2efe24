"""`iacta decide`: roll, stop or blitz, and how far to go."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from iacta.cli import options, show
from iacta.cli.decide_dice import Prices, tell_dice
from iacta.cli.picture import read_picture
from iacta.errors import IllegalError
from iacta.questions.decisions import Boundary, Decision, best_mix, when_to_stop
from iacta.rules.modes import BalancedBlitz
from iacta.rules.rules import Rules

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["decide"]

USUAL_PRIZE = "3"
USUAL_ARMY_VALUE = "1"
USUAL_KILL_VALUE = "0"
MOST_LINES = 20
BLITZ = Rules(mode=BalancedBlitz())
MORE_ATTACKERS = 2  # than are needed, on the map
LETTERS = {"roll": ("R", "green"), "blitz": ("B", "cyan"), "stop": (".", "yellow")}

Prize = Annotated[
    str | None,
    typer.Option(
        "--prize",
        metavar="P",
        help=f"What taking the territory is worth: 10, 2.5 or 5/2 armies; usually {USUAL_PRIZE}.",
    ),
]
ArmyValue = Annotated[
    str | None,
    typer.Option(
        "--army-value",
        metavar="V",
        help=f"What each army that you keep is worth; usually {USUAL_ARMY_VALUE}.",
    ),
]
KillValue = Annotated[
    str | None,
    typer.Option(
        "--kill-value",
        metavar="V",
        help=f"What each destroyed enemy army is worth; usually {USUAL_KILL_VALUE}.",
    ),
]
Mix = Annotated[
    bool,
    typer.Option("--mix", help="In the official app: roll by hand or blitz, for conquest alone."),
]
Dice = Annotated[bool, typer.Option("--dice", help="How many dice to throw, and to answer with.")]


def decide(
    attackers: options.Attackers,
    defenders: options.Defenders,
    prize: Prize = None,
    army_value: ArmyValue = None,
    kill_value: KillValue = None,
    mix: Mix = False,
    dice: Dice = False,
    rules: options.RulesName = None,
    rules_file: options.RulesFile = None,
    garrison: options.Garrison = None,
    exact: options.Exact = False,
    as_json: options.Json = False,
    as_csv: options.Csv = False,
    plot: options.Plot = None,
    dark: options.Dark = False,
) -> None:
    """Tell whether to roll or to stop now, and with how many armies to go on later.

    Examples: iacta decide 20 10 --prize 10; iacta decide 12 10 --mix
    """
    chosen = options.output(as_json, as_csv)
    picture = read_picture(plot, dark)
    known = options.read_rules(rules, rules_file, garrison)
    battle = (
        options.number(attackers, "attackers", least=1),
        options.number(defenders, "defenders", least=1),
        known.rules,
    )
    given = {"--prize": prize, "--army-value": army_value, "--kill-value": kill_value}
    worth = Prices(
        prize=USUAL_PRIZE if prize is None else prize,
        army_value=USUAL_ARMY_VALUE if army_value is None else army_value,
        kill_value=USUAL_KILL_VALUE if kill_value is None else kill_value,
    )
    if mix:
        _refuse_with_mix({**given, "--exact": exact or None, "--dice": dice or None})
    if dice:
        weighed = any(value is not None for value in given.values())
        told = tell_dice(battle, known.name, worth if weighed else None, exact, chosen)
        if picture:
            picture.draw(lambda charts: charts.dice_map(told))
        return
    with show.patience():
        decision = best_mix(*battle) if mix else _when_to_stop(battle, worth, exact)
    show.emit(
        chosen,
        record=lambda: _record(decision, known.name),
        rows=lambda: _rows(decision),
        text=lambda console: _tell(console, decision, known.name),
    )
    if picture:
        picture.draw(lambda charts: charts.decision_map(decision))


def _when_to_stop(battle: tuple[int, int, Rules], worth: Prices, exact: bool) -> Decision:
    return when_to_stop(
        *battle,
        prize=worth.prize,
        army_value=worth.army_value,
        kill_value=worth.kill_value,
        exact=exact,
    )


def _refuse_with_mix(others: Mapping[str, object]) -> None:
    """Refuse what a mix of rolls and blitz cannot weigh.

    others: the other options, `None` if they are not given.
    """
    given = [name for name, value in others.items() if value is not None]
    if given:
        raise IllegalError(
            f"--mix must stand without {given[0]}: it looks at the chance of conquest, in floats"
        )


def _record(decision: Decision, label: str) -> dict[str, object]:
    return {
        "attackers": decision.attackers,
        "defenders": decision.defenders,
        "rules": label,
        "objective": decision.objective,
        "action": decision.action,
        "value": float(decision.value),
        "value_exact": show.exact_text(decision.value),
        "win_probability": float(decision.win_probability),
        "win_probability_exact": show.exact_text(decision.win_probability),
        "expected_attackers_left": float(decision.expected_attackers_left),
        "boundary": [
            {"defenders": each.defenders, "attackers": each.attackers} for each in decision.boundary
        ],
    }


def _rows(decision: Decision) -> Iterator[Sequence[object]]:
    """Yield what to do in every state that the battle can come to."""
    yield ("attackers", "defenders", "action")
    for attackers in range(1, decision.attackers + 1):
        for defenders in range(1, decision.defenders + 1):
            yield (attackers, defenders, decision.action_at(attackers, defenders))


def _tell(console: "Console", decision: Decision, label: str) -> None:
    if decision.attackers <= decision.rules.garrison:
        show.say_cannot_attack(console, decision.attackers, decision.rules.garrison)
        return
    sentence = _mix_order(decision) if decision.objective == "conquest" else _order(decision)
    show.say(console, f"{sentence}{show.under(label)}.")
    if decision.action != "stop":
        left = float(decision.expected_attackers_left)
        fought = [BLITZ if decision.action == "blitz" else decision.rules]
        won = show.told(decision.win_probability, fought)
        show.say(
            console,
            f"You take the territory with a chance of {show.percent(won)}, "
            f"and keep {left:.2f} armies in the mean.",
        )
    show.say_exactly(console, decision.value)
    _tell_boundary(console, decision)


def _order(decision: Decision) -> str:
    """Return what to do now, and why."""
    count, now = decision.attackers, f"{float(decision.value_if_stopped):.2f}"
    verb = "is" if count == 1 else "are"
    worth = f"{count} {show.armies(count)} against {decision.defenders} {verb} worth"
    if decision.action == "stop":
        return f"Stop: {worth} {now} as the battle stands, and no more if you roll"
    return f"Roll: {worth} {float(decision.value):.2f} if you go on, {now} if you stop"


def _mix_order(decision: Decision) -> str:
    battle = f"{decision.attackers} {show.armies(decision.attackers)} against {decision.defenders}"
    if decision.action == "blitz":
        return f"Blitz: with {battle} a balanced blitz now is the best you can do"
    return f"Roll: with {battle} one roll by hand is better than a balanced blitz now"


def _tell_boundary(console: "Console", decision: Decision) -> None:
    """Say from where on to go on, for the last of the defenders."""
    mixed = decision.objective == "conquest"
    word = "blitz" if mixed else "go on"
    below = "with fewer roll by hand" if mixed else "with fewer stop"
    show.heading(console, f"{word.capitalize()} with at least so many armies; {below}:")
    shown = decision.boundary[-MOST_LINES:]
    show.print_table(
        console, ("", word), [(f"against {each.defenders}", _fewest(each)) for each in shown]
    )
    if len(shown) < len(decision.boundary):
        show.say(console, "Those against fewer are printed with --json.")
    if _turns_back(decision):
        other = "roll" if mixed else "stop"
        show.say(
            console, f"With more armies it can be right to {other} again: --csv tells every state."
        )
    _draw_map(console, decision)


def _turns_back(decision: Decision) -> bool:
    """Tell whether more attackers can make the wrong action of what was the right one."""
    able = decision.attackers - decision.rules.garrison
    rolls = decision.rolls[1 : decision.defenders + 1, 1 : able + 1]
    wanted = ~rolls if decision.objective == "conquest" else rolls
    return bool((wanted[:, 1:] < wanted[:, :-1]).any())


def _draw_map(console: "Console", decision: Decision) -> None:
    """Draw what to do, a letter for each state; that of this battle stands in brackets."""
    from rich.text import Text

    heights = _thinned(_top(decision), decision.attackers)[::-1]
    across = _thinned(decision.defenders, decision.defenders)
    margin, cell = len(str(heights[0])), max(len(str(across[-1])) + 1, len("[R]"))
    words = ("B blitz, R roll, " if decision.objective == "conquest" else "R roll, ") + ". stop"
    show.heading(console, f"The map ({words}), attackers upwards, defenders to the right:")
    for attackers in heights:
        line = Text(f"{attackers:>{margin}} ")
        for defenders in across:
            letter, style = LETTERS[decision.action_at(attackers, defenders)]
            here = (attackers, defenders) == (decision.attackers, decision.defenders)
            line.append(f"{f'[{letter}]' if here else f' {letter} ':>{cell}}", style=style)
        line.rstrip()
        console.print(line, soft_wrap=True)
    foot = "".join(f"{f'{count} ' if count < 100 else count:>{cell}}" for count in across)
    show.say(console, f"{' ' * (margin + 1)}{foot.rstrip()}")


def _top(decision: Decision) -> int:
    """Return the most attackers on the map."""
    fewest = [each.attackers for each in decision.boundary if each.attackers is not None]
    known = decision.rolls.shape[1] - 1 + decision.rules.garrison
    return min(max(decision.attackers, *fewest, 1) + MORE_ATTACKERS, int(known))


def _thinned(most: int, kept: int) -> list[int]:
    """Return the numbers up to the most, or if they are too many a part of them with one kept.

    >>> _thinned(4, 2), _thinned(60, 59)[:3], _thinned(60, 59)[-1]
    ([1, 2, 3, 4], [2, 5, 8], 59)
    """
    step = -(-most // MOST_LINES)
    return list(range(kept % step or step, most + 1, step))


def _fewest(boundary: Boundary) -> str:
    return "never" if boundary.attackers is None else str(boundary.attackers)
