"""All tests. One process runs per core, so each process uses one thread for linear algebra."""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # must be set before NumPy is imported
