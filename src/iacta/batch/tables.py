"""Tables: many battles and campaigns answered at once, from tables of all battles of their size.

With a value function v on the absorbing states of a kernel K, one pass backward fills a table of
(Kv)(a, d) for all battles up to a size, and for three functions at once: 1 for a victory, the
attackers left after a victory, and the defenders left. A kernel without rows answers for 32
starts against one number of defenders. Armies held back count as a larger garrison.

A campaign carries the distribution of its stack from one territory to the next. With the matrix
K(a, b) of a kernel, for a attackers of whom b take the territory, and g armies that stay on it,

    p'(b − g)  =  Σ_a  p(a) · K(a, b),

is computed at once for all campaigns with the same defenders there. The terms are summed in the
order of a, which no library of linear algebra promises.

The table in which a battle is looked up depends on that battle alone. So on one machine its answer
is the same to the last bit, whatever else is in the batch and however the batch is divided. With
another BLAS, a kernel that multiplies matrices may differ by a relative 1e-16 to 1e-15.

Error. The chances and means have the error of the kernel for the size of the table: with true
random dice, a relative error of at most 1e-12 up to 256 armies on each side, and of 5e-12 up to
1,024; twice that given a victory. In a campaign, that is the error per territory.
"""

from functools import lru_cache
from itertools import pairwise
from threading import Lock
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from iacta.methods import find_kernel
from iacta.methods.kernel import Floats, Values
from iacta.questions.battle import BattleQuestion
from iacta.questions.campaign import CampaignQuestion
from iacta.rules.rules import Rules

COLUMNS = BattleQuestion.usual_columns()  # chance, attackers and defenders left, attackers if won
WAY_COLUMNS = CampaignQuestion.usual_columns()  # the chance
SIZES_OF_STACKS = (32, 64, 128, 256)  # the most able attackers of a matrix; as many defenders
MATRICES = 128  # kept, of at most 0.5 MB each
SIZES_BY_ROWS = (256, 512, 1_024)  # the most able attackers, and defenders, of a table
SIZE_BY_STARTS = 256
MOST_GARRISON = 10**6  # beyond, numbers of armies might not fit
TABLES = 12  # kept, of at most 25 MB each
STARTS = 32  # attackers whose battles against one number of defenders are answered together
BLOCKS = 2**14  # of starts that are kept, 768 bytes each

Armies: TypeAlias = npt.NDArray[np.int64]
LOCK = Lock()  # kernels cache their last answer


class TableAnswers(NamedTuple):
    """The answers to battles or campaigns.

    is_known: which of them are answered.
    columns: the values of each of `COLUMNS` or `WAY_COLUMNS`, NaN for none.
    """

    is_known: npt.NDArray[np.bool_]
    columns: dict[str, Floats]


def look_up(attackers: Armies, defenders: Armies, question: BattleQuestion) -> TableAnswers:
    """Return the answers to the battles that are in tables.

    attackers, defenders: the armies of each battle; with 0 it is not answered.
    question: a battle with the rules and the stop of all.
    """
    is_known = np.zeros(attackers.shape, bool)
    found = TableAnswers(is_known, {name: np.full(attackers.shape, np.nan) for name in COLUMNS})
    rules = question.stop.rules_in_fight(question.rule_set.rules)
    garrison = rules.garrison
    is_plain = question.stop.is_reserve and not (question.exact or rules.mode.grows)
    if not is_plain or garrison > MOST_GARRISON:
        return found
    kernel = find_kernel(rules)
    sizes = SIZES_BY_ROWS if kernel.by_rows else (SIZE_BY_STARTS,)
    able = np.maximum(attackers - garrison, 0)
    larger = np.maximum(able, defenders)
    is_repeated = (attackers > 0) & (defenders > 0)
    for below, size in zip((-1, *sizes), sizes, strict=False):
        here = is_repeated & (larger > below) & (larger <= size)
        if not here.any():
            continue
        a = able[here]
        won, left, held = _means(rules, size, a, defenders[here])
        certain = (a == 0) | (kernel.certain & (won == 0.0))
        is_known[here] = certain | (won >= kernel.least_chance)
        values = (
            won,
            np.where(a == 0, attackers[here], left + garrison),
            held,
            np.divide(left, won, out=np.full(won.shape, np.nan), where=won > 0.0) + garrison,
        )
        for name, each in zip(COLUMNS, values, strict=True):
            found.columns[name][here] = each
    return found


def follow(attackers: Armies, ways: Armies, question: CampaignQuestion) -> TableAnswers:
    """Return the chances of the campaigns whose matrices are small enough.

    attackers: the armies at the start of each; with 0 it is not answered.
    ways: the defenders of each territory, one row per campaign, padded with zeros.
    question: a campaign with the rules and the stop of all.
    """
    is_known = np.zeros(attackers.shape, bool)
    chances = np.full(attackers.shape, np.nan)
    found = TableAnswers(is_known, {WAY_COLUMNS[0]: chances})
    staying = question.rule_set.rules.garrison
    rules = question.stop.rules_in_fight(question.rule_set.rules)
    is_plain = question.stop.is_reserve and not (question.exact or rules.mode.grows)
    if not is_plain or question.narrate or rules.garrison > MOST_GARRISON:
        return found
    kernel = find_kernel(rules)
    able = np.maximum(attackers - rules.garrison, 0)
    larger = np.maximum(able, ways.max(axis=1, initial=0))
    is_repeated = (attackers > 0) & (ways[:, 0] > 0)
    for below, size in zip((-1, *SIZES_OF_STACKS), SIZES_OF_STACKS, strict=False):
        (here,) = np.nonzero(is_repeated & (larger > below) & (larger <= size))
        if not here.size:
            continue
        stack = np.zeros((here.size, size + 1))
        stack[np.arange(here.size), able[here]] = 1.0
        won = np.empty(here.size)
        steps = [*ways[here].T, np.zeros(here.size, np.int64)]
        for step, after in pairwise(steps):
            for d in np.unique(step).tolist():
                if not d:
                    continue
                with LOCK:
                    matrix = _matrix(rules, size, d)
                (those,) = np.nonzero(step == d)
                last = those[after[those] == 0]
                won[last] = (stack[last] * matrix.sum(axis=1)).sum(axis=1)
                stack[those] = _moved(stack[those], matrix, staying)
        chances[here] = np.minimum(won, 1.0)
        certain = (able[here] == 0) | (kernel.certain & (won == 0.0))
        is_known[here] = certain | (won >= kernel.least_chance)
    return found


def _moved(stack: Floats, matrix: Floats, staying: int) -> Floats:
    """Return the distribution of each stack, one per row, after it has taken a territory."""
    moved = np.zeros(stack.shape)
    for a in range(1, stack.shape[1]):
        if (chance := stack[:, a]).any():
            moved[:, : a + 1] += chance[:, np.newaxis] * matrix[a, : a + 1]
    able = np.zeros(stack.shape)
    left = moved[:, staying + 1 :]
    able[:, 1 : 1 + left[0].size] = left
    return able


@lru_cache(maxsize=MATRICES)
def _matrix(rules: Rules, size: int, defenders: int) -> Floats:
    """Return the probabilities `[a, b]` that a attackers take a territory with b of them left."""
    return find_kernel(rules).transitions(size, defenders).won


def _means(rules: Rules, size: int, able: Armies, defenders: Armies) -> tuple[Floats, ...]:
    with LOCK:
        if find_kernel(rules).by_rows:
            table = _table(rules, size)
            places = defenders * (size + 1) + able
        else:
            block = (able - 1) // STARTS
            different, row = np.unique(block * (size + 1) + defenders, return_inverse=True)
            starts = [_starts(rules, *divmod(int(each), size + 1)) for each in different]
            table = np.stack(starts, axis=1)
            places = row * STARTS + (able - 1) % STARTS
    won, left, held = (np.take(each.reshape(-1), places) for each in table)
    return np.minimum(won, 1.0), left, held


@lru_cache(maxsize=TABLES)
def _table(rules: Rules, size: int) -> Floats:
    """Return the three values of all battles up to a size, `[:, defenders, able]`."""
    armies = np.arange(size + 1.0)
    one, none = np.ones(size + 1), np.zeros(size + 1)
    values = Values(np.stack([one, armies, none], 1), np.stack([none, none, armies], 1))
    table = np.zeros((3, size + 1, size + 1))
    table[2, :, 0] = armies
    for d, row in enumerate(find_kernel(rules).backward(values), start=1):
        table[:, d] = np.transpose(row[np.arange(size + 1)])
    return table


@lru_cache(maxsize=BLOCKS)
def _starts(rules: Rules, block: int, defenders: int) -> Floats:
    """Return the three values of a block of starts against so many defenders, `[:, start]`."""
    if block < 0:  # nobody is able to attack, however many starts there are
        return np.repeat([[0.0], [0.0], [float(defenders)]], STARTS, axis=1)
    most = (block + 1) * STARTS
    ends = find_kernel(rules).transitions(most, defenders, fewest=most - STARTS + 1)
    won, lost = (each[-STARTS:] for each in ends)
    left, held = (won @ np.arange(won.shape[1]), lost @ np.arange(lost.shape[1]))
    return np.stack([won.sum(axis=1), left, held])
