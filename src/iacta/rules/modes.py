"""Dice modes: the ways in which dice can decide a battle. Rules have exactly one mode.

A mode is plain data. For each class of modes, one module of `iacta.methods` is registered that
computes the odds. No package above `iacta.methods` refers to a particular mode.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from iacta.inputs.checks import check_choice, read_int, set_field
from iacta.inputs.errors import IllegalError
from iacta.inputs.reprs import format_short_repr

MAX_GAIN = 100  # maximum number of armies that a side may gain in one roll


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
    """

    key: ClassVar[str]
    off: ClassVar[object]
    described: ClassVar[str]
    rolls: ClassVar[bool] = True
    dice_chosen_first: ClassVar[bool] = True
    grows: ClassVar[bool] = False
    certain: ClassVar[bool] = False
    inexact: ClassVar[str] = ""

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


@dataclass(frozen=True, repr=False)
class DefenderSeesFirst(Mode):
    """The defender chooses the number of dice after seeing the attack roll.

    >>> DefenderSeesFirst().format_value()
    True
    """

    key = "defender_sees_first"
    described = "a defender who sees the attack first"
    off = False
    dice_chosen_first = False

    def format_value(self) -> object:
        return True

    @classmethod
    def read(cls, value: Any) -> Mode | None:
        check_choice(value, (True, False), cls.key)
        return cls() if value else None

    def describe(self) -> Iterator[str]:
        yield "The defender chooses how many dice to throw after seeing the attack roll."
        yield "They choose the number that makes the loss of their territory least likely."


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


MODES: tuple[type[Mode], ...] = (TrueRandom, BalancedBlitz, DefenderSeesFirst, ArmiesGrow)


def mode_record(mode: Mode) -> dict[str, object]:
    """Return the value of every mode's key, for rules files and JSON.

    >>> mode_record(BalancedBlitz())
    {'dice_mode': 'balanced blitz', 'defender_sees_first': False, 'all_ones_gain': 0}
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
