"""Questions and their answers. One definition serves the command, the web page and the API."""

from collections.abc import Callable
from typing import Any

from iacta.forms.question import (
    QUESTIONS,
    Answer,
    Question,
    Recordable,
    explain_unknown_parameter,
    find_question,
)
from iacta.inputs.checks import quote
from iacta.inputs.errors import IllegalError, MalformedError
from iacta.native.heartbeat import beat_during

__all__ = ["QUESTIONS", "Answer", "Question", "ask", "find_question"]


def ask(
    question: Question | str,
    *,
    watch: Callable[[str, float | None], object] | None = None,
    **parameters: Any,
) -> Answer:
    """Return the answer to a question.

    question: a `Question`, or the name of a question.
    watch: a callback for progress during long work. It receives a description of the work and the
        fraction done from 0 to 1, or `None` if this fraction is unknown. During searches and whole
        games it is called about fifty times a second. An exception in the callback ends the work.
    parameters: the parameters as Python or JSON values, if `question` is a name.

    `QUESTIONS.load_all()` lists the questions, and `find_question(name).parameters()` the
    parameters of a question. An unknown name or an invalid parameter raises `IactaError`.

    >>> ask("battle", attackers=12, defenders=10).sentence
    '12 armies beat 10 with a chance of 65.38%.'
    >>> [question.name for question in QUESTIONS.load_all()][:5]
    ['analysis', 'audit', 'battle', 'board', 'campaign']
    >>> for parameter in find_question("roll").parameters():
    ...     print(f"{parameter.name}: {parameter.help}")
    attack_dice: Attack dice that count.
    defence_dice: Defence dice that count.
    rules: The rules (iacta rules lists them).
    rules_file: House rules from a file (see the docs, page Rules).
    garrison: Armies that must stay behind.
    exact: Also give the chances as exact fractions.
    """
    if isinstance(question, str):
        form = find_question(question)
        if form is None:
            names = ", ".join(form.name for form in QUESTIONS.load_all())
            raise IllegalError(f"unknown question {quote(question)}; expected one of {names}")
        known = form.parameters()
        for name in parameters.keys() - {parameter.name for parameter in known}:
            raise MalformedError(explain_unknown_parameter(form, name, known))
        for parameter in known:
            if parameter.is_required and parameter.name not in parameters:
                raise MalformedError(f"missing {parameter.name} of {question}")
        question = form(**parameters)
    if not isinstance(question, Question):
        raise MalformedError(
            f"question must be a Question or the name of one, got {quote(question)}"
        )
    if watch is None:
        return question.answer()
    if not callable(watch):
        raise MalformedError(f"watch must be a function, got {quote(watch)}")

    last: tuple[str, float | None] = ("Starting", None)

    def report(
        doing: str, part: float | None, *, keeps: bool = False, so_far: Recordable | None = None
    ) -> None:
        nonlocal last
        del keeps, so_far  # used only by callers that interrupt the work or show partial answers
        last = doing, part
        watch(doing, part)

    with beat_during(lambda: watch(*last)):
        return question.answer(report)
