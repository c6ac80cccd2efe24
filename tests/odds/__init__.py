"""Tests of the questions that players ask about battles."""
