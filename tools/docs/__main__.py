"""Puts the pages of the site together, and draws their pictures."""

import os

WINDOW = {"COLUMNS": "88", "TERMINAL_WIDTH": "88"}


def main() -> None:
    """Write the pages and pictures into build/docs."""
    os.environ.update(WINDOW)  # before the command line is loaded, which looks at it once
    from tools.docs.pages import write

    write()


if __name__ == "__main__":
    main()
