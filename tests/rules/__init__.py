"""Tests of the rules, their names and files, and the roll."""
