"""Odds: arrays of battles, armies needed, decisions, defence and simulation."""
