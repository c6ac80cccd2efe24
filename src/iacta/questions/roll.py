"""The losses of one roll of the dice."""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

from iacta.forms.form import Example, Topic, parameter
from iacta.forms.parameter_kinds import Whole
from iacta.forms.percentages import format_all_digits, list_fractions
from iacta.forms.question import Answer, Charts, Question, Watch, question
from iacta.forms.record import OMITTED, RULES_KEY, KeyedRecord, key
from iacta.forms.sections import Bar, Bars, Section, make_sections
from iacta.forms.sentences import add_noun, note_rules
from iacta.forms.shared_parameters import ExactForm, RulesForm
from iacta.inputs.meanings import Count, Unit
from iacta.rules.roll import Losses, Roll, count_losses


@question(
    "roll",
    Topic.STUDY,
    Example("roll 3 2", "how many armies does one roll cost each side?"),
    Example("roll 3 2 --rules bunker", "what if the highest defence die counts one more?"),
)
class RollQuestion(RulesForm, ExactForm, Question):
    """Show how many armies each side loses in one roll of the dice."""

    headline: ClassVar = "How costly is one roll?"

    attack_dice: int = parameter(Whole(minimum=1), "Attack dice that count.", is_argument=True)
    defence_dice: int = parameter(Whole(minimum=1), "Defence dice that count.", is_argument=True)

    @cached_property
    def roll(self) -> Roll:
        return Roll(self.attack_dice, self.defence_dice, self.rule_set.rules)

    def compute_losses_if_seen(self) -> tuple[Fraction, Fraction] | None:
        """Return the expected losses if the defender chooses their dice last; `None` otherwise."""
        is_chosen = not self.roll.rules.mode.dice_chosen_first and self.roll.defence_dice > 1
        return self.roll.expected_losses_if_seen() if is_chosen else None

    def answer(self, watch: Watch | None = None) -> "RollAnswer":
        return RollAnswer(self, tuple(_sort_losses(self.roll)))


def _sort_losses(roll: Roll) -> Iterator[tuple[Losses, int]]:
    """Yield possible losses with their counts, best for the attackers first."""
    counts = count_losses(roll.attack_dice, roll.defence_dice, roll.rules)
    yield from sorted(
        counts.items(),
        key=lambda item: (item[0].attackers >= 0, item[0].attackers - item[0].defenders),
    )


class LossesRecord(KeyedRecord, of=Losses):
    """Possible losses in one roll. Negative losses are gains, which some rules allow."""

    attackers: int
    defenders: int
    count: Count = key("The number of equally likely rolls with these losses.")
    total: Count = key("The number of all equally likely rolls.")
    probability: Unit = key("The chance of these losses.")

    @classmethod
    def from_count(cls, losses: Losses, count: int, total: int) -> "LossesRecord":
        """Create a record from the number of equally likely rolls with these losses."""
        return cls(**losses._asdict(), count=count, total=total, probability=count / total)


class RollRecord(KeyedRecord):
    """The losses of both sides in one roll of the dice."""

    attack_dice: Count = key("Attack dice that count.", is_repeated=True)
    defence_dice: Count = key("Defence dice that count.", is_repeated=True)
    rules: str = key(RULES_KEY, is_repeated=True)
    expected_attackers_lost: float = key(
        "Armies that the attackers lose on average.", is_column=True
    )
    expected_defenders_lost: float = key(
        "Armies that the defenders lose on average.", is_column=True
    )
    losses: tuple[LossesRecord, ...] = key("The possible losses, best for the attackers first.")
    attackers_lost_if_seen: float = key(
        "Armies that the attackers lose on average if the defender sees their roll first and then "
        "throws the better number of dice.",
        default=OMITTED,
    )
    defenders_lost_if_seen: float = key(
        "Armies that the defenders lose on average in this case.", default=OMITTED
    )


class RollAnswer(Answer):
    """The losses of both sides in one roll of the dice.

    counts: pairs of possible losses and the number of equally likely rolls that cause them, best
        for the attackers first.
    """

    question: RollQuestion
    counts: tuple[tuple[Losses, int], ...]

    @cached_property
    def total(self) -> int:
        """The total number of equally likely rolls."""
        return sum(number for _, number in self.counts)

    @property
    def data(self) -> RollRecord:
        roll, total = self.question.roll, self.total
        attackers, defenders = roll.expected_losses()
        seen = self.question.compute_losses_if_seen()
        return RollRecord(
            attack_dice=roll.attack_dice,
            defence_dice=roll.defence_dice,
            rules=self.question.rule_set.name,
            expected_attackers_lost=float(attackers),
            expected_defenders_lost=float(defenders),
            losses=tuple(
                LossesRecord.from_count(losses, number, total) for losses, number in self.counts
            ),
            attackers_lost_if_seen=OMITTED if seen is None else float(seen[0]),
            defenders_lost_if_seen=OMITTED if seen is None else float(seen[1]),
        )

    def rows(self) -> Iterator[Sequence[object]]:
        exact = self.question.roll.losses()
        chances = exact if self.question.exact else exact.to_float()
        yield ("attackers", "defenders", "probability")
        for losses, _ in self.counts:
            yield (*losses, format_all_digits(chances[losses]))

    def draw(self, charts: Charts) -> Any:
        return charts.roll_losses(self.question.roll)

    def sections(self) -> Iterator[Section]:
        roll = self.question.roll
        means = attackers, defenders = roll.expected_losses()
        seen = self.question.compute_losses_if_seen()
        dice = add_noun(roll.attack_dice, "attack die", "attack dice")
        note = note_rules(self.question.rule_set.name)
        cost = f"costs you {float(attackers):.4f} armies and them {float(defenders):.4f}"
        if seen is None:
            sentences = [f"On average a roll of {dice} against {roll.defence_dice} {cost}{note}."]
        else:
            sentences = [
                f"On average a roll of {dice} costs you {float(seen[0]):.4f} armies and them "
                f"{float(seen[1]):.4f}, if they see your dice and then throw the better number "
                f"of dice, up to {roll.defence_dice}{note}.",
                f"A roll against {roll.defence_dice} dice {cost}:",
            ]
        if roll.rules.mode.is_used_up:
            sentences.append(f"This is a roll in which nobody uses {roll.rules.mode.described}.")
        fractions = [*list_fractions(*means), *(list_fractions(*seen) if seen else [])]
        yield Section([*sentences, *(fractions if self.question.exact else [])])
        width = len(str(self.total))
        yield Section(
            [
                Bars(
                    [
                        Bar(
                            f"{_describe_losses(losses)}: {number:>{width}} of {self.total} rolls",
                            number / self.total,
                            "good" if losses.defenders > losses.attackers else "bad",
                        )
                        for losses, number in self.counts
                    ]
                )
            ]
        )


def _describe_losses(losses: Losses) -> str:
    if losses.attackers < 0:
        return f"you and they gain {-losses.attackers}"
    return f"you lose {losses.attackers}, they lose {losses.defenders}"


def roll_answer(roll: Roll) -> RollAnswer:
    return RollQuestion(roll.attack_dice, roll.defence_dice, rules=roll.rules).answer()


@make_sections.register
def _(value: Roll) -> Iterator[Section]:
    return roll_answer(value).sections()
