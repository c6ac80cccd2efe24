"""Bars for the outcomes of battles and campaigns."""

from collections.abc import Sequence
from typing import NamedTuple

from iacta.battle.battle import Battle
from iacta.battle.campaign import Campaign, CampaignOutcome
from iacta.forms.sections import Bar, Bars
from iacta.methods.kernel import Outcome, is_won
from iacta.probability.distribution import Distribution

NEGLIGIBLE_TAIL = 0.0005  # outcomes at each end with a smaller total chance are omitted
TONES = {"won": "good", "stopped": "neutral", "lost": "bad"}


class _OutcomeGroup(NamedTuple):
    """The outcomes of one bar: how the attack ends, a range of numbers, and the total chance."""

    kind: str
    least: int
    most: int
    probability: float

    @property
    def numbers(self) -> str:
        return str(self.least) if self.least == self.most else f"{self.least} to {self.most}"


def make_battle_bars(outcomes: Distribution[Outcome], battle: Battle) -> Bars:
    """Return bars for the armies left: attackers after a victory, defenders after a defeat."""
    ends: dict[tuple[str, int], float] = {}
    for end in sorted(outcomes, key=lambda end: (end.defenders, -end.attackers)):
        kind = "won" if is_won(end) else "stopped" if battle.is_stopped(end) else "lost"
        key = kind, end.attackers if kind == "won" else end.defenders
        ends[key] = ends.get(key, 0.0) + float(outcomes[end])
    kinds = {
        kind: [
            _OutcomeGroup(name, n, n, chance) for (name, n), chance in ends.items() if name == kind
        ]
        for kind in TONES
    }
    width = max(len("lost"), *(len(kind) for kind, of_kind in kinds.items() if of_kind))
    return Bars(
        [
            Bar(
                f"{ending.kind:<{width}}  {ending.numbers} of "
                f"{'yours' if ending.kind == 'won' else 'theirs'} left",
                ending.probability,
                TONES[ending.kind],
            )
            for ending in _merge_groups(
                [end for of_kind in kinds.values() for end in of_kind], maximum=20
            )
        ]
    )


def sort_best_first(outcomes: Distribution[CampaignOutcome]) -> list[CampaignOutcome]:
    """Return the outcomes of a campaign, from the best for the attackers to the worst."""
    return sorted(outcomes, key=lambda end: (-end.conquered, end.defenders, -end.attackers))


def make_campaign_bars(outcomes: Distribution[CampaignOutcome], campaign: Campaign) -> Bars:
    """Return bars for the armies left after a victory, and for the territories of failures."""
    won: list[_OutcomeGroup] = []
    stopped: dict[int, float] = {}
    lost: dict[int, float] = {}
    for end in sort_best_first(outcomes):
        probability, number = float(outcomes[end]), end.conquered + 1
        if end.conquered == len(campaign.territories):
            won.append(_OutcomeGroup("won", end.attackers, end.attackers, probability))
        else:
            others = stopped if campaign.is_stopped(end) else lost
            others[number] = others.get(number, 0.0) + probability
    taken = "taken" if len(campaign.territories) == 1 else "all taken"
    bars = [_make_campaign_bar(ending, taken) for ending in _merge_groups(won, maximum=12)]
    for kind, others in (("stopped", stopped), ("lost", lost)):
        ends = [_OutcomeGroup(kind, number, number, chance) for number, chance in others.items()]
        bars += [_make_campaign_bar(ending, taken) for ending in _merge_groups(ends, maximum=8)]
    return Bars(bars)


def _make_campaign_bar(group: _OutcomeGroup, taken: str) -> Bar:
    if group.kind == "won":
        label = f"{taken}, {group.numbers} left"
    else:
        label = f"{group.kind} at territory {group.numbers}"
    return Bar(label, group.probability, TONES[group.kind])


def _merge_groups(groups: Sequence[_OutcomeGroup], maximum: int) -> list[_OutcomeGroup]:
    """Drop rare groups at both ends, and merge neighbours until about `maximum` groups are left."""
    if len(groups) <= maximum:
        return list(groups)
    likely = _drop_rare_groups(_drop_rare_groups(list(groups))[::-1])[::-1]
    width = -(-len(likely) // maximum)
    joined: list[_OutcomeGroup] = []
    room = 0
    for ending in likely:
        if room and joined[-1].kind == ending.kind:
            last = joined.pop()
            least, most_of = min(last.least, ending.least), max(last.most, ending.most)
            joined.append(
                _OutcomeGroup(ending.kind, least, most_of, last.probability + ending.probability)
            )
            room -= 1
        else:
            joined.append(ending)
            room = width - 1
    return joined


def _drop_rare_groups(groups: list[_OutcomeGroup]) -> list[_OutcomeGroup]:
    rare, total = 0, 0.0
    while rare < len(groups) and total + groups[rare].probability < NEGLIGIBLE_TAIL:
        total += groups[rare].probability
        rare += 1
    return groups[rare:]
