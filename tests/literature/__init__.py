"""Tests of the package that reproduces the literature."""
