"""Pictures of the laws of battles and rolls."""

from collections.abc import Callable, Sequence

import altair as alt

from iacta.battle.battle import Battle
from iacta.charts.bars import HOLD, STOP, WIN, histogram, rows
from iacta.charts.theme import BLUE, GREY, RED, AnyChart, Row, expect, finish, named
from iacta.charts.words import armies, fight, per_cent, rules_words
from iacta.distribution import Distribution
from iacta.methods.outcome import Outcome, is_won
from iacta.rules.roll import Losses, Roll

__all__ = ["REMAIN", "battle_law", "final_difference", "roll_law", "signed_left"]

REMAIN = ("armies that remain, the garrison included:", "theirs left of 0, yours right of 0")
LEAST_GAPS = 3  # between teeth that are seen as such
ENDS = ("you lose more", "they lose more", "neither does")


def battle_law(battle: Battle) -> AnyChart:
    """Return how a battle ends: the chances of each number of armies left, to either side.

    battle: the battle.

    The chart has a table `outcomes`: `end`, the numbers of armies from `least` to `most`, yours
    above 0 and theirs below, and their `probability`. More than 120 numbers are joined, and of
    more than 40 those at the ends are left out that come once in 10,000 battles. Battles with more
    outcomes than can be listed are refused.
    """
    expect(battle, Battle, "battle")
    law = battle.outcomes()
    told = rows(_ends(law, battle, signed_left))
    return finish(
        histogram("outcomes", told, REMAIN),
        won_title(law),
        fight(battle.attackers, battle.defenders, battle.rules, battle.stop)
        + f" How it ends, the garrison of {battle.rules.garrison} included.",
        {"outcomes": told},
    )


def final_difference(battle: Battle) -> AnyChart:
    """Return the difference of the armies left at the end: attackers less defenders.

    battle: the battle.

    The chart has a table `differences` as `battle_law` has `outcomes`. A roll with all dice takes
    two armies in classic Risk, so that even and odd differences are not equally easy to come by:
    hence the teeth, where both sides are well above their dice. The same is refused as by
    `battle_law`.

    Source: Höhle (2025), the sawtooth of 50 against 50, without garrison.
    """
    expect(battle, Battle, "battle")
    law = battle.outcomes()
    told = rows(_ends(law, battle, lambda end: end.attackers - end.defenders))
    likeliest = law.mode()
    left = (
        f"leaves you {armies(likeliest.attackers)}"
        if is_won(likeliest)
        else f"leaves them {armies(likeliest.defenders)}"
    )
    return finish(
        histogram("differences", told, "attackers less defenders at the end, in armies"),
        f"{won_title(law)} The likeliest single end {left}.",
        fight(battle.attackers, battle.defenders, battle.rules, battle.stop) + _teeth(battle, told),
        {"differences": told},
    )


def _teeth(battle: Battle, told: Sequence[Row]) -> str:
    """Return why the bars go up and down, if they do."""
    taken = min(battle.rules.full_roll)
    bars = [row["probability"] for row in sorted(told, key=lambda row: float(row["least"]))]
    gaps = sum(a > b < c for a, b, c in zip(bars, bars[1:], bars[2:], strict=False))
    if taken == 1 or battle.rules.dice_mode != "true random" or gaps < LEAST_GAPS:
        return ""
    return f" A roll with all dice takes {taken} armies in all: hence the teeth."


def won_title(law: Distribution[Outcome]) -> str:
    """Return how often a battle is won, as a sentence.

    law: how it ends.
    """
    if all(map(is_won, law)):
        return "You always win."
    if not any(map(is_won, law)):
        return "You never win."
    return f"You win {per_cent(law.prob(is_won))} of the time."


def signed_left(end: Outcome) -> int:
    """Return the armies left to the side that has the territory: theirs are below 0.

    end: how a battle ends.
    """
    return end.attackers if is_won(end) else -end.defenders


def _ends(
    law: Distribution[Outcome], battle: Battle, number: Callable[[Outcome], int]
) -> Distribution[tuple[str, int]]:
    """Return the law of how it ends, with a number that tells how well."""
    garrison = battle.rules.garrison

    def told(end: Outcome) -> tuple[str, int]:
        """Return which end it is, and its number.

        end: how the battle ends.
        """
        if is_won(end):
            return WIN, number(end)
        return (STOP if end.attackers > garrison else HOLD), number(end)

    return law.map(told)


def roll_law(roll: Roll) -> AnyChart:
    """Return what one roll of the dice costs both sides.

    roll: the roll.

    The chart has a table `losses`: the armies that `attackers` and `defenders` lose, and the
    `count` of equally likely rolls, of a `total`, that cost so many.

    Source: Taflin (2001), table 1.
    """
    expect(roll, Roll, "roll")
    total = roll.law().total
    told = [
        {
            "losses": _losses(losses),
            "worse": _worse(losses),
            **losses._asdict(),
            "count": int(chance * total),
            "total": total,
            "probability": float(chance),
        }
        for losses, chance in sorted(roll.losses().items())
    ]
    ours, theirs = (float(mean) for mean in roll.expected_losses())
    dice = "die" if roll.attack_dice == 1 else "dice"
    return finish(
        _losses_chart(told),
        f"A roll costs you {ours:.2f} and them {theirs:.2f} armies on average.",
        f"Armies lost in one roll of {roll.attack_dice} attack {dice} against {roll.defence_dice} "
        f"({rules_words(roll.rules)}).",
        {"losses": told},
    )


def _losses(losses: Losses) -> str:
    if losses.attackers < 0:
        return f"both gain {-losses.attackers}"
    return f"you {losses.attackers}, they {losses.defenders}"


def _worse(losses: Losses) -> str:
    if losses.attackers == losses.defenders:
        return ENDS[2]
    return ENDS[losses.attackers < losses.defenders]


def _losses_chart(told: Sequence[Row]) -> AnyChart:
    ends = [end for end in ENDS if any(row["worse"] == end for row in told)]
    colours = dict(zip(ENDS, (RED, BLUE, GREY), strict=True))
    base = alt.Chart(named("losses")).encode(
        y=alt.Y("losses:N", title="armies lost", sort=[row["losses"] for row in told]),
        x=alt.X(
            "probability:Q",
            title="chance",
            axis=alt.Axis(format="~%", tickCount=5),
            scale=alt.Scale(domainMax=1.25 * max(row["probability"] for row in told)),
        ),
        tooltip=[
            alt.Tooltip("losses:N", title="armies lost"),
            alt.Tooltip("count:Q", title="rolls"),
            alt.Tooltip("total:Q", title="of so many"),
            alt.Tooltip("probability:Q", title="chance", format=".16~g"),
        ],
    )
    color = alt.Color(
        "worse:N", title=None, scale=alt.Scale(domain=ends, range=[colours[end] for end in ends])
    )
    text = base.mark_text(align="left", dx=5).encode(text=alt.Text("probability:Q", format=".2~%"))
    return alt.layer(base.mark_bar().encode(color=color), text).properties(height=50 * len(told))
