"""The web pages for people and the API for programs, which answer every question."""
