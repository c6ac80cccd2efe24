"""Rules: everything that changes the odds, their names and files, and the roll that they give."""
