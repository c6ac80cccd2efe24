"""How the names on a board are checked, matched without regard to spelling, and suggested."""

import unicodedata
from collections.abc import Iterable, Iterator
from itertools import islice

from iacta.checks import shown
from iacta.errors import IllegalError, MalformedError

__all__ = ["did_you_mean", "folded", "one_line", "read_name"]

LONGEST_NAME = 100
MOST_COMPARED = 2000
HYPHENS = "-_\u2010\u2011\u2012\u2013\u2014"


def folded(name: str) -> str:
    """Return what two spellings of a name have in common: no case, spaces, hyphens or underscores.

    >>> folded("North-Africa") == folded("north africa") == folded("NORTH_AFRICA")
    True
    """
    plain = unicodedata.normalize("NFKC", name).casefold()
    return "".join(letter for letter in plain if letter not in HYPHENS and not letter.isspace())


def one_line(text: str) -> str:
    r"""Return a text with each run of spaces and line ends as one space.

    >>> one_line("  North\n Africa ")
    'North Africa'
    """
    return " ".join(text.split())


def read_name(name: object, what: str) -> str:
    """Return a name, or refuse what is none.

    >>> read_name("Brazil", "territory")
    'Brazil'
    >>> read_name("--", "territory")
    Traceback (most recent call last):
        ...
    iacta.errors.MalformedError: territory must be a name of one line, got '--'
    """
    if not isinstance(name, str) or not name.isprintable():
        raise MalformedError(f"{what} must be a name of one line, got {shown(name)}")
    if len(name) > LONGEST_NAME:
        raise IllegalError(
            f"{what} must be a name of at most {LONGEST_NAME} letters, got {shown(name)}"
        )
    if not folded(name):
        raise MalformedError(f"{what} must be a name of one line, got {shown(name)}")
    return one_line(name)


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return the end of a sentence that suggests the nearest of the known names, if one is near.

    >>> did_you_mean("brasil", ["Brazil", "Peru"])
    "; did you mean 'Brazil'?"
    >>> did_you_mean("Mars", ["Brazil", "Peru"])
    ''
    """
    import difflib  # slow to import, and only needed here

    spellings = dict(_spellings(islice(known, MOST_COMPARED)))
    near = difflib.get_close_matches(folded(name[:LONGEST_NAME]), spellings, n=1)
    return f"; did you mean {spellings[near[0]]!r}?" if near else ""


def _spellings(known: Iterable[str]) -> Iterator[tuple[str, str]]:
    for each in known:
        yield folded(each), each
