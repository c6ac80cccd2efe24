"""Many simulated games of a campaign, compared with the exact odds."""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

from iacta.battle.campaign import Campaign, CampaignOutcome
from iacta.forms.form import Example, Topic, parameter
from iacta.forms.outcome_bars import make_campaign_bars, sort_best_first
from iacta.forms.parameter_kinds import Whole
from iacta.forms.percentages import mark_certain_conquest, percent
from iacta.forms.question import Answer, Charts, Question, Watch, question
from iacta.forms.record import (
    ATTACKERS_KEY,
    RULES_KEY,
    RUNS_KEY,
    SEED_KEY,
    WILSON_KEY,
    IntervalRecord,
    KeyedRecord,
    key,
)
from iacta.forms.sections import Section, Table, make_sections
from iacta.forms.sentences import describe_stop, explain_no_attack, name_armies, note_rules
from iacta.forms.shared_parameters import SEED, CampaignForm, draw_seed
from iacta.inputs.errors import IactaError
from iacta.inputs.meanings import Count, Unit
from iacta.odds.simulation import SimulationResult, simulate_campaign
from iacta.probability.distribution import Probability
from iacta.probability.estimate import Interval
from iacta.questions.campaign import DefendedRecord
from iacta.rules.thrown import RUNS

MAX_SIMULATION_ROWS = 40


class SimulationForm(CampaignForm, kw_only=True):
    """A question that simulates a campaign with random dice."""

    runs: int = parameter(
        Whole(minimum=1), "How many times to play, such as 1000000 or 1e6.", default=RUNS
    )
    seed: int | None = parameter(*SEED, default=None)

    @cached_property
    def dice(self) -> int:
        return draw_seed() if self.seed is None else self.seed

    def simulate(self, watch: Watch | None = None) -> SimulationResult[CampaignOutcome]:
        """Simulate games, and return the number of games with each outcome.

        watch: a function that receives the fraction of games played so far.
        """

        def progress(done: int) -> None:
            if watch is not None:
                watch("Throwing dice", done / self.runs)

        campaign = self.campaign
        return simulate_campaign(
            campaign.attackers,
            campaign.territories,
            campaign.rules,
            stop=campaign.stop,
            runs=self.runs,
            seed=self.dice,
            progress=progress,
        )


@question(
    "simulate",
    Topic.STUDY,
    Example(
        "simulate 72 22 8 2 2 2 7 1 1 3 1 2 3 5 1 --runs 1e6",
        "how do a million games with random dice end?",
    ),
    Example("simulate 12 10 --runs 1000 --seed 7", "a thousand games that anyone can repeat"),
)
class SimulateQuestion(SimulationForm, Question):
    """Play a campaign many times with dice, and compare with the odds."""

    headline: ClassVar = "What do a million games say?"
    first_texts: ClassVar = {"attackers": "12", "territories": "10", "runs": "1000", "seed": "7"}

    def answer(self, watch: Watch | None = None) -> "SimulateAnswer":
        simulated = self.simulate(watch)
        return SimulateAnswer(self, self.dice, simulated, _compute_chance(self.campaign))


def _compute_chance(campaign: Campaign) -> float | None:
    """Return the chance to take all territories, or `None` if no method can compute it."""
    try:
        return float(campaign.win_probability())
    except IactaError:
        return None


class PlayedEndRecord(KeyedRecord, of=CampaignOutcome):
    """A possible outcome, with the number of games that ended with it."""

    conquered: Count
    attackers: Count
    defenders: Count
    count: Count = key("The number of games with this outcome.")
    probability: Unit = key("`count` divided by `runs`.")


class SimulateRecord(KeyedRecord):
    """The outcomes of simulated games."""

    attackers: Count = key(ATTACKERS_KEY, is_repeated=True)
    rules: str = key(RULES_KEY, is_repeated=True)
    territories: tuple[DefendedRecord, ...] = key("The territories, in order.")
    runs: Count = key(RUNS_KEY)
    seed: Count = key(SEED_KEY)
    won: Count = key("The number of games in which all territories were taken.")
    win_probability: Unit = key("`won` divided by `runs`.")
    interval: IntervalRecord = key(WILSON_KEY)
    computed_win_probability: Unit | None = key(
        "The computed chance, without simulation; `null` if no method can compute it."
    )
    outcomes: tuple[PlayedEndRecord, ...] = key("The outcomes of the games, best first.")


class SimulateAnswer(Answer):
    """The outcomes of simulated games.

    seed: the random seed for the dice.
    simulated: the number of games with each outcome.
    computed: the exact chance to take all territories, or `None` if no method can compute it.
    """

    question: SimulateQuestion
    seed: int
    simulated: SimulationResult[CampaignOutcome]
    computed: float | None

    @property
    def interval(self) -> Interval:
        return self.simulated.won.interval()

    def _sort_outcomes(self) -> Iterator[tuple[CampaignOutcome, int]]:
        """Yield the outcomes with their numbers of games, best outcome first."""
        outcomes = self.simulated.outcomes
        for end in sort_best_first(outcomes):
            yield end, int(outcomes[end] * self.question.runs)

    @property
    def data(self) -> SimulateRecord:
        question, won = self.question, self.simulated.won
        return SimulateRecord(
            attackers=question.attackers,
            rules=question.rule_set.name,
            territories=tuple(
                DefendedRecord(
                    defenders=territory.defenders, rules=own_rules or question.rule_set.name
                )
                for territory, own_rules in zip(question.way, question.own_rules, strict=True)
            ),
            runs=won.runs,
            seed=self.seed,
            won=won.successes,
            win_probability=float(won.probability),
            interval=IntervalRecord.from_interval(self.interval),
            computed_win_probability=self.computed,
            outcomes=tuple(
                PlayedEndRecord(**end._asdict(), count=times, probability=times / won.runs)
                for end, times in self._sort_outcomes()
            ),
        )

    def rows(self) -> Iterator[Sequence[object]]:
        yield (*CampaignOutcome._fields, "count", "probability")
        for end, times in self._sort_outcomes():
            yield (*end, times, times / self.question.runs)

    def draw(self, charts: Charts) -> Any:
        return charts.simulated_outcomes(self.simulated, self.question.campaign, seed=self.seed)

    def sections(self) -> Iterator[Section]:
        question, won = self.question, self.simulated.won
        rules, territories = question.rule_set.rules, len(question.way)
        if question.attackers <= rules.garrison:
            yield Section([explain_no_attack(question.attackers, rules.garrison)])
            return
        games = "game" if won.runs == 1 else "games"
        low, high = map(_format_share, self.interval)
        lines = [
            f"{name_armies(question.attackers)} took "
            f"{'the territory' if territories == 1 else f'all {territories} territories'} in "
            f"{won.successes:,} of {won.runs:,} {games}: "
            f"{_format_share(won.probability)}{note_rules(question.rule_set.name)}.",
            *describe_stop(question.stop),
            f"From these games alone, the true chance is most likely {low} to {high} "
            "(95% interval).",
        ]
        if self.computed is not None:
            chance = mark_certain_conquest(self.computed, question.campaign, territories)
            lines.append(_describe_comparison(chance, self.interval))
        yield Section(lines)
        bars = make_campaign_bars(self.simulated.outcomes, question.campaign)
        yield Section([bars], title="How it ended:")
        yield Section([f"To repeat these dice: --seed {self.seed}"])


def _format_share(share: float | Fraction) -> str:
    """Return a share of games in percent; only an exact 0 or 1 is shown as 0% or 100%.

    >>> _format_share(Fraction(81, 100)), _format_share(1.0), _format_share(0.0)
    ('81.00%', '100%', '0%')
    """
    return percent(Fraction(share))


def _describe_comparison(chance: Probability, interval: Interval) -> str:
    """Return a sentence that compares the exact chance with the simulated games.

    >>> _describe_comparison(0.8105, Interval(0.8, 0.82))
    'The exact chance is 81.05%, inside that range.'
    >>> _describe_comparison(0.7, Interval(0.8, 0.82))
    'The exact chance is 70.00%, outside that range, as in 1 of 20 simulations.'
    """
    exact = f"The exact chance is {percent(chance)}"
    if interval.low <= chance <= interval.high:
        return f"{exact}, inside that range."
    return f"{exact}, outside that range, as in 1 of 20 simulations."


@make_sections.register
def _(value: SimulationResult) -> Iterator[Section]:  # type: ignore[type-arg] # any outcomes
    won, (low, high) = value.won, value.won.interval()
    yield Section(
        [
            f"Won {won.successes:,} of {won.runs:,} games: {_format_share(won.probability)} "
            f"({_format_share(low)} to {_format_share(high)})."
        ]
    )
    rows = [(str(tuple(end)), _format_share(part)) for end, part in value.outcomes.items()]
    yield Section([Table(("", "share"), rows[:MAX_SIMULATION_ROWS])])
