"""The claims about the pages and their API."""
