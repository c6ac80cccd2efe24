"""The machinery of questions, from the description of parameters to the displayed answer."""
