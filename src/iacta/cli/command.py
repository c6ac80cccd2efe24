"""Command: what iacta does besides answering questions."""

from dataclasses import dataclass

from iacta.answers.form import Form, Register

__all__ = ["COMMANDS", "Command", "command"]


@dataclass(frozen=True)
class Command(Form):
    """A form that does something."""

    def run(self) -> int:
        """Do it, and return the exit code."""
        raise NotImplementedError


COMMANDS: Register[Command] = Register("iacta.cli")
command = COMMANDS.add
