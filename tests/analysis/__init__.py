"""Tests of the analysis of a turn."""
