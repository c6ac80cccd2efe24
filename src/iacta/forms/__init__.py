"""Forms: the machinery of questions, from parameter descriptions to displayed sections."""
