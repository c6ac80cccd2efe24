"""Boards and positions, and the readers of the file formats in which boards are found."""
