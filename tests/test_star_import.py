"""`from iacta import *` imports the public names; mypy checks this file."""

import ast
from pathlib import Path
from typing import assert_type

import iacta
from iacta import *  # noqa: F403 # that is the claim


def test_a_star_import_imports_typed_names() -> None:
    assert_type(Battle(3, 2), iacta.Battle)  # noqa: F405 # that is the claim
    assert_type(Battle(3, 2).win_probability(), float)  # noqa: F405


def test_the_stub_lists_what_it_exports() -> None:
    """Type checkers read the public names from the stub."""
    stub = ast.parse((Path(iacta.__file__).parent / "__init__.pyi").read_text("utf-8"))
    lists = [each.value for each in stub.body if isinstance(each, ast.Assign)]
    assert [ast.literal_eval(each) for each in lists] == [iacta.__all__]
