"""Probability: distributions (exact or in floats), estimates with intervals, typed chances."""
