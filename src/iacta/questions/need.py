"""The fewest armies that win with a required chance."""

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any, ClassVar

from iacta.battle.territory import stages
from iacta.forms.form import Example, Topic, parameter
from iacta.forms.parameter_kinds import Chance, Whole
from iacta.forms.percentages import (
    format_all_digits,
    list_fractions,
    mark_certain,
    percent,
    plain_percent,
)
from iacta.forms.question import Answer, Charts, Question, Watch, question
from iacta.forms.record import RULES_KEY, KeyedRecord, key
from iacta.forms.sections import Bar, Bars, Section
from iacta.forms.sentences import describe_stop, name_armies, note_rules
from iacta.forms.shared_parameters import ChainForm, ExactForm, RulesForm, StopForm
from iacta.inputs.meanings import Count, Unit
from iacta.odds.needed import (
    armies_needed_for_campaign,
    win_probabilities_keeping,
)
from iacta.probability.chances import refuse_certainty
from iacta.probability.distribution import Probability

NEIGHBOURS = 3
LIKELY_CHANCES = (50, 60, 66, 70, 75, 80, 85, 90, 95, 98, 99)  # percentages that users ask for


@question(
    "need",
    Topic.ATTACK,
    Example("need 10 --chance 95%", "how many armies win with that chance?"),
    Example(
        "need 8 2 2 --keep 5",
        "how many to take three territories and have 5 armies left on the last?",
    ),
)
class NeedQuestion(RulesForm, StopForm, ExactForm, ChainForm, Question):
    """Find how many armies you need to win with a given chance."""

    headline: ClassVar = "How many armies does it take?"

    chance: Fraction = parameter(
        Chance(certain=True), "The chance you want: 95%, 0.95 or 19/20.", default=Fraction(19, 20)
    )
    keep: int = parameter(Whole(), "Armies that must be left on the last territory.", default=0)

    def win_probabilities(
        self, attackers: Sequence[int], *, exact: bool = False
    ) -> list[Probability]:
        rules = self.rule_set.rules
        return win_probabilities_keeping(
            attackers, self.way, self.keep, rules, stop=self.stop, exact=exact
        )

    def answer(self, watch: Watch | None = None) -> "NeedAnswer":
        rules, way = self.rule_set.rules, stages(self.way, self.rule_set.rules, self.stop)
        if self.chance == 1 and not all(territory.kernel().certain for territory in way):
            raise refuse_certainty(self.get_text("chance"))
        needed = armies_needed_for_campaign(
            self.way, self.chance, rules, keep=self.keep, stop=self.stop
        )
        near = range(max(1, needed - NEIGHBOURS), needed + NEIGHBOURS + 1)
        chances = dict(zip(near, self.win_probabilities(near), strict=True))
        exact = self.win_probabilities([needed], exact=True)[0] if self.exact else None
        return NeedAnswer(self, needed, chances[needed] if exact is None else exact, chances)


class NeedRecord(KeyedRecord):
    """The fewest armies that win with a required chance."""

    defenders: Count | tuple[Count, ...] = key(
        "Armies on the territory, or a list of armies for a campaign.", is_repeated=True
    )
    chance: Unit = key(
        "The requested chance; 1 only under balanced blitz, where a battle can be certain.",
        is_repeated=True,
    )
    keep: Count = key("Armies that must be left on the last territory.", is_repeated=True)
    rules: str = key(RULES_KEY, is_repeated=True)
    attackers: Count = key("The fewest attackers.", is_column=True)
    win_probability: Unit = key(
        "The chance of these attackers to win and keep `keep` armies.", is_column=True
    )


class NeedAnswer(Answer):
    """The fewest armies that win with a required chance.

    attackers: the fewest attackers.
    win_probability: their chance to win and keep the required armies.
    near: the chances of slightly fewer and slightly more attackers, by number of attackers.
    """

    question: NeedQuestion
    attackers: int
    win_probability: Probability
    near: Mapping[int, Probability]

    @property
    def data(self) -> NeedRecord:
        question = self.question
        numbers = tuple(territory.defenders for territory in question.way)
        defenders = numbers[0] if len(numbers) == 1 else numbers
        return NeedRecord.from_attributes(self, question, defenders=defenders)

    def rows(self) -> Iterator[Sequence[object]]:
        record = self.record()
        record["defenders"] = " ".join(str(territory.defenders) for territory in self.question.way)
        record["win_probability"] = format_all_digits(self.win_probability)
        yield tuple(record)
        yield tuple(record.values())

    def draw(self, charts: Charts) -> Any:
        return charts.chance_by_attackers(self)

    def sections(self) -> Iterator[Section]:
        question, needed = self.question, self.attackers
        territories = len(question.way)
        goal = (
            f"beat {question.way[0].defenders}"
            if territories == 1
            else f"take all {territories} territories"
        )
        keeping = f" and keep {question.keep}" if question.keep else ""
        sentence = (
            f"You need {name_armies(needed)} to {goal}{keeping} with a chance of at least "
            f"{plain_percent(question.chance)}: with {needed} it is "
            f"{percent(self._exact_if_certain(self.win_probability))}{note_rules(question.rule_set.name)}."
        )
        hints = self._list_hints()
        fractions = list_fractions(self.win_probability)
        yield Section([sentence, *describe_stop(question.stop), *fractions, *hints])
        yield Section([Bars([self._make_bar(*entry) for entry in self.near.items()])])

    def _list_hints(self) -> Iterator[str]:
        """Yield a hint if the last number of defenders is probably a chance, as in `need 10 95`."""
        numbers = [territory.defenders for territory in self.question.way]
        if len(numbers) == 2 and numbers[1] in LIKELY_CHANCES and numbers[1] > 2 * numbers[0]:
            yield (
                f"If {numbers[1]} is the chance and not a territory, ask: iacta need "
                f"{numbers[0]} --chance {numbers[1]}%."
            )

    def _make_bar(self, attackers: int, chance: Probability) -> Bar:
        tone = "good" if attackers >= self.attackers else "bad"
        return Bar(name_armies(attackers), self._exact_if_certain(chance), tone)

    def _exact_if_certain(self, chance: Probability) -> Probability:
        way = stages(self.question.way, self.question.rule_set.rules)
        return mark_certain(chance, (stage.rules for stage in way))
