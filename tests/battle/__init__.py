"""Tests of battles and campaigns."""
