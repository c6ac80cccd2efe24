"""Runs the notebooks in `examples/` and stores their outputs.

`python -m tests.notebooks` updates all outputs.
"""

import re
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

FOLDER = Path(__file__).parent.parent / "examples"
NOTEBOOKS = tuple(sorted(FOLDER.glob("*.ipynb")))
TIMEOUT = 120  # seconds per cell
PICTURE = re.compile(r'(<img alt="[^"]*") src="[^"]*">')
VERSION = 4


def run_notebook(file: Path) -> Any:
    """Run the cells of a notebook in order; return the notebook with the new outputs."""
    book = nbformat.read(file, as_version=VERSION)
    client = NotebookClient(
        book, timeout=TIMEOUT, record_timing=False, resources={"metadata": {"path": str(FOLDER)}}
    )
    client.execute()
    book.metadata = {"kernelspec": book.metadata["kernelspec"], "language_info": {"name": "python"}}
    return book


def list_outputs(book: Any) -> list[tuple[str, list[Any]]]:
    """Return the code cells with their outputs: texts, tables, and titles of pictures."""
    return [
        (cell.source, _join_outputs(cell.outputs))
        for cell in book.cells
        if cell.cell_type == "code"
    ]


def _join_outputs(outputs: Any) -> list[Any]:
    """Return the outputs of a cell, with pieces of printed text joined."""
    said: list[Any] = []
    for output in outputs:
        this = _format_output(output)
        if said and isinstance(said[-1], str) and output.output_type == "stream":
            said[-1] += this
        else:
            said.append(this)
    return said


def _format_output(output: Any) -> Any:
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
        nbformat.write(run_notebook(each), each)
        print(each)
