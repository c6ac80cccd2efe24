"""Tests of inputs: checked values, files and tables."""
