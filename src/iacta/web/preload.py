"""The modules and templates that the fork server loads before it forks worker processes."""

import os

import scipy.linalg  # noqa: F401
import segno  # noqa: F401
import vl_convert  # noqa: F401

import iacta.web.map
import iacta.web.pages  # noqa: F401
from iacta.web.templates import load_templates

load_templates()

# Redirect stderr, because the fork server prints a traceback if there is no file descriptor left.
with open(os.devnull, "w") as nowhere:
    os.dup2(nowhere.fileno(), 2)
