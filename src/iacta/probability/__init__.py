"""Probability: distributions (exact or in floats), estimates with intervals, and typed chances."""
