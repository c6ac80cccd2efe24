"""The usual rules of a player: `IACTA_RULES`, or a line of a settings file.

The file is `iacta/config.toml` in `XDG_CONFIG_HOME`, which is usually `~/.config`, or on Windows in
`%APPDATA%`. Its only key is `rules`.
"""

import os
import re
from pathlib import Path

from iacta.checks import shown
from iacta.cli.parse import Texts
from iacta.errors import IactaError, IllegalError, MalformedError
from iacta.files import in_file, named
from iacta.questions.form import Form
from iacta.questions.kinds import RulesName
from iacta.questions.parameters import UnderRules
from iacta.rules.variants import know

__all__ = ["know_rules_files", "with_usual_rules"]

VARIABLE = "IACTA_RULES"
RULES_FILE = r":([^:@~]+\.toml)(?=[@~]|$)"


def with_usual_rules(form: type[Form], texts: Texts) -> Texts:
    """Return the texts of a command line, with the usual rules where it names none."""
    is_played = issubclass(form, UnderRules) and not any(
        each.name == "rules" and each.is_argument for each in form.parameters()
    )
    if not is_played or "rules" in texts or "rules_file" in texts:
        return texts
    place, rules = VARIABLE, os.environ.get(VARIABLE, "")
    if not rules:
        file = _file()
        place, rules = f"rules in {named(file)}", _rules_in(file)
    if not rules:
        return texts
    try:
        return {**texts, "rules": RulesName().parse(rules, "rules")}
    except IactaError as error:
        raise type(error)(f"{place}: {error}") from None


def know_rules_files(form: type[Form], texts: Texts) -> None:
    """Read the rules files that territories and fronts name, as in `8:house.toml`."""
    for each in form.parameters():
        if not each.kind.names_rules or each.name not in texts:
            continue
        given = texts[each.name]
        words = given.split(",") if isinstance(given, str) else given
        for word in words if isinstance(words, list) else ():
            if found := re.search(RULES_FILE, word):
                from iacta.rules.files import read_rules_file  # only needed here

                know(found[1], read_rules_file(found[1]))


def _file() -> Path:
    if os.name == "nt":
        folder = os.environ.get("APPDATA", "")
    else:
        folder = os.environ.get("XDG_CONFIG_HOME", "") or os.path.expanduser("~/.config")
    return Path(folder) / "iacta" / "config.toml"


def _rules_in(file: Path) -> str:
    if not file.is_absolute() or not file.is_file():  # without a home it would be a relative path
        return ""
    from iacta.rules.files import read_toml  # only needed here

    with in_file(file, "settings"):
        settings = read_toml(file)
        unknown = sorted({*settings} - {"rules"})
        if unknown:
            raise IllegalError(f"unknown key {shown(unknown[0])}; expected rules")
        rules = settings.get("rules", "")
        if not isinstance(rules, str):
            raise MalformedError(f"rules must be a text, got {shown(rules)}")
    return rules
