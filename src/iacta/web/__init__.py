"""Web: the page and its API, which answer every question in a browser."""
