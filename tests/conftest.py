"""What all tests share: random tests that draw the same on every machine, however slow."""

import gc

from hypothesis import settings

settings.register_profile("iacta", deadline=None, derandomize=True)
settings.load_profile("iacta")


def pytest_collection_finish() -> None:
    """Spare the collector of garbage from looking through thousands of tests again and again."""
    gc.freeze()
