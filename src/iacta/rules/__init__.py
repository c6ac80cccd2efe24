"""Rules: dice, dice modes, stop rules, named rules, rules files, and the odds of a roll."""
