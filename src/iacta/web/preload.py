"""The modules and templates that the fork server loads; the processes that answer are its forks."""

import scipy.linalg  # noqa: F401
import segno  # noqa: F401
import vl_convert  # noqa: F401

import iacta.web.map
import iacta.web.worker  # noqa: F401
from iacta.web.pages import load_templates

load_templates()
