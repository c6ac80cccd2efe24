"""Tests of the compiled core without the planner; fuzz.cpp asks the core random questions."""
