"""Boards and positions, and the readers of the file formats in which boards are found."""

from iacta.board.board import Board, Continent
from iacta.board.position import Holding, Position

__all__ = ["Board", "Continent", "Holding", "Position"]
