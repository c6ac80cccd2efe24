"""The question `plan`: its parameters, its answer, and the parts of the answer."""

from iacta.questions.plan.question import PlanAnswer, PlanQuestion, plan_answer

__all__ = ["PlanAnswer", "PlanQuestion", "plan_answer"]
