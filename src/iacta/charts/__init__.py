"""Pictures of every answer: each function takes what iacta answers, and returns a chart.

A chart is Altair's: it shows itself in a notebook, and `save` writes it to a file. The numbers
behind it are had by `chart_tables`, `chart_csv` or `chart_frame`. All look the same by
`iacta.charts.theme`; no picture is drawn anywhere else.
"""

from iacta.errors import MissingError

try:
    import altair  # noqa: F401 # whether it is there
    import vl_convert  # noqa: F401 # the same
except ImportError:
    raise MissingError(
        "pictures need Altair and vl-convert, which are not installed: pip install 'iacta[plot]'"
    ) from None

from iacta.charts.boundary import first_passages
from iacta.charts.campaigns import campaign_score, survival
from iacta.charts.comparison import Solved, methods_compared
from iacta.charts.curves import curves_by_advantage, curves_by_delta, curves_by_match_up
from iacta.charts.decisions import decision_map, dice_map
from iacta.charts.files import chart_csv, chart_frame, chart_tables, save, specification
from iacta.charts.laws import battle_law, final_difference, roll_law
from iacta.charts.paths import path_chances
from iacta.charts.requirements import chance_by_attackers, chance_by_defenders
from iacta.charts.rule_sets import full_roll, rule_sets
from iacta.charts.simulations import convergence, simulated_law
from iacta.charts.spreads import best_spread
from iacta.charts.states import after_rolls, probability_tree, state_space, transition_matrix
from iacta.charts.tables import break_even, slices, win_chance_map
from iacta.charts.troops import minimum_troops, minimum_troops_ratio

__all__ = [
    "Solved",
    "after_rolls",
    "battle_law",
    "best_spread",
    "break_even",
    "campaign_score",
    "chance_by_attackers",
    "chance_by_defenders",
    "chart_csv",
    "chart_frame",
    "chart_tables",
    "convergence",
    "curves_by_advantage",
    "curves_by_delta",
    "curves_by_match_up",
    "decision_map",
    "dice_map",
    "final_difference",
    "first_passages",
    "full_roll",
    "methods_compared",
    "minimum_troops",
    "minimum_troops_ratio",
    "path_chances",
    "probability_tree",
    "roll_law",
    "rule_sets",
    "save",
    "simulated_law",
    "slices",
    "specification",
    "state_space",
    "survival",
    "transition_matrix",
    "win_chance_map",
]
