"""The web pages and the API, which answer every question in a browser."""
