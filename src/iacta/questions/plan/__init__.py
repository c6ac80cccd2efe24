"""The question of plans: its parameters, its answer, and the answer's parts."""

from iacta.questions.plan.question import PlanAnswer, PlanQuestion, plan_answer

__all__ = ["PlanAnswer", "PlanQuestion", "plan_answer"]
