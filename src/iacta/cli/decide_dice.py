"""How many dice to throw: the part of `iacta decide` that answers with `--dice`."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from iacta.checks import Chance
from iacta.cli import options, show
from iacta.cli.dice_words import dice_words
from iacta.questions.decisions import DiceDecision, how_many_dice
from iacta.rules.rules import Rules

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["Prices", "tell_dice"]

MOST_LINES = 20


class Prices(NamedTuple):
    """What territory and armies are worth to the attacker."""

    prize: Chance
    army_value: Chance
    kill_value: Chance


class _Fewer(NamedTuple):
    """A state in which a side does best with fewer dice than it may throw."""

    attackers: int
    defenders: int
    attack_dice: int
    defence_dice: int


def tell_dice(
    battle: tuple[int, int, Rules],
    label: str,
    worth: Prices | None,
    exact: bool,
    chosen: options.Output,
) -> DiceDecision:
    """Print how many dice both sides should throw, and return it.

    battle: attackers, garrison included, defenders and rules.
    label: the name of the rules.
    worth: what territory and armies are worth, and then the attacker may stop too; `None` if he
        wants nothing but the territory.
    exact: whether to count in fractions.
    chosen: what to print.
    """
    with show.patience():
        if worth is None:
            decision = how_many_dice(*battle, exact=exact)
        else:
            decision = how_many_dice(
                *battle,
                may_stop=True,
                prize=worth.prize,
                army_value=worth.army_value,
                kill_value=worth.kill_value,
                exact=exact,
            )
    objective = "conquest" if worth is None else "value"
    show.emit(
        chosen,
        record=lambda: _record(decision, label, objective),
        rows=lambda: _rows(decision),
        text=lambda console: _tell(console, decision, label, objective),
    )
    return decision


def _record(decision: DiceDecision, label: str, objective: str) -> dict[str, object]:
    return {
        "attackers": decision.attackers,
        "defenders": decision.defenders,
        "rules": label,
        "objective": objective,
        "action": "roll" if decision.attack_dice else "stop",
        "attack_dice": decision.attack_dice,
        "defence_dice": decision.defence_dice,
        "value": float(decision.value),
        "value_exact": show.exact_text(decision.value),
        "win_probability": float(decision.win_probability),
        "win_probability_exact": show.exact_text(decision.win_probability),
        "fewer": [state._asdict() for state in _fewer(decision)],
    }


def _rows(decision: DiceDecision) -> Iterator[Sequence[object]]:
    yield ("attackers", "defenders", "attack_dice", "defence_dice")
    yield from _states(decision)


def _states(decision: DiceDecision) -> Iterator[_Fewer]:
    """Yield every state that the battle can come to in which armies can attack."""
    garrison = decision.rules.garrison
    for able in range(1, decision.attackers - garrison + 1):
        for d in range(1, decision.defenders + 1):
            ours, theirs = decision.attack_policy[d, able], decision.defence_policy[d, able]
            yield _Fewer(able + garrison, d, int(ours), int(theirs))


def _fewer(decision: DiceDecision) -> list[_Fewer]:
    """Return the states in which one side should throw fewer dice than it may."""
    attack, defence = decision.rules.full_roll
    garrison = decision.rules.garrison
    return [
        state
        for state in _states(decision)
        if 0 < state.attack_dice < min(attack, state.attackers - garrison)
        or 0 < state.defence_dice < min(defence, state.defenders)
    ]


def _tell(console: "Console", decision: DiceDecision, label: str, objective: str) -> None:
    if decision.attackers <= decision.rules.garrison:
        show.say_cannot_attack(console, decision.attackers, decision.rules.garrison)
        return
    if decision.attack_dice:
        order = f"Throw {dice_words(decision.attack_dice)}; the best answer is "
        order += dice_words(decision.defence_dice)
    else:
        order = "Stop: no number of dice is better"
    show.say(console, f"{order}{show.under(label)}.")
    if decision.attack_dice:
        worth = f", and the battle is worth {float(decision.value):.2f}"
        show.say(
            console,
            "If both sides choose best, you take the territory with a chance of "
            f"{show.percent(decision.win_probability)}{worth if objective == 'value' else ''}.",
        )
    show.say_exactly(console, decision.value)
    _tell_fewer(console, _fewer(decision))


def _tell_fewer(console: "Console", fewer: Sequence[_Fewer]) -> None:
    """Say where a side should throw fewer dice than it may."""
    if not fewer:
        show.say(console, "On the way there, fewer dice than allowed help neither side.")
        return
    show.heading(console, "Fewer dice than allowed are right in these states:")
    columns = ("attackers", "defenders", "your dice", "their dice")
    shown = fewer[-MOST_LINES:]
    show.print_table(console, columns, [tuple(map(str, state)) for state in shown])
    if len(shown) < len(fewer):
        show.say(console, f"The other {len(fewer) - len(shown)} are printed with --json.")
