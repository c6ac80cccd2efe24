"""Makes pages of the commands: what their help says, and what `iacta chart` draws."""

import re

from docs.pictures import printed_by
from iacta.cli.app import COMMANDS
from iacta.cli.chart import COMMANDS as DRAWN

__all__ = ["commands_page", "gallery_page"]

DRAWN_INTO = "iacta: the picture is in"


def commands_page() -> str:
    """Return a page with the help of every command."""
    names = ["", *COMMANDS]
    at = names.index("chart") + 1
    names[at:at] = [f"chart {name}" for name in DRAWN]
    parts = ["# Commands", "This page is what `--help` prints."]
    for name in names:
        title = f"iacta {name}".strip()
        text = "\n".join(
            line.rstrip() for line in printed_by(f"{title} --help").strip().splitlines()
        )
        parts += [f"## `{title}`", f"```console\n$ {title} --help\n{text}\n```"]
    return "\n\n".join(parts) + "\n"


def gallery_page() -> str:
    """Return a page with each picture of `iacta chart`, drawn by the example of its help."""
    parts = [
        "# Pictures",
        "Most commands draw their answer with `--plot`; these pictures come from `iacta chart`. "
        "The ending of the file says what it will be: `.svg`, `.png` or `.pdf` a picture, `.html` "
        "a page that shows the exact values under the mouse, `.json` the Vega-Lite specification, "
        "`.csv` the numbers. [The same from Python](../charts.md).",
    ]
    for name, function in DRAWN.items():
        first, _, rest = (function.__doc__ or "").partition("\n")
        command = re.findall(r"^ *Example: (.*)$", rest, re.MULTILINE)[0]
        file = command.split()[3]
        parts += [
            f"## `iacta chart {name}`",
            first,
            f"```console\n$ {command}\n{DRAWN_INTO} {file}\n```",
        ]
        parts.append(f"![{first}]({file})")
    return "\n\n".join(parts) + "\n"
