"""Inputs: errors, checked values, files, tables, JSON and TOML that users supply."""
