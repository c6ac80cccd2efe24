"""Default rules for the command line, from the environment variable `IACTA_RULES`."""

import os
import re

from iacta.cli.parse import Texts
from iacta.forms.form import Form
from iacta.forms.parameter_kinds import RulesName
from iacta.forms.shared_parameters import RulesForm
from iacta.inputs.errors import IactaError
from iacta.rules.variants import register_rule_set

VARIABLE = "IACTA_RULES"
RULES_FILE = r":([^:@~]+\.toml)(?=[@~]|$)"


def add_usual_rules(form: type[Form], texts: Texts) -> Texts:
    """Add the rules in `IACTA_RULES` to a command line that names no rules."""
    takes_rules = issubclass(form, RulesForm) and not any(
        parameter.name == "rules" and parameter.is_argument for parameter in form.parameters()
    )
    if not takes_rules or "rules" in texts or "rules_file" in texts:
        return texts
    rules = os.environ.get(VARIABLE, "")
    if not rules:
        return texts
    try:
        return {**texts, "rules": RulesName().parse(rules, "rules")}
    except IactaError as error:
        raise type(error)(f"{VARIABLE}: {error}") from None


def read_rules_files(form: type[Form], texts: Texts) -> None:
    """Read the rules files that territories and fronts name, as in `8:house.toml`."""
    for parameter in form.parameters():
        if not parameter.kind.names_rules or parameter.name not in texts:
            continue
        given = texts[parameter.name]
        words = given.split(",") if isinstance(given, str) else given
        for word in words if isinstance(words, list) else ():
            if match := re.search(RULES_FILE, word):
                from iacta.rules.files import read_rules_file  # only needed here

                register_rule_set(match[1], read_rules_file(match[1]))
