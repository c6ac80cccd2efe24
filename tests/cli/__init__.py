"""The claims about the command line."""
