"""The question `plan`: its parameters and its answer."""

from iacta.questions.plan.question import PlanAnswer, PlanQuestion, plan_answer

__all__ = ["PlanAnswer", "PlanQuestion", "plan_answer"]
