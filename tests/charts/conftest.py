"""Charts of tests are made as commands make them."""

from collections.abc import Iterator

import pytest

from iacta.charts.theme import sketched


@pytest.fixture(autouse=True)
def _sketches() -> Iterator[None]:
    """Spare the time of Altair, of which a test says that its charts are the same."""
    with sketched():
        yield
