"""All tests. They run in one process per core, so linear algebra uses a single thread each."""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # read when NumPy is imported
