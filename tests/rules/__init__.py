"""Tests of rules, their names and files, and rolls."""
