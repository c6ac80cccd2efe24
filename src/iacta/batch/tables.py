"""Fast answers for many battles and campaigns, from tables of all battles up to a size.

For a value function v on the final states of a battle, one backward pass of a kernel K gives the
expected value (Kv)(a, d) for a attackers and d defenders, for all battles up to a size. Three value
functions are evaluated at once: 1 for a victory, the attackers left after a victory, and the
defenders left. A kernel that cannot compute whole rows computes the values of 32 consecutive
numbers of attackers against one number of defenders instead. Armies held back count as a larger
garrison.

A campaign carries the distribution p of its stack from one territory to the next. Let K(a, b) be
the probability that a attackers take the territory with b armies left, of which the garrison g
stays behind. Then

    p'(b − g)  =  Σ_a  p(a) · K(a, b).

Campaigns with the same number of defenders are computed together. Terms are summed in the order of
a, which linear-algebra libraries do not guarantee.

The size of the table for a battle depends on this battle alone. On one machine, the answer to a row
is therefore the same to the last bit in every batch and for every split of a batch. With another
BLAS library, results of kernels that multiply matrices may differ by a relative 1e-16 to 1e-15.

Error. The chances and means have the error of the kernel for the size of the table. With true
random dice, the relative error is at most 1e-12 up to 256 armies on each side, and 5e-12 up to
1,024. For values conditional on a victory it may be twice as large. For campaigns, multiply the
error by the number of territories.
"""

from functools import lru_cache
from itertools import pairwise
from threading import Lock
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from iacta.methods import choose_kernel
from iacta.methods.kernel import Floats, Values
from iacta.questions.battle import BattleQuestion
from iacta.questions.campaign import CampaignQuestion
from iacta.rules.modes import HouseRolls
from iacta.rules.rules import Rules

COLUMNS = BattleQuestion.usual_columns()  # chance to win, expected armies left
CAMPAIGN_COLUMNS = CampaignQuestion.usual_columns()  # only the chance to win
STACK_SIZES = (32, 64, 128, 256)  # sizes of the matrices for campaigns, in armies on each side
MAX_MATRICES = 128  # maximum number of matrices in the cache; each takes at most 0.5 MB
TABLE_SIZES = (256, 512, 1_024)  # sizes of the tables for battles, in armies on each side
START_TABLE_SIZE = 256  # maximum number of armies on each side for kernels that cannot compute rows
MAX_GARRISON = 10**6  # avoids integer overflow
MAX_TABLES = 12  # maximum number of tables in the cache; each takes at most 25 MB
BLOCK_STARTS = 32  # attacker counts that are computed together
MAX_BLOCKS = 2**14  # maximum number of blocks in the cache; each takes 768 bytes

Armies: TypeAlias = npt.NDArray[np.int64]
LOCK = Lock()  # kernels cache their last result, so they are not thread-safe


class TableAnswers(NamedTuple):
    """Answers for many battles or campaigns.

    is_known: for each row, whether there is an answer.
    columns: the values for each name in `COLUMNS` or `CAMPAIGN_COLUMNS`; NaN where there is no
        answer.
    """

    is_known: npt.NDArray[np.bool_]
    columns: dict[str, Floats]


def look_up_battles(attackers: Armies, defenders: Armies, question: BattleQuestion) -> TableAnswers:
    """Look up the answers for battles small enough for the tables.

    attackers, defenders: the armies in each battle; 0 to skip a battle.
    question: a question with the rules and the stop rule for all battles.
    """
    is_known = np.zeros(attackers.shape, bool)
    found = TableAnswers(is_known, {name: np.full(attackers.shape, np.nan) for name in COLUMNS})
    rules = question.stop.add_to_garrison(question.rule_set.rules)
    garrison = rules.garrison
    is_plain = _is_plain(question, rules)
    if not is_plain or garrison > MAX_GARRISON:
        return found
    kernel = choose_kernel(rules)
    sizes = TABLE_SIZES if kernel.is_vectorised else (START_TABLE_SIZE,)
    able = np.maximum(attackers - garrison, 0)
    larger = np.maximum(able, defenders)
    is_repeated = (attackers > 0) & (defenders > 0)
    for below, size in zip((-1, *sizes), sizes, strict=False):
        here = is_repeated & (larger > below) & (larger <= size)
        if not here.any():
            continue
        a = able[here]
        won, left, held = _look_up_means(rules, size, a, defenders[here])
        certain = (a == 0) | (kernel.certain & (won == 0.0))
        is_known[here] = certain | (won >= kernel.least_chance)
        values = (
            won,
            np.where(a == 0, attackers[here], left + garrison),
            held,
            np.divide(left, won, out=np.full(won.shape, np.nan), where=won > 0.0) + garrison,
        )
        for name, value in zip(COLUMNS, values, strict=True):
            found.columns[name][here] = value
    return found


def compute_campaigns(attackers: Armies, ways: Armies, question: CampaignQuestion) -> TableAnswers:
    """Compute the chances of campaigns small enough for the matrices.

    attackers: the armies at the start of each campaign; 0 to skip a campaign.
    ways: the defenders of each territory, one row per campaign, padded with zeros.
    question: a question with the rules and the stop rule for all campaigns.
    """
    is_known = np.zeros(attackers.shape, bool)
    chances = np.full(attackers.shape, np.nan)
    found = TableAnswers(is_known, {CAMPAIGN_COLUMNS[0]: chances})
    staying = question.rule_set.rules.garrison
    rules = question.stop.add_to_garrison(question.rule_set.rules)
    is_plain = _is_plain(question, rules)
    is_plain = is_plain and not (question.narrate or rules.mode.is_used_up)
    if not is_plain or rules.garrison > MAX_GARRISON:
        return found
    kernel = choose_kernel(rules)
    able = np.maximum(attackers - rules.garrison, 0)
    larger = np.maximum(able, ways.max(axis=1, initial=0))
    is_repeated = (attackers > 0) & (ways[:, 0] > 0)
    for below, size in zip((-1, *STACK_SIZES), STACK_SIZES, strict=False):
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
                    matrix = _compute_matrix(rules, size, d)
                (those,) = np.nonzero(step == d)
                last = those[after[those] == 0]
                won[last] = (stack[last] * matrix.sum(axis=1)).sum(axis=1)
                stack[those] = _advance_stacks(stack[those], matrix, staying, rules)
        chances[here] = np.minimum(won, 1.0)
        certain = (able[here] == 0) | (kernel.certain & (won == 0.0))
        is_known[here] = certain | (won >= kernel.least_chance)
    return found


def _is_plain(question: BattleQuestion | CampaignQuestion, rules: Rules) -> bool:
    """Return whether tables answer a question: a side that loses has no able armies left."""
    is_usual = question.stop.is_reserve and not question.exact
    return is_usual and not (rules.mode.grows or isinstance(rules.mode, HouseRolls))


def _advance_stacks(stack: Floats, matrix: Floats, staying: int, rules: Rules) -> Floats:
    """Return the distributions of the stacks (rows) after they have conquered a territory."""
    moved = np.zeros(stack.shape)
    for a in range(1, stack.shape[1]):
        if (chance := stack[:, a]).any():
            moved[:, : a + 1] += chance[:, np.newaxis] * matrix[a, : a + 1]
    if rules.most_advance is not None:  # also the armies in reserve move in
        most = max(rules.most_advance - (rules.garrison - staying), 0)
        moved[:, most : most + 1] = moved[:, most:].sum(axis=1, keepdims=True)
        moved[:, most + 1 :] = 0.0
    able = np.zeros(stack.shape)
    left = moved[:, staying + 1 :]
    able[:, 1 : 1 + left[0].size] = left
    return able


@lru_cache(maxsize=MAX_MATRICES)
def _compute_matrix(rules: Rules, size: int, defenders: int) -> Floats:
    """Return a matrix; entry `[a, b]` is the chance that a attackers win and b are left."""
    return choose_kernel(rules).compute_transitions(size, defenders).won


def _look_up_means(rules: Rules, size: int, able: Armies, defenders: Armies) -> tuple[Floats, ...]:
    with LOCK:
        if choose_kernel(rules).is_vectorised:
            table = _make_table(rules, size)
            indices = defenders * (size + 1) + able
        else:
            block = (able - 1) // BLOCK_STARTS
            different, row = np.unique(block * (size + 1) + defenders, return_inverse=True)
            starts = [_make_starts(rules, *divmod(int(each), size + 1)) for each in different]
            table = np.stack(starts, axis=1)
            indices = row * BLOCK_STARTS + (able - 1) % BLOCK_STARTS
    won, left, held = (np.take(each.reshape(-1), indices) for each in table)
    return np.minimum(won, 1.0), left, held


@lru_cache(maxsize=MAX_TABLES)
def _make_table(rules: Rules, size: int) -> Floats:
    """Compute the three values for all battles up to a size, indexed by defenders and attackers.

    Attackers do not include the garrison. The three values are described in the module's docstring.
    """
    armies = np.arange(size + 1.0)
    one, none = np.ones(size + 1), np.zeros(size + 1)
    values = Values(np.stack([one, armies, none], 1), np.stack([none, none, armies], 1))
    table = np.zeros((3, size + 1, size + 1))
    table[2, :, 0] = armies
    for d, row in enumerate(choose_kernel(rules).run_backward(values), start=1):
        table[:, d] = np.transpose(row[np.arange(size + 1)])
    return table


@lru_cache(maxsize=MAX_BLOCKS)
def _make_starts(rules: Rules, block: int, defenders: int) -> Floats:
    """Compute the three values for a block of 32 attacker counts, as columns of an array."""
    if block < 0:  # only the garrison is left
        return np.repeat([[0.0], [0.0], [float(defenders)]], BLOCK_STARTS, axis=1)
    most = (block + 1) * BLOCK_STARTS
    ends = choose_kernel(rules).compute_transitions(
        most, defenders, min_attackers=most - BLOCK_STARTS + 1
    )
    won, lost = (end[-BLOCK_STARTS:] for end in ends)
    left, held = (won @ np.arange(won.shape[1]), lost @ np.arange(lost.shape[1]))
    return np.stack([won.sum(axis=1), left, held])
