"""Rule sets: their descriptions, and their effect on the odds."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, Literal, TypeVar

from iacta.forms.form import Example, Topic, parameter
from iacta.forms.parameter_kinds import RulesName
from iacta.forms.percentages import (
    format_all_digits,
    format_if_exact,
    list_fractions,
    mark_certain,
    percent,
    short_percent,
)
from iacta.forms.question import Answer, Charts, Question, Watch, question
from iacta.forms.record import ExactText, KeyedRecord, key
from iacta.forms.sections import Section, Table, make_sections
from iacta.forms.sentences import add_noun, name_armies
from iacta.forms.shared_parameters import ExactForm, RulesForm
from iacta.game.editions import EDITIONS
from iacta.inputs.errors import IactaError
from iacta.inputs.meanings import Count, Unit
from iacta.odds.arrays import win_table
from iacta.odds.needed import armies_needed
from iacta.probability.distribution import Probability
from iacta.questions.roll import LossesRecord
from iacta.rules.dice import Dice
from iacta.rules.files import rules_record
from iacta.rules.roll import LossCounts, Losses, Roll, break_even_ratio
from iacta.rules.rules import CLASSIC, Rules
from iacta.rules.variants import MODIFIERS, RULE_SETS, RuleSet

EXAMPLE_ARMIES = 10
EVEN = Fraction(1, 2)
MAX_ROLLS_LISTED = 30  # maximum number of rolls to list; otherwise only the roll with all dice
RANKS = ("highest", "second", "third", "fourth", "fifth")

Found = TypeVar("Found")


@question(
    "rules",
    Topic.STUDY,
    Example("rules", "which rules does iacta know?"),
    Example("rules capital", "what do these rules change, and by how much?"),
)
class RulesQuestion(RulesForm, ExactForm, Question):
    """List the rules that people play by, or explain one of them."""

    headline: ClassVar = "How do other rules differ?"

    rules: str | Rules | None = parameter(
        RulesName(),
        "The rules to explain, such as capital+wall.",
        is_argument=True,
        usual="list all rules",
        metavar="NAME",
        default=None,
    )

    @cached_property
    def is_list(self) -> bool:
        """Whether the answer lists all rule sets."""
        return self.rules is None and self.rules_file is None

    def answer(self, watch: Watch | None = None) -> "RulesAnswer":
        one = self.rule_set
        listed = RULE_SETS if self.is_list else (one,)
        garrison = one.rules.garrison
        return RulesAnswer(
            self,
            tuple(
                RuleSetOdds(
                    replace(rule_set, rules=replace(rule_set.rules, garrison=garrison)), self.exact
                )
                for rule_set in listed
            ),
        )


@dataclass(frozen=True)
class RuleSetOdds:
    """The odds under some rules. A number that cannot be computed is `None`.

    rule_set: the rules.
    exact: whether to compute exact fractions.
    """

    rule_set: RuleSet
    exact: bool

    def compute_example_win_probability(self) -> Probability:
        """Compute the chance to win the example battle; raise `IactaError` if no method applies."""
        battle = EXAMPLE_ARMIES, EXAMPLE_ARMIES, self.rule_set.rules
        won: Probability = win_table(*battle, exact=self.exact)[-1, -1]
        return won if self.exact else float(won)

    @cached_property
    def win_probability(self) -> Probability | None:
        """The chance to win the example battle."""
        return _compute_or_none(self.compute_example_win_probability)

    @cached_property
    def break_even_attackers(self) -> int | None:
        """The fewest attackers who win the example battle with a chance of at least one half."""
        return _compute_or_none(
            lambda: int(armies_needed(EXAMPLE_ARMIES, EVEN, self.rule_set.rules))
        )

    @cached_property
    def break_even_ratio(self) -> Fraction | Literal["never"] | None:
        """The number of attackers per defender in a very large even battle."""
        return _compute_or_none(lambda: break_even_ratio(self.rule_set.rules) or "never")

    @cached_property
    def full_roll(self) -> LossCounts | None:
        """The losses in a roll with all dice; `None` if a side chooses dice after the roll."""
        rules = self.rule_set.rules
        if not rules.mode.has_plain_rolls or self.break_even_ratio is None:
            return None
        return Roll(*rules.full_roll, rules).loss_counts()


def _compute_or_none(compute: Callable[[], Found]) -> Found | None:
    try:
        return compute()
    except IactaError:
        return None


class RuleSetRecord(KeyedRecord):
    """One rule set.

    Numbers that cannot be computed are `null`, such as the losses of a roll if the defender chooses
    dice afterwards. A ratio is also `null` if no number of attackers is enough.
    """

    name: str = key("The name of the rules.")
    aliases: tuple[str, ...] = key("Other names of the rules.")
    description: str = key("The difference from classic rules.")
    source: str = key("The source of the rules.")
    attack_dice: tuple[Count, ...] = key("The faces of the attacker's dice.")
    defence_dice: tuple[Count, ...] = key("The faces of the defender's dice.")
    fields: Mapping[str, object] = key(
        "All fields of the rules, as `iacta.read_rules_record` reads them."
    )
    full_roll: tuple[LossesRecord, ...] | None = key("The losses of a roll with all dice.")
    win_probability: Unit | None = key("The chance of 10 armies, garrison included, to beat 10.")
    win_probability_exact: ExactText = key(
        'With `--exact` the same chance as `"n/d"`, else `null`.'
    )
    break_even_ratio: float | None = key(
        "The attackers per defender at which a very large battle is even."
    )
    break_even_ratio_exact: ExactText = key('The same ratio as `"n/d"`.')
    break_even_attackers: Count | None = key(
        "The fewest attackers with a chance of at least one half against 10 defenders."
    )


class RulesRecord(KeyedRecord):
    """One rule set, or a list of all rule sets."""

    rules: tuple[RuleSetRecord, ...] = key("The rule sets.")


class RulesAnswer(Answer):
    """The rules and odds of one rule set, or of all rule sets."""

    question: RulesQuestion
    odds: tuple[RuleSetOdds, ...]

    @property
    def data(self) -> RulesRecord:
        return RulesRecord(rules=tuple(map(_make_record, self.odds)))

    def rows(self) -> Iterator[Sequence[object]]:
        yield (
            "name",
            "aliases",
            "description",
            "source",
            "full_roll",
            "win_probability",
            "break_even_ratio",
            "break_even_attackers",
        )
        yield from map(_make_row, self.odds)

    def draw(self, charts: Charts) -> Any:
        if self.question.is_list:
            return charts.rule_sets(tuple(odds.rule_set for odds in self.odds))
        return charts.full_roll(self.odds[0].rule_set)

    def sections(self) -> Iterator[Section]:
        if not self.question.is_list:
            return _explain_rules(self.odds[0])
        return _list_rules(
            [replace(odds, exact=False) for odds in self.odds]
        )  # the list does not show fractions


def _make_record(odds: RuleSetOdds) -> RuleSetRecord:
    known, ratio, roll = odds.rule_set, odds.break_even_ratio, odds.full_roll
    number = ratio if isinstance(ratio, Fraction) else None
    return RuleSetRecord.from_attributes(
        odds,
        name=known.name,
        aliases=known.aliases,
        description=known.description,
        source=known.source,
        attack_dice=known.rules.attack.faces,
        defence_dice=known.rules.defence.faces,
        fields=rules_record(known.rules),
        full_roll=None if roll is None else tuple(_list_losses(roll)),
        break_even_ratio=None if number is None else float(number),
        break_even_ratio_exact=format_if_exact(number),
    )


def _list_losses(roll: LossCounts) -> Iterator[LossesRecord]:
    for lost in range(roll.pair_count, -1, -1):
        losses = Losses(roll.pair_count - lost, lost)
        yield LossesRecord.from_count(losses, roll.counts[lost], roll.total)


def _make_row(odds: RuleSetOdds) -> Sequence[object]:
    known, won, ratio = odds.rule_set, odds.win_probability, odds.break_even_ratio
    roll = odds.full_roll
    chances = [] if roll is None else [Fraction(n, roll.total) for n in reversed(roll.counts)]
    return (
        known.name,
        "; ".join(known.aliases),
        known.description,
        known.source,
        "; ".join(_format_number(chance, odds.exact) for chance in chances),
        "" if won is None else format_all_digits(won),
        _format_number(ratio, odds.exact) if isinstance(ratio, Fraction) else ratio or "",
        odds.break_even_attackers,
    )


def _format_number(number: Fraction, exact: bool) -> str:
    return format_all_digits(number if exact else float(number))


def _list_rules(odds: Sequence[RuleSetOdds]) -> Iterator[Section]:
    yield Section(["The rules that iacta knows, for --rules:"])
    known = [battle.rule_set for battle in odds]
    yield Section([Table(("", ""), [(rule_set.name, rule_set.description) for rule_set in known])])
    editions = [(edition.name, edition.description) for edition in EDITIONS]
    yield Section([Table(("", ""), editions)], title="Games for iacta play --edition:")
    garrison = known[0].rules.garrison
    stay = f"the chance of 10 armies, garrison of {garrison} included, to beat 10"
    legend = [
        ("full roll", "the percentages of rolls with all dice in which the defenders lose"),
        ("", "the maximum number of armies, one fewer, and so on down to 0"),
        ("10 v 10", stay),
        ("break-even", "the attackers per defender at which a very large battle is even"),
    ]
    yield Section([Table(("", ""), legend)], title="Their odds:")
    columns = ("", "full roll", "10 v 10", "break-even")
    yield Section([Table(columns, [_make_cells(battle) for battle in odds])])
    stack = ", ".join(modifier.name for modifier in MODIFIERS)
    more = "For details, name one rule set, or a combination such as capital+wall."
    yield Section([f"These can be combined with any rules: {stack}.", more])


def _make_cells(odds: RuleSetOdds) -> Sequence[str]:
    won, roll = odds.win_probability, odds.full_roll
    return (
        odds.rule_set.name,
        "-" if roll is None else _format_percents(roll),
        "-" if won is None else short_percent(mark_certain(won, [odds.rule_set.rules])),
        _format_ratio(odds.break_even_ratio),
    )


def _format_percents(roll: LossCounts) -> str:
    return " / ".join(f"{100 * number / roll.total:.1f}" for number in reversed(roll.counts))


def _format_ratio(ratio: Fraction | str | None) -> str:
    return f"{float(ratio):.3f}" if isinstance(ratio, Fraction) else ratio or "-"


def _explain_rules(odds: RuleSetOdds) -> Iterator[Section]:
    known = odds.rule_set
    lines = [f"{known.name}: {known.description}", f"Played in: {known.source}"]
    if known.aliases:
        lines.append(f"Also called: {', '.join(known.aliases)}")
    others = [modifier.name for modifier in MODIFIERS if modifier.name not in known.name.split("+")]
    if len(others) < len(MODIFIERS):
        lines.append(f"Can be combined with: {', '.join(others) or 'no other rules'}")
    yield Section(lines)
    yield Section(list(_list_rules_sentences(known.rules)))
    yield Section(list(_list_odds_sentences(odds)))
    if odds.full_roll is not None:
        yield Section(
            [
                Table(
                    ("", ""),
                    [
                        ("chances", "in percent, that the defenders lose the maximum, down to 0"),
                        ("you, they", "the armies that you and they lose on average"),
                    ],
                )
            ],
            title="Losses of a roll:",
        )
        yield Section([Table(("", "chances", "you", "they"), list(_list_roll_rows(known.rules)))])


def _list_odds_sentences(odds: RuleSetOdds) -> Iterator[str]:
    needed, ratio = odds.break_even_attackers, odds.break_even_ratio
    try:
        won = odds.compute_example_win_probability()
        chance = percent(mark_certain(won, [odds.rule_set.rules]))
        yield f"{EXAMPLE_ARMIES} armies beat {EXAMPLE_ARMIES} with a chance of {chance}."
        yield from list_fractions(won)
        if needed is not None:
            yield (
                f"{name_armies(needed, 'is', 'are')} the fewest with at least an even chance "
                f"against {EXAMPLE_ARMIES}."
            )
    except IactaError as error:
        yield f"iacta cannot compute the odds under these rules: {error}."
    if isinstance(ratio, Fraction):
        yield f"A very large battle is even with {_format_ratio(ratio)} attackers per defender."
        yield from list_fractions(ratio) if odds.exact else ()
    elif ratio is not None:
        yield "A very large battle is never even: on average the defenders lose no armies."


def _list_roll_rows(rules: Rules) -> Iterator[Sequence[str]]:
    most, their_most = rules.full_roll
    pairs = [(a, d) for a in range(1, most + 1) for d in range(1, their_most + 1)]
    for attack, defence in pairs if len(pairs) <= MAX_ROLLS_LISTED else pairs[-1:]:
        roll = Roll(attack, defence, rules)
        yield (
            f"{add_noun(attack, 'die', 'dice')} against {defence}",
            _format_percents(roll.loss_counts()) if rules.mode.has_plain_rolls else "-",
            *(f"{float(mean):.4f}" for mean in roll.expected_losses()),
        )


def _list_rules_sentences(rules: Rules) -> Iterator[str]:
    """Yield sentences that together describe the rules of a battle completely.

    >>> for sentence in _list_rules_sentences(Rules()):
    ...     print(sentence)
    The attacker rolls at most 3 dice with 6 faces each.
    The defender rolls at most 2 dice with 6 faces each.
    Ties go to the defender; 1 army must stay behind.
    After a conquest, at least as many armies move in as attack dice in the last roll.
    """
    for side, usual, full in (
        ("attacker", rules.attack, rules.full_attack),
        ("defender", rules.defence, rules.full_defence),
    ):
        most = add_noun(len(usual.faces), "die", "dice")
        yield f"The {side} rolls at most {most} {_describe_dice(usual)}."
        if full is not None:
            dice = _describe_dice(full)
            yield f"When both throw all their dice, the {side} throws other dice, {dice}."
    ties = "" if rules.mode.has_own_ties else f"Ties go to the {rules.ties}; "
    yield f"{ties}{name_armies(rules.garrison)} must stay behind."
    yield _describe_advance(rules)
    yield from _describe_new_armies(rules)
    yield from rules.mode.describe()


def _describe_advance(rules: Rules) -> str:
    most = None if rules.most_advance is None else f"at most {name_armies(rules.most_advance)}"
    if rules.least_advance:
        limit = "" if most is None else f", but {most}"
        return (
            "After a conquest, at least as many armies move in as attack dice in the last roll"
            f"{limit}."
        )
    return f"After a conquest, {most or 'any number of armies'} may move in."


def _describe_new_armies(rules: Rules) -> Iterator[str]:
    each, least = rules.territories_per_army, rules.least_new_armies
    if (each, least) != (CLASSIC.territories_per_army, CLASSIC.least_new_armies):
        number = "each territory" if each == 1 else f"every {each} territories"
        yield f"A turn begins with one new army for {number}, at least {name_armies(least)}."


def _describe_dice(dice: Dice) -> str:
    return ", ".join(_list_dice_phrases(dice))


def _list_dice_phrases(dice: Dice) -> Iterator[str]:
    yield _describe_faces(dice.faces)
    if dice.kept < len(dice.faces):
        yield f"of which the best {'one counts' if dice.kept == 1 else f'{dice.kept} count'}"
    if dice.reroll:
        yield f"a throw of {' or '.join(map(str, dice.reroll))} is rerolled once"
    for rank, bonus in enumerate(dice.bonus):
        if bonus:
            name = RANKS[rank] if rank < len(RANKS) else f"{rank + 1}th"
            yield f"{bonus:+} on the {name}"
    if dice.clamp is not None:
        lowest, highest = dice.clamp
        yield f"then at least {lowest} and at most {highest}"
    if dice.can_reorder(dice.kept):
        yield "then sorted again" if dice.sort_again else "not sorted again"


def _describe_faces(faces: tuple[int, ...]) -> str:
    if len(faces) > 1 and len(set(faces)) == 1:
        return f"with {faces[0]} faces each"
    *most, last = map(str, faces)
    first = f"{', '.join(most)} and " if most else ""
    return f"with {first}{last} faces"


@make_sections.register
def _(value: RuleSet) -> Iterator[Section]:
    return RulesAnswer(RulesQuestion(rules=value.rules), (RuleSetOdds(value, False),)).sections()
