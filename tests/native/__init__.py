"""Tests of the door to the compiled core."""
