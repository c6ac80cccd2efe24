"""Batch: questions by the million, asked of data frames, files and clusters."""

from importlib.util import find_spec

from iacta.inputs.errors import missing_error

if not (find_spec("polars") and find_spec("pyarrow")):
    raise missing_error("batches need Polars and PyArrow, which are not installed", "batch")

from iacta.batch.files import Done
from iacta.batch.frames import answer
from iacta.batch.run import answer_file

__all__ = ["Done", "answer", "answer_file"]
