"""Rules: dice, dice modes and stop rules, named rules and rules files, and the odds of a roll."""
