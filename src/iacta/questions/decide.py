"""The best decision now (roll, stop, blitz, or number of dice), and when to stop later."""

from collections.abc import Iterator, Sequence
from dataclasses import astuple
from fractions import Fraction
from functools import cached_property
from math import ceil
from typing import Any, ClassVar

from iacta.battle.battle import Battle
from iacta.forms.form import Example, Topic, parameter
from iacta.forms.parameter_kinds import Flag, Number
from iacta.forms.percentages import format_all_digits, list_fractions, mark_certain, percent
from iacta.forms.question import Answer, Charts, Question, Watch, question
from iacta.forms.record import (
    ATTACKERS_KEY,
    DEFENDERS_KEY,
    EXACT_KEY,
    OMITTED,
    RULES_KEY,
    ExactText,
    KeyedRecord,
    key,
    list_keys,
)
from iacta.forms.sections import Grid, Letter, Section, Table, make_sections
from iacta.forms.sentences import add_noun, explain_no_attack, name_armies, note_rules
from iacta.forms.shared_parameters import ATTACKERS, DEFENDERS, ExactForm, RulesForm
from iacta.inputs.meanings import Count, Unit
from iacta.methods.hand_or_blitz import make_blitz_rules
from iacta.odds.decisions import (
    MAX_VALUE,
    Boundary,
    Decision,
    DefenceReply,
    DiceDecision,
    best_mix,
    compute_prize_to_roll,
    how_many_dice,
    when_to_stop,
)

USUAL = {"prize": Fraction(3), "army_value": Fraction(1), "kill_value": Fraction(0)}
VALUE = Number(minimum=0, maximum=MAX_VALUE)
MAX_DECISION_LINES = 20  # maximum number of rows in a table or map, to fit on a screen
MAP_MARGIN = 2  # number of rows on the map above the largest boundary
LETTERS = {"roll": ("R", "good"), "blitz": ("B", "other"), "stop": (".", "neutral")}


@question(
    "decide",
    Topic.ATTACK,
    Example("decide 20 10 --prize 10", "attack or not, and when to stop?"),
    Example("decide 12 10 --mix", "in the official app: roll by hand, or blitz?"),
)
class DecideQuestion(RulesForm, ExactForm, Question):
    """Decide whether to roll or stop, now and later in the battle."""

    headline: ClassVar = "Roll again, or stop?"
    surplus: ClassVar = "did you mean --prize {0}?"

    attackers: int = parameter(*ATTACKERS, is_argument=True)
    defenders: int = parameter(*DEFENDERS, is_argument=True)
    prize: Fraction | None = parameter(
        VALUE,
        "The value of taking the territory, in armies: 10, 2.5 or 5/2.",
        usual=str(USUAL["prize"]),
        metavar="P",
        default=None,
    )
    army_value: Fraction | None = parameter(
        VALUE,
        "The value of each army that you keep.",
        usual=str(USUAL["army_value"]),
        metavar="V",
        default=None,
    )
    kill_value: Fraction | None = parameter(
        VALUE,
        "The value of each enemy army that you destroy.",
        usual=str(USUAL["kill_value"]),
        metavar="V",
        default=None,
    )
    mix: bool = parameter(
        Flag(),
        "In the official app: find out when to roll by hand and when to blitz.",
        label="roll or blitz",
        excludes="prize or army_value or kill_value or exact or dice",
        default=False,
    )
    dice: bool = parameter(Flag(), "Find the best number of dice for both sides.", default=False)

    @property
    def given_values(self) -> dict[str, Any]:
        return {name: value for name in USUAL if (value := getattr(self, name)) is not None}

    @property
    def worth(self) -> dict[str, Any]:
        """The values of the territory, of each army kept and of each army destroyed."""
        return USUAL | self.given_values

    def answer(self, watch: Watch | None = None) -> "DecideAnswer | DiceAnswer":
        battle, worth = (self.attackers, self.defenders, self.rule_set.rules), self.worth
        if self.mix:
            return DecideAnswer(self, best_mix(*battle))
        if not self.dice:
            return DecideAnswer(self, when_to_stop(*battle, **worth, exact=self.exact))
        if not self.given_values:
            return DiceAnswer(self, how_many_dice(*battle, exact=self.exact))
        decision = how_many_dice(*battle, **worth, may_stop=True, exact=self.exact)
        return DiceAnswer(self, decision)


class DecideRecord(KeyedRecord, of=Decision):
    """Whether to roll or stop; with `--mix`, whether to blitz or roll by hand.

    With `--mix`, the boundary is the fewest attackers for a blitz; smaller stacks roll by hand.
    """

    attackers: Count = key(is_repeated=True)
    defenders: Count = key(is_repeated=True)
    rules: str = key(RULES_KEY, is_repeated=True)
    objective: str
    action: str = key(is_column=True)
    value: float = key(
        "The value of the battle with the best decisions; with `--mix` the chance to win.",
        is_column=True,
    )
    value_exact: str | None = key(EXACT_KEY)
    win_probability: Unit = key(is_column=True)
    win_probability_exact: ExactText = key(EXACT_KEY)
    expected_attackers_left: float = key(is_column=True)
    boundary: tuple[Boundary, ...]
    prize: float = key("Without `--mix`: the value of the territory.", default=OMITTED)
    army_value: float = key("Without `--mix`: the value of each army kept.", default=OMITTED)
    kill_value: float = key("Without `--mix`: the value of each army destroyed.", default=OMITTED)
    prize_to_roll: float | None = key(
        "Only if it is best to stop: the prize from which rolling pays; `null` if no army can "
        "attack.",
        default=OMITTED,
    )


class DecideAnswer(Answer):
    """Whether to roll, stop or blitz.

    decision: the best action in each state.
    """

    question: DecideQuestion
    decision: Decision

    @property
    def data(self) -> DecideRecord:
        more: dict[str, Any] = {}
        if not self.question.mix:
            more = {name: float(value) for name, value in self.question.worth.items()}
            if self.decision.action == "stop":
                more["prize_to_roll"] = self.prize_to_roll
        return DecideRecord.from_attributes(self.decision, self.question, **more)

    def rows(self) -> Iterator[Sequence[object]]:
        decision = self.decision
        yield ("attackers", "defenders", "action")
        for attackers, actions in enumerate(decision.list_actions(), 1):
            for defenders, action in enumerate(actions, 1):
                yield (attackers, defenders, action)

    def draw(self, charts: Charts) -> Any:
        prize = None if self.question.mix else self.question.worth["prize"]
        return charts.decision_map(self.decision, prize)

    def sections(self) -> Iterator[Section]:
        decision, rules = self.decision, self.decision.rules
        if decision.attackers <= rules.garrison:
            yield Section([explain_no_attack(decision.attackers, rules.garrison)])
            return
        order = self._describe_mix() if self.question.mix else self._describe_action()
        lines = [f"{order}{note_rules(self.question.rule_set.name)}."]
        if decision.action == "stop" and not self.question.mix:
            lines += self._describe_alternative()
        if decision.action != "stop":
            fought = make_blitz_rules(rules) if decision.action == "blitz" else rules
            chance = percent(mark_certain(decision.win_probability, [fought]))
            left = float(decision.expected_attackers_left)
            lines.append(
                f"You take the territory with a chance of {chance}, and keep {left:.2f} armies "
                "on average."
            )
        yield Section([*lines, *list_fractions(decision.value)])
        yield self._make_boundary_section()
        yield self._format_action_table()

    def _describe_action(self) -> str:
        decision = self.decision
        battle = f"with {name_armies(decision.attackers)} against {decision.defenders}"
        stopped = f"{float(decision.value_if_stopped):.2f}"
        prize = f"with a prize of {float(self.question.worth['prize']):g} armies for the territory"
        if decision.action == "stop":
            worth = f"stopping is worth {stopped} armies to you"
            return f"Stop: {battle}, {worth}, and rolling on is worth no more, {prize}"
        value = f"{float(decision.value):.2f}"
        worth = f"rolling on is worth {value} armies to you, stopping {stopped}"
        return f"Roll: {battle}, {worth}, {prize}"

    @cached_property
    def prize_to_roll(self) -> float | None:
        """The prize from which rolling pays; `None` if rolling pays already or is impossible."""
        if self.question.mix or self.decision.action != "stop":
            return None
        battle = self.decision.attackers, self.decision.defenders, self.decision.rules
        worth = self.question.worth
        return compute_prize_to_roll(
            *battle, army_value=worth["army_value"], kill_value=worth["kill_value"]
        )

    def _describe_alternative(self) -> Iterator[str]:
        """Yield sentences on the attack that is not worth its armies."""
        decision = self.decision
        chance = Battle(decision.attackers, decision.defenders, decision.rules).win_probability()
        conquest = percent(mark_certain(chance, [decision.rules]))
        yield f"An attack to the end takes the territory with a chance of {conquest}."
        if self.prize_to_roll is not None:
            from_ = ceil(100 * self.prize_to_roll + 1e-9) / 100
            yield f"Rolling pays from a prize of {from_:g} armies."

    def _describe_mix(self) -> str:
        decision = self.decision
        battle = f"{name_armies(decision.attackers)} against {decision.defenders}"
        if decision.action == "blitz":
            return f"Blitz: with {battle}, a blitz now is the best choice"
        return f"Roll: with {battle}, one roll by hand is better than a blitz now"

    def _make_boundary_section(self) -> Section:
        """Return the smallest stacks that should attack, for the largest numbers of defenders."""
        boundary, mix = self.decision.boundary, self.question.mix
        rows = [
            (
                f"against {point.defenders}",
                "never" if point.attackers is None else str(point.attackers),
            )
            for point in boundary[-MAX_DECISION_LINES:]
        ]
        parts: list[Table | str] = [Table(("", "armies"), rows)]
        if len(rows) < len(boundary):
            parts.append("--json lists fewer defenders, too.")
        if self._has_larger_stack_that_stops():
            parts.append(
                f"With even more armies it can be better to {'roll' if mix else 'stop'} after all: "
                "--csv lists every case."
            )
        action, otherwise = ("Blitz", "roll by hand") if mix else ("Keep attacking", "stop")
        title = f"{action} with at least this many armies; otherwise {otherwise}:"
        return Section(parts, title)

    def _has_larger_stack_that_stops(self) -> bool:
        """Return whether a larger stack can have a reason to stop where a smaller stack attacks."""
        decision = self.decision
        able = decision.attackers - decision.rules.garrison
        rolls = decision.rolls[1 : decision.defenders + 1, 1 : able + 1]
        wanted = ~rolls if self.question.mix else rolls
        return bool((wanted[:, 1:] < wanted[:, :-1]).any())

    def _format_action_table(self) -> Section:
        """Return the best action in each state, with the current state marked."""
        decision = self.decision
        heights = _pick_numbers(self._choose_largest_shown(), decision.attackers)[::-1]
        across = _pick_numbers(decision.defenders, decision.defenders)
        here = decision.attackers, decision.defenders
        rows = [
            (
                attackers,
                [
                    Letter(
                        *LETTERS[decision.choose_best_action(attackers, defenders)],
                        (attackers, defenders) == here,
                    )
                    for defenders in across
                ],
            )
            for attackers in heights
        ]
        actions = f"{'B blitz, ' if self.question.mix else ''}R roll, . stop"
        title = f"The map ({actions}): attackers from bottom to top, defenders from left to right:"
        return Section([Grid(rows, across)], title)

    def _choose_largest_shown(self) -> int:
        """Return the largest number of attackers to show on the map."""
        decision = self.decision
        fewest = [point.attackers for point in decision.boundary if point.attackers is not None]
        known = decision.rolls.shape[1] - 1 + decision.rules.garrison
        return min(max(decision.attackers, *fewest, 1) + MAP_MARGIN, int(known))


def _pick_numbers(maximum: int, kept: int) -> list[int]:
    """Return the numbers from 1 to `maximum`, or every nth number if there are too many.

    kept: a number that is always included.

    >>> _pick_numbers(4, 2), _pick_numbers(60, 59)[:3], _pick_numbers(60, 59)[-1]
    ([1, 2, 3, 4], [2, 5, 8], 59)
    """
    step = -(-maximum // MAX_DECISION_LINES)
    return list(range(kept % step or step, maximum + 1, step))


class DiceState(KeyedRecord):
    """The best number of dice in one state."""

    attackers: Count = key("Attackers in the state, garrison included.")
    defenders: Count = key("Defenders in the state.")
    attack_dice: Count = key("The best number of attack dice.")
    defence_dice: Count = key("The best number of defence dice in reply.")


class DiceRecord(KeyedRecord, of=DiceDecision):
    """The best numbers of dice for both sides, for `--dice`."""

    attackers: Count = key(ATTACKERS_KEY, is_repeated=True)
    defenders: Count = key(DEFENDERS_KEY, is_repeated=True)
    rules: str = key(RULES_KEY, is_repeated=True)
    objective: str = key('`"conquest"`; `"value"` with a prize or a value of armies.')
    action: str = key('`"roll"`, or `"stop"` if no number of dice is better.', is_column=True)
    attack_dice: Count
    defence_dice: Count
    value: float = key(is_column=True)
    value_exact: str | None = key(EXACT_KEY)
    win_probability: Unit = key(is_column=True)
    win_probability_exact: ExactText = key(EXACT_KEY)
    fewer: tuple[DiceState, ...] = key(
        "The states in which it is best for a side to roll fewer dice than allowed."
    )
    replies: tuple[DefenceReply, ...] = key(
        "If the defender sees the attack roll: their best reply now to every roll.", default=OMITTED
    )


class DiceAnswer(Answer):
    """The best numbers of dice for both sides.

    decision: the best numbers of dice in each state.
    """

    question: DecideQuestion
    decision: DiceDecision

    def _list_states(self) -> Iterator[DiceState]:
        """Yield every reachable state in which the attackers can still attack."""
        decision, garrison = self.decision, self.decision.rules.garrison
        for able in range(1, decision.attackers - garrison + 1):
            for d in range(1, decision.defenders + 1):
                ours, theirs = decision.attack_policy[d, able], decision.defence_policy[d, able]
                yield DiceState(
                    attackers=able + garrison,
                    defenders=d,
                    attack_dice=int(ours),
                    defence_dice=int(theirs),
                )

    @property
    def fewer(self) -> list[DiceState]:
        """The states in which a side should roll fewer dice than allowed."""
        attack, defence = self.decision.rules.full_roll
        garrison = self.decision.rules.garrison
        return [
            state
            for state in self._list_states()
            if 0 < state.attack_dice < min(attack, state.attackers - garrison)
            or 0 < state.defence_dice < min(defence, state.defenders)
        ]

    @property
    def data(self) -> DiceRecord:
        decision = self.decision
        return DiceRecord.from_attributes(
            decision,
            self.question,
            objective="value" if self.question.given_values else "conquest",
            action="roll" if decision.attack_dice else "stop",
            fewer=tuple(self.fewer),
            replies=decision.replies or OMITTED,
        )

    def rows(self) -> Iterator[Sequence[object]]:
        if self.decision.replies:
            yield from self._list_reply_rows()
            return
        yield [key.name for key in list_keys(DiceState)]
        yield from map(astuple, self._list_states())

    def _list_reply_rows(self) -> Iterator[Sequence[object]]:
        replies = self.decision.replies
        most = max(len(reply.values) for reply in replies)
        values = [
            f"value_{add_noun(j, 'die', 'dice').replace(' ', '_')}" for j in range(1, most + 1)
        ]
        first_die = ["first_die"] if replies[0].first_die else []
        yield ("attack_dice", "attack", *first_die, "defence_dice", *values)
        for reply in replies:
            shown = map(format_all_digits, reply.values)
            seen = [reply.first_die] if first_die else []
            yield (
                reply.attack_dice,
                format_throw(reply.attack),
                *seen,
                reply.defence_dice,
                *shown,
            )

    def draw(self, charts: Charts) -> Any:
        return charts.dice_map(self.decision)

    def sections(self) -> Iterator[Section]:
        decision, garrison = self.decision, self.decision.rules.garrison
        if decision.attackers <= garrison:
            yield Section([explain_no_attack(decision.attackers, garrison)])
            return
        note, fewer = note_rules(self.question.rule_set.name), self.fewer
        if decision.attack_dice:
            lines = [
                f"Roll {add_noun(decision.attack_dice, 'die', 'dice')}; "
                f"{self._describe_reply()}{note}.",
                "If both sides choose their dice best, you take the territory with a chance of "
                f"{percent(decision.win_probability)}{self._describe_value()}.",
            ]
        else:
            lines = [f"Stop: rolling is no better with any number of dice{note}."]
        lines += list_fractions(decision.value)
        if not fewer:
            sides = "you never gain" if decision.replies else "neither side gains"
            lines.append(f"Later in the battle, {sides} by rolling fewer dice than allowed.")
        yield Section(lines)
        if decision.replies:
            yield self._make_reply_section()
        if fewer:
            rows = [tuple(map(str, astuple(state))) for state in fewer[-MAX_DECISION_LINES:]]
            columns = ("attackers", "defenders", "your dice", "their dice")
            parts: list[Table | str] = [Table(columns, rows)]
            if len(rows) < len(fewer):
                parts.append(f"--json lists the other {len(fewer) - len(rows)} cases.")
            yield Section(parts, title="In these cases it is best to roll fewer dice than allowed:")

    def _describe_reply(self) -> str:
        if self.decision.replies:
            if self.decision.replies[0].first_die:
                return "the defender decides on a second die after seeing your dice and their first"
            return "the defender chooses their dice after seeing yours"
        return f"the best reply is {add_noun(self.decision.defence_dice, 'die', 'dice')}"

    def _make_reply_section(self) -> Section:
        """Return the best replies to the best number of attack dice, or to all dice."""
        replies = self.decision.replies
        ours = self.decision.attack_dice or replies[0].attack_dice
        given = [reply for reply in replies if reply.attack_dice == ours]
        if replies[0].first_die:
            return _make_second_die_section(given)
        dice = {reply.attack: reply.defence_dice for reply in given}
        if len(replies[0].attack) == 2 == min(map(len, dice)):
            title = (
                "The defender's best number of dice after your roll: your highest die from bottom "
                "to top, your second die from left to right:"
            )
            across = sorted({second for _, second in dice})
            rows = [
                (highest, [_make_reply_letter(dice.get((highest, second))) for second in across])
                for highest in sorted({highest for highest, _ in dice}, reverse=True)
            ]
            return Section([Grid(rows, across)], title)
        found = [(format_throw(attack), str(dice[attack])) for attack in sorted(dice)]
        parts: list[Table | str] = [Table(("your dice", "their dice"), found[-MAX_DECISION_LINES:])]
        if len(found) > MAX_DECISION_LINES:
            parts.append(f"--csv lists the other {len(found) - MAX_DECISION_LINES} rolls.")
        return Section(parts, "The defender's best number of dice after your roll:")

    def _describe_value(self) -> str:
        value = f", and the battle is worth {float(self.decision.value):.2f}"
        return value if self.question.given_values else ""


def format_throw(dice: Sequence[int]) -> str:
    """Return dice as text.

    dice: the values of the dice, highest first.

    >>> format_throw((6, 5))
    '6 5'
    """
    return " ".join(map(str, dice))


def _make_second_die_section(replies: Sequence[DefenceReply]) -> Section:
    """Return the best replies after every attack roll and every first defence die."""
    dice = {(reply.attack, reply.first_die): reply.defence_dice for reply in replies}
    across = sorted({first for _, first in dice if first is not None})
    rows = [
        (format_throw(attack), [_make_reply_letter(dice[attack, first]) for first in across])
        for attack in sorted({attack for attack, _ in dice}, reverse=True)
    ]
    title = (
        "The defender's best number of dice: your dice from bottom to top, their first die from "
        "left to right:"
    )
    return Section([Grid(rows, across)], title)


def _make_reply_letter(dice: int | None) -> Letter:
    return Letter("" if dice is None else str(dice), "good" if dice == 1 else "other")


@make_sections.register
def _(value: Decision) -> Iterator[Section]:
    mix = value.objective == "conquest"
    question = DecideQuestion(value.attackers, value.defenders, rules=value.rules, mix=mix)
    return DecideAnswer(question, value).sections()


def dice_answer(decision: DiceDecision) -> DiceAnswer:
    armies = decision.attackers, decision.defenders
    return DiceAnswer(DecideQuestion(*armies, rules=decision.rules, dice=True), decision)


@make_sections.register
def _(value: DiceDecision) -> Iterator[Section]:
    return dice_answer(value).sections()
