"""The odds of battles: arrays, armies needed, decisions, defence and simulation."""
