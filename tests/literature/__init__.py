"""Tests of what reproduces the literature."""
