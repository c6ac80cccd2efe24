"""Boards and positions: territories, borders, continents and owners, and their file formats."""

from iacta.board.board import Board, Continent
from iacta.board.position import Holding, Position

__all__ = ["Board", "Continent", "Holding", "Position"]
