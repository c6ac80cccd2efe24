"""Sentences and tables on new armies, first attacks, cards and holding conquests."""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import NamedTuple

from iacta.forms.percentages import (
    NOT_KNOWN,
    describe_chance,
    format_estimate,
    format_related,
    percent,
    plain_percent,
    short_percent,
)
from iacta.forms.sections import Section, Table
from iacta.forms.sentences import add_noun, join_phrases, name_armies, note_rules
from iacta.game.cards import Sets
from iacta.plan import Continuation, Defence, Goal, Hold, Plan, Reinforcement
from iacta.plan.alternatives import Alternative
from iacta.plan.hold import MIN_ENDS
from iacta.plan.placements import Placement
from iacta.plan.winning import Win
from iacta.probability.distribution import Distribution
from iacta.questions.cards import CARD_NUMBERS
from iacta.questions.plan.sentences import MAX_PLAN_LINES, format_value, mark_certain_chance

NEARLY_ALWAYS = 0.995  # a larger fraction of the games is not mentioned
MIN_SHOWN = 5e-5  # minimum guaranteed chance to show
ALONE = "Each opponent is assumed to attack alone, against what you leave."


def describe_placement(placement: Placement) -> str:
    """Describe a placement of new armies.

    >>> describe_placement((("Ukraine", 4), ("Egypt", 2)))
    '6 new armies, 4 on Ukraine and 2 on Egypt'
    """
    total = add_noun(sum(number for _, number in placement), "new army", "new armies")
    if len(placement) == 1:
        return f"{total} on {placement[0][0]}"
    places = [f"{number} on {name}" for name, number in placement]
    return f"{total}, {join_phrases(places)}"


def describe_win(win: Win) -> str:
    """Describe a win that needs no attack.

    >>> from iacta import TakeAll
    >>> from iacta.game import Fortify
    >>> describe_win(Win(TakeAll("Egypt"), (), Fortify("Congo", "Egypt", 1)))
    'You win the game without an attack: move 1 army from Congo to Egypt at the end of your turn.'
    """
    placed, move = win.placement and describe_placement(win.placement), win.move
    if not placed and move is None:
        return "You win the game at the end of your turn: your mission is already fulfilled."
    if move is None:
        return f"You win the game with {placed}, without an attack."
    first = f"place {placed}, then " if placed else ""
    moved = f"move {name_armies(move.armies)} from {move.start} to {move.to}"
    return f"You win the game without an attack: {first}{moved} at the end of your turn."


def describe_value_before(plan: Plan, new: Reinforcement) -> str:
    armies = "the new army" if new.armies == 1 else f"the {new.armies} new armies"
    if new.before.value is None:
        return f"Without {armies} there is no estimate yet."
    if new.before.goal.is_chance:
        chance = mark_certain_chance(plan, new.before.value)
        if new.before.problem.is_impossible:
            chance = Fraction(0)
        return f"Without {armies} the chance is {format_estimate(chance, new.before.interval)}."
    gain = new.before.value - new.before.problem.held
    return f"Without {armies} it gains {gain:.2f} points."


def list_marginals(plan: Plan, new: Reinforcement) -> Section:
    rows = [
        (marginal.name, format_value(plan, marginal.one), format_value(plan, marginal.all))
        for marginal in new.marginals[:MAX_PLAN_LINES]
    ]
    columns: tuple[str, ...] = ("", "with 1 more", f"with {new.armies} more")
    if new.armies == 1:
        columns, rows = columns[:2], [row[:2] for row in rows]  # type: ignore[misc] # shorter
    return Section([Table(columns, rows)], title="Where new armies help (rough estimates):")


class Needed(NamedTuple):
    """The fewest armies with which a plan reaches a required chance.

    chance: the required chance.
    armies: the number of armies.
    source: the territory on which the armies stand; empty for new armies.
    placement: pairs (territory, number of new armies), for new armies.
    """

    chance: Fraction
    armies: int
    source: str = ""
    placement: Placement = ()

    def describe(self, plan: Plan, what: str = "plan", purpose: str = "") -> str:
        """Describe the armies needed in a sentence.

        plan: the plan with the present armies.
        what: what the search compared.
        purpose: the end of the phrase on the chance, such as `" to take"`.
        """
        chance = plain_percent(self.chance)
        if not self.source and not self.armies:
            return f"You have a chance of at least {chance}{purpose} without new armies."
        needed = (
            f"{name_armies(self.armies)} on {self.source}, which has "
            f"{plan.turn.armies_on(self.source)}"
            if self.source
            else describe_placement(self.placement)
        )
        return (
            f"For a chance of at least {chance}{purpose} you need {needed}. The search found "
            f"no {what} with fewer."
        )


def list_first_attacks(plan: Plan, ways: Sequence[Alternative]) -> Section:
    rows = [
        (
            f"{way.start} to {way.to}",
            str(way.dice),
            format_value(plan, way.value),
        )
        for way in ways[:MAX_PLAN_LINES]
    ]
    table = Table(("", "dice", "chance" if plan.goal.is_chance else "value"), rows)
    return Section([table], title="First attacks:")


def describe_cards(brought: Distribution[int]) -> str:
    """Describe the armies that cards bring in a sentence.

    >>> from iacta import traded_armies
    >>> describe_cards(traded_armies(5)), describe_cards(traded_armies(6))
    ('The cards bring no armies.', 'The cards bring 4 armies.')
    """
    if len(brought) == 1:
        (number,) = brought
        return f"The cards bring {add_noun(number, 'army', 'armies') if number else 'no armies'}."
    parts = [
        f"{number or 'none'}{' armies' if number and not k else ''} with {percent(brought[number])}"
        for k, number in enumerate(sorted(brought, reverse=True))
    ]
    return f"The cards, if they are random, bring {join_phrases(parts)}."


def describe_trading(trade: Sets) -> str:
    """Return a sentence about the cards that must be traded after an elimination.

    >>> describe_trading(Sets(must_trade=7))
    'Players with seven or more cards must trade in sets until six or fewer are left.'
    """
    most, kept = CARD_NUMBERS[trade.traded_at_once], CARD_NUMBERS[trade.must_trade - 1]
    return f"Players with {most} or more cards must trade in sets until {kept} or fewer are left."


def describe_continuation(
    plan: Plan, goal: Goal, continuation: Continuation, rules: str, trade: Sets
) -> Iterator[str]:
    """Yield sentences on the rest of a turn with the cards of an eliminated player.

    plan: the plan for the first goal.
    goal: all goals of the turn, in order.
    continuation: the rest of the turn.
    rules: the name of the rules for the cards.
    trade: the armies for sets.
    """
    chances = _format_continuation(plan, continuation)
    if chances is None:
        yield f"No estimate yet. {describe_cards(continuation.armies)}"
        return
    reached, won, bare = chances
    first, *others = goal.sequence
    then = ", then ".join(way.phrase(plan.position) for way in others)
    proof = "; no plan is better" if continuation.proven else "; a better plan may exist"
    yield (
        f"You {first.phrase(plan.position)} with a chance of "
        f"{reached}{note_rules(rules)}, then {then} with {won}, with the armies "
        f"that the cards bring{proof}."
    )
    yield (f"{describe_cards(continuation.armies)} Without them the second chance would be {bare}.")
    if continuation.proven:
        yield describe_trading(trade)
        return
    games = continuation.ends
    yield (
        f"The last two chances are estimated from {games} games of the first plan. "
        f"{describe_trading(trade)}"
    )


def _format_continuation(plan: Plan, continuation: Continuation) -> tuple[str, str, str] | None:
    """Return the chances of the first goal, of all goals, and of all goals without new armies.

    Return `None` if there is no estimate yet.
    """
    reached, won, bare = continuation.first, continuation.win_probability, continuation.without
    if reached is None or won is None or bare is None or continuation.interval is None:
        return None
    interval = None if continuation.proven else continuation.interval
    return (
        format_estimate(mark_certain_chance(plan, reached), plan.interval),
        format_estimate(mark_certain_chance(plan, won), interval),
        format_related(mark_certain_chance(plan, bare), won, interval),
    )


def summarise_continuation(continuation: Continuation) -> Iterator[str]:
    """Yield a sentence on the chances to reach the first goal and the next goal."""
    plan = continuation.plan
    chances = _format_continuation(plan, continuation)
    if chances is None:
        yield "No estimate yet."
        return
    reached, won, bare = chances
    yield (
        f"You {plan.goal.phrase(plan.position)} with a chance of {reached}, and reach the next "
        f"goal too with {won}; without new armies with {bare}."
    )


def describe_hold(held: Hold) -> Iterator[str]:
    if held.plan.value is None:
        return  # the sentence on the plan already says that there is no estimate yet
    if held.win_probability is None or held.unfortified is None or held.interval is None:
        games = add_noun(held.ends, "game", "games")
        yield f"Not enough games to estimate the chance to hold it: {games} of {MIN_ENDS}."
        return
    if not held.ends:
        return
    verb, games = held.plan.goal.phrase(held.plan.position), add_noun(held.ends, "game", "games")
    chance = format_estimate(held.win_probability, held.interval)
    yield (
        f"You {verb} and hold it until your next turn with {describe_chance(chance)}, estimated "
        f"from {games}."
    )
    yield from _warn_of_better_plans(held)
    if (other := held.otherwise) and other.win_probability is not None:
        kept = format_estimate(other.win_probability, other.interval)
        taken = format_estimate(other.plan.comparable_value, other.plan.interval)
        yield (
            "This plan is chosen both to take and to hold. The best plan for taking alone "
            f"would take with {describe_chance(taken)}, but "
            f"{'hold less often' if kept == NOT_KNOWN else f'take and hold with only {kept}'}."
        )
    moves = [move for move in held.moves if move.start]
    if moves:
        best = moves[0]
        often = (
            "" if best.part > NEARLY_ALWAYS else f" (in {short_percent(best.part)} of the games)"
        )
        armies = add_noun(round(best.armies), "army", "armies")
        yield (
            f"At the end, move about {armies} from {best.start} to {best.to}"
            f"{often}; without this move the chance would be {_format_unfortified(held)}."
        )


def _format_unfortified(held: Hold) -> str:
    """Return the chance to hold without a move at the end of the turn."""
    assert held.unfortified is not None  # noqa: S101 # it is known if the chance is
    assert held.win_probability is not None  # noqa: S101 # the caller has checked this
    return format_related(held.unfortified, held.win_probability, held.interval)


def _warn_of_better_plans(held: Hold) -> Iterator[str]:
    if not held.proven:
        least = "No chance is guaranteed"
        if held.at_least >= MIN_SHOWN:
            least = f"Against the best plans, the chance is at least {percent(held.at_least)}"
        yield f"Opponents may have better plans than the search found. {least}."


def describe_defence(defence: Defence) -> Iterator[str]:
    """Yield sentences on the chance to hold territories that the player owns already."""
    held = defence.hold
    if held.win_probability is None or held.unfortified is None:
        yield "The goal is reached. There was no time to estimate the chance to hold it."
        return
    named = held.plan.goal.phrase(held.plan.position).removeprefix("take ")
    hold = (
        f"hold {named} until your next turn with a chance of "
        f"{percent(mark_certain_chance(held.plan, held.win_probability))}"
    )
    if defence.placement:
        yield f"With {describe_placement(defence.placement)}, you {hold}."
    else:
        yield f"You {hold} if you do not attack."
    yield from _warn_of_better_plans(held)
    if defence.without is not None:
        chance = percent(mark_certain_chance(held.plan, defence.without))
        yield f"Without new armies the chance is {chance}."
    for move in held.moves:
        yield (
            f"At the end, move {name_armies(round(move.armies))} from {move.start} to {move.to}; "
            f"without this move the chance would be {_format_unfortified(held)}."
        )


def list_threats(held: Hold) -> Section:
    digits = 0 if held.error else 2  # the chances are as uncertain as the chance to hold
    rows = [
        (threat.player, f"{threat.armies:.1f}", short_percent(threat.chance, digits))
        for threat in held.threats
    ]
    table = Table(("", "new armies", "chance to take a part back"), rows)
    return Section([table, ALONE], title="Threats of opponents:")
