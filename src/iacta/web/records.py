"""The JSON schema of each answer's record: its keys and the types of their values.

The documentation explains the keys, on the page about output.
"""

from typing import Any, TypeAlias

__all__ = ["RECORDS"]

Schema: TypeAlias = dict[str, Any]

WHOLE: Schema = {"type": "integer", "minimum": 0}
NUMBER: Schema = {"type": "number"}
CHANCE: Schema = {"type": "number", "minimum": 0, "maximum": 1}
TEXT: Schema = {"type": "string"}
FLAG: Schema = {"type": "boolean"}


def _maybe(schema: Schema) -> Schema:
    """Return the schema of a value that may be null."""
    return {"anyOf": [schema, {"type": "null"}]}


def _list(item: Schema) -> Schema:
    return {"type": "array", "items": item}


def _record(keys: dict[str, Schema], **more: Schema) -> Schema:
    """Return the schema of an object.

    keys: those that are always present.
    more: those that may be missing.
    """
    return {
        "type": "object",
        "properties": keys | more,
        "required": list(keys),
        "additionalProperties": False,
    }


def _by_name(value: Schema) -> Schema:
    return {"type": "object", "additionalProperties": value}


EXACT: Schema = _maybe({"type": "string", "pattern": r"^\d+(/\d+)?$"})
INTERVAL = _record({"level": CHANCE, "low": NUMBER, "high": NUMBER})
WINS = {"win_probability": CHANCE, "win_probability_exact": EXACT}
STOPS = {"stop_probability": _maybe(CHANCE), "stop_probability_exact": EXACT}
ARMIES = {"attackers": WHOLE, "defenders": WHOLE}
BORDER = {"from": TEXT, "to": TEXT}
PLAYED = {"rules": TEXT, "garrison": WHOLE}
ENDS = {"conquered": WHOLE, **ARMIES}
LOST: Schema = {"type": "integer"}  # some rules give armies for dice
LOSSES = _list(
    _record(
        {
            "attackers": LOST,
            "defenders": LOST,
            "count": WHOLE,
            "total": WHOLE,
            "probability": CHANCE,
        }
    )
)

BATTLE = _record(
    {
        **ARMIES,
        **PLAYED,
        "method": TEXT,
        **WINS,
        "expected_attackers_left": _maybe(NUMBER),
        "expected_defenders_left": _maybe(NUMBER),
        "expected_attackers_left_if_won": _maybe(NUMBER),
        "outcomes": _list(_record({**ARMIES, "probability": CHANCE})),
    },
    **STOPS,
)
CAMPAIGN = _record(
    {
        "attackers": WHOLE,
        "rules": TEXT,
        **WINS,
        "territories": _list(
            _record(
                {
                    "defenders": WHOLE,
                    "rules": TEXT,
                    "reach_probability": CHANCE,
                    "conquer_probability": CHANCE,
                }
            )
        ),
        "outcomes": _list(_record({**ENDS, "probability": CHANCE})),
    },
    **STOPS,
)
LEFT = {"attackers_left": WHOLE, "defenders_left": WHOLE}
NARRATED = _record(
    {"seed": WHOLE, "battles": _list(_record({"territory": WHOLE, **ARMIES, **LEFT}))}
)
COMPARE = _record(
    {
        **ARMIES,
        **PLAYED,
        "win_probability_exact": EXACT,
        "methods": _list(
            _record(
                {
                    "method": TEXT,
                    "win_probability": _maybe(CHANCE),
                    "relative_error": _maybe(NUMBER),
                    "bound": _maybe(NUMBER),
                    "seconds": _maybe(NUMBER),
                    "cannot": _maybe(TEXT),
                }
            )
        ),
    }
)
DECIDED: dict[str, Schema] = {
    **ARMIES,
    "rules": TEXT,
    "objective": TEXT,
    "action": TEXT,
    "value": NUMBER,
    "value_exact": _maybe(TEXT),
    **WINS,
}
DECIDE = _record(
    {
        **DECIDED,
        "expected_attackers_left": NUMBER,
        "boundary": _list(_record({"defenders": WHOLE, "attackers": _maybe(WHOLE)})),
    }
)
DICE = {"attack_dice": WHOLE, "defence_dice": WHOLE}
DECIDE_DICE = _record({**DECIDED, **DICE, "fewer": _list(_record({**ARMIES, **DICE}))})
DEFEND = _record(
    {
        "attackers": WHOLE,
        "chance": CHANCE,
        **PLAYED,
        "defenders": WHOLE,
        "hold_probability": CHANCE,
        "hold_probability_exact": EXACT,
    }
)
SPREAD = {"value": NUMBER, "value_exact": _maybe(TEXT)}
DEFEND_SPREAD = _record(
    {
        "attackers": WHOLE,
        "armies": WHOLE,
        "territories": WHOLE,
        "objective": TEXT,
        **PLAYED,
        "spreads": _list(_list(WHOLE)),
        "count": WHOLE,
        **SPREAD,
        "is_exact": FLAG,
        "others": _list(_record({"name": TEXT, "spread": _list(WHOLE), "value": NUMBER})),
    }
)
FRONTS = _record(
    {
        "armies": WHOLE,
        "objective": TEXT,
        **PLAYED,
        "fronts": _list(
            _record(
                {
                    "attackers": WHOLE,
                    "territories": WHOLE,
                    "shape": TEXT,
                    "rules": TEXT,
                    "held": _list(WHOLE),
                    "spread": _list(WHOLE),
                    **SPREAD,
                }
            )
        ),
        **SPREAD,
        "is_exact": FLAG,
    }
)
NEED = _record(
    {
        "defenders": {"anyOf": [WHOLE, _list(WHOLE)]},
        "chance": CHANCE,
        "keep": WHOLE,
        "rules": TEXT,
        "attackers": WHOLE,
        "win_probability": CHANCE,
    }
)
ROLL = _record(
    {
        **DICE,
        "rules": TEXT,
        "expected_attackers_lost": NUMBER,
        "expected_defenders_lost": NUMBER,
        "losses": LOSSES,
    }
)
RULES = _record(
    {
        "rules": _list(
            _record(
                {
                    "name": TEXT,
                    "aliases": _list(TEXT),
                    "description": TEXT,
                    "source": TEXT,
                    "attack_dice": _list(WHOLE),
                    "defence_dice": _list(WHOLE),
                    "fields": {"type": "object"},
                    "full_roll": _maybe(LOSSES),
                    "win_probability": _maybe(CHANCE),
                    "win_probability_exact": EXACT,
                    "break_even_ratio": _maybe(NUMBER),
                    "break_even_ratio_exact": EXACT,
                    "break_even_attackers": _maybe(WHOLE),
                }
            )
        )
    }
)
WON = {"runs": WHOLE, "seed": WHOLE, "won": WHOLE, "win_probability": CHANCE, "interval": INTERVAL}
SIMULATE = _record(
    {
        "attackers": WHOLE,
        "rules": TEXT,
        "territories": _list(_record({"defenders": WHOLE, "rules": TEXT})),
        **WON,
        "computed_win_probability": _maybe(CHANCE),
        "outcomes": _list(_record({**ENDS, "count": WHOLE, "probability": CHANCE})),
    }
)
TABLE = _record({**ARMIES, **PLAYED, "win_probability": _list(_list(CHANCE))})

GOAL: Schema = _record(
    {"kind": {"type": "string", "enum": ["take all", "take any", "worth", "in order"]}},
    territories=_list(TEXT),
    eliminates=TEXT,
    territory=NUMBER,
    bonus=NUMBER,
    army=NUMBER,
    worth=NUMBER,
    prizes=_list({"type": "object"}),
    goals=_list({"type": "object"}),
)
REACHED = {"reach_probability": CHANCE, "conquer_probability": CHANCE}
PLAN = _record(
    {
        "goal": GOAL,
        "rules": TEXT,
        "win_probability": _maybe(CHANCE),
        "upper_bound": NUMBER,
        "proven": FLAG,
        "steps": _list(_record({**BORDER, **REACHED, "expected_armies": NUMBER})),
        "territories": _list(
            _record({"name": TEXT, "own_probability": CHANCE, "expected_armies": NUMBER})
        ),
        "seconds": NUMBER,
        "value": NUMBER,
        "play": TEXT,
        "interval": _maybe(INTERVAL),
        "battles_value": _maybe(NUMBER),
        "advances": _list(
            _record(
                {**BORDER, "probability": CHANCE, "least": WHOLE, "most": WHOLE, "usual": WHOLE}
            )
        ),
        "endings": _list(_record({**BORDER, "probability": CHANCE})),
    },
    stages=_list(CHANCE),
    alternatives=_list(_record({**BORDER, "dice": WHOLE, "value": NUMBER})),
    why=_maybe(TEXT),
    reinforce=_record(
        {
            "armies": WHOLE,
            "placement": _by_name(WHOLE),
            "value_without": NUMBER,
            "quick_value_without": NUMBER,
            "territories": _list(_record({"name": TEXT, "one": NUMBER, "all": NUMBER})),
        }
    ),
    cards=_record(
        {"armies": _list(_record({"armies": WHOLE, "probability": CHANCE}))},
        first_probability=CHANCE,
        win_probability=CHANCE,
        interval=_maybe(INTERVAL),
        win_probability_without=CHANCE,
        ends=WHOLE,
    ),
    hold=_record(
        {
            "win_probability": CHANCE,
            "interval": _maybe(INTERVAL),
            "win_probability_unfortified": CHANCE,
            "at_least": NUMBER,
            "is_exact": FLAG,
            "threats": _list(
                _record({"player": TEXT, "armies": NUMBER, "chance": CHANCE, "at_most": NUMBER})
            ),
            "moves": _list(_record({**BORDER, "part": CHANCE, "armies": NUMBER})),
            "ends": WHOLE,
        }
    ),
    need=_record({"chance": CHANCE, "armies": WHOLE}, source=TEXT, placement=_by_name(WHOLE)),
    check=_record({**WON, "value": NUMBER, "error": NUMBER}),
)

# The audit of a log has many parts, which its own page explains.
AUDIT: Schema = {"type": "object", "required": ["rules", "level"]}

RECORDS: dict[str, Schema] = {
    "audit": AUDIT,
    "battle": BATTLE,
    "campaign": {"anyOf": [CAMPAIGN, NARRATED]},
    "compare": COMPARE,
    "decide": {"anyOf": [DECIDE, DECIDE_DICE]},
    "defend": {"anyOf": [DEFEND, DEFEND_SPREAD]},
    "fronts": FRONTS,
    "need": NEED,
    "plan": PLAN,
    "roll": ROLL,
    "rules": RULES,
    "simulate": SIMULATE,
    "table": TABLE,
}
