"""The question `plan`: its parameters, the search and its answers."""

from iacta.questions.plan.answer import PlanAnswer
from iacta.questions.plan.question import PlanQuestion, plan_answer

__all__ = ["PlanAnswer", "PlanQuestion", "plan_answer"]
