"""Rules: dice, modes and stops, their names and files, and the distribution of a roll."""
