"""Campaign: the battles of one stack through a chain of territories."""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import NamedTuple

import numpy as np

from iacta.distribution import Distribution, Probability
from iacta.errors import MalformedError
from iacta.methods import Question, balanced_blitz, check_rules, find_method
from iacta.numbers import shown, whole_number
from iacta.outcome import Outcome, is_won
from iacta.records import put
from iacta.roll import loss_law
from iacta.rules import Rules
from iacta.territory import Territories, Territory, read_territories, stages
from iacta.variants import find_rules, rules_argument

__all__ = ["Campaign", "CampaignOutcome", "PlayedBattle", "TerritoryOdds"]


class CampaignOutcome(NamedTuple):
    """How a campaign ends.

    conquered: how many territories were taken.
    attackers: armies on the territory on which the stack stands at the end.
    defenders: armies left on the territory that it failed to take; 0 if it took all.
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
class Campaign:
    """A stack that takes one territory after another, and moves on with all but the garrison.

    attackers: armies on the territory from which the campaign starts, garrison included.
    territories: the way: for each territory its defenders, or a `Territory` with rules and a
        garrison of its own.
    rules: `Rules`, or the name of a rule set.
    garrison: armies that must stay behind on each territory; `None` leaves what the rules say.

    Each battle is fought until the territory is taken or the stack cannot go on. Answers are
    floats, or fractions with `exact=True`; `method` is as for `Battle`. The relative error of a
    float is at most the sum over the territories of what `relative_error` of the method says,
    which is 1e-12 up to 250 armies on each side; twice that for `expected_attackers`, which is a
    ratio. Chances below 1e-150 may become 0. Under balanced blitz, which reshapes the battle for
    each territory by itself, the error is absolute.

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

    def __init__(
        self,
        attackers: int,
        territories: Territories,
        rules: Rules | str = "classic",
        *,
        garrison: int | None = None,
    ) -> None:
        put(self, "attackers", whole_number(attackers, "attackers", least=1))
        put(self, "territories", read_territories(territories))
        put(self, "rules", find_rules(rules, garrison))

    def __repr__(self) -> str:
        way = ", ".join(
            repr(each if each != Territory(each.defenders) else each.defenders)
            for each in self.territories
        )
        return f"Campaign({self.attackers}, [{way}]{rules_argument(self.rules)})"

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
        defenders = [territory.defenders for territory in self.territories]
        untouched = [sum(defenders[taken + 1 :]) for taken in range(len(defenders) + 1)]
        return self.outcomes(exact=exact, method=method).map(
            lambda end: end.attackers - end.defenders - untouched[end.conquered]
        )

    def play(self, rng: "np.random.Generator") -> tuple[PlayedBattle, ...]:
        """Return the battles of one campaign that is played with random dice.

        rng: a `numpy.random.Generator`; the same seed plays the same campaign.

        Under balanced blitz no dice are thrown: how a battle ends is drawn from its law.

        >>> Campaign(12, [3, 2]).play(np.random.default_rng(1))[0]
        PlayedBattle(territory=1, attackers=12, defenders=3, attackers_left=11, defenders_left=0)
        """
        if not isinstance(rng, np.random.Generator):
            raise MalformedError(f"rng must be a numpy.random.Generator, got {shown(rng)}")
        for _, rules in stages(self.territories, self.rules):
            check_rules(rules)
        battles: list[PlayedBattle] = []
        attackers = self.attackers
        for number, (defenders, rules) in enumerate(stages(self.territories, self.rules), start=1):
            left = _play_battle(attackers, defenders, rules, rng)
            battles.append(PlayedBattle(number, attackers, defenders, *left))
            if left[1]:
                break
            attackers = left[0] - rules.garrison
        return tuple(battles)

    def _passages(self, exact: bool, method: str) -> Iterator["_Passage"]:
        """Yield what happens at each territory, as far as the stack can come."""
        reached: Probability = Fraction(1)
        stack = Distribution([self.attackers])
        for defenders, rules in stages(self.territories, self.rules):
            question: Question = "law" if len(stack) == 1 else "stack"
            solver = find_method(
                method, max(stack), defenders, rules, exact=exact, question=question
            )
            law = solver.outcomes(stack, defenders, rules)
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


def _play_battle(
    attackers: int, defenders: int, rules: Rules, rng: "np.random.Generator"
) -> tuple[int, int]:
    """Return the attackers and defenders left after a battle with random dice."""
    if rules.dice_mode == "balanced blitz":
        ends = balanced_blitz.outcomes(Distribution([attackers]), defenders, rules)
        return ends.sample(1, rng)[0]
    while attackers > rules.garrison and defenders:
        able = attackers - rules.garrison
        law = loss_law(min(able, rules.attack.kept), min(defenders, rules.defence.kept), rules)
        draw, k = rng.random() - law.gains / law.total, 0
        if draw < 0:
            attackers += rules.all_ones_gain
            defenders += rules.all_ones_gain
            continue
        while k < law.compared and draw >= law.counts[k] / law.total:
            draw -= law.counts[k] / law.total
            k += 1
        attackers, defenders = attackers - law.compared + k, defenders - k
    return attackers, defenders
