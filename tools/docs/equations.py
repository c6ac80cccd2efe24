"""Converts the equations of docstrings to MathML.

An equation is written once, in Unicode, so that `help` and notebooks show it as it is: `_` and `^`
begin an index and an exponent, and ` / ` between spaces is a fraction. A browser breaks a long
equation before the operators that are outside of brackets.
"""
# ruff: noqa: RUF001 # equations contain minus signs and Greek letters

import re
from html import escape

from latex2mathml.converter import convert

INDENTED = re.compile(r"(?<=\n\n) {4,}\S.*(?:\n {4,}\S.*)*")
MATHEMATICS = re.compile(r"[=≤≈−·]| / ")  # other indented blocks are code
GAP = re.compile(r"(?<=,) {2,}| {3,}(?![ =+−])")  # between two equations in a line
BREAKS = ("=", "+=", "≤", "≈", "+", "−", "·")  # operators before which a line may break
MAX_LENGTH = 30  # characters of a factor that fit on a phone; longer factors break in brackets
FUNCTIONS = ("ln", "log", "max", "min", "sin")
NAMES = {"Im": r"\mathrm{Im}", "Re": r"\mathrm{Re}", "Var": r"\mathrm{Var}"}
NAMES |= {name: f"\\{name}" for name in FUNCTIONS}
NAMES |= {"al": r"\mathit{al}", "dl": r"\mathit{dl}"}

SYMBOLS = {
    "−": "-",
    "·": r"\cdot ",
    "×": r"\times ",
    "≤": r"\leq ",
    "≥": r"\geq ",
    "≈": r"\approx ",
    "...": r"\dots ",
    "..": r"\dots ",
    "Σ": r"\sum\limits ",
    "Π": r"\prod\limits ",
    "∫": r"\int ",
    "½": r"\frac{1}{2}",
    "#": r"\#",
    "'": "′",
    " : ": r"\text{ : }",
    "+=": r"\text{ += }",
}
SYMBOL = re.compile("|".join(map(re.escape, SYMBOLS)))


def _make_group(left: str, right: str) -> str:
    """Return a pattern of a group in brackets, with at most three levels of brackets inside."""
    inside = rf"[^\{left}\{right}]"
    pattern = rf"\{left}{inside}*\{right}"
    for _ in range(3):
        pattern = rf"\{left}(?:{inside}|{pattern})*\{right}"
    return pattern


ROUND = _make_group("(", ")")
GROUP = f"(?:{ROUND}|{_make_group('[', ']')}|{_make_group('{', '}')})"
FACTOR = rf"(?:[^\s()\[\]{{}},;.]|\.(?=\d)|{GROUP})+"  # such as n·p_i or Γ(a + n)
FRACTION = re.compile(rf"({FACTOR}) / ((?:[ΣΠ]\S* )?(?:{ROUND}|{FACTOR}))")
CHUNK = re.compile(rf"(?:[^\s()\[\]{{}}]|{GROUP}|[()\[\]{{}}])+")
LONG = re.compile(r"([^\s()\[\]]*(?<![_^])[(\[])(.*)([)\]][,.]?)")
ROOT = re.compile(rf"√({ROUND})")
MATRIX = re.compile(r"\[\[(\w), (\w)\], \[(\w), (\w)\]\]")
SCRIPT = re.compile(rf"([_^])({ROUND}|\d*\.\d+|−?[^\W_]+|\*)")
RAISED = re.compile("[⁻⁰¹²³⁴⁵⁶⁷⁸⁹ᵀ]+")
LOWERED = re.compile("[₀₁₂₃₄₅₆₇₈₉]+")
DIGITS = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹ᵀ₀₁₂₃₄₅₆₇₈₉", "-0123456789T0123456789")
WORD = re.compile(
    rf" ?(?<![\\A-Za-z])(?:{'|'.join(NAMES)}|[A-Za-z]{{3,}}(?:[ \0][A-Za-z]{{2,}})*)"
    "(?![A-Za-z]) ?"
)
PROSE = re.compile(r"[A-Za-z]{2,}[,.;:]?|(?:\(\d+\)-?)+[,.;]?|\(wrong\)")


UNCHANGED = re.compile(
    r"(```.*?\n```|`[^`]*`|<p .*?</p>|\[[^\]]*\]\(.*?\)|^Sources?: .*?(?=\n\n|\Z))",
    re.DOTALL | re.MULTILINE,
)
INSIDE = r"(?:(?!or |[A-Za-z]{3})[^()\[\]]"  # no words
ARGUMENTS = rf"(?:\({INSIDE}|{ROUND})*\)|\[{INSIDE})*\])"
LETTER = (
    r"(?:[Α-Ωα-ω]|(?<![A-Za-z])(?:(?:max|min)(?!_[a-z]{2})|sin|al|dl|[A-Za-z])(?![A-Za-z]|\.[a-z]))"
)
INDEX = rf"(?:{GROUP}|\d*\.\d+|−?[^\W_]+)"
TERM = (
    rf"[−√]?(?:[.\d]*\d(?!e-?\d)|\.\.\.|{LETTER}|(?<!\w){ARGUMENTS})"
    rf"(?:[_^]{INDEX}|['!*⁻⁰¹²³⁴⁵⁶⁷⁸⁹ᵀ₀₁₂₃]|{ARGUMENTS})*"
)
# No formula continues after an article or a number with a unit.
ADJACENT = r"(?<![\s(][\da]\s)(?<![\s(]\d\d\s)(?!a\b)"
FORMULA = re.compile(
    rf"(?<![\w.'*-])(?:{TERM}[·/]?)+(?:\s+(?:(?:[=≤≥<>+−·/]|\.\.\.?)\s+|{ADJACENT})(?:{TERM}[·/]?)+)*"
    r"(?!-?[^\W_]|\*)[.,;]?"
)


def typeset_equations(text: str) -> str:
    r"""Replace the indented equations of a docstring by paragraphs with MathML.

    >>> typeset_equations("The mean is\n\n    μ = Σ_k p_k · k.")[:50]
    'The mean is\n\n<p class="equation"><span><math displ'
    """
    return INDENTED.sub(
        lambda found: _typeset_block(found[0]) if MATHEMATICS.search(found[0]) else found[0], text
    )


def typeset_formulas(text: str) -> str:
    """Replace the formulas in the sentences of a docstring by MathML.

    A formula has an index, an exponent, arguments or an operator, or is a letter other than `a`.

    >>> typeset_formulas("Leap: a walk. After a step, x_k ≤ 3, with `x_k`.").count("<math")
    1
    """
    parts = UNCHANGED.split(text)
    parts[::2] = (FORMULA.sub(_convert_formula, part) for part in parts[::2])
    return "".join(parts)


def _convert_formula(found: re.Match[str]) -> str:
    """Convert a formula of a sentence to MathML, but keep words and numbers."""
    text = " ".join(found[0].split())
    is_variable = re.match(r"\s+(?:able|attackers|be)\b", found.string[found.end() :])
    is_article = text in ("a", "A") and not is_variable
    is_formula = re.search(r"[^\W\d_]|\d\^", text) and text != "I" and not is_article
    if not is_formula:
        return found[0]
    is_long = len(text) > MAX_LENGTH
    typeset = _typeset_equation(text) if is_long else _convert(text, is_first=True)
    inline = typeset.replace(' displaystyle="true"', "")
    return f"<span>{inline}</span>"  # a line that begins with `<math>` would end the paragraph


def _typeset_block(block: str) -> str:
    """Return a paragraph for each equation; a line with a deeper indent continues an equation."""
    lines = re.sub(r"\n {5,}", " ", block).splitlines()
    return "\n".join(f'<p class="equation">{_typeset_line(line)}</p>' for line in lines)


def _typeset_line(line: str) -> str:
    """Return equations, and the words between them, as HTML."""
    return " ".join(f"<span>{_typeset_equation(part)}</span>" for part in GAP.split(line.strip()))


def _typeset_equation(text: str) -> str:
    parts: list[str] = []
    segment: list[str] = []
    chunks = _split_chunks(text)
    for chunk, following in zip(chunks, [*chunks[1:], ""], strict=True):
        is_article = chunk == "a" and bool(PROSE.fullmatch(following))
        is_prose = is_article or (PROSE.fullmatch(chunk) and chunk not in NAMES)
        if segment and (is_prose or chunk in BREAKS or segment[-1][-1] == ","):
            parts.append(_convert(" ".join(segment), is_first=not parts))
            segment = []
        if is_prose:
            parts.append(f" {escape(chunk)} ")
        else:
            segment.append(chunk)
    if segment:
        parts.append(_convert(" ".join(segment), is_first=not parts))
    return "<wbr>".join(parts).replace(" <wbr> ", " ")


def _split_chunks(text: str) -> list[str]:
    """Split an equation at spaces outside of brackets, and long factors also inside."""
    chunks: list[str] = []
    for chunk in CHUNK.findall(text):
        is_long = len(chunk) > MAX_LENGTH and " / " not in text
        found = LONG.fullmatch(chunk) if is_long else None
        inside = CHUNK.findall(found[2]) if found else [chunk]
        if found:
            inside[0] = found[1] + inside[0]
            inside[-1] += found[3]
        chunks += inside
    return chunks


def _convert(text: str, *, is_first: bool) -> str:
    """Convert a part of an equation, which may begin with an operator, to MathML."""
    latex = RAISED.sub(lambda found: f"^{{{found[0].translate(DIGITS)}}}", text)
    latex = LOWERED.sub(lambda found: f"_{{{found[0].translate(DIGITS)}}}", latex)
    latex = re.sub(r"(?<=[A-Za-z])\*", "^*", latex)
    latex = re.sub("(?<=[a-z]{3})_(?=[a-z]{3})", "\0", latex)
    latex = SCRIPT.sub(lambda found: f"{found[1]}{{{_strip_brackets(found[2])}}}", latex)
    latex = re.sub(r"#\{(.*)\}", r"#\\{\1\\}", latex)
    latex = ROOT.sub(lambda found: rf"\sqrt{{{found[1][1:-1]}}}", latex)
    while found := FRACTION.search(latex):
        above, below = (_strip_brackets(each) for each in found.groups())
        latex = f"{latex[: found.start()]}\\frac{{{above}}}{{{below}}}{latex[found.end() :]}"
    latex = WORD.sub(_mark_word, latex)
    latex = re.sub(r"(?<!\.)[.,;]$", r"\\text{\g<0>}", latex)
    latex = MATRIX.sub(r"\\begin{bmatrix}\1 & \2 \\\\ \3 & \4\\end{bmatrix}", latex)
    latex = SYMBOL.sub(lambda found: SYMBOLS[found[0]], latex)
    mathml = convert(latex).replace(' xmlns="http://www.w3.org/1998/Math/MathML"', "")
    mathml = mathml.replace('display="inline"', 'displaystyle="true"', 1).replace("\0", "_")
    return mathml if is_first else mathml.replace("<mrow><mo>", '<mrow><mo form="infix">', 1)


def _strip_brackets(text: str) -> str:
    return text[1:-1] if re.fullmatch(ROUND, text) else text


def _mark_word(found: re.Match[str]) -> str:
    """Return the LaTeX command of a function, or a word in roman type."""
    word = found[0].strip()
    return NAMES[word] + " " if word in NAMES else rf"\text{{{found[0]}}}"
