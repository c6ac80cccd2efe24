"""With IACTA_TESTS_WITHOUT_CORE in the environment the tests of plans run without the core."""

import os

from tests.plan.coreless import hide_core

if os.environ.get("IACTA_TESTS_WITHOUT_CORE"):
    hide_core(setattr)
