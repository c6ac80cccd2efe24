"""Odds: what players ask of battles: arrays, armies needed, decisions, defence, simulation."""
