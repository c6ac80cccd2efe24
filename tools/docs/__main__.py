"""Build the pages and pictures of the site."""

import os

WINDOW = {"COLUMNS": "88", "TERMINAL_WIDTH": "88"}


def main() -> None:
    """Write the pages and pictures to build/docs."""
    os.environ.update(WINDOW)  # must be set before `iacta.cli` is imported
    from tools.docs.pages import write_pages

    write_pages()


if __name__ == "__main__":
    main()
