"""The sessions that pages show: commands after a `$`, each with what it prints."""

import re
import shlex
from typing import NamedTuple

BLOCK = re.compile(r"^```console\n(.*?)^```", re.DOTALL | re.MULTILINE)
PICTURE = re.compile(r"(?:--plot|iacta chart [a-z-]+) (\S+\.svg)")


class Session(NamedTuple):
    """A command, and what a page shows of its output.

    command: the line that is typed.
    shown: what is below it; three dots match anything, and a line of them any lines.
    """

    command: str
    shown: str

    @property
    def words(self) -> list[str]:
        """The words after `iacta`, as a shell reads them."""
        return shlex.split(self.command)[1:]

    @property
    def picture(self) -> str | None:
        """The picture that the command draws, if it does."""
        found = PICTURE.search(self.command)
        return found and found.group(1)

    def shows(self, printed: str) -> bool:
        """Return whether a command has printed what the page shows.

        printed: all of it.
        """
        pattern = "".join(map(_pattern, self.shown.splitlines(keepends=True)))
        return re.fullmatch(pattern, printed) is not None


def _pattern(line: str) -> str:
    """Return a pattern for what a line of a page shows."""
    if line == "...\n":
        return "(?s:.*)"
    return re.escape(line).replace(re.escape("..."), ".*")


def sessions(text: str) -> list[Session]:
    """Return the commands of a page's console blocks, each with what it shows.

    text: the page, as Markdown.
    """
    parts = [
        part.partition("\n")
        for block in BLOCK.findall(text)
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]
    ]
    return [Session(command, shown) for command, _, shown in parts]
