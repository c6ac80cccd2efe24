"""Tests of `iacta.batch`."""
