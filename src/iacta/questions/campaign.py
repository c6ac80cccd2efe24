"""The progress of one stack through a chain of territories, by odds or as one random game."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

from iacta.battle.campaign import Campaign, CampaignOutcome, PlayedBattle, TerritoryOdds
from iacta.battle.territory import format_own_numbers
from iacta.forms.form import ClashError, Example, Topic, parameter
from iacta.forms.outcome_bars import make_campaign_bars, sort_best_first
from iacta.forms.parameter_kinds import Flag, Whole
from iacta.forms.percentages import (
    format_all_digits,
    format_if_exact,
    list_fractions,
    mark_certain_conquest,
    percent,
    short_percent,
)
from iacta.forms.question import Answer, Charts, Question, Watch, question
from iacta.forms.record import ATTACKERS_KEY, OMITTED, RULES_KEY, ExactText, KeyedRecord, key
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
from iacta.forms.shared_parameters import CampaignForm, ExactForm, draw_seed
from iacta.inputs.meanings import Count, Unit
from iacta.probability.distribution import Distribution, Probability
from iacta.rules.stop import NEVER


@question(
    "campaign",
    Topic.ATTACK,
    Example(
        "campaign 72 22 8 2 2 2 7 1 1 3 1 2 3 5 1",
        "how far do 72 armies get, one territory after another?",
    ),
    Example("campaign 20 5 3:capital --narrate", "what might happen, if the second is a capital?"),
)
class CampaignQuestion(CampaignForm, ExactForm, Question):
    """Show how far one stack gets through a chain of territories."""

    headline: ClassVar = "How far does this stack get?"

    narrate: bool = parameter(
        Flag(),
        "Play the campaign once with random dice, and tell the story.",
        label="single game",
        default=False,
    )
    seed: int | None = parameter(
        Whole(),
        "With --narrate: any number. The same number gives the same dice.",
        needs="narrate",
        default=None,
    )

    def check_chart(self) -> None:
        if self.narrate:
            raise ClashError("{plot} cannot be combined with {narrate}")

    def answer(self, watch: Watch | None = None) -> "CampaignAnswer | CampaignStory":
        import numpy as np

        if self.narrate:
            seed = draw_seed() if self.seed is None else self.seed
            return CampaignStory(self, seed, self.campaign.play(np.random.default_rng(seed)))
        # Exact fractions for all outcomes can be slow to compute, and only the CSV shows them.
        listed = self.exact and any(stage.stop != NEVER for stage in self.campaign.stages())
        odds = self.campaign.territory_odds(exact=self.exact)
        return CampaignAnswer(self, self.campaign.outcomes(exact=listed), odds)


class DefendedRecord(KeyedRecord):
    """A territory to conquer in the campaign."""

    defenders: Count = key("The defenders of the territory.")
    rules: str = key("The name of the rules there.")


class ReachedRecord(DefendedRecord, of=TerritoryOdds):
    """A territory of the campaign, with the chances to reach and to take it."""

    reach_probability: Unit
    conquer_probability: Unit


class EndRecord(KeyedRecord, of=CampaignOutcome):
    """A possible outcome of a campaign."""

    conquered: Count
    attackers: Count
    defenders: Count
    probability: Unit = key("The chance of this outcome.")


class CampaignRecord(KeyedRecord):
    """The progress of one stack through a chain of territories."""

    attackers: Count = key(ATTACKERS_KEY, is_repeated=True)
    rules: str = key(RULES_KEY, is_repeated=True)
    win_probability: Unit = key("The chance to take all territories.", is_column=True)
    win_probability_exact: ExactText = key(
        'With `--exact` the same chance as `"n/d"`, else `null`.'
    )
    stop_probability: Unit = key(
        "Only if a battle has a stop: the chance to stop before the end.", default=OMITTED
    )
    stop_probability_exact: ExactText = key(
        'Only if a battle has a stop: with `--exact` the same chance as `"n/d"`, else `null`.',
        default=OMITTED,
    )
    territories: tuple[ReachedRecord, ...] = key("The territories, in order.")
    most_likely: EndRecord = key("The likeliest outcome.")
    expected_rolls: float | None = key(
        "The number of rolls on average; `null` if a battle is not decided roll by roll, or the "
        "campaign is large."
    )
    rolls: tuple[RollCountRecord, ...] = key(
        "The possible numbers of rolls; empty if `expected_rolls` is `null`."
    )
    outcomes: tuple[EndRecord, ...] = key("The possible outcomes, best first.")


class StoryRecord(KeyedRecord):
    """A campaign played once with random dice, for `--narrate`."""

    seed: Count = key("The seed of the dice.")
    battles: tuple[PlayedBattle, ...] = key("The battles, in order.")


class CampaignAnswer(Answer):
    """The progress of one stack through a chain of territories.

    outcomes: the possible outcomes.
    territory_odds: for each territory, the chances to reach it and to take it.
    """

    question: CampaignQuestion
    outcomes: Distribution[CampaignOutcome]
    territory_odds: tuple[TerritoryOdds, ...]

    @property
    def win_probability(self) -> Probability:
        """The chance to take all territories."""
        return self.territory_odds[-1].conquer_probability

    @cached_property
    def stop_probability(self) -> Probability | None:
        """The chance that the attackers stop early, or `None` if they never may."""
        campaign = self.question.campaign
        if all(stage.stop == NEVER for stage in campaign.stages()):
            return None
        return self.outcomes.prob(campaign.is_stopped)

    @cached_property
    def rolls(self) -> Distribution[int] | None:
        """The number of rolls, or `None` if it takes long to count, or there are no rolls."""
        return count_rolls_if_quick(self.question.campaign)

    @property
    def data(self) -> CampaignRecord:
        question = self.question
        ways = zip(question.way, question.own_rules, self.territory_odds, strict=True)
        stopped = self.stop_probability
        return CampaignRecord.from_attributes(
            self,
            question,
            stop_probability=OMITTED if stopped is None else float(stopped),
            stop_probability_exact=OMITTED if stopped is None else format_if_exact(stopped),
            territories=tuple(
                ReachedRecord.from_attributes(
                    odds,
                    defenders=territory.defenders,
                    rules=own_rules or question.rule_set.name,
                )
                for territory, own_rules, odds in ways
            ),
            most_likely=self._make_record(self.outcomes.mode()),
            expected_rolls=self.rolls and float(self.rolls.mean()),
            rolls=list_roll_counts(self.rolls),
            outcomes=tuple(map(self._make_record, sort_best_first(self.outcomes))),
        )

    def _make_record(self, end: CampaignOutcome) -> EndRecord:
        return EndRecord(**end._asdict(), probability=float(self.outcomes[end]))

    def rows(self) -> Iterator[Sequence[object]]:
        outcomes = self.question.campaign.outcomes(exact=self.question.exact)
        yield (*CampaignOutcome._fields, "probability")
        for end in sort_best_first(outcomes):
            yield (*end, format_all_digits(outcomes[end]))

    def draw(self, charts: Charts) -> Any:
        return charts.survival(self.question.campaign)

    def sections(self) -> Iterator[Section]:
        campaign, count = self.question.campaign, len(self.question.way)
        if campaign.attackers <= campaign.rules.garrison:
            yield Section([explain_no_attack(campaign.attackers, campaign.rules.garrison)])
            return
        if list(self.outcomes) == [(0, campaign.attackers, campaign.territories[0].defenders)]:
            yield Section([explain_stop_at_once(campaign.attackers)])
            return
        won = self._exact_if_certain(self.win_probability, count)
        stopped = self.stop_probability or None
        holds_back = all(stage.stop.hold_back for stage in campaign.stages())
        must_stop = holds_back and isinstance(won, Fraction) and not won
        stop_chance = Fraction(1) if must_stop else stopped
        verb = "stops" if campaign.attackers == 1 else "stop"
        sentence = (
            f"{name_armies(campaign.attackers, 'takes', 'take')} "
            f"{'the territory' if count == 1 else f'all {count} territories'} with a chance of "
            f"{percent(won)}{f', and {verb} with {percent(stop_chance)}' if stop_chance else ''}"
            f"{note_rules(self.question.rule_set.name)}."
        )
        lines = [sentence, *_describe_limit(campaign), *describe_stop(campaign.stop)]
        yield Section([*lines, *list_fractions(self.win_probability, stopped)])
        yield Section([self._make_table()])
        rolls = [] if self.rolls is None else [describe_rolls(self.rolls)]
        yield Section([self._describe_likeliest(), *rolls])
        yield Section([make_campaign_bars(self.outcomes, campaign)], title="How it ends:")

    def _describe_likeliest(self) -> str:
        end, campaign = self.outcomes.mode(), self.question.campaign
        if end.conquered == len(campaign.territories):
            taken = "the territory" if end.conquered == 1 else "all"
            result = f"you take {taken} with {name_armies(end.attackers)} left"
        elif campaign.is_stopped(end):
            armies = name_armies(end.attackers)
            result = f"you stop at territory {end.conquered + 1} with {armies}"
        else:
            armies = name_armies(end.defenders)
            result = f"they hold territory {end.conquered + 1} with {armies} left"
        return f"Most likely {result}: {percent(self.outcomes[end])}."

    def _make_table(self) -> Table:
        question, rows = self.question, []
        for index, (territory, odds) in enumerate(
            zip(question.way, self.territory_odds, strict=True)
        ):
            own_rules = f":{question.own_rules[index]}" if question.own_rules[index] else ""
            reach = short_percent(self._exact_if_certain(odds.reach_probability, index))
            rows.append(
                (
                    str(index + 1),
                    f"{territory.defenders}{own_rules}{format_own_numbers(territory)}",
                    reach if index else "100%",
                    short_percent(self._exact_if_certain(odds.conquer_probability, index + 1)),
                    f"{float(odds.expected_attackers):.1f}",
                )
            )
        columns = ("territory", "defenders", "chance to reach", "chance to take", "your armies")
        return Table(columns, rows)

    def _exact_if_certain(self, probability: Probability, count: int) -> Probability:
        """Return the chance to take the first `count` territories; a fraction if it is certain."""
        if probability == 1 and any(end.conquered < count for end in self.outcomes):
            return probability  # the chance is below 1, although it rounds to 1
        return mark_certain_conquest(probability, self.question.campaign, count)


def _describe_limit(campaign: Campaign) -> Iterator[str]:
    """Yield a sentence about the armies that move in, if rules of the campaign limit them."""
    limits = {stage.rules.most_advance for stage in campaign.stages()} - {None}
    if limits:
        numbers = " or ".join(map(str, sorted(filter(None, limits))))
        armies = "army moves" if limits == {1} else "armies move"
        yield f"At most {numbers} {armies} in after a conquest."


class CampaignStory(Answer):
    """A campaign played once with random dice.

    seed: the random seed for the dice.
    battles: the battles in order.
    """

    question: CampaignQuestion
    seed: int
    battles: tuple[PlayedBattle, ...]

    @property
    def data(self) -> StoryRecord:
        return StoryRecord(seed=self.seed, battles=self.battles)

    def rows(self) -> Iterator[Sequence[object]]:
        yield PlayedBattle._fields
        yield from self.battles

    def sections(self) -> Iterator[Section]:
        campaign = self.question.campaign
        story = [
            f"Territory {battle.territory}: {name_armies(battle.attackers, 'attacks', 'attack')} "
            f"{battle.defenders}; {_describe_ending(battle, campaign)}."
            for battle in self.battles
        ]
        taken = sum(not battle.defenders_left for battle in self.battles)
        count = len(campaign.territories)
        territories = "territory" if count == 1 else "territories"
        again = f"To repeat these dice: --seed {self.seed}"
        yield Section([*story, f"{taken} of {count} {territories} taken. {again}"])


def _describe_ending(battle: PlayedBattle, campaign: Campaign) -> str:
    end = CampaignOutcome(battle.territory - 1, battle.attackers_left, battle.defenders_left)
    if campaign.is_stopped(end):
        return f"{battle.attackers_left} left, stopping against {battle.defenders_left}"
    if battle.defenders_left:
        return f"{battle.attackers_left} left, repelled by {battle.defenders_left}"
    return f"{battle.attackers_left} left, taken"


def campaign_answer(campaign: Campaign) -> CampaignAnswer:
    way, stop = campaign.territories, asdict(campaign.stop)
    question = CampaignQuestion(way, attackers=campaign.attackers, rules=campaign.rules, **stop)
    return CampaignAnswer(question, campaign.outcomes(), campaign.territory_odds())


@make_sections.register
def _(value: Campaign) -> Iterator[Section]:
    return campaign_answer(value).sections()
