"""Tests of the game: the turn, its codes, and what policies are worth."""
