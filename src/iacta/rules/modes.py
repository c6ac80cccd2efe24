"""Dice modes: the ways in which dice can decide a battle. Rules have exactly one mode.

A mode is plain data. For each class of modes, one module of `iacta.methods` is registered that
computes the odds. No package above `iacta.methods` refers to a particular mode.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, get_args

from iacta.inputs.checks import check_choice, quote, read_int, refuse_unknown_keys, set_field
from iacta.inputs.errors import IllegalError, MalformedError
from iacta.inputs.reprs import format_short_repr

MAX_GAIN = 100  # maximum number of armies that a side may gain in one roll
TiedSides = Literal["nobody", "both", "both and taken"]
TIED: tuple[TiedSides, ...] = get_args(TiedSides)
MissileUse = Literal["best", "at once"]
MISSILE_USES: tuple[MissileUse, ...] = get_args(MissileUse)
MAX_MISSILES = 9  # maximum number of missiles of a side
MANY_DEFENDERS = 3  # the fewest defenders against which `LastDieAtTwoToOne` gives the last die


@dataclass(frozen=True, repr=False)
class Mode:
    """A way in which dice decide a battle.

    key: the key of the mode in rules files.
    off: the value of this key if the mode is off.
    rolls: whether a battle is fought roll by roll, so that the attackers may stop between rolls.
    dice_chosen_first: whether both sides choose their numbers of dice before the roll, so that
        there is a single distribution of losses.
    grows: whether armies can grow, which gives a battle infinitely many states.
    described: a noun phrase for error messages, to follow "rules with".
    certain: whether a chance can be exactly 0 or 1 although both sides can fight.
    inexact: the reason why results cannot be fractions; empty for exact modes.
    has_plain_rolls: whether both sides choose their dice before the roll by their own armies, and
        each pair of compared dice costs exactly one army.
    has_own_ties: whether the mode, and not the field `ties` of the rules, decides the losses of a
        tie.
    is_used_up: whether a battle consumes something, such as missiles, that later battles of the
        same stack lack.
    may_forbid: whether remaining attackers may be unable to roll.
    fits_turns: whether turns on a board can have this mode.
    fits_plans: whether plans and whole games can have this mode: the compiled core needs a table of
        the armies that each roll costs.
    """

    key: ClassVar[str]
    off: ClassVar[object]
    described: ClassVar[str]
    rolls: ClassVar[bool] = True
    dice_chosen_first: ClassVar[bool] = True
    grows: ClassVar[bool] = False
    certain: ClassVar[bool] = False
    inexact: ClassVar[str] = ""
    has_plain_rolls: ClassVar[bool] = True
    has_own_ties: ClassVar[bool] = False
    is_used_up: ClassVar[bool] = False
    may_forbid: ClassVar[bool] = False

    @property
    def fits_turns(self) -> bool:
        return True

    @property
    def fits_plans(self) -> bool:
        return self.fits_turns and not self.grows

    def __repr__(self) -> str:
        return format_short_repr(self)

    def make_unfit_error(self, purpose: str) -> IllegalError:
        """Return the error to raise if rules with this mode cannot be used for a purpose.

        purpose: a phrase such as `"to decide roll by roll"`.

        >>> BalancedBlitz().make_unfit_error("to decide roll by roll")
        IllegalError('rules with balanced blitz cannot be used to decide roll by roll')
        """
        return IllegalError(f"rules with {self.described} cannot be used {purpose}")

    def format_value(self) -> object:
        """Return the value for this mode in rules files and JSON."""
        raise NotImplementedError

    @classmethod
    def read(cls, value: Any) -> "Mode | None":
        """Return this mode if a value of its key selects the mode, otherwise `None`."""
        raise NotImplementedError

    def describe(self) -> Iterator[str]:
        """Yield sentences that explain the mode to players."""
        yield from ()


@dataclass(frozen=True, repr=False)
class _DiceMode(Mode):
    key = "dice_mode"
    off = "true random"
    name: ClassVar[str] = "true random"
    described = "truly random dice"

    def format_value(self) -> object:
        return self.name

    @classmethod
    def read(cls, value: Any) -> Mode | None:
        return cls() if value == cls.name else None


@dataclass(frozen=True, repr=False)
class TrueRandom(_DiceMode):
    """All dice are random, and each side chooses its number of dice before the roll.

    >>> TrueRandom()
    TrueRandom()
    """


@dataclass(frozen=True, repr=False)
class BalancedBlitz(_DiceMode):
    """A whole battle is decided at once, with the odds of the official app's balanced blitz.

    >>> BalancedBlitz().format_value()
    'balanced blitz'
    """

    name = described = "balanced blitz"
    rolls = False
    certain = True
    inexact = "under balanced blitz, whose powers have no exact fractions"

    def describe(self) -> Iterator[str]:
        yield f"Whole battles are decided by the dice mode {self.name}."


class SwitchMode(Mode):
    """A mode without numbers, which rules have or do not have."""

    off = False

    def format_value(self) -> object:
        return True

    @classmethod
    def read(cls, value: Any) -> Mode | None:
        check_choice(value, (True, False), cls.key)
        return cls() if value else None


@dataclass(frozen=True, repr=False)
class DefenderSeesFirst(SwitchMode):
    """The defender chooses the number of dice after seeing the attack roll.

    >>> DefenderSeesFirst().format_value()
    True
    """

    key = "defender_sees_first"
    described = "a defender who sees the attack first"
    dice_chosen_first = False
    has_plain_rolls = False

    @classmethod
    def read(cls, value: Any) -> Mode | None:
        check_choice(value, (True, False, OneDieFirst.name), cls.key)
        return cls() if value == cls().format_value() else None

    def describe(self) -> Iterator[str]:
        yield "The defender chooses how many dice to roll after seeing the attack roll."
        yield "They choose the number that makes the loss of their territory least likely."


@dataclass(frozen=True, repr=False)
class OneDieFirst(DefenderSeesFirst):
    """The defender sees the attack roll, rolls one die, and then decides on a second die.

    >>> OneDieFirst().format_value()
    'one die first'
    """

    name: ClassVar[str] = "one die first"
    described = "a defender who rolls one die first"

    def format_value(self) -> object:
        return self.name

    def describe(self) -> Iterator[str]:
        yield "After the attack roll the defender rolls one die, and then decides on a second die."
        yield "They roll it if this makes the loss of their territory less likely."


@dataclass(frozen=True, repr=False)
class ArmiesGrow(Mode):
    """If all dice of a full roll show one, both sides gain armies and neither loses any.

    gain: the number of armies that each side gains, at least 1.

    >>> ArmiesGrow(gain=2)
    ArmiesGrow(gain=2)
    """

    gain: int = 1

    key = "all_ones_gain"
    described = "armies that grow when all dice show one"
    off = 0
    grows = True
    inexact = "where armies can grow, which only floats can handle"

    def __post_init__(self) -> None:
        set_field(self, "gain", read_int(self.gain, "gain", 1, MAX_GAIN))

    def format_value(self) -> object:
        return self.gain

    @classmethod
    def read(cls, value: Any) -> Mode | None:
        gain = read_int(value, cls.key, 0, MAX_GAIN)
        return cls(gain) if gain else None

    def describe(self) -> Iterator[str]:
        armies = "army" if self.gain == 1 else "armies"
        yield (
            f"When all dice show one, both sides gain {self.gain} {armies} and nobody loses any."
        )


class HouseRolls(Mode):
    """A house rule that changes the dice of a roll, or the armies that a tie costs."""

    has_plain_rolls = False

    def count_dice(
        self, able: int, defenders: int, full_roll: tuple[int, int], garrison: int
    ) -> tuple[int, int]:
        """Return the largest numbers of attack and defence dice; 0 attack dice forbid the attack.

        able: the attackers without the garrison.
        defenders: armies on the defended territory.
        full_roll: the numbers of dice of a full roll.
        garrison: the number of armies that must stay behind.
        """
        return min(able, full_roll[0]), min(defenders, full_roll[1])

    def count_distinct_defenders(self, defence_dice: int) -> int:
        """Return the largest number of defenders with its own dice; more change no dice.

        defence_dice: the number of defence dice of a full roll.
        """
        return defence_dice


@dataclass(frozen=True, repr=False)
class TiesCost(HouseRolls):
    """A tie costs nobody an army, or both sides.

    sides: `"nobody"`, `"both"` or `"both and taken"`. If the last armies of both sides fall in the
        same roll, the attackers take the territory with `"both and taken"`. With `"both"` they do
        not, and the territory counts as defended by one army.

    >>> TiesCost("nobody").format_value()
    'nobody'
    """

    sides: TiedSides = "nobody"

    @property
    def fits_turns(self) -> bool:
        return self.sides == "nobody"

    key = "ties_cost"
    has_own_ties = True
    off = "one side"

    def __post_init__(self) -> None:
        check_choice(self.sides, TIED, "ties_cost")

    @property
    def described(self) -> str:  # type: ignore[override] # a class variable of other modes
        return f"ties that cost {self.sides.partition(' ')[0]}"

    def format_value(self) -> object:
        return self.sides

    @classmethod
    def read(cls, value: Any) -> Mode | None:
        check_choice(value, (cls.off, *TIED), cls.key)
        return None if value == cls.off else cls(value)

    def describe(self) -> Iterator[str]:
        if self.sides == "nobody":
            yield "A tie costs nobody an army."
            return
        yield "A tie costs both sides an army."
        taken = "" if self.sides == "both and taken" else "not "
        yield f"If the last armies of both sides fall together, the territory is {taken}taken."


@dataclass(frozen=True, repr=False)
class LateDefenceDice(HouseRolls):
    """The defender rolls a second die only from a number of armies on.

    armies: the number of armies, at least 3. Each further die takes one more army.

    >>> LateDefenceDice().count_dice(9, 2, (3, 2), 1), LateDefenceDice().count_dice(9, 3, (3, 2), 1)
    ((3, 1), (3, 2))
    """

    armies: int = 3

    key = "second_defence_die_from"
    off = 2
    described = "a late second defence die"

    def __post_init__(self) -> None:
        set_field(self, "armies", read_int(self.armies, self.key, 3, MAX_GAIN))

    def count_dice(
        self, able: int, defenders: int, full_roll: tuple[int, int], garrison: int
    ) -> tuple[int, int]:
        return min(able, full_roll[0]), min(max(defenders - self.armies + 2, 1), full_roll[1])

    def count_distinct_defenders(self, defence_dice: int) -> int:
        return 1 if defence_dice == 1 else self.armies - 2 + defence_dice

    def format_value(self) -> object:
        return self.armies

    @classmethod
    def read(cls, value: Any) -> Mode | None:
        armies = read_int(value, cls.key, 2, MAX_GAIN)
        return None if armies == cls.off else cls(armies)

    def describe(self) -> Iterator[str]:
        yield (
            f"The defender rolls a second die only with at least {self.armies} armies, and each "
            "further die with one army more."
        )


@dataclass(frozen=True, repr=False)
class NeverFewerDice(SwitchMode, HouseRolls):
    """The attacker may not roll fewer dice than the defender.

    >>> NeverFewerDice().count_dice(2, 5, (3, 3), 1), NeverFewerDice().count_dice(2, 2, (3, 3), 1)
    ((0, 3), (2, 2))
    """

    key = "never_fewer_dice"
    may_forbid = True
    described = "attackers who may not roll fewer dice than the defender"

    def count_dice(
        self, able: int, defenders: int, full_roll: tuple[int, int], garrison: int
    ) -> tuple[int, int]:
        attack, defence = super().count_dice(able, defenders, full_roll, garrison)
        return attack if attack >= defence else 0, defence

    def describe(self) -> Iterator[str]:
        yield "The attacker may not roll fewer dice than the defender."


@dataclass(frozen=True, repr=False)
class LastDieAtTwoToOne(SwitchMode, HouseRolls):
    """The attacker rolls the last of the dice only with twice the armies of many defenders.

    The armies on the attacking territory count with the garrison, and there must be at least three
    defenders. Rules with four attack dice give the fourth die of TEG.

    >>> fourth = LastDieAtTwoToOne()
    >>> [fourth.count_dice(able, 3, (4, 3), 1) for able in (4, 5)]
    [(3, 3), (4, 3)]
    """

    key = "last_attack_die_at_two_to_one"
    described = "a last attack die at two to one"

    def count_dice(
        self, able: int, defenders: int, full_roll: tuple[int, int], garrison: int
    ) -> tuple[int, int]:
        is_double = defenders >= MANY_DEFENDERS and able + garrison >= 2 * defenders
        most = full_roll[0] if is_double else max(full_roll[0] - 1, 1)
        return min(able, most), min(defenders, full_roll[1])

    def count_distinct_defenders(self, defence_dice: int) -> int:
        return max(defence_dice, MANY_DEFENDERS)

    def describe(self) -> Iterator[str]:
        yield (
            "The attacker rolls the last die only with at least twice as many armies as there are "
            f"defenders, and against at least {MANY_DEFENDERS}."
        )


@dataclass(frozen=True, repr=False)
class Fumble(SwitchMode, HouseRolls):
    """If all attack dice show one, the attacker loses an army for each die, the defender none.

    >>> Fumble().described
    'a fumble'
    """

    key = "fumble"
    described = "a fumble"

    def describe(self) -> Iterator[str]:
        yield "If all attack dice show one, the attacker loses an army for each die."


class ChangedDice(Mode):
    """A house rule that lets a side change a die after both sides have rolled."""

    has_plain_rolls = False

    @property
    def fits_turns(self) -> bool:
        return False


@dataclass(frozen=True, repr=False)
class AttackDieAgain(SwitchMode, ChangedDice):
    """After seeing the dice of both sides, the attacker may roll one attack die again.

    >>> next(AttackDieAgain().describe())
    'After each roll, the attacker may roll one attack die again.'
    """

    key = "attack_die_again"
    described = "an attack die that is rolled again"

    def describe(self) -> Iterator[str]:
        yield "After each roll, the attacker may roll one attack die again."
        yield "The attacker does this if it raises the chance to take the territory."


@dataclass(frozen=True, repr=False)
class Missiles(ChangedDice):
    """After a roll, a side may spend a missile to set one of its dice to six.

    attack, defence: the numbers of missiles that the two sides have for the battle.
    used: `"best"` if the attacker uses missiles to maximise the chance to take the territory, and
        the defender to minimise it; `"at once"` if a side uses a missile as soon as it saves an
        army.

    In each roll the attacker decides first, and each side may use one missile.

    >>> Missiles(attack=1).format_value()
    {'attack': 1, 'defence': 0, 'used': 'best'}
    """

    attack: int = 0
    defence: int = 0
    used: MissileUse = "best"

    key = "missiles"
    off = None
    is_used_up = True
    described = "missiles"

    def __post_init__(self) -> None:
        for name in ("attack", "defence"):
            number = read_int(getattr(self, name), f"missiles.{name}", 0, MAX_MISSILES)
            set_field(self, name, number)
        check_choice(self.used, MISSILE_USES, "missiles.used")

    def format_value(self) -> object:
        return {"attack": self.attack, "defence": self.defence, "used": self.used}

    @classmethod
    def read(cls, value: Any) -> Mode | None:
        if value is None:
            return None
        if not isinstance(value, Mapping):
            raise MalformedError(
                f"missiles must be a table with attack, defence or used, got {quote(value)}"
            )
        refuse_unknown_keys(value, ("attack", "defence", "used"))
        return cls(**value)

    def describe(self) -> Iterator[str]:
        missiles = "missile" if self.attack == 1 else "missiles"
        yield (
            f"The attacker has {self.attack} {missiles} for the battle, the defender "
            f"{self.defence}. After a roll, a side may spend a missile to set one of its dice to "
            "six."
        )
        if self.used == "best":
            yield "Each side uses its missiles where they help it most to win the territory."
        else:
            yield "Both sides use a missile as soon as it saves an army."


MODES: tuple[type[Mode], ...] = (
    TrueRandom,
    BalancedBlitz,
    DefenderSeesFirst,
    OneDieFirst,
    ArmiesGrow,
    TiesCost,
    LateDefenceDice,
    NeverFewerDice,
    LastDieAtTwoToOne,
    Fumble,
    AttackDieAgain,
    Missiles,
)


def mode_record(mode: Mode) -> dict[str, object]:
    """Return the value of every mode's key, for rules files and JSON.

    >>> mode_record(BalancedBlitz())
    {'dice_mode': 'balanced blitz', 'defender_sees_first': False, 'all_ones_gain': 0, \
'ties_cost': 'one side', 'second_defence_die_from': 2, 'never_fewer_dice': False, \
'last_attack_die_at_two_to_one': False, 'fumble': False, 'attack_die_again': False, \
'missiles': None}
    """
    return {mode.key: mode.off for mode in MODES} | {mode.key: mode.format_value()}


def read_mode(record: Mapping[str, Any]) -> Mode:
    """Return the mode in the fields of a rules file.

    record: a mapping from keys to values. A missing key means that the mode is off.

    A combination of two modes raises `IllegalError`.

    >>> read_mode({"defender_sees_first": True})
    DefenderSeesFirst()
    >>> read_mode({"dice_mode": "loaded"})
    Traceback (most recent call last):
        ...
    iacta.IllegalError: dice_mode must be 'true random' or 'balanced blitz', got 'loaded'
    """
    modes: list[Mode] = []
    for key in dict.fromkeys(mode.key for mode in MODES):
        kinds = [mode for mode in MODES if mode.key == key]
        names = tuple(kind.name for kind in kinds if issubclass(kind, _DiceMode))
        value = record.get(key, kinds[0].off)
        if names:
            check_choice(value, names, key)
        modes += [mode for kind in kinds if (mode := kind.read(value)) is not None]
    played = [mode for mode in modes if mode != TrueRandom()]
    if len(played) > 1:
        first, second = played[:2]
        raise IllegalError(f"rules cannot combine {first.described} with {second.described}")
    return played[0] if played else TrueRandom()
