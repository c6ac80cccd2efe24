"""`iacta completion`: shell completion of commands, options and names."""

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress

from iacta.cli.parse import HELP, VERSION, Texts, read_words
from iacta.cli.print_answer import COMMANDS, Command, OutputOptions, command
from iacta.forms.form import Example, Form, Parameter, Topic, format_option, parameter
from iacta.forms.parameter_kinds import CommaList, Flag, Kind, OneOf, RulesName
from iacta.forms.question import QUESTIONS, Question
from iacta.inputs.errors import IactaError
from iacta.inputs.files import STREAM

TERRITORY_METAVARS = {"NAMES", "NAME"}
PLAYER_METAVARS = {"PLAYER", "PLAYERS"}
NAME_SEPARATOR = r"[^\w.]+"  # boards accept any separator between the words of a name

# Each script calls `iacta completion words`. If that prints nothing, the shell completes file
# names.
SCRIPTS = {
    "bash": """_iacta() {
    local IFS=$'\\n'
    COMPREPLY=($(iacta completion words "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
}
complete -o default -F _iacta iacta""",
    "zsh": """#compdef iacta
_iacta() {
    local -a found
    found=("${(@f)$(iacta completion words "${(@)words[2,CURRENT]}" 2>/dev/null)}")
    if [[ -n "$found" ]]; then compadd -- "${found[@]}"; else _files; fi
}
if [[ "$funcstack[1]" = _iacta ]]; then _iacta "$@"; else compdef _iacta iacta; fi""",
    "fish": """function __iacta
    set -l found (iacta completion words (commandline -opc)[2..] (commandline -ct) 2>/dev/null)
    if test -n "$found"
        printf '%s\\n' $found
    else
        __fish_complete_path (commandline -ct)
    end
end
complete -c iacta -f -a '(__iacta)'""",
}


@command(
    "completion",
    Topic.TOOLS,
    Example("completion bash >> ~/.bashrc", "set up bash"),
    Example("completion zsh >> ~/.zshrc", "set up zsh, after compinit"),
    Example("completion fish > ~/.config/fish/completions/iacta.fish", "set up fish"),
)
class Completion(Command):
    """Print a script that lets your shell complete iacta's commands."""

    shell: str = parameter(OneOf(tuple(SCRIPTS)), "The shell: bash, zsh or fish.", is_argument=True)

    def run(self) -> int:
        print(SCRIPTS[self.shell])
        return 0


def complete_words(words: Sequence[str]) -> list[str]:
    """Return the possible completions of the last word of a command line, except file names.

    words: the words after `iacta`. The last word may be empty.

    >>> complete_words(["camp"])
    ['campaign']
    >>> complete_words(["battle", "12", "10", "--rules", "zombie"])
    ['zombie-attacker', 'zombie-defender']
    >>> complete_words(["battle", "12", "10", "--rules=capital+wa"])
    ['--rules=capital+wall']
    """
    # In bash, the = between an option and its value is a word of its own.
    *before, begun = [word for word in words if word != "="] or [""]
    if words and words[-1] == "=":
        before, begun = [*before, begun], ""
    option, equals, value = begun.partition("=")
    if equals and option.startswith("--"):
        return [f"{option}={word}" for word in complete_words([*before, option, value])]
    return sorted(word for word in _list_words(before, begun) if word.startswith(begun))


def _list_words(before: Sequence[str], prefix: str) -> Iterator[str]:
    before = before[before[:1] == ["help"] :]
    if not before:
        yield from (
            outline.name for outline in (*QUESTIONS.read_outlines(), *COMMANDS.read_outlines())
        )
        yield from ("help", *VERSION, *HELP)
        return
    forms: list[type[Form]] = [*QUESTIONS.find(before[0]), *COMMANDS.find(before[0])]
    names = {form.name: form for form in forms}
    group = [name.split()[1] for name in names if name.startswith(f"{before[0]} ")]
    if group and len(before) == 1:
        yield from group
        return
    form = names.get(" ".join(before[:2]) if group else before[0])
    if form is None:
        return
    if issubclass(form, Command):
        form = form.for_words(before)
    parameters = [*form.parameters()]
    if issubclass(form, Question):
        parameters += OutputOptions.parameters()
    options = {format_option(parameter.name): parameter for parameter in parameters}
    last = options.get(before[-1])
    if last is not None and not isinstance(last.kind, Flag):
        yield from _list_values(last.kind, prefix)
        yield from _list_names(form, before[len(form.name.split()) : -1], last, prefix)
        return
    arguments = [parameter for parameter in parameters if parameter.is_argument]
    if prefix.startswith("-") or not any(argument.kind.names_file for argument in arguments):
        yield from (
            name for name in options if name not in before and not options[name].is_argument
        )
        yield HELP[1]
    for argument in arguments:
        yield from _list_values(argument.kind, prefix)


def _list_names(
    form: type[Form], words: Sequence[str], option: Parameter, prefix: str
) -> Iterator[str]:
    if option.value_name not in TERRITORY_METAVARS | PLAYER_METAVARS or not hasattr(
        form, "position"
    ):
        return
    from iacta.board.files import read_board  # only needed here
    from iacta.board.position import read_position

    texts: Texts = {}
    board, players = read_board("classic"), ["red", "blue"]
    with suppress(IactaError):
        texts = read_words(form.parameters(), words, form.name)
    with suppress(IactaError):
        if STREAM in texts.values():
            return
        if "position" in texts:
            position = read_position(str(texts["position"]))
            board = position.board
            players = sorted({holding.owner for holding in position.holdings if holding.owner})
        elif "board" in texts:
            board = read_board(str(texts["board"]))
    before, comma, _ = prefix.rpartition(",")
    names = [*players] if option.value_name in PLAYER_METAVARS else []
    if option.value_name in TERRITORY_METAVARS:
        names += [*board.territories, *(continent.name for continent in board.continents)]
    if option.value_name not in PLAYER_METAVARS:
        names = [re.sub(NAME_SEPARATOR, "-", name) for name in names]
    for name in names:
        yield f"{before}{comma}{name}"


def _list_values(kind: Kind, prefix: str) -> Iterator[str]:
    if isinstance(kind, CommaList):
        yield from _list_values(kind.kind, prefix)
    elif isinstance(kind, OneOf):
        yield from (kind.format(word) for word in kind.words)
    elif isinstance(kind, RulesName):
        from iacta.rules.variants import MODIFIERS, RULE_SETS  # only needed here

        before, plus, _ = prefix.rpartition("+")
        rule_sets = MODIFIERS if plus else RULE_SETS
        yield from (f"{before}{plus}{rule_set.name.replace(' ', '-')}" for rule_set in rule_sets)
