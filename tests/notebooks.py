"""Run the notebooks of `examples/`, and write what they show.

python -m tests.notebooks runs all of them and writes their outputs anew.
"""

import re
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

FOLDER = Path(__file__).parent.parent / "examples"
NOTEBOOKS = tuple(sorted(FOLDER.glob("*.ipynb")))
LONGEST = 120  # seconds for a cell
PICTURE = re.compile(r'(<img alt="[^"]*") src="[^"]*">')
VERSION = 4


def executed(file: Path) -> Any:
    """Return a notebook with what its cells show when they are run, from the first to the last."""
    book = nbformat.read(file, as_version=VERSION)
    client = NotebookClient(
        book, timeout=LONGEST, record_timing=False, resources={"metadata": {"path": str(FOLDER)}}
    )
    client.execute()
    book.metadata = {"kernelspec": book.metadata["kernelspec"], "language_info": {"name": "python"}}
    return book


def shown(book: Any) -> list[tuple[str, list[Any]]]:
    """Return each cell of code with what it shows: texts and tables, of pictures the title only."""
    return [
        (cell.source, _all_reported(cell.outputs))
        for cell in book.cells
        if cell.cell_type == "code"
    ]


def _all_reported(outputs: Any) -> list[Any]:
    """Return what a cell shows; what it prints may come in any number of pieces."""
    said: list[Any] = []
    for output in outputs:
        this = _reported(output)
        if said and isinstance(said[-1], str) and output.output_type == "stream":
            said[-1] += this
        else:
            said.append(this)
    return said


def _reported(output: Any) -> Any:
    if output.output_type == "stream":
        return output.text
    if output.output_type == "error":
        return f"{output.ename}: {output.evalue}"
    data = {kind: text for kind, text in output.data.items() if kind.startswith("text/")}
    if "text/html" in data:
        data["text/html"] = PICTURE.sub(r"\1>", data["text/html"])
    return data, sorted(output.data)


if __name__ == "__main__":
    for each in NOTEBOOKS:
        nbformat.write(executed(each), each)
        print(each)
