"""Benchmarks that compare iacta with straightforward programs for the same computations."""
