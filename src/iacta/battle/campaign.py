"""Campaign: the battles of one stack through a chain of territories."""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import NamedTuple

import numpy as np

from iacta.battle import stopped
from iacta.battle.territory import Territories, Territory, read_territories, stages
from iacta.checks import put, shown, whole_number
from iacta.display import Displayed
from iacta.distribution import Distribution, Probability
from iacta.errors import MalformedError
from iacta.methods import check_rules, find_method
from iacta.methods.kernel import Outcome, Stage, is_won
from iacta.rules.roll import loss_counts
from iacta.rules.rules import Rules
from iacta.rules.stop import Stop, read_stop, stop_argument
from iacta.rules.variants import find_rules, rules_argument

__all__ = ["Campaign", "CampaignOutcome", "PlayedBattle", "TerritoryOdds"]


class CampaignOutcome(NamedTuple):
    """How a campaign ends.

    conquered: how many territories were taken.
    attackers: armies on the territory on which the stack stands at the end.
    defenders: armies left on the territory that it failed, or stopped, to take; 0 if it took all.
    """

    conquered: int
    attackers: int
    defenders: int


class TerritoryOdds(NamedTuple):
    """The chances of one territory in a campaign.

    reach_probability: chance that all territories before it are taken.
    conquer_probability: chance that it is taken too.
    expected_attackers: mean armies of the stack that attacks it, garrison included, given that
        it is reached; 0 if it cannot be.
    """

    reach_probability: Probability
    conquer_probability: Probability
    expected_attackers: Probability


class PlayedBattle(NamedTuple):
    """One battle of a campaign that was played with dice.

    territory: its number on the way, from 1.
    attackers, defenders: armies before the battle, the attackers' garrison included.
    attackers_left, defenders_left: armies after it, before any advance.
    """

    territory: int
    attackers: int
    defenders: int
    attackers_left: int
    defenders_left: int


@dataclass(frozen=True, init=False, repr=False)
class Campaign(Displayed):
    """A stack that takes one territory after another, and moves on with all but the garrison.

    attackers: armies on the territory from which the campaign starts, garrison included.
    territories: the way: for each territory its defenders, or a `Territory` with rules and a
        garrison of its own.
    rules: `Rules`, or the name of a rule set.
    garrison: armies that must stay behind on each territory; `None` leaves what the rules say.
    stop: when the attackers stop of their own will, a `Stop`, in each battle that has no stop of
        its own; `None` for never.

    Each battle is fought until the territory is taken, the stack cannot go on, or its attackers
    stop: then the campaign ends there. Losses and rolls are counted anew in each battle. Armies
    kept out of a fight stay where they are while it lasts; after a conquest all but the garrison
    move on, those kept out included. Answers are
    floats, or fractions with `exact=True`; `method` is as for `Battle`. The relative error of a
    float is at most the sum over the territories of what `relative_error` of the method says,
    which is 1e-12 up to 250 armies on each side; twice that for `expected_attackers`, which is a
    ratio. Chances below 1e-150 may become 0. Under balanced blitz, which reshapes the battle for
    each territory by itself, the error is absolute. A defender who sees the attack first makes the
    conquest of his own territory as unlikely as can be, whatever stands behind it.

    No territories, and numbers below 1 or not whole, are refused.

    >>> campaign = Campaign(72, [22, 8, 2, 2, 2, 7, 1, 1, 3, 1, 2, 3, 5, 1])
    >>> round(campaign.win_probability(), 10)
    0.8105485936
    >>> Campaign(4, [1, Territory(1, rules="capital")]).win_probability(exact=True)
    Fraction(108175, 186624)
    >>> Campaign(10, [])
    Traceback (most recent call last):
        ...
    iacta.errors.IllegalError: territories must have at least one entry, got none
    """

    attackers: int
    territories: tuple[Territory, ...]
    rules: Rules
    stop: Stop

    def __init__(
        self,
        attackers: int,
        territories: Territories,
        rules: Rules | str = "classic",
        *,
        garrison: int | None = None,
        stop: Stop | None = None,
    ) -> None:
        put(self, "attackers", whole_number(attackers, "attackers", least=1))
        put(self, "territories", read_territories(territories))
        put(self, "rules", find_rules(rules, garrison))
        put(self, "stop", read_stop(stop))

    def __repr__(self) -> str:
        way = ", ".join(
            repr(each if each != Territory(each.defenders) else each.defenders)
            for each in self.territories
        )
        more = rules_argument(self.rules) + stop_argument(self.stop)
        return f"Campaign({self.attackers}, [{way}]{more})"

    def outcomes(
        self, *, exact: bool = False, method: str = "auto"
    ) -> Distribution[CampaignOutcome]:
        """Return the law of how the campaign ends.

        >>> law = Campaign(3, [1, 1]).outcomes(exact=True)
        >>> law[CampaignOutcome(conquered=2, attackers=1, defenders=0)]
        Fraction(625, 2592)
        """
        law: dict[CampaignOutcome, Probability] = {}
        for number, passage in enumerate(self._passages(exact, method)):
            for outcome, probability in passage.outcomes.items():
                if not is_won(outcome):
                    stopped = CampaignOutcome(number, outcome.attackers, outcome.defenders)
                    law[stopped] = _rounded(passage.reached * probability, exact)
                elif number + 1 == len(self.territories):
                    moved_in = _moved_in(outcome, passage.garrison)
                    taken_all = CampaignOutcome(number + 1, moved_in, 0)
                    law[taken_all] = _rounded(passage.reached * probability, exact)
        return Distribution(law) if exact else Distribution.from_probabilities(law)

    def win_probability(self, *, exact: bool = False, method: str = "auto") -> Probability:
        """Return the chance that all territories are taken.

        >>> Campaign(3, [1]).win_probability(exact=True)
        Fraction(1955, 2592)
        """
        return self.territory_odds(exact=exact, method=method)[-1].conquer_probability

    def stop_probability(self, *, exact: bool = False, method: str = "auto") -> Probability:
        """Return the chance that the attackers stop on the way, with armies that might attack.

        >>> Campaign(4, [2], stop=Stop(max_rolls=1)).stop_probability(exact=True)
        Fraction(2443, 3888)
        """
        law = self.outcomes(exact=exact, method=method)
        way = self.stages()
        return law.prob(
            lambda end: end.defenders and end.attackers > way[end.conquered].rules.garrison
        )

    def stages(self) -> list[Stage]:
        """Return the battles of the campaign, each with the rules and the stop that it has.

        >>> Campaign(9, [Territory(2, garrison=3), 1]).stages()[1].rules
        Rules(garrison=3)
        """
        return list(stages(self.territories, self.rules, self.stop))

    def territory_odds(
        self, *, exact: bool = False, method: str = "auto"
    ) -> tuple[TerritoryOdds, ...]:
        """Return the chances to reach and to take each territory.

        >>> first, second = Campaign(3, [1, 1]).territory_odds(exact=True)
        >>> first.conquer_probability == second.reach_probability
        True
        """
        odds = [
            TerritoryOdds(
                _rounded(passage.reached, exact),
                _rounded(passage.conquered, exact),
                _rounded(passage.stack.mean(), exact),
            )
            for passage in self._passages(exact, method)
        ]
        never = TerritoryOdds(*[_rounded(Fraction(0), exact)] * 3)
        return tuple(odds + [never] * (len(self.territories) - len(odds)))

    def score(self, *, exact: bool = False, method: str = "auto") -> Distribution[int]:
        """Return the law of Norvig's score: armies in the last territory, less defenders left.

        When the campaign fails, all the defenders on the way count, those not yet attacked too.

        >>> law = Campaign(72, [22, 8, 2, 2, 2, 7, 1, 1, 3, 1, 2, 3, 5, 1]).score()
        >>> round(law.mean(), 6), law.mode()
        (10.230852, 12)
        """
        return self.outcomes(exact=exact, method=method).map(self.score_of)

    def score_of(self, end: CampaignOutcome) -> int:
        """Return Norvig's score of one end: see `score`.

        end: how the campaign ends.

        >>> Campaign(3, [1, 5]).score_of(CampaignOutcome(conquered=0, attackers=1, defenders=1))
        -5
        """
        untouched = self.territories[end.conquered + 1 :]
        return end.attackers - end.defenders - sum(each.defenders for each in untouched)

    def play(self, rng: "np.random.Generator") -> tuple[PlayedBattle, ...]:
        """Return the battles of one campaign that is played with random dice.

        rng: a `numpy.random.Generator`; the same seed plays the same campaign.

        Under balanced blitz, and where the defender sees the attack first, no dice are thrown: how
        a battle ends is drawn from its law.

        >>> Campaign(12, [3, 2]).play(np.random.default_rng(1))[0]
        PlayedBattle(territory=1, attackers=12, defenders=3, attackers_left=11, defenders_left=0)
        """
        if not isinstance(rng, np.random.Generator):
            raise MalformedError(f"rng must be a numpy.random.Generator, got {shown(rng)}")
        for stage in self.stages():
            _check_stage(stage)
        battles: list[PlayedBattle] = []
        attackers = self.attackers
        for number, stage in enumerate(self.stages(), start=1):
            left = _play_battle(attackers, stage, rng)
            battles.append(PlayedBattle(number, attackers, stage.defenders, *left))
            if left[1]:
                break
            attackers = left[0] - stage.rules.garrison
        return tuple(battles)

    def _passages(self, exact: bool, method: str) -> Iterator["_Passage"]:
        """Yield what happens at each territory, as far as the stack can come."""
        reached: Probability = Fraction(1)
        stack = Distribution([self.attackers])
        for defenders, rules, stop in self.stages():
            law = stopped.outcomes(stack, defenders, rules, stop, exact=exact, method=method)
            conquered = reached * law.prob(is_won)
            yield _Passage(reached, conquered, stack, law, rules.garrison)
            if not conquered:
                break
            stack = law.condition(is_won).map(partial(_moved_in, garrison=rules.garrison))
            reached = conquered


class _Passage(NamedTuple):
    """What happens at one territory: `stack` and `outcomes` are laws given that it is reached."""

    reached: Probability
    conquered: Probability
    stack: Distribution[int]
    outcomes: Distribution[Outcome]
    garrison: int


def _rounded(number: Probability, exact: bool) -> Probability:
    return number if exact else float(number)


def _moved_in(outcome: Outcome, garrison: int) -> int:
    return outcome.attackers - garrison


def _check_stage(stage: Stage) -> None:
    """Refuse a battle that no method solves."""
    check_rules(stage.rules)
    if not stage.stop.is_reserve:
        from iacta.methods import stopping  # slow to import, and only needed here

        stopping.refuse_rules(stage.rules)


def _play_battle(attackers: int, stage: Stage, rng: "np.random.Generator") -> tuple[int, int]:
    """Return the attackers and defenders left after a battle with random dice."""
    defenders, stop = stage.defenders, stage.stop
    rules = stop.rules_in_fight(stage.rules)
    if rules.dice_mode == "balanced blitz" or rules.defender_sees_first:
        solver = find_method("auto", attackers, defenders, rules, exact=False, question="law")
        ends = solver.outcomes(Distribution([attackers]), defenders, rules)
        return ends.sample(1, rng)[0]
    fewest = stop.fewest_able(attackers - rules.garrison, rules.attack.kept)
    rolls = 0
    while attackers - rules.garrison >= fewest and defenders and rolls != stop.max_rolls:
        lost = _play_roll(attackers - rules.garrison, defenders, rules, rng)
        attackers, defenders, rolls = attackers - lost[0], defenders - lost[1], rolls + 1
    return attackers, defenders


def _play_roll(
    able: int, defenders: int, rules: Rules, rng: "np.random.Generator"
) -> tuple[int, int]:
    """Return the armies that both sides lose in a roll; a gain is a negative loss."""
    law = loss_counts(min(able, rules.attack.kept), min(defenders, rules.defence.kept), rules)
    draw, k = rng.random() - law.gains / law.total, 0
    if draw < 0:
        return -rules.all_ones_gain, -rules.all_ones_gain
    while k < law.compared and draw >= law.counts[k] / law.total:
        draw -= law.counts[k] / law.total
        k += 1
    return law.compared - k, k
