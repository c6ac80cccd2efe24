"""Programs for working on iacta that are not part of it."""
