"""Records iacta's answers again after an intended change.

python -m tests.frozen.record [WORD ...] checks the cases that contain all the words in their kind
and question (without words, all cases), and rewrites the answers that have changed. To add a case,
write it into its file with the answer null, and record it.
"""

import sys
from collections.abc import Sequence

from tests.frozen.case import KINDS, answer, differences, read_cases, write_cases


def record(words: Sequence[str]) -> None:
    """Rewrite the answers that have changed, and print their questions."""
    for kind in KINDS:
        cases = read_cases(kind)
        for asked, expected in cases.items():
            if all(word in f"{kind} {asked}" for word in words):
                found = answer(kind, asked)
                if any(differences(found, expected)):
                    cases[asked] = found
                    print(f"{kind}: {asked}")
        write_cases(kind, cases)


if __name__ == "__main__":
    record(sys.argv[1:])
