"""The kinds of charts in the articles, for any numbers of armies and any rules.

Each function returns an `iacta.charts.Chart`; `iacta chart` draws them. The module of each article
has the numbers with which its printed figures are drawn.
"""

from iacta_literature.charts.curves import (
    break_even,
    curves_by_advantage,
    curves_by_delta,
    curves_by_match_up,
    minimum_troops,
    minimum_troops_ratio,
    slices,
)
from iacta_literature.charts.scores import campaign_score, convergence, final_difference
from iacta_literature.charts.states import (
    after_rolls,
    first_passages,
    path_chances,
    probability_tree,
    state_space,
    transition_matrix,
)

__all__ = [
    "after_rolls",
    "break_even",
    "campaign_score",
    "convergence",
    "curves_by_advantage",
    "curves_by_delta",
    "curves_by_match_up",
    "final_difference",
    "first_passages",
    "minimum_troops",
    "minimum_troops_ratio",
    "path_chances",
    "probability_tree",
    "slices",
    "state_space",
    "transition_matrix",
]
