"""What all tests share: random tests that draw the same on every machine, however slow."""

from hypothesis import settings

settings.register_profile("iacta", deadline=None, derandomize=True)
settings.load_profile("iacta")
