"""The data of a turn: a setting, which no action changes, and a state, which actions change."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Literal, NamedTuple, Self, TypeAlias, get_args

from iacta.board import Board, Holding, Position
from iacta.game.actions import Attack
from iacta.game.cards import Hand, Sets
from iacta.game.victory import Victory
from iacta.inputs.checks import FrozenDict, PickledByFields
from iacta.methods import choose_kernel
from iacta.methods.kernel import Choice, Kernel, Throw
from iacta.rules.rules import Rules

Phase = Literal["trade", "place", "attack", "defend", "advance", "fortify", "over"]
FortifyReach = Literal["connected", "adjacent", "none"]
FORTIFY: tuple[FortifyReach, ...] = get_args(FortifyReach)
NO_CARDS = Hand()
MAX_CACHED_ATTACKS = 65536  # the maximum number of pairs of stacks whose attacks a setting caches


@dataclass(frozen=True)
class Setting(PickledByFields):
    """The part of a turn that no action changes, with the arrays that follow from it.

    board, rules, players, symbols, rules_of, keep, stay, fortify, whole_battles: the same as for
        `Turn`, with all names in the spelling of the board. A game keeps its setting, except that
        `keep` and `stay` apply to one player's turn.
    """

    board: Board
    rules: Rules
    players: tuple[str, ...]
    symbols: FrozenDict[str, str]
    rules_of: FrozenDict[str, Rules]
    keep: FrozenDict[str, int]
    stay: tuple[str, ...]
    fortify: FortifyReach
    whole_battles: bool

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def _hash(self) -> int:
        return hash((*self.__getstate__().values(),))

    @cached_property
    def index(self) -> Mapping[str, int]:
        """A mapping from the name of each territory to its index in the order of the board."""
        return {name: t for t, name in enumerate(self.board.territories)}

    @cached_property
    def borders(self) -> tuple[tuple[int, ...], ...]:
        """The indices of the neighbours that each territory can attack."""
        names, index = self.board.territories, self.index
        return tuple(tuple(index[to] for to in self.board.neighbours(name)) for name in names)

    @cached_property
    def kernels(self) -> tuple[Kernel, ...]:
        """The kernel of attacks on each territory."""
        usual, names = choose_kernel(self.rules), self.board.territories
        special = {name: choose_kernel(rules) for name, rules in self.rules_of.items()}
        return tuple(special.get(name, usual) for name in names)

    @cached_property
    def garrisons(self) -> tuple[int, ...]:
        """The number of armies that must remain on each territory."""
        garrison = self.rules.garrison
        return tuple(self.keep.get(name, garrison) for name in self.board.territories)

    @cached_property
    def immobile(self) -> tuple[bool, ...]:
        """For each territory, whether its armies may neither attack nor move."""
        return tuple(name in self.stay for name in self.board.territories)

    @cached_property
    def list_attacks(self) -> Callable[[int, int, int, int], tuple[Attack, ...]]:
        """A function that lists the attacks over a border, most dice first, with a cache.

        Its arguments are the indices of the attacking and of the attacked territory, and the armies
        on both.
        """
        return lru_cache(maxsize=MAX_CACHED_ATTACKS)(self._list_attacks)

    def _list_attacks(self, v: int, c: int, armies: int, defenders: int) -> tuple[Attack, ...]:
        kernel, spare = self.kernels[c], armies - self.garrisons[v]
        if spare <= 0 or not defenders:
            return ()
        if self.has_whole_battles(c):
            most, _ = kernel.count_dice(spare, defenders)
            numbers = [most] if most else []
        else:
            rolls = kernel.rolls(armies - self.rules.garrison, defenders, spare)
            numbers = [choice.dice for choice in rolls]
        names = self.board.territories
        return tuple(Attack(names[v], names[c], dice) for dice in numbers)

    def has_whole_battles(self, t: int) -> bool:
        """Return whether each attack on a territory is a whole battle.

        t: the index of the attacked territory.
        """
        return self.whole_battles or not self.kernels[t].is_rolled


class TurnState(NamedTuple):
    """The part of a turn that actions change; also a key that identifies a state of a game.

    player, phase, place, cards, trade, cards_due, pictured, victory: the same as for `Turn`.
    owners, armies: the owner of each territory and the armies on it, in the order of the board.
    first: the index of the first territory on which new armies may still be placed.
    pending: the attack in progress, in the phases `defend` and `advance`.
    throw: the result of the attack dice, in the phase `defend`.
    then: the phase after the advance.
    """

    player: str
    phase: Phase
    owners: tuple[str, ...]
    armies: tuple[int, ...]
    place: int
    cards: FrozenDict[str, Hand] | None
    trade: Sets
    victory: Victory
    cards_due: int
    pictured: bool
    first: int = 0
    pending: Attack | None = None
    throw: Throw | None = None
    then: Phase = "attack"


@dataclass(frozen=True, init=False, repr=False)
class TurnData:
    """The data of a turn, without the rules of the game.

    setting: the part that no action changes.
    state: the part that actions change.
    """

    setting: Setting
    state: TurnState

    def __new__(cls, *_: object, **arguments: object) -> Self:
        if "setting" in arguments:  # a call by `dataclasses.replace`
            raise TypeError(
                "dataclasses.replace cannot change a turn: use turn.with_options for rules, "
                "constraints and new armies, turn.correct for owners and armies, and turn.after "
                "for actions"
            )
        return super().__new__(cls)

    @classmethod
    def assemble_turn(cls, setting: Setting, state: TurnState) -> Self:
        """Return a turn with a setting and a state, without validation."""
        turn = object.__new__(cls)
        vars(turn).update(setting=setting, state=state)
        return turn

    def replace_state(self, state: TurnState) -> Self:
        """Return the turn in another state, without validation."""
        return self.assemble_turn(self.setting, state)

    def __hash__(self) -> int:
        return hash(self.state)

    def __getstate__(self) -> dict[str, object]:
        return {"setting": self.setting, "state": self.state}

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: object) -> Self:
        return self

    @property
    def board(self) -> Board:
        """The board."""
        return self.setting.board

    @property
    def rules(self) -> Rules:
        """The rules of battles."""
        return self.setting.rules

    @property
    def players(self) -> tuple[str, ...]:
        """The players in the order of play."""
        return self.setting.players

    @property
    def symbols(self) -> FrozenDict[str, str]:
        """The symbols on the cards of territories."""
        return self.setting.symbols

    @property
    def rules_of(self) -> FrozenDict[str, Rules]:
        """The rules of attacks on territories whose rules differ from `rules`."""
        return self.setting.rules_of

    @property
    def keep(self) -> FrozenDict[str, int]:
        """The armies that must always remain on territories, if more than the garrison."""
        return self.setting.keep

    @property
    def stay(self) -> tuple[str, ...]:
        """The territories whose armies may neither attack nor move."""
        return self.setting.stay

    @property
    def fortify(self) -> FortifyReach:
        """How far armies may move at the end of the turn."""
        return self.setting.fortify

    @property
    def whole_battles(self) -> bool:
        """Whether each attack is a whole battle, fought to its end."""
        return self.setting.whole_battles

    @property
    def player(self) -> str:
        """The player whose turn it is."""
        return self.state.player

    @property
    def phase(self) -> Phase:
        """The phase of the turn."""
        return self.state.phase

    @property
    def owners(self) -> tuple[str, ...]:
        """The owner of each territory; `""` for no owner."""
        return self.state.owners

    @property
    def armies(self) -> tuple[int, ...]:
        """The number of armies on each territory."""
        return self.state.armies

    @property
    def place(self) -> int:
        """The number of new armies that still have to be placed."""
        return self.state.place

    @property
    def cards(self) -> FrozenDict[str, Hand] | None:
        """The cards of players; `None` in a game without cards."""
        return self.state.cards

    @property
    def trade(self) -> Sets:
        """The armies for sets of cards."""
        return self.state.trade

    @property
    def victory(self) -> Victory:
        """The victory condition."""
        return self.state.victory

    @property
    def cards_due(self) -> int:
        """The number of cards that the player draws at the end for conquests in this turn."""
        return self.state.cards_due

    @property
    def pictured(self) -> bool:
        """Whether a traded card has already added two armies to a territory in this turn."""
        return self.state.pictured

    @property
    def first(self) -> int:
        """The index of the first territory on which new armies may still be placed."""
        return self.state.first

    @property
    def pending(self) -> Attack | None:
        """The attack in progress, in the phases `defend` and `advance`."""
        return self.state.pending

    @property
    def throw(self) -> Throw | None:
        """The result of the attack dice, in the phase `defend`."""
        return self.state.throw

    @property
    def then(self) -> Phase:
        """The phase after the advance."""
        return self.state.then

    @cached_property
    def position(self) -> Position:
        """The current position."""
        holdings = map(Holding, self.owners, self.armies)
        return Position.from_turn(self.board, self.player, tuple(holdings))

    @property
    def to_act(self) -> str:
        """The player who decides next: the attacked player in the phase `defend`."""
        if self.phase == "defend" and self.pending is not None:
            return self.owners[self.setting.index[self.pending.to]]
        return self.player

    @property
    def survivors(self) -> tuple[str, ...]:
        """The players who own a territory, in the order of play."""
        owners = {*self.state.owners}
        return tuple(player for player in self.players if player in owners)

    @property
    def hand(self) -> Hand:
        """The cards of the player; an empty hand in a game without cards."""
        return self.hand_of(self.player)

    def hand_of(self, player: str) -> Hand:
        """Return the cards of a player; an empty hand in a game without cards."""
        return NO_CARDS if self.cards is None else self.cards.get(player, NO_CARDS)

    def owner_of(self, name: str) -> str:
        """Return the owner of a territory; `""` for a territory without an owner.

        name: the territory, in any spelling.

        Under rules without a garrison, an empty territory keeps its owner.
        """
        return self.owners[self.setting.index[self.board.find(name)]]

    def armies_on(self, name: str) -> int:
        """Return the number of armies on a territory.

        name: the territory, in any spelling.
        """
        return self.armies[self.setting.index[self.board.find(name)]]

    def index_ends(self, attack: Attack) -> tuple[int, int]:
        """Return the indices of the attacking and of the attacked territory."""
        return self.setting.index[attack.start], self.setting.index[attack.to]

    def list_own(self) -> Iterator[int]:
        """Yield the indices of the player's territories."""
        player = self.state.player
        return (t for t, owner in enumerate(self.state.owners) if owner == player)

    def count_spare(self, v: int) -> int:
        """Return the number of armies that can be lost or moved.

        v: the index of the territory.
        """
        return self.state.armies[v] - self.setting.garrisons[v]

    def list_attack_dice(self, v: int, c: int) -> Sequence[int]:
        """Return the legal numbers of attack dice, in descending order.

        v, c: the indices of the attacking and of the attacked territory.
        """
        armies = self.state.armies
        return [each.dice for each in self.setting.list_attacks(v, c, armies[v], armies[c])]

    def find_choice(self, attack: Attack) -> Choice:
        """Return the kernel's `Choice` for an attack: its dice with the possible throws.

        attack: a legal attack, or the attack in progress (`pending`).

        >>> from iacta.game import Turn
        >>> turn = Turn.from_code("1;classic;red;Peru:red:9,Brazil:blue:4")
        >>> choice = turn.find_choice(Attack("Peru", "Brazil", 3))
        >>> choice.dice, choice.least, len(choice.throws)
        (3, 3, 1)
        """
        return find_battle_choice(*self.find_battle_key(attack))

    def find_battle_key(self, attack: Attack) -> "BattleKey":
        """Return the arguments of `find_battle_choice` for the arguments of `find_choice`."""
        v, c = self.index_ends(attack)
        setting, armies = self.setting, self.state.armies
        able, spare = armies[v] - setting.rules.garrison, armies[v] - setting.garrisons[v]
        is_whole = setting.has_whole_battles(c)
        return setting.kernels[c], is_whole, able, armies[c], spare, attack.dice


# The arguments of `find_battle_choice`: the kernel, whether the attack is a whole battle, the
# attackers that may roll, the defenders, the attackers that may be lost or move on, and the number
# of attack dice.
BattleKey: TypeAlias = tuple[Kernel, bool, int, int, int, int]


@lru_cache(maxsize=65536)
def find_battle_choice(
    kernel: Kernel, is_whole: bool, able: int, defenders: int, spare: int, dice: int
) -> Choice:
    """Return the kernel's `Choice` for an attack with a number of dice, with a cache."""
    if is_whole:
        return make_battle_choice(kernel, spare, defenders)
    return next(each for each in kernel.rolls(able, defenders, spare) if each.dice == dice)


@lru_cache(maxsize=65536)
def make_battle_choice(kernel: Kernel, able: int, defenders: int) -> Choice:
    """Return a whole battle as one roll; the same as `Kernel.battle`, but cached."""
    return kernel.battle(able, defenders)
