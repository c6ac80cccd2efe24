"""Equations in docstrings: each is read to its end, and drawn as MathML without loss."""

import inspect
import re
from html import unescape
from importlib import import_module
from pkgutil import iter_modules
from xml.etree import ElementTree

import pytest

from docs.equations import EquationError, typeset
from iacta import methods, plan
from iacta_literature import hoehle, taflin

MODULES = [
    *(
        import_module(f"{package.__name__}.{each.name}")
        for package in (methods, plan)
        for each in iter_modules(package.__path__)
    ),
    taflin,
    hoehle,
]


def blocks() -> list[tuple[str, str]]:
    """Return each block of equations, with the file that has it."""
    found = []
    for module in MODULES:
        own = [each for each in vars(module).values() if inspect.getmodule(each) is module]
        for documented in (module, *own):
            text = inspect.cleandoc(getattr(documented, "__doc__", None) or "")
            found += [(module.__name__, part) for part in text.split("\n\n") if part[:4] == "    "]
    return found


def letters(text: str) -> str:
    """Return what must be left of an equation: its letters and digits, in any order."""
    plain = text.translate(str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹ⁿ₀₁₂₃₄₅₆₇₈₉", "0123456789n0123456789"))
    return "".join(sorted(re.findall(r"[^\W_ΣΠ]", plain)))


@pytest.mark.parametrize(("module", "block"), blocks(), ids=lambda value: value.strip()[:40])
def test_every_equation_of_a_docstring_is_typeset_with_all_its_letters(
    module: str, block: str
) -> None:
    shown = typeset(block)
    tree = ElementTree.fromstring(shown.replace("<br>", "<br/>"))  # noqa: S314 # our own lines
    assert tree.find(".//math") is not None
    kept = block.replace(" in ", " ") if "∈" in shown else block
    assert letters("".join(tree.itertext())) == letters(kept), module
    assert not re.search(r"[_^]", re.sub(r"[a-z]+_[a-z]+", "", unescape(shown))), module


def test_each_method_states_its_equations() -> None:
    stated = {module for module, _ in blocks()}
    files = {each.removesuffix("_exact") for each in methods.METHODS}
    assert {f"iacta.methods.{each}" for each in files} <= stated


@pytest.mark.parametrize(
    ("equation", "markup"),
    [
        ("x_k^2", "<msubsup><mi>x</mi><mrow><mi>k</mi></mrow><mrow><mn>2</mn></mrow></msubsup>"),
        ("V'", "<msup><mi>V</mi><mrow><mo>′</mo></mrow></msup>"),
        ("T⁻¹", "<msup><mi>T</mi><mrow><mo>−</mo><mn>1</mn></mrow></msup>"),
        ("1 / 2π", "<mfrac><mrow><mn>1</mn></mrow><mrow><mn>2</mn><mi>π</mi></mrow></mfrac>"),
        ("(a) / b", "<mfrac><mrow><mi>a</mi></mrow><mrow><mi>b</mi></mrow></mfrac>"),
        ("√(p)", "<msqrt><mi>p</mi></msqrt>"),
        ("Σ_k", "<munder><mo>∑</mo><mrow><mi>k</mi></mrow></munder>"),
        ("x2", "<msub><mi>x</mi><mrow><mn>2</mn></mrow></msub>"),
    ],
)
def test_it_is_drawn_as_mathematicians_do(equation: str, markup: str) -> None:
    assert f">{markup}</math>" in typeset(f"    {equation}")


def test_a_matrix_has_rows_and_columns() -> None:
    assert typeset("    P = | Q  R |\n        | 0  I |").count("<mtd>") == 4


def test_a_line_may_break_before_a_relation_but_not_before_a_comma() -> None:
    shown = typeset("    a = b + c, d")
    assert shown.count("<math") == 4
    assert re.search(r"<span class=\"whole\">[^,]*,</span>", shown)


@pytest.mark.parametrize("wrong", ["a ~ b", "(a", "a)", "/ b", "x_", "a ^ + b", "√"])
def test_what_cannot_be_read_is_refused(wrong: str) -> None:
    with pytest.raises(EquationError):
        typeset(f"    {wrong}")
