"""All tests, which run on every processor at once, so that linear algebra takes one thread each."""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # NumPy reads it when it is imported
