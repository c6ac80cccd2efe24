"""Probability: distributions in fractions or floats, estimates with intervals, parsed chances."""
