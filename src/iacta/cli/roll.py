"""`iacta roll`: what one roll of the dice costs."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from iacta.cli import options, show
from iacta.cli.picture import read_picture
from iacta.rules.roll import Losses, Roll

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["roll"]

AttackDice = Annotated[str, typer.Argument(metavar="ATTACK_DICE", help="Attack dice that count.")]
DefenceDice = Annotated[
    str, typer.Argument(metavar="DEFENCE_DICE", help="Defence dice that count.")
]


def roll(
    attack_dice: AttackDice,
    defence_dice: DefenceDice,
    rules: options.RulesName = None,
    rules_file: options.RulesFile = None,
    garrison: options.Garrison = None,
    exact: options.Exact = False,
    as_json: options.Json = False,
    as_csv: options.Csv = False,
    plot: options.Plot = None,
    dark: options.Dark = False,
) -> None:
    """Tell what one roll of the dice costs both sides.

    Example: iacta roll 3 2
    """
    chosen = options.output(as_json, as_csv)
    picture = read_picture(plot, dark)
    known = options.read_rules(rules, rules_file, garrison)
    thrown = Roll(
        options.number(attack_dice, "attack_dice", least=1),
        options.number(defence_dice, "defence_dice", least=1),
        known.rules,
    )
    label = known.name
    show.emit(
        chosen,
        record=lambda: _record(thrown, label),
        rows=lambda: _rows(thrown, exact),
        text=lambda console: _tell(console, thrown, label, exact),
    )
    if picture:
        picture.draw(lambda charts: charts.roll_losses(thrown))


def _counts(thrown: Roll) -> Iterator[tuple[Losses, int]]:
    """Yield the losses and their counts, best for the attackers first."""
    law, gain = thrown.law(), thrown.rules.all_ones_gain
    if law.gains:
        yield Losses(-gain, -gain), law.gains
    for k in range(law.compared, -1, -1):
        yield Losses(law.compared - k, k), law.counts[k]


def _record(thrown: Roll, label: str) -> dict[str, object]:
    total = thrown.law().total
    attackers, defenders = thrown.expected_losses()
    return {
        "attack_dice": thrown.attack_dice,
        "defence_dice": thrown.defence_dice,
        "rules": label,
        "expected_attackers_lost": float(attackers),
        "expected_defenders_lost": float(defenders),
        "losses": [
            {**losses._asdict(), "count": count, "total": total, "probability": count / total}
            for losses, count in _counts(thrown)
        ],
    }


def _rows(thrown: Roll, exact: bool) -> Iterator[Sequence[object]]:
    law = thrown.losses() if exact else thrown.losses().to_float()
    yield ("attackers", "defenders", "probability")
    for losses, _ in _counts(thrown):
        yield (*losses, show.all_digits(law[losses]))


def _told(losses: Losses) -> str:
    if losses.attackers < 0:
        return f"you and they gain {-losses.attackers}"
    return f"you lose {losses.attackers}, they lose {losses.defenders}"


def _tell(console: "Console", thrown: Roll, label: str, exact: bool) -> None:
    total = thrown.law().total
    attackers, defenders = thrown.expected_losses()
    show.say(
        console,
        f"On average a roll of {thrown.attack_dice} attack "
        f"{'die' if thrown.attack_dice == 1 else 'dice'} against {thrown.defence_dice} "
        f"costs you {float(attackers):.4f} armies and them {float(defenders):.4f}"
        f"{show.under(label)}.",
    )
    if exact:
        show.say_exactly(console, attackers, defenders)
    console.print()
    show.bars(
        console,
        [
            (
                f"{_told(losses)}: {count:>{len(str(total))}} of {total} rolls",
                count / total,
                "green" if losses.defenders > losses.attackers else "red",
            )
            for losses, count in _counts(thrown)
        ],
    )
