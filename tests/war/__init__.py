"""Whole games."""
