"""The question `analysis`: the numbers of a turn, and the numbers that a client sends again."""

from iacta.questions.analysis.question import AnalysisAnswer, AnalysisQuestion

__all__ = ["AnalysisAnswer", "AnalysisQuestion"]
