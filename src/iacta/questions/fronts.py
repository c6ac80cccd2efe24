"""The best way to divide armies among fronts that are attacked independently."""

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

from iacta.forms.form import Example, Topic, parameter
from iacta.forms.parameter_kinds import ListKind, OneOf, Whole
from iacta.forms.percentages import format_all_digits, list_fractions, percent
from iacta.forms.question import Answer, Charts, Question, Watch, question
from iacta.forms.record import EXACT_KEY, GARRISON_KEY, RULES_KEY, KeyedRecord, key
from iacta.forms.sections import Bar, Bars, Section
from iacta.forms.sentences import add_noun, describe_stop, join_phrases, name_armies, note_rules
from iacta.forms.shared_parameters import ExactForm, RulesForm, StopForm
from iacta.inputs.checks import read_int
from iacta.inputs.meanings import Count
from iacta.odds.fronts import (
    BestFronts,
    Front,
    FrontSpread,
    Shape,
    defend_fronts,
    format_front,
    parse_front,
)
from iacta.odds.spread import OBJECTIVES, Objective
from iacta.rules.variants import find_rules, rules_name


class Fronts(ListKind):
    """Fronts, each written as ATTACKERS/HELD/HELD...:TERRITORIES:RULES.

    >>> Fronts().parse("15:3 8", "fronts")
    (Front(15, territories=3), Front(8))
    """

    entries: ClassVar[str] = "fronts, such as [15, 8]"

    def read(self, entry: object) -> Front:
        if isinstance(entry, Front):
            return entry
        if isinstance(entry, str):
            return parse_front(entry)
        return Front(read_int(entry, "attackers", minimum=1))

    def format_entry(self, entry: Front) -> str:
        return format_front(entry)


@question(
    "fronts",
    Topic.DEFENCE,
    Example("fronts 15:3 8 --armies 20", "15 attack a chain of three, 8 attack one territory"),
    Example("fronts 9/4 9/4 20/8/3/2:end --armies 10", "where do 10 new armies go?"),
    Example(
        "fronts 12:any2 9:1:capital --armies 25 --objective territories",
        "which division loses the fewest territories, one of them a capital?",
    ),
)
class FrontsQuestion(RulesForm, StopForm, ExactForm, Question):
    """Divide new armies among several fronts, each with its own attackers."""

    headline: ClassVar = "Where do my new armies go?"

    fronts: tuple[Front, ...] = parameter(
        Fronts(),
        "The attackers of each front: 8 against one territory; 15:3 against a chain of three that "
        "they can enter at either end, 15:end3 only at its first territory; 12:any2 against one of "
        "two territories; 9:1:capital for a front with special rules; 20/8/3/2 if 8, 3 and 2 of "
        "your armies are there already.",
        is_argument=True,
        metavar="FRONT",
    )
    armies: int = parameter(Whole(minimum=1), "New armies to divide among the fronts.")
    objective: Objective = parameter(
        OneOf(OBJECTIVES),
        "Make it least likely that any front falls (break-through), or lose the fewest territories "
        "on average (territories).",
        default="break through",
    )

    def answer(self, watch: Watch | None = None) -> "FrontsAnswer":
        best = defend_fronts(
            self.armies,
            self.fronts,
            self.rule_set.rules,
            objective=self.objective,
            stop=self.stop,
            exact=self.exact,
        )
        return FrontsAnswer(self, best)


class FrontRecord(KeyedRecord, of=Front):
    """A front, with the armies on its territories."""

    attackers: Count
    territories: Count
    shape: Shape = key("The shape of the front: `chain`, `end` or `any`.")
    rules: str = key("The name of the rules on the front.")
    held: tuple[Count, ...] = key("The armies on the territories before the division.")
    spread: tuple[Count, ...] = key("The armies on the territories after the division.")
    value: float = key("The chance that the front falls, or the mean number of territories lost.")
    value_exact: str | None = key(EXACT_KEY)


class FrontsRecord(KeyedRecord, of=BestFronts):
    """The best way to divide armies among fronts."""

    armies: Count = key("The new armies to divide.")
    objective: Objective = key(
        "The number to minimise: `break through`, the chance that any front falls, or "
        "`territories`, the expected number of territories lost."
    )
    garrison: Count = key(GARRISON_KEY, is_repeated=True)
    rules: str = key(RULES_KEY, is_repeated=True)
    fronts: tuple[FrontRecord, ...]
    value: float
    value_exact: str | None = key(EXACT_KEY)
    is_exact: bool


class FrontsAnswer(Answer):
    """The best way to divide armies among fronts.

    best: the best division of the armies.
    """

    question: FrontsQuestion
    best: BestFronts

    @property
    def data(self) -> FrontsRecord:
        question = self.question
        return FrontsRecord.from_attributes(
            self.best,
            question,
            armies=question.armies,
            objective=question.objective,
            fronts=tuple(map(self._make_front_record, self.best.fronts)),
        )

    def _make_front_record(self, defended: FrontSpread) -> FrontRecord:
        front, own = defended.front, defended.front.rules
        return FrontRecord.from_attributes(
            defended,
            attackers=front.attackers,
            territories=front.territories,
            shape=front.shape,
            rules=self.question.rule_set.name if own is None else rules_name(find_rules(own)),
            held=front.held,
        )

    def rows(self) -> Iterator[Sequence[object]]:
        yield ("front", "spread", "value")
        for defended in self.best.fronts:
            yield (
                format_front(defended.front),
                _format_spread(defended.spread),
                format_all_digits(defended.value),
            )

    def sections(self) -> Iterator[Section]:
        best = self.best
        spreads = [
            f"{_format_new_armies(defended)} against the {name_armies(defended.front.attackers)}"
            for defended in best.fronts
        ]
        between = "; " if any(len(defended.spread) > 1 for defended in best.fronts) else ", "
        put = join_phrases(spreads, between)
        sentence = f"Put {put}: {self._describe_losses()}{note_rules(self.question.rule_set.name)}."
        certainty = (
            "No other division is better."
            if best.is_exact
            else "iacta found no better division, but one may exist."
        )
        lines = [
            sentence,
            *describe_stop(self.question.stop),
            *list_fractions(best.value),
            certainty,
        ]
        yield Section(lines)
        names = [_name_front(defended.front) for defended in best.fronts]
        width = max(map(len, names))
        bars = [
            Bar(
                f"{name:<{width}}  {_format_spread(defended.spread)}",
                self._compute_lost_share(defended),
                "bad",
            )
            for name, defended in zip(names, best.fronts, strict=True)
        ]
        title = (
            "The share of its territories that each front loses on average:"
            if self.question.objective == "territories"
            else "The chance that each front falls:"
        )
        yield Section([Bars(bars)], title=title)

    def draw(self, charts: Charts) -> Any:
        return charts.best_fronts(self)

    def _compute_lost_share(self, defended: FrontSpread) -> float:
        """Return the chance that a front falls, or the share of its territories that is lost."""
        is_counted = self.question.objective == "territories" and defended.front.shape != "any"
        return float(defended.value) / (defended.front.territories if is_counted else 1)

    def _describe_losses(self) -> str:
        value, one = self.best.value, len(self.best.fronts) == 1
        if self.question.objective == "territories":
            most = sum(
                defended.front.territories if defended.front.shape != "any" else 1
                for defended in self.best.fronts
            )
            lost = (
                f"{float(value):.2f}"
                if 0.005 <= value < most - 0.005
                else _format_extreme_mean(value, most)
            )
            territories = add_noun(most, "territory", "territories")
            return f"{lost} of at most {territories} are lost on average"
        if not value:
            return "the front holds" if one else "all fronts hold"
        return f"{'the front' if one else 'a front'} falls with a chance of {percent(value)}"


def _format_extreme_mean(mean: Any, maximum: int) -> str:
    """Format a mean number of territories that would be rounded to 0 or to `maximum`."""
    if not mean:
        return "0"
    return "less than 0.01" if mean < 1 else f"more than {maximum - 0.01:.2f}"


def _name_front(front: Front) -> str:
    stack = add_noun(front.attackers, "attacker", "attackers")
    if front.territories == 1:
        return stack
    shape = "side by side" if front.shape == "any" else "in a row"
    return f"{stack}, {front.territories} {shape}"


def _format_new_armies(defended: FrontSpread) -> str:
    """Return the new armies on a front; if it already holds armies, also the totals."""
    if not any(defended.front.held):
        return join_phrases(defended.spread)
    new = [n - held for n, held in zip(defended.spread, defended.front.held, strict=True)]
    return f"{join_phrases(new)} more ({join_phrases(defended.spread)} in total)"


def _format_spread(spread: Sequence[int]) -> str:
    return " ".join(map(str, spread))
