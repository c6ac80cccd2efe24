"""The texts of answers with plans, kept for the links of the pages that show them.

A search with a time limit does not find the same plan twice. So the page of a plan links to what
was made of the answer that it shows. What is no longer here is refused; it is never searched again
behind its reader's back.
"""

import hashlib
import json
from collections import OrderedDict
from collections.abc import Mapping

from iacta.checks import shown
from iacta.errors import IllegalError, MalformedError
from iacta.web.limits import MOST_LETTERS

__all__ = ["Plans"]


class Plans:
    """The texts of the answers that were found last: each with its record, its rows and so on.

    most_letters: how long they are together; the newest are kept in any case.

    >>> plans = Plans(most_letters=5)
    >>> first, second = plans.keep({"rows": "123"}), plans.keep({"rows": "456"})
    >>> plans.find(second)
    {'rows': '456'}
    >>> plans.find(first)
    Traceback (most recent call last):
        ...
    iacta.errors.IllegalError: the server no longer has this plan; search again
    """

    def __init__(self, most_letters: int = MOST_LETTERS) -> None:
        self.most_letters = most_letters
        self._kept: OrderedDict[str, Mapping[str, str]] = OrderedDict()

    def keep(self, texts: Mapping[str, str]) -> str:
        """Keep the texts of an answer, and return its name."""
        name = hashlib.sha256(json.dumps(texts).encode()).hexdigest()[:32]
        self._kept[name] = texts
        self._kept.move_to_end(name)
        while len(self._kept) > 1 and self._letters > self.most_letters:
            self._kept.popitem(last=False)
        return name

    @property
    def _letters(self) -> int:
        return sum(len(text) for texts in self._kept.values() for text in texts.values())

    def find(self, name: object) -> Mapping[str, str]:
        """Return the texts of an answer; those that are no longer here are refused."""
        if not isinstance(name, str):
            raise MalformedError(f"plan must be a text, got {shown(name)}")
        if name not in self._kept:
            raise IllegalError("the server no longer has this plan; search again")
        self._kept.move_to_end(name)
        return self._kept[name]
