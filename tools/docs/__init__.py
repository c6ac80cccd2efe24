"""Generates the documentation site: pages, reference, console sessions and pictures."""
