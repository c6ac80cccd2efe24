"""All that a process loads before its first question: those that answer are copies of it."""

import scipy.linalg  # noqa: F401 # loaded when a method needs it
import segno  # noqa: F401 # when a QR code is drawn
import vl_convert  # noqa: F401 # and when a picture is

import iacta.web.map
import iacta.web.worker  # noqa: F401 # the process itself
from iacta.web.pages import load_templates

load_templates()
