"""Makes pages of the commands: what their help says, and what `iacta chart` draws."""

from docs.pictures import printed_by
from iacta.answers.form import Form, Topic
from iacta.answers.question import QUESTIONS
from iacta.cli.command import COMMANDS

__all__ = ["commands_page", "gallery_page"]

DRAWN_INTO = "iacta: the picture is in"


def commands_page() -> str:
    """Return a page with the help of every command."""
    forms: list[type[Form]] = [*QUESTIONS.all(), *COMMANDS.all()]
    names = ["", *(form.name for topic in Topic for form in forms if form.topic is topic)]
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
    for form in COMMANDS.find("chart")[1:]:  # the first is the group
        command, summary = f"iacta {form.examples[0].line}", form.summary()
        file = command.split()[3]
        parts += [
            f"## `iacta {form.name}`",
            summary,
            f"```console\n$ {command}\n{DRAWN_INTO} {file}\n```",
        ]
        parts.append(f"![{summary}]({file})")
    return "\n\n".join(parts) + "\n"
