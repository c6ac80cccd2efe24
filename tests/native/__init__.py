"""Tests of the interface to the compiled core."""
