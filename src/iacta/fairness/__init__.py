"""Fairness: whether the dice of a log were fair, and how lucky each player was."""
