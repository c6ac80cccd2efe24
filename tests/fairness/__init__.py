"""Tests of the audit of a log."""
