"""Tests of boards and positions."""
