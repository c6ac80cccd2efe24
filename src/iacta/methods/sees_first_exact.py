"""The functions of a method with the garrison included, until all ask the kernel."""

from iacta.methods.adapted import adapted
from iacta.methods.sees_first import EXACT_NAME, SeesFirst

__all__ = [
    "NAME",
    "outcomes",
    "refuse",
    "relative_error",
    "value_rows",
    "values",
    "win_probability",
    "win_table",
]

NAME: str = EXACT_NAME
refuse, relative_error, win_probability, outcomes, value_rows, values, win_table = adapted(
    lambda rules: SeesFirst(rules, exact=True)
)
