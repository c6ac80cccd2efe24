"""User input: errors, validation, files, tables, JSON and TOML."""
