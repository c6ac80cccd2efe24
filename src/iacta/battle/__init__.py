"""Battles: battles, campaigns, their territories and their outcomes."""
