"""Fairness: tests whether the dice of a log were fair, and measures the luck of each player."""
