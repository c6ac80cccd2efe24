"""Pictures of every answer: each function takes what iacta answers, and returns a chart.

A chart is Altair's: it shows itself in a notebook, and `save` writes it to a file. The numbers
behind it are had by `chart_tables`, `chart_csv` or `chart_frame`. All look the same by
`iacta.charts.theme`; no picture is drawn anywhere else.
"""

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from iacta.errors import MissingError

if not (find_spec("altair") and find_spec("vl_convert")):
    raise MissingError(
        "pictures need Altair and vl-convert, which are not installed: pip install 'iacta[plot]'"
    )

if TYPE_CHECKING:
    from iacta.charts.boards import board_map, plan_map
    from iacta.charts.boundary import first_passages
    from iacta.charts.campaigns import campaign_score, survival
    from iacta.charts.comparison import Solved, methods_compared
    from iacta.charts.curves import curves_by_advantage, curves_by_delta, curves_by_match_up
    from iacta.charts.decisions import decision_map, dice_map
    from iacta.charts.files import chart_csv, chart_frame, chart_tables, save, specification
    from iacta.charts.laws import battle_law, final_difference, roll_law
    from iacta.charts.paths import path_chances
    from iacta.charts.requirements import chance_by_attackers, chance_by_defenders
    from iacta.charts.rules import full_roll, rule_sets
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
    "board_map",
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
    "plan_map",
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

# Altair is slow to import, and no picture needs all files.
_LOADED_WHEN_ASKED = {
    "board_map": "iacta.charts.boards",
    "plan_map": "iacta.charts.boards",
    "first_passages": "iacta.charts.boundary",
    "campaign_score": "iacta.charts.campaigns",
    "survival": "iacta.charts.campaigns",
    "Solved": "iacta.charts.comparison",
    "methods_compared": "iacta.charts.comparison",
    "curves_by_advantage": "iacta.charts.curves",
    "curves_by_delta": "iacta.charts.curves",
    "curves_by_match_up": "iacta.charts.curves",
    "decision_map": "iacta.charts.decisions",
    "dice_map": "iacta.charts.decisions",
    "chart_csv": "iacta.charts.files",
    "chart_frame": "iacta.charts.files",
    "chart_tables": "iacta.charts.files",
    "save": "iacta.charts.files",
    "specification": "iacta.charts.files",
    "battle_law": "iacta.charts.laws",
    "final_difference": "iacta.charts.laws",
    "roll_law": "iacta.charts.laws",
    "path_chances": "iacta.charts.paths",
    "chance_by_attackers": "iacta.charts.requirements",
    "chance_by_defenders": "iacta.charts.requirements",
    "full_roll": "iacta.charts.rules",
    "rule_sets": "iacta.charts.rules",
    "convergence": "iacta.charts.simulations",
    "simulated_law": "iacta.charts.simulations",
    "best_spread": "iacta.charts.spreads",
    "after_rolls": "iacta.charts.states",
    "probability_tree": "iacta.charts.states",
    "state_space": "iacta.charts.states",
    "transition_matrix": "iacta.charts.states",
    "break_even": "iacta.charts.tables",
    "slices": "iacta.charts.tables",
    "win_chance_map": "iacta.charts.tables",
    "minimum_troops": "iacta.charts.troops",
    "minimum_troops_ratio": "iacta.charts.troops",
}


def __getattr__(name: str) -> Any:
    if name in _LOADED_WHEN_ASKED:
        return getattr(import_module(_LOADED_WHEN_ASKED[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
