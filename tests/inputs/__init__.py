"""Tests of user input."""
