"""Batch: questions by the million, asked of data frames, files and clusters."""

from importlib.util import find_spec

from iacta.errors import missing

if not (find_spec("polars") and find_spec("pyarrow")):
    raise missing("batches need Polars and PyArrow, which are not installed", "batch")

from iacta.batch.files import Done, answer_file
from iacta.batch.frames import answer

__all__ = ["Done", "answer", "answer_file"]
