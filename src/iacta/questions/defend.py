"""The defenders needed to hold a territory, and the best way to spread armies over a chain."""

from collections.abc import Iterator, Sequence
from dataclasses import astuple
from fractions import Fraction
from math import comb
from typing import Any, ClassVar

from iacta.battle.battle import Battle
from iacta.forms.form import Example, Topic, parameter
from iacta.forms.parameter_kinds import Chance, OneOf, Whole
from iacta.forms.percentages import (
    format_all_digits,
    list_fractions,
    mark_certain,
    percent,
    plain_percent,
)
from iacta.forms.question import Answer, Charts, Question, Watch, question
from iacta.forms.record import (
    ATTACKERS_KEY,
    EXACT_KEY,
    GARRISON_KEY,
    RULES_KEY,
    ExactText,
    KeyedRecord,
    key,
)
from iacta.forms.sections import Bar, Bars, Section, make_sections
from iacta.forms.sentences import (
    add_noun,
    describe_stop,
    explain_no_attack,
    name_armies,
    note_rules,
)
from iacta.forms.shared_parameters import ATTACKERS, ExactForm, RulesForm, StopForm
from iacta.inputs.meanings import Count, Unit
from iacta.odds.needed import defenders_needed
from iacta.odds.spread import (
    OBJECTIVES,
    BestSpread,
    Objective,
    simple_spreads,
    spread_defenders,
    spread_value,
)
from iacta.probability.distribution import Probability

USUAL_CHANCE = Fraction(19, 20)
NEIGHBOURS = 3
TITLES: dict[Objective, str] = {
    "break through": "Their chance to break through this and other spreads:",
    "territories": "The share of the territories that they take on average:",
}


@question(
    "defend",
    Topic.DEFENCE,
    Example("defend 12 --chance 90%", "how many defenders hold with that chance?"),
    Example("defend 40 --armies 30 --territories 6", "how to spread 30 armies over 6 territories?"),
)
class DefendQuestion(RulesForm, StopForm, ExactForm, Question):
    """Find how many defenders you need, or how to spread them over a chain."""

    headline: ClassVar = "How many armies hold it?"
    surplus: ClassVar = "did you mean --chance {0}%?"

    attackers: int = parameter(*ATTACKERS, is_argument=True)
    chance: Fraction | None = parameter(
        Chance(certain=True),
        "The chance of holding the territory that you want, such as 90%.",
        usual="95%",
        excludes="armies or territories or objective",
        default=None,
    )
    armies: int | None = parameter(
        Whole(minimum=1),
        "Armies to spread over a chain of territories.",
        needs="territories",
        default=None,
    )
    territories: int | None = parameter(
        Whole(minimum=1), "Territories in the chain.", metavar="K", needs="armies", default=None
    )
    objective: Objective | None = parameter(
        OneOf(OBJECTIVES),
        "The attackers' aim: the whole chain (break-through), or as many territories as possible "
        "(territories).",
        usual="break-through",
        needs="armies",
        default=None,
    )

    def hold_probability(self, defenders: int, *, exact: bool = False) -> Probability:
        battle = Battle(self.attackers, defenders, self.rule_set.rules, stop=self.stop)
        return 1 - battle.win_probability(exact=exact)

    def answer(self, watch: Watch | None = None) -> "HoldAnswer | SpreadAnswer":
        rules = self.rule_set.rules
        if self.armies is None or self.territories is None:
            chance = self.chance or USUAL_CHANCE
            wanted = Chance().format(chance)
            needed = defenders_needed(self.attackers, wanted, rules, stop=self.stop)
            held = self.hold_probability(needed, exact=self.exact)
            return HoldAnswer(self, chance, needed, held)
        objective = self.objective or "break through"
        best = spread_defenders(
            self.attackers,
            self.armies,
            self.territories,
            rules,
            objective=objective,
            stop=self.stop,
            exact=self.exact,
        )
        return SpreadAnswer(
            self,
            self.armies,
            self.territories,
            objective,
            best,
            [*self._list_simple_spreads(objective)],
        )

    def _list_simple_spreads(self, objective: Objective) -> Iterator["OtherSpread"]:
        """Yield simple ways to spread the armies, such as evenly, without duplicates."""
        named = simple_spreads(self.armies or 0, self.territories or 0)
        first_names = {spread: name for name, spread in reversed(named.items())}
        for spread, name in reversed(first_names.items()):
            value = spread_value(
                self.attackers,
                spread,
                self.rule_set.rules,
                objective=objective,
                stop=self.stop,
            )
            yield OtherSpread(name=name, spread=spread, value=float(value))


class HoldRecord(KeyedRecord):
    """The fewest defenders that hold with a required chance."""

    attackers: Count = key(ATTACKERS_KEY, is_repeated=True)
    chance: Unit = key("The requested chance.", is_repeated=True)
    garrison: Count = key(GARRISON_KEY, is_repeated=True)
    rules: str = key(RULES_KEY, is_repeated=True)
    defenders: Count = key("The fewest defenders.", is_column=True)
    hold_probability: Unit = key("The chance of these defenders to hold.", is_column=True)
    hold_probability_exact: ExactText = key(EXACT_KEY)


class HoldAnswer(Answer):
    """The fewest defenders that hold with a required chance.

    chance: the required chance to hold.
    defenders: the fewest defenders.
    hold_probability: the chance to hold with this number of defenders.
    """

    question: DefendQuestion
    chance: Fraction
    defenders: int
    hold_probability: Probability

    @property
    def data(self) -> HoldRecord:
        return HoldRecord.from_attributes(self, self.question, chance=float(self.chance))

    def rows(self) -> Iterator[Sequence[object]]:
        row = self.record()
        del row["hold_probability_exact"]
        row["hold_probability"] = format_all_digits(self.hold_probability)
        yield tuple(row)
        yield tuple(row.values())

    def draw(self, charts: Charts) -> Any:
        return charts.chance_by_defenders(self)

    def sections(self) -> Iterator[Section]:
        question, needed, rule_set = self.question, self.defenders, self.question.rule_set
        if question.attackers <= rule_set.rules.garrison:
            yield Section([explain_no_attack(question.attackers, rule_set.rules.garrison)])
            return
        sentence = (
            f"You need {add_noun(needed, 'defender', 'defenders')} to hold against "
            f"{name_armies(question.attackers)} with a chance of at least "
            f"{plain_percent(self.chance)}: with {needed} it is "
            f"{percent(self._exact_if_certain(self.hold_probability))}{note_rules(rule_set.name)}."
        )
        yield Section(
            [sentence, *describe_stop(question.stop), *list_fractions(self.hold_probability)]
        )
        numbers = range(max(1, needed - NEIGHBOURS), needed + NEIGHBOURS + 1)
        yield Section([Bars([self._make_bar(number) for number in numbers])])

    def _make_bar(self, defenders: int) -> Bar:
        chance = self._exact_if_certain(self.question.hold_probability(defenders))
        tone = "good" if defenders >= self.defenders else "bad"
        return Bar(add_noun(defenders, "defender", "defenders"), chance, tone)

    def _exact_if_certain(self, chance: Probability) -> Probability:
        return mark_certain(chance, [self.question.rule_set.rules])


class OtherSpread(KeyedRecord):
    """A simple way to spread the armies, with its value against the best attack."""

    name: str = key("The name of the spread.")
    spread: Sequence[Count] = key("The armies on each territory, from one end to the other.")
    value: float = key("The value to the attackers, as for the best spread.")


class SpreadRecord(KeyedRecord, of=BestSpread):
    """The best spread of armies over a chain, with `--armies` and `--territories`."""

    attackers: Count = key(ATTACKERS_KEY, is_repeated=True)
    armies: Count = key("The armies to spread.", is_repeated=True)
    territories: Count = key("The number of territories.", is_repeated=True)
    objective: Objective = key(
        "The attackers' aim: `break through` or `territories`.", is_repeated=True
    )
    garrison: Count = key(GARRISON_KEY, is_repeated=True)
    rules: str = key(RULES_KEY, is_repeated=True)
    spreads: tuple[tuple[Count, ...], ...] = key(is_column=True)
    count: Count
    value: float = key(
        "The attackers' chance to break through, or the mean number of territories taken.",
        is_column=True,
    )
    value_exact: str | None = key(EXACT_KEY)
    is_exact: bool
    others: tuple[OtherSpread, ...] = key("Simple spreads for comparison.")


class SpreadAnswer(Answer):
    """The best spread of armies over a chain of territories.

    armies, territories, objective: the parameters of the question, with defaults filled in.
    best: the best spread.
    others: simple ways to spread the armies, for comparison.
    """

    question: DefendQuestion
    armies: int
    territories: int
    objective: Objective
    best: BestSpread
    others: Sequence[OtherSpread]

    @property
    def data(self) -> SpreadRecord:
        return SpreadRecord.from_attributes(
            self.best, self.question, objective=self.objective, others=tuple(self.others)
        )

    def rows(self) -> Iterator[Sequence[object]]:
        yield ("spread", "value")
        for spread in self.best.spreads:
            yield (_format_spread(spread), format_all_digits(self.best.value))

    def draw(self, charts: Charts) -> Any:
        question, rule_set = self.question, self.question.rule_set
        return charts.best_spread(
            self.best,
            question.attackers,
            self.objective,
            rule_set.rules,
            rule_set.name,
            others=[astuple(row) for row in self.others],
        )

    def sections(self) -> Iterator[Section]:
        best, note = self.best, note_rules(self.question.rule_set.name)
        attackers = add_noun(self.question.attackers, "attacker", "attackers")
        every = comb(self.armies - 1, self.territories - 1)
        if self._is_held() and best.count == every:
            yield Section(
                [f"{attackers} {self._describe_effect()}, however the armies are spread{note}."]
            )
            return
        put = f"Put {_format_spread(best.spreads[0])} {'army' if self.armies == 1 else 'armies'}"
        lines = [
            f"{put}: {attackers} then {self._describe_effect()}{note}.",
            *describe_stop(self.question.stop),
            *list_fractions(best.value),
        ]
        if self.territories in (1, self.armies):
            yield Section([*lines, "No other spread is possible."])
            return
        yield Section(
            [
                *lines,
                _describe_certainty(best),
                "The attackers, a single stack, start wherever they like and continue from "
                "neighbour to neighbour.",
            ]
        )
        best_row = OtherSpread(name="best", spread=best.spreads[0], value=float(best.value))
        rows = [best_row, *self.others]
        width = max(len(row.name) for row in rows)
        most = self.territories if self.objective == "territories" else 1
        bars = [
            Bar(
                f"{row.name:<{width}}  {_format_spread(row.spread)}",
                row.value / most,
                "bad" if place else "good",
            )
            for place, row in enumerate(rows)
        ]
        yield Section([Bars(bars)], title=TITLES[self.objective])

    def _is_held(self) -> bool:
        return not self.best.value and self.best.is_exact

    def _describe_effect(self) -> str:
        value, verb = self.best.value, "s" if self.question.attackers == 1 else ""
        if self._is_held():
            aim = "take a territory" if self.objective == "territories" else "break through"
            return f"cannot {aim}"
        if self.objective == "break through":
            return f"break{verb} through with a chance of {percent(value)} at best"
        taken, most = f"{float(value):.2f}", self.territories
        if value >= most - 0.005:  # otherwise rounding would show all territories
            taken = f"more than {most - 0.01:.2f}"
        elif value < 0.005:
            taken = "less than 0.01"
        of_all = add_noun(most, "territory", "territories")
        return f"take{verb} {taken} of {of_all} on average at best"


def _describe_certainty(best: BestSpread) -> str:
    """Return a sentence on whether the spread is proven best, and on equally good spreads."""
    if not best.is_exact:
        return "iacta found no better spread, but one may exist."
    if best.count == 1:
        return "No other spread is as good."
    if best.count == 2 and len(best.spreads) == 2:
        return f"Only {_format_spread(best.spreads[1])} is as good."
    return f"{best.count - 1} other spreads are as good, and none is better."


def _format_spread(spread: Sequence[int]) -> str:
    return " ".join(map(str, spread))


@make_sections.register
def _(value: BestSpread) -> Iterator[Section]:
    spread, worth = _format_spread(value.spreads[0]), float(value.value)
    yield Section([f"Put {spread}: this spread is worth {worth:.6g} to the attackers."])
    if len(value.spreads[0]) > 1:
        yield Section([_describe_certainty(value)])
