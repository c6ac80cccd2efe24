"""Tests of the game: turns, their codes, and the values of policies."""
