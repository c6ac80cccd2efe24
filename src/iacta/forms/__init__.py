"""Forms: the machinery of questions, from the description of a parameter to the printed answer."""
