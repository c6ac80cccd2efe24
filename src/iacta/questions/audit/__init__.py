"""The question `audit`: its parameters and its answers."""

from iacta.questions.audit.question import AuditAnswer, AuditQuestion, PowerAnswer
from iacta.questions.audit.sentences import audit_sentence

__all__ = ["AuditAnswer", "AuditQuestion", "PowerAnswer", "audit_sentence"]
