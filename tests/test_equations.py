"""The equations of docstrings: all are typeset, and keep their letters and digits."""
# ruff: noqa: RUF001 # equations contain minus signs

import ast
import re
import unicodedata
from html import unescape
from pathlib import Path

import pytest

from tools.docs.equations import typeset_equations, typeset_formulas

SOURCE = Path(__file__).parents[1] / "src"
FILES = [
    *SOURCE.glob("iacta/methods/*.py"),
    *SOURCE.glob("iacta/plan/*.py"),
    *SOURCE.glob("iacta_literature/*.py"),
    SOURCE / "iacta/rules/thrown.py",
]


def list_docstrings() -> list[str]:
    """Return the docstrings of the pages about methods and plans."""
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef)
    nodes = [node for file in FILES for node in ast.walk(ast.parse(file.read_text("utf-8")))]
    texts = [ast.get_docstring(node) or "" for node in nodes if isinstance(node, documented)]
    return [re.split(r"^>>>", text, flags=re.MULTILINE)[0] for text in texts]


def list_letters(text: str) -> str:
    """Return the letters and digits of a text, without indices above or below the line."""
    plain = unicodedata.normalize("NFKC", unescape(re.sub("<.*?>", "", text)))
    return re.sub(r"[\W_]|Σ|Π", "", plain.replace("∑", "").replace("∏", ""))


def test_every_indented_equation_is_typeset_without_losing_a_letter() -> None:
    count = 0
    for text in list_docstrings():
        typeset = typeset_equations(text)
        # An equation is indented by four spaces, and the lines that continue it by more.
        blocks = [each for each in text.split("\n\n") if each.startswith("    ")]
        equations = [re.findall("^ {4}(?! )", block, re.MULTILINE) for block in blocks]
        paragraphs = re.findall('<p class="equation">(.*?)</p>', typeset)
        assert len(paragraphs) == sum(map(len, equations)), text
        assert all("<math" in each for each in paragraphs), text
        assert list_letters(typeset) == list_letters(text)
        count += len(paragraphs)
    assert count > 50


def test_formulas_of_sentences_keep_their_letters() -> None:
    for text in list_docstrings():
        assert list_letters(typeset_formulas(text)) == list_letters(text)


@pytest.mark.parametrize(
    ("text", "formulas"),
    [
        ("With a attackers, p_k ≤ 1/2 is a chance.", ["a", "pk≤1/2"]),
        ("The states (a, d) with a + d = t, see (5).", ["(a,d)", "a+d=t,"]),
        ("At most 10^12 armies; `x_k` is code.", ["1012"]),
        ("The field max_losses of a player's turn, e.g. 1e-12.", []),
        ("Solve (I − Q) x = b.", ["(I−Q)x=b."]),
    ],
)
def test_a_formula_of_a_sentence_is_told_from_words(text: str, formulas: list[str]) -> None:
    typeset = [
        unescape(re.sub("<.*?>", "", each))
        for each in re.findall("<span>.*?</span>", typeset_formulas(text))
    ]
    assert [each.replace("-", "−") for each in typeset] == formulas


@pytest.mark.parametrize(
    ("equation", "mathml"),
    [
        ("x = a / b.", "<mfrac><mrow><mi>a</mi></mrow><mrow><mi>b</mi></mrow></mfrac>"),
        ("x = (a + 1) / √(n·b)", "<msqrt>"),
        ("x = f_32^1", "<msubsup><mi>f</mi><mrow><mn>32</mn></mrow><mrow><mn>1</mn></mrow>"),
        ("x = Σ_k p_k", "<munder><mo>&#x02211;</mo>"),
        ("x = (I − Q)⁻¹ R", "<mo>&#x02212;</mo><mn>1</mn>"),
        ("P = [[Q, R], [0, I]]", "<mtable>"),
    ],
)
def test_parts_of_an_equation_become_elements_of_mathml(equation: str, mathml: str) -> None:
    assert mathml in typeset_equations(f"Let\n\n    {equation}")
