"""Everything for user input: errors, validation, files, tables, JSON and TOML."""
