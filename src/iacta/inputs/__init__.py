"""User input: errors, checks of values, files, tables, JSON and TOML."""
