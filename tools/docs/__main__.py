"""Build the pages of the site, with their pictures."""

import os

WINDOW = {"COLUMNS": "88", "TERMINAL_WIDTH": "88"}


def main() -> None:
    """Write the pages and pictures into build/docs."""
    os.environ.update(WINDOW)  # read when the command line is imported
    from tools.docs.pages import write_pages

    write_pages()


if __name__ == "__main__":
    main()
