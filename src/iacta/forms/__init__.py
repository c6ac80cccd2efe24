"""The framework for questions: from the declaration of parameters to the display of answers."""
