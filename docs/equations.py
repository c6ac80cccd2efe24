"""Typesets equations: the notation of the docstrings becomes MathML, which browsers draw.

A block of equations is a statement on each line; a line that is indented further goes on with the
one above. `_` and `^` set the next letter, number or bracket below and above; Σ, Π, min and max
have their index below them; `a / b` is a fraction of what is next to the stroke; a letter with
a number behind it, such as x1, has it as an index; words are words. Whatever else is met is
refused.

Every top-level term is an element of its own, so that lines break before relations and signs where
the screen is narrow.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from html import escape

__all__ = ["EquationError", "typeset"]

FUNCTIONS = {"sin", "Re", "Im", "Var"}
WITH_LIMITS = {"Σ", "Π", "min", "max"}
VARIABLES = {"al", "dl"}  # names of two letters
PRODUCTS = {"Kv"}
RELATIONS = {"=", "+=", "≤", "≥", "≠", "≈", "<", ">", "→", ":"}
SIGNS = {"+", "−"}
PUNCTUATION = {",", ".", ";"}
BRACKETS = {"(": ")", "[": "]", "{": "}"}
RAISED = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺ⁿ", "0123456789−+n")
LOWERED = str.maketrans("₀₁₂₃₄₅₆₇₈₉", "0123456789")
SIGN = r'form="infix">(\+=|[+−=≤≥≈≠]|&lt;|&gt;)<'
BLANK, THIN = (f'<mspace width="{width}em"/>' for width in (0.3, 0.2))
WIDE = 24  # letters of a bracket beyond which a line may break within it

TOKEN = re.compile(
    r"""(?P<text>eqs?\.[ ]\(\d+\)(?:-\(\d+\))?|[A-Za-z]{2,}(?:[-'][a-z]+)*(?:_[a-z]{2,})*
               |a(?=[ ][a-z]{3,}))
    |(?P<number>\d+(?:\.\d+)?|\.\d+)
    |(?P<letter>[A-Za-zα-ωΑ-ΡΤ-Ω∞])
    |(?P<raised>[⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺ⁿ]+)
    |(?P<lowered>[₀-₉]+)
    |(?P<operator>\+=|\.\.\.|\.\.|[+−·×∘/=≤≥≠≈<>→:;,.|\#√∫ΣΠ*'_^()\[\]{}])""",
    re.VERBOSE,
)


class EquationError(ValueError):
    """A block of equations holds something that this file cannot read."""


@dataclass(frozen=True)
class Token:
    """A piece of an equation.

    kind: one of the groups of `TOKEN`.
    text: its letters.
    gap: the blanks before it; a line that goes on has a newline there.
    """

    kind: str
    text: str
    gap: str


@dataclass(frozen=True)
class Item:
    """A part of a row: a factor, an operator, a word or a mark.

    kind: `factor`, `operator`, `text` or `mark`.
    markup: MathML; of words and marks, plain text.
    gap: as of a token.
    inner: what a bracket holds, without the bracket.
    brackets: the two of it.
    width: the letters in it.
    """

    kind: str
    markup: str
    gap: str = ""
    inner: tuple["Item", ...] = ()
    brackets: tuple[str, str] = ("", "")
    width: int = 1

    @property
    def is_sign(self) -> bool:
        """Whether a line may break before it."""
        return self.kind == "operator" and re.search(SIGN, self.markup) is not None


def typeset(block: str) -> str:
    """Return a block of equations as HTML with MathML, on a single line.

    block: its lines, all of them indented. What cannot be read is refused.
    """
    lines = block.splitlines()
    margin = min(len(line) - len(line.lstrip()) for line in lines)
    matrix = _matrix([line[margin:] for line in lines])
    if matrix:
        return f'<div class="equations"><div>{matrix}</div></div>'
    statements: list[str] = []
    for line in lines:
        if line[margin] == " " and statements:
            statements[-1] += f"\n{line.strip()}"
        else:
            statements.append(line.strip())
    shown = (f"<div>{_html(_Reader(statement).row())}</div>" for statement in statements)
    return f'<div class="equations">{"".join(shown)}</div>'


def _matrix(lines: list[str]) -> str:
    """Return a matrix that is drawn with upright strokes, or nothing if there is none."""
    found = [re.fullmatch(r"(?P<name>.*?)\s*\| (?P<row>.+) \|", line) for line in lines]
    if len(lines) < 2 or None in found:
        return ""
    rows = "".join(
        "<mtr>"
        + "".join(f"<mtd>{_mathml(_Reader(cell).row())}</mtd>" for cell in each["row"].split())
        + "</mtr>"
        for each in found
        if each
    )
    name = _mathml(_Reader(lines[0].partition("|")[0]).row())
    table = f'<mo>(</mo><mtable rowspacing="0.3em">{rows}</mtable><mo>)</mo>'
    return f'<math displaystyle="true">{name}{table}</math>'


class _Reader:
    """Reads a statement from left to right."""

    def __init__(self, statement: str) -> None:
        self.statement = statement
        self.tokens = list(_tokens(statement))
        self.place = 0

    def next(self) -> Token | None:
        return self.tokens[self.place] if self.place < len(self.tokens) else None

    def take(self) -> Token:
        token = self.next()
        if token is None:
            raise EquationError(f"an equation must not end here: {self.statement!r}")
        self.place += 1
        return token

    def follows(self, *texts: str, adjacent: bool = False) -> bool:
        token = self.next()
        return token is not None and token.text in texts and not (adjacent and token.gap)

    def row(self, closer: str = "") -> tuple[Item, ...]:
        """Return items up to a bracket that closes, which is taken, or to the end."""
        items: list[Item] = []
        while (token := self.next()) is not None:
            if token.text == closer:
                self.take()
                return tuple(items)
            if token.text in BRACKETS.values():
                raise EquationError(f"{token.text!r} closes nothing: {self.statement!r}")
            if token.text == "/":
                self.take()
                items.append(self.fraction(items))
            elif self.is_operator(token, items):
                items.append(self.operator())
            else:
                items.append(self.factor())
        if closer:
            raise EquationError(f"{closer!r} is missing: {self.statement!r}")
        return tuple(items)

    def is_operator(self, token: Token, items: list[Item]) -> bool:
        if token.text == "|":  # a stroke after an operand parts; elsewhere it is a bracket
            return bool(items) and items[-1].kind in ("factor", "text") and token.gap != ""
        within = set("·×∘") | {"..", "...", "#"} | RELATIONS | SIGNS | PUNCTUATION
        return token.kind == "text" or token.text in within

    def operator(self) -> Item:
        token = self.take()
        if token.kind == "text" and token.text not in FUNCTIONS | WITH_LIMITS | VARIABLES:
            if token.text in PRODUCTS:
                letters = "".join(f"<mi>{letter}</mi>" for letter in token.text)
                return Item("factor", letters, token.gap)
            if "_" in token.text:
                return Item("factor", f"<mi>{token.text}</mi>", token.gap, width=len(token.text))
            return Item("text", token.text, token.gap, width=len(token.text))
        if token.kind == "text":
            self.place -= 1
            return self.factor()
        if token.text in PUNCTUATION:
            return Item("mark", token.text, token.gap)
        after = self.next()
        is_sign = token.text in SIGNS and after is not None and not after.gap and token.gap != ""
        form = "prefix" if is_sign else "infix"
        text = {"·": "⋅", "...": "…", "..": "‥"}.get(token.text, token.text)
        if token.text in ("...", "..", "#"):
            return Item("factor", f"<mo>{text}</mo>", token.gap)
        return Item("operator", f'<mo form="{form}">{escape(text)}</mo>', token.gap)

    def fraction(self, items: list[Item]) -> Item:
        """Return a fraction of the factors before the stroke and those right behind it."""
        above: list[Item] = []
        while items and items[-1].kind == "factor" and "<munder>" not in items[-1].markup:
            if re.match(r"<mo>[ΣΠ∫]", items[-1].markup):
                break
            above.insert(0, items.pop())
            if len(above[0].gap) > 1:
                break
        if not above:
            raise EquationError(f"nothing is above '/': {self.statement!r}")
        below = [self.factor()]
        while (token := self.next()) is not None and token.kind == "letter" and not token.gap:
            below.append(self.factor())
        parts = (_mathml(_bare(part)) for part in (above, below))
        markup = "".join(f"<mrow>{part}</mrow>" for part in parts)
        width = max(sum(each.width for each in part) for part in (above, below))
        return Item("factor", f"<mfrac>{markup}</mfrac>", above[0].gap, width=width)

    def factor(self) -> Item:
        """Return a letter, number or bracket with all that is set around it."""
        first = self.next()
        base = self.bare()
        markup, gap = base.markup, base.gap
        below, above = "", ""
        while (token := self.next()) is not None and not token.gap:
            if token.text in ("_", "^"):
                self.take()
                script = _mathml(self.script())
                below, above = (script, above) if token.text == "_" else (below, above + script)
            elif token.kind == "raised":
                above += _digits(self.take().text.translate(RAISED))
            elif token.kind == "lowered":
                below += _digits(self.take().text.translate(LOWERED))
            elif token.kind == "number" and first is not None and first.kind == "letter":
                below += f"<mn>{self.take().text}</mn>"
            elif token.text == "'":
                self.take()
                above += "<mo>′</mo>"
            elif token.text == "*":
                self.take()
                above += "<mo>*</mo>"
            else:
                break
        limits = first is not None and first.text in WITH_LIMITS
        if below or above:
            markup = _scripted(markup, below, above, limits=limits)
        operand = Item("factor", markup, gap, width=base.width)
        if not (below or above):
            operand = base
        while not limits and self.follows("(", "[", adjacent=True):
            argument = self.bare()
            operand = Item(
                "factor",
                f"<mrow>{operand.markup}{argument.markup}</mrow>",
                gap,
                width=operand.width + argument.width,
            )
            while (token := self.next()) is not None and not token.gap and token.kind == "raised":
                script = _digits(self.take().text.translate(RAISED))
                operand = Item("factor", _scripted(operand.markup, "", script), gap)
            if self.follows("^", "_", adjacent=True):
                mark = self.take().text
                script = _mathml(self.script())
                around = ("", script) if mark == "^" else (script, "")
                operand = Item("factor", _scripted(operand.markup, *around), gap)
        return operand

    def script(self) -> tuple[Item, ...]:
        """Return what is set below or above."""
        token = self.take()
        if token.text in ("{", "("):
            return self.row(BRACKETS[token.text])
        if token.kind == "text":
            return tuple(Item("factor", f"<mi>{letter}</mi>") for letter in token.text)
        if token.kind in ("number", "letter"):
            return (Item("factor", _plain(token)),)
        raise EquationError(f"{token.text!r} cannot be set below or above: {self.statement!r}")

    def bare(self) -> Item:
        """Return a letter, number or bracket."""
        token = self.take()
        if token.text in BRACKETS:
            return _bracket(self.row(BRACKETS[token.text]), token, BRACKETS[token.text])
        if token.text == "|":
            return _bracket(self.row("|"), token, "|")
        if token.text == "√":
            return Item("factor", f"<msqrt>{_mathml(_bare([self.bare()]))}</msqrt>", token.gap)
        if token.text in "ΣΠ∫":
            return Item("factor", f"<mo>{'∑∏∫'['ΣΠ∫'.index(token.text)]}</mo>", token.gap)
        if token.kind in ("number", "letter", "text"):
            return Item("factor", _plain(token), token.gap, width=len(token.text))
        raise EquationError(f"{token.text!r} was not expected: {self.statement!r}")


def _tokens(statement: str) -> Iterable[Token]:
    place = 0
    while place < len(statement):
        gap = re.compile(r"\s*").match(statement, place)
        start = gap.end() if gap else place
        found = TOKEN.match(statement, start)
        if found is None:
            if start == len(statement):
                return
            raise EquationError(f"{statement[start]!r} is not known: {statement!r}")
        yield Token(str(found.lastgroup), found[0], statement[place:start])
        place = found.end()


def _plain(token: Token) -> str:
    tag = "mn" if token.kind == "number" else "mi"
    return f"<{tag}>{escape(token.text)}</{tag}>"


def _digits(text: str) -> str:
    return "".join(
        f"<mo>{part}</mo>" if part in "−+" else "<mi>n</mi>" if part == "n" else f"<mn>{part}</mn>"
        for part in re.findall(r"\d+|\D", text)
    )


def _bracket(inner: tuple[Item, ...], token: Token, closer: str) -> Item:
    fences = (f'<mo fence="true">{bracket}</mo>' for bracket in (token.text, closer))
    opener, closing = fences
    return Item(
        "factor",
        f"<mrow>{opener}{_mathml(inner)}{closing}</mrow>",
        token.gap,
        inner=inner,
        brackets=(token.text, closer),
        width=2 + sum(item.width for item in inner),
    )


def _bare(items: Iterable[Item]) -> tuple[Item, ...]:
    """Return items, without the brackets if they are a single pair of them."""
    row = tuple(items)
    return row[0].inner if len(row) == 1 and row[0].brackets[0] == "(" else row


def _scripted(base: str, below: str, above: str, *, limits: bool = False) -> str:
    both = [f"<mrow>{script}</mrow>" for script in (below, above) if script]
    kind = "under" if limits else "sub"
    if limits:
        kind = "munderover" if len(both) == 2 else "munder" if below else "mover"
    else:
        kind = "msubsup" if len(both) == 2 else "msub" if below else "msup"
    return f"<{kind}>{base}{''.join(both)}</{kind}>"


def _mathml(items: Iterable[Item]) -> str:
    """Return a row within an equation as MathML."""
    parts: list[str] = []
    before: Item | None = None
    for item in items:
        if item.kind == "text":
            word = "<mo>∈</mo>" if item.markup == "in" else f"<mtext>{escape(item.markup)}</mtext>"
            parts.append(f"{BLANK}{word}" if item.gap else word)
        elif item.kind == "mark":
            parts.append(f'<mo separator="true">{escape(item.markup)}</mo>')
        else:
            if before is not None and item.kind == "factor" and item.gap:
                parts.append({"text": BLANK, "factor": THIN}.get(before.kind, ""))
            parts.append(item.markup)
        before = item
    return "".join(parts)


def _html(items: Iterable[Item]) -> str:
    """Return a statement as HTML: its terms as MathML, and the words between them."""
    parts: list[str] = []
    term: list[Item] = []
    before = ""

    def close() -> None:
        if term:
            parts.append(f'<math displaystyle="true">{_mathml(term)}</math>')
            term.clear()

    for item in _opened(items):
        is_word = item.kind in ("text", "mark")
        if is_word or item.is_sign or before in ("text", "mark") or "\n" in item.gap:
            close()
            parts.append(_space(item, after_mark=before == "mark"))
        if item.kind == "mark":
            parts[-2:] = [f'<span class="whole">{"".join(parts[-2:])}{item.markup}</span>']
        elif is_word:
            parts.append(escape(item.markup))
        else:
            term.append(item)
        before = item.kind
    close()
    return "".join(parts).strip()


def _opened(items: Iterable[Item]) -> Iterable[Item]:
    """Yield items, those in long brackets one by one, so that a line may break among them."""
    for item in items:
        is_long = item.width > WIDE or any("\n" in each.gap for each in item.inner)
        if item.inner and is_long:
            opener, closer = (f'<mo stretchy="false">{each}</mo>' for each in item.brackets)
            yield Item("factor", opener, item.gap)
            yield from _opened(item.inner)
            yield Item("factor", closer)
        else:
            yield item


def _space(item: Item, *, after_mark: bool) -> str:
    if "\n" in item.gap:
        return '<br><span class="more"></span>'
    if after_mark and len(item.gap) > 2:
        return '<span class="gap"></span> '
    return " " if item.gap else ""
