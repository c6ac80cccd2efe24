"""Plans that were found, kept for whoever follows them or draws them later.

A search with a time limit does not find the same plan twice. So an answer with a plan also has a
name for it, and what is asked about that plan afterwards gives the name back. A plan that is no
longer here is refused; it is never searched again behind its reader's back.
"""

import hashlib
import pickle
import zlib
from collections import OrderedDict

from iacta.checks import shown
from iacta.errors import IllegalError, MalformedError
from iacta.questions.plan import PlanAnswer

__all__ = ["Plans", "pack", "unpack"]

MOST_BYTES = 256 * 2**20  # of all plans together


def pack(answer: PlanAnswer) -> bytes:
    """Return an answer with a plan as bytes, for `unpack`."""
    return zlib.compress(pickle.dumps(answer), 1)


def unpack(packed: bytes) -> PlanAnswer:
    """Return the answer that `pack` was given. Bytes from elsewhere must never come here."""
    answer: PlanAnswer = pickle.loads(zlib.decompress(packed))  # noqa: S301 # our own, see above
    return answer


class Plans:
    """The plans that were found last.

    most_bytes: how large they are together; the newest is kept in any case.

    >>> plans = Plans(most_bytes=5)
    >>> first, second = plans.keep(b"123"), plans.keep(b"456")
    >>> plans.find(second)
    b'456'
    >>> plans.find(first)
    Traceback (most recent call last):
        ...
    iacta.errors.IllegalError: the server no longer has this plan; search again
    """

    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        self.most_bytes = most_bytes
        self._kept: OrderedDict[str, bytes] = OrderedDict()

    def keep(self, packed: bytes) -> str:
        """Keep a plan, and return its name."""
        name = hashlib.sha256(packed).hexdigest()[:32]
        self._kept[name] = packed
        self._kept.move_to_end(name)
        while len(self._kept) > 1 and sum(map(len, self._kept.values())) > self.most_bytes:
            self._kept.popitem(last=False)
        return name

    def find(self, name: object) -> bytes:
        """Return the plan of a name; one that is no longer here is refused."""
        if not isinstance(name, str):
            raise MalformedError(f"plan must be a text, got {shown(name)}")
        if name not in self._kept:
            raise IllegalError("the server no longer has this plan; search again")
        self._kept.move_to_end(name)
        return self._kept[name]
