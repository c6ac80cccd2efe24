"""The odds of a single battle."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

from iacta.battle.battle import Battle
from iacta.forms.form import Example, Topic
from iacta.forms.outcome_bars import make_battle_bars
from iacta.forms.percentages import (
    format_all_digits,
    format_if_exact,
    list_fractions,
    mark_certain,
    percent,
)
from iacta.forms.question import Answer, Charts, Question, Watch, question
from iacta.forms.record import OMITTED, ExactText, KeyedRecord, RepeatedBattle, key
from iacta.forms.roll_counts import (
    RollCountRecord,
    count_rolls_if_quick,
    describe_rolls,
    list_roll_counts,
)
from iacta.forms.sections import Section, Table, make_sections
from iacta.forms.sentences import (
    describe_stop,
    explain_no_attack,
    explain_stop_at_once,
    name_armies,
    note_rules,
)
from iacta.forms.shared_parameters import BattleForm, ExactForm
from iacta.inputs.errors import TooLargeError
from iacta.inputs.meanings import Count, Unit
from iacta.methods.kernel import Outcome, is_won
from iacta.probability.distribution import Distribution, Probability
from iacta.rules.stop import NEVER


@question(
    "battle",
    Topic.ATTACK,
    Example("battle 12 10", "will 12 armies take a territory with 10 defenders?"),
    Example(
        "battle 20 15 --rules capital --hold-back 5", "against a capital, holding back 5 armies?"
    ),
    Example("battle 12 10 --leave 3", "what does it cost to leave them 3 armies?"),
)
class BattleQuestion(BattleForm, ExactForm, Question):
    """Give the odds of one battle, fought to the end or stopped early."""

    headline: ClassVar = "Will this attack succeed?"
    surplus: ClassVar = "for several territories, use iacta campaign {1}"

    def answer(self, watch: Watch | None = None) -> "BattleAnswer":
        battle, chance = self.battle, None
        if self.exact and self.stop == NEVER:
            # Exact fractions for all outcomes can be slow to compute, and only the CSV shows them.
            chance = battle.win_probability(exact=True)
        try:
            outcomes = battle.outcomes(exact=self.exact and chance is None)
        except TooLargeError:
            won = battle.win_probability(exact=self.exact) if chance is None else chance
            return BattleAnswer(self, won, None)
        return BattleAnswer(self, outcomes.prob(is_won) if chance is None else chance, outcomes)


class OutcomeRecord(KeyedRecord, of=Outcome):
    """A possible outcome of a battle.

    Nobody wins if the attackers stop while both sides have armies left to fight (`--hold-back`,
    `--stop-at`, `--charge`, `--max-losses`, `--max-rolls`).
    """

    attackers: Count
    defenders: Count
    probability: Unit = key("The chance of this outcome.")


class BattleRecord(RepeatedBattle):
    """The odds of one battle.

    If there are too many outcomes to list, `outcomes` is empty, and the means, `most_likely` and
    `stop_probability` are `null`.
    """

    method: str = key(
        "The method of computation, such as `lattice` (floats), `closed_form` (exact), "
        "`balanced_blitz` or `sees_first`."
    )
    win_probability: Unit = key("The chance to take the territory.", is_column=True)
    win_probability_exact: ExactText = key(
        'With `--exact` the same chance as `"n/d"`, else `null`.'
    )
    stop_probability: Unit | None = key(
        "Only with a stop: the chance that the attackers stop with armies left to attack.",
        default=OMITTED,
    )
    stop_probability_exact: ExactText = key(
        'Only with a stop: with `--exact` the same chance as `"n/d"`, else `null`.',
        default=OMITTED,
    )
    leave_probability: Unit | None = key(
        "Only with `--leave`: the chance that at most so many defenders are left; `null` if there "
        "are too many outcomes.",
        default=OMITTED,
    )
    expected_attackers_left: float | None = key(
        "Attackers left on average, over all outcomes.", is_column=True
    )
    expected_defenders_left: float | None = key(
        "Defenders left on average, over all outcomes.", is_column=True
    )
    expected_attackers_left_if_won: float | None = key(
        "Attackers left on average if the battle is won; `null` if a win is impossible.",
        is_column=True,
    )
    most_likely: OutcomeRecord | None = key("The likeliest outcome.")
    expected_rolls: float | None = key(
        "The number of rolls on average; `null` if the battle is not decided roll by roll, or is "
        "large."
    )
    rolls: tuple[RollCountRecord, ...] = key(
        "The possible numbers of rolls; empty if `expected_rolls` is `null`."
    )
    outcomes: tuple[OutcomeRecord, ...] = key("The possible outcomes, best first.")


class BattleAnswer(Answer):
    """The odds of one battle.

    win_probability: the chance to take the territory, as a fraction if the question is exact.
    outcomes: the possible outcomes; `None` if there are too many to list.
    """

    question: BattleQuestion
    win_probability: Probability
    outcomes: Distribution[Outcome] | None

    @cached_property
    def stop_probability(self) -> Probability | None:
        """The chance that the attackers stop early, or `None` if outcomes are not listed."""
        return (
            None if self.outcomes is None else self.outcomes.prob(self.question.battle.is_stopped)
        )

    @property
    def leave_probability(self) -> Probability | None:
        """The chance that at most the defenders of `--leave` are left."""
        if self.outcomes is None:
            return None
        leave = self.question.leave or 0
        return self.outcomes.prob(lambda end: end.defenders <= leave)

    @cached_property
    def rolls(self) -> Distribution[int] | None:
        """The number of rolls, or `None` if it takes long to count, or there are no rolls."""
        return count_rolls_if_quick(self.question.battle)

    @property
    def data(self) -> BattleRecord:
        battle, outcomes, stopped = self.question.battle, self.outcomes, self.stop_probability
        ours = theirs = ours_if_won = None
        if outcomes is not None:
            ours = float(outcomes.map(_get_attackers).mean())
            theirs = float(outcomes.map(_get_defenders).mean())
            if outcomes.prob(is_won):
                ours_if_won = float(outcomes.condition(is_won).map(_get_attackers).mean())
        never, left = battle.stop == NEVER, self.leave_probability
        return BattleRecord.from_attributes(
            self,
            self.question,
            method=battle.method_name(
                exact=isinstance(self.win_probability, Fraction),
                question="distribution" if outcomes else "chance",
            ),
            stop_probability=OMITTED if never else None if stopped is None else float(stopped),
            stop_probability_exact=OMITTED if never else format_if_exact(stopped or None),
            leave_probability=(left and float(left)) if battle.stop.leave else OMITTED,
            expected_attackers_left=ours,
            expected_defenders_left=theirs,
            expected_attackers_left_if_won=ours_if_won,
            most_likely=outcomes and _make_record(outcomes, outcomes.mode()),
            expected_rolls=self.rolls and float(self.rolls.mean()),
            rolls=list_roll_counts(self.rolls),
            outcomes=()
            if outcomes is None
            else tuple(_make_record(outcomes, end) for end in _sort_outcomes(outcomes)),
        )

    def rows(self) -> Iterator[Sequence[object]]:
        outcomes = self.question.battle.outcomes(exact=self.question.exact)
        yield (*Outcome._fields, "probability")
        for end in _sort_outcomes(outcomes):
            yield (*end, format_all_digits(outcomes[end]))

    def draw(self, charts: Charts) -> Any:
        return charts.battle_outcomes(self.question.battle)

    def sections(self) -> Iterator[Section]:
        battle, outcomes = self.question.battle, self.outcomes
        if battle.attackers <= battle.rules.garrison:
            yield Section([explain_no_attack(battle.attackers, battle.rules.garrison)])
            return
        if list(outcomes or ()) == [(battle.attackers, battle.defenders)]:
            yield Section([explain_stop_at_once(battle.attackers)])
            return
        won = mark_certain(self.win_probability, [battle.rules])
        if not self._can_lose_in_time(battle.defenders):
            won = Fraction(0)
        beat = f"{name_armies(battle.attackers, 'beats', 'beat')} {battle.defenders}"
        chance = f"{percent(won)}{self._describe_undecided()}"
        if battle.stop.leave and self.leave_probability is not None:
            leave = f"{name_armies(battle.attackers, 'leaves', 'leave')} at most"
            beat = f"{leave} {battle.stop.leave} of {battle.defenders} defenders"
            can_leave = self._can_lose_in_time(battle.defenders - battle.stop.leave)
            chance = percent(self.leave_probability if can_leave else Fraction(0))
        note = note_rules(self.question.rule_set.name)
        sentence = f"{beat} with a chance of {chance}{note}."
        stopped = [self.stop_probability] if self.stop_probability else []
        lines = [sentence, *describe_stop(battle.stop)]
        if battle.stop.leave:
            lines += list_fractions(self.leave_probability)
        else:
            lines += list_fractions(self.win_probability, *stopped)
        if outcomes is None:
            yield Section([*lines, "It can end in too many ways to list."])
            return
        yield Section(lines)
        yield Section([_make_table(outcomes, battle)])
        rolls = [] if self.rolls is None else [describe_rolls(self.rolls)]
        yield Section([self._describe_likeliest(outcomes), *rolls])
        yield Section(
            [make_battle_bars(outcomes, battle)],
            title="How it ends, your garrison included:",
        )

    def _can_lose_in_time(self, armies: int) -> bool:
        """Return whether a side can lose some armies in the largest number of rolls."""
        battle = self.question.battle
        most = battle.stop.max_rolls
        return most is None or most * min(battle.rules.full_roll) >= armies

    def _describe_likeliest(self, outcomes: Distribution[Outcome]) -> str:
        end, battle = outcomes.mode(), self.question.battle
        if is_won(end):
            result = f"you win with {name_armies(end.attackers)} left"
        elif battle.is_stopped(end):
            result = f"you stop with {name_armies(end.attackers)} against {end.defenders}"
        else:
            result = f"they hold with {name_armies(end.defenders)} left"
        return f"Most likely {result}: {percent(outcomes[end])}."

    def _describe_undecided(self) -> str:
        if not self.stop_probability or self.outcomes is None:
            return ""
        one = self.question.attackers == 1
        battle = self.question.battle
        lost = self.outcomes.prob(lambda end: not is_won(end) and not battle.is_stopped(end))
        loses = f", {'loses' if one else 'lose'} with {percent(lost)}" if lost else ""
        sides = battle.defenders, battle.attackers - battle.rules.garrison
        can_end = any(map(self._can_lose_in_time, sides))
        stop = percent(self.stop_probability if can_end else Fraction(1))
        return f"{loses}, and {'stops' if one else 'stop'} with {stop}"


def _make_record(outcomes: Distribution[Outcome], end: Outcome) -> OutcomeRecord:
    return OutcomeRecord(**end._asdict(), probability=float(outcomes[end]))


def _sort_outcomes(outcomes: Distribution[Outcome]) -> list[Outcome]:
    return sorted(outcomes, key=lambda end: (end.defenders, -end.attackers))


def _get_attackers(end: Outcome) -> int:
    return end.attackers


def _get_defenders(end: Outcome) -> int:
    return end.defenders


def _make_table(outcomes: Distribution[Outcome], battle: Battle) -> Table:
    """Return a table of each side's losses and armies left: mean, median, 5% and 95% quantiles."""
    ours, theirs = outcomes.map(_get_attackers), outcomes.map(_get_defenders)
    unlucky_first, lucky_first = (0.05, 0.5, 0.95), (0.95, 0.5, 0.05)
    rows = [
        _make_row("your losses", ours, unlucky_first, battle.attackers),
        _make_row("their losses", theirs, lucky_first, battle.defenders),
        _make_row("your armies left", ours, unlucky_first),
    ]
    if outcomes.prob(is_won):
        if_won = outcomes.condition(is_won).map(_get_attackers)
        rows.append(_make_row("your armies left if you win", if_won, unlucky_first))
    rows.append(_make_row("their armies left", theirs, lucky_first))
    return Table(("", "average", "unlucky (1 in 20)", "typical", "lucky (1 in 20)"), rows)


def _make_row(
    label: str, armies_left: Distribution[int], levels: Sequence[float], armies: int | None = None
) -> Sequence[str]:
    """Return a label, the mean of the armies left, and their quantiles at some levels.

    armies: the armies before the battle, to show losses instead of the armies left.
    """
    numbers = float(armies_left.mean()), *(armies_left.quantile(level) for level in levels)
    mean, *quantiles = numbers if armies is None else (armies - number for number in numbers)
    return label, f"{mean:.2f}", *map(str, quantiles)


def battle_answer(battle: Battle) -> BattleAnswer:
    stop = asdict(battle.stop)
    return BattleQuestion(battle.attackers, battle.defenders, rules=battle.rules, **stop).answer()


@make_sections.register
def _(value: Battle) -> Iterator[Section]:
    return battle_answer(value).sections()
