"""The compiled core, apart from the planner that uses it; fuzz.cpp asks it random questions."""
