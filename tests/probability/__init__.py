"""Tests of probabilities and their distributions."""
