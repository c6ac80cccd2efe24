"""The web pages and the API, on which people and programs can ask every question."""
