"""The tree of a small battle: its states, its paths, and all their chances."""

from fractions import Fraction
from itertools import pairwise

import pytest

import iacta
from iacta import CLASSIC, Battle, Rules
from iacta_literature.tree import nodes, paths, tree
from tests import brute
from tests.adapters import counting, path_tree
from tests.cases import for_each

SEVERAL_RULES = [CLASSIC, iacta.find_rules("capital"), Rules(garrison=0), Rules(garrison=3)]
BATTLES = [(1, 1), (2, 1), (3, 2), (4, 2), (6, 5), (5, 7)]


def states_and_paths(able: int, defenders: int, rules: Rules) -> tuple[set[tuple[int, int]], int]:
    """Walk every path, one by one."""
    if not able or not defenders:
        return {(able, defenders)}, 1
    dice = min(able, rules.attack.kept), min(defenders, rules.defence.kept)
    states, paths = {(able, defenders)}, 0
    for ours, theirs in brute.roll_losses(*dice, rules):
        below, count = states_and_paths(able - ours, defenders - theirs, rules)
        states |= below
        paths += count
    return states, paths


@for_each("rules", SEVERAL_RULES)
@for_each("battle", BATTLES)
def test_states_and_paths_agree_with_a_walk(rules: Rules, battle: tuple[int, int]) -> None:
    attackers, defenders = battle
    able = max(attackers - rules.garrison, 0)
    states, paths = states_and_paths(able, defenders, rules)
    assert Battle(attackers, defenders, rules).state_count() == len(states)
    assert Battle(attackers, defenders, rules).path_count() == paths


def test_impossible_losses_have_no_paths() -> None:
    rules = Rules(attack=iacta.Dice((6,), bonus=(6,)), defence=iacta.Dice((6,)))
    assert Battle(9, 4, rules).path_count() == 1
    assert Battle(9, 4, rules).state_count() == 5
    assert len(list(paths(9, 4, rules))) == 1
    assert len(list(nodes(tree(9, 4, rules)))) == 5


@for_each("rules", SEVERAL_RULES)
@for_each("battle", BATTLES)
def test_paths_add_up_to_the_distribution(rules: Rules, battle: tuple[int, int]) -> None:
    outcomes: dict[tuple[int, int], Fraction] = {}
    found = list(paths(*battle, rules))
    for states, probability in found:
        assert states[0] == battle
        outcomes[states[-1]] = outcomes.get(states[-1], Fraction(0)) + probability
    assert len({path.states for path in found}) == len(found)
    assert len(found) == Battle(*battle, rules).path_count()
    assert outcomes == brute.outcomes(*battle, rules)


@for_each("rules", SEVERAL_RULES)
@for_each("battle", BATTLES)
def test_a_tree_contains_each_state_once(rules: Rules, battle: tuple[int, int]) -> None:
    root = tree(*battle, rules)
    found = list(nodes(root))
    assert found[0] is root
    assert root.state == battle
    assert root.probability == 1
    assert len({node.state for node in found}) == len(found)
    assert len(found) == Battle(*battle, rules).state_count()
    come_by = dict.fromkeys(found, Fraction(0)) | {root: Fraction(1)}  # by node, not by state
    for node in found:
        assert come_by[node] == node.probability
        for branch in node.branches:
            come_by[branch.node] += node.probability * branch.probability
    ends = {node.state: node.probability for node in found if not node.branches}
    assert ends == brute.outcomes(*battle, rules)


def test_branches_equal_the_losses_of_a_roll() -> None:
    root = tree(4, 2, CLASSIC)
    both_lose = root.branches[1]
    assert both_lose.losses == iacta.Losses(attackers=1, defenders=1)
    assert both_lose.node.state == iacta.Outcome(3, 1)
    for node in nodes(root):
        for losses, _, after in node.branches:
            assert node.state.attackers - losses.attackers == after.state.attackers
            assert node.state.defenders - losses.defenders == after.state.defenders
        assert sum(branch.probability for branch in node.branches) in (0, 1)
    order = [sum(node.state) for node in nodes(root)]
    assert all(earlier >= later for earlier, later in pairwise(order))
    assert repr(root) == ("<Node Outcome(attackers=4, defenders=2), probability Fraction(1, 1)>")


def test_all_but_small_battles_are_refused_at_once() -> None:
    outcomes = path_tree.outcomes(iacta.Distribution([51]), 50, CLASSIC)
    assert outcomes == counting.outcomes(iacta.Distribution([51]), 50, CLASSIC)
    for attackers, defenders in ((52, 50), (2, 2501), (10**30, 1)):
        for ask in (tree, paths, path_tree.win_probability, path_tree.refuse):
            with pytest.raises(
                iacta.TooLargeError, match=r"'path_tree': it has more than 2500 states"
            ):
                ask(attackers, defenders, CLASSIC)
    with pytest.raises(iacta.IllegalError, match="cannot be used for the method 'path_tree'"):
        tree(4, 2, iacta.find_rules("five ones"))
