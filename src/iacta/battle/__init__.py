"""Battles, campaigns, territories and their outcomes."""
