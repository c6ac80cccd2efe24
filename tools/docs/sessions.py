"""Console sessions on pages: commands after a `$`, each with its output."""

import re
import shlex
from typing import NamedTuple

BLOCK = re.compile(r"^```console\n(.*?)^```", re.DOTALL | re.MULTILINE)
PICTURE = re.compile(r"(?:--plot|iacta chart [a-z-]+) (\S+\.svg)")


class Session(NamedTuple):
    """A command with the output shown on a page.

    command: the command line.
    shown: the output. Three dots match any text, and a line of three dots matches any lines.
    """

    command: str
    shown: str

    @property
    def words(self) -> list[str]:
        """The words after `iacta`, split as a shell would."""
        return shlex.split(self.command)[1:]

    @property
    def picture(self) -> str | None:
        """The picture that the command draws, if any."""
        found = PICTURE.search(self.command)
        return found and found.group(1)

    def shows(self, printed: str) -> bool:
        """Return whether the output of the command matches the page."""
        pattern = "".join(map(_make_pattern, self.shown.splitlines(keepends=True)))
        return re.fullmatch(pattern, printed) is not None


def _make_pattern(line: str) -> str:
    """Return a pattern that matches a line of output."""
    if line == "...\n":
        return "(?s:.*)"
    return re.escape(line).replace(re.escape("..."), ".*")


def find_sessions(text: str) -> list[Session]:
    """Return the sessions in the console blocks of a Markdown page."""
    parts = [
        part.partition("\n")
        for block in BLOCK.findall(text)
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]
    ]
    return [Session(command, shown) for command, _, shown in parts]
