"""Tests of what players ask of battles."""
