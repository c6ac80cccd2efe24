"""Answers a question for every row of a data frame or file, on one machine or on a cluster."""

from importlib.util import find_spec

from iacta.inputs.errors import missing_error

if not (find_spec("polars") and find_spec("pyarrow")):
    raise missing_error("batches need Polars and PyArrow, which are not installed", "batch")

from iacta.batch.files import BatchResult
from iacta.batch.frames import answer
from iacta.batch.run import answer_file

__all__ = ["BatchResult", "answer", "answer_file"]
