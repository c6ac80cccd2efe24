"""Random requests within the API's schema get responses within the schema, and no status 500."""

from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from schemathesis.checks import CHECKS, load_all_checks

from iacta.web.read_question import list_served_questions
from tests.web.server import Server, start_shared_server
from tests.web.test_api import POSITION, questions, values

load_all_checks()
# Known exceptions to the checks, with reasons. All other checks must hold.
DEVIATIONS = {
    # A schema cannot express which texts are names of rules, territories, players or goals, which
    # parameters exclude each other, and which numbers are too large. Such requests get status 422
    # with a sentence.
    "positive_data_acceptance",
    # The drawn values are merged into a valid question, so the request may be valid.
    "negative_data_rejection",
    # For the same reason, a parameter that was not drawn may be present.
    "missing_required_header",
}
HELD = [check for check in CHECKS.get_all() if check.__name__ not in DEVIATIONS]
EXAMPLES = 6
OPERATIONS = [(name, method) for name in list_served_questions() for method in ("GET", "POST")]


def bases(name: str, method: str) -> list[dict[str, Any]]:
    """Return the requests that are changed at random."""
    if name == "plan" and method == "GET":
        return [{"from_": "Peru=9", "others": "2", "take": "Brazil", "time_limit": "1/10"}]
    if name == "plan":
        return [{"position": POSITION, "take": "Bering"}]
    return [values(question) for question in questions() if question.name == name]


@pytest.fixture(scope="module")
def server() -> Server:
    """Return a server with a short time limit."""
    return start_shared_server("--time-limit", "1")


@pytest.fixture(scope="module")
def schema(server: Server) -> Any:
    return schemathesis.openapi.from_dict(server.ask("/openapi.json").record)


@pytest.mark.parametrize(("name", "method"), OPERATIONS)
def test_requests_within_the_schema_get_answers_within_the_schema(
    server: Server, schema: Any, name: str, method: str
) -> None:
    operation = schema[f"/api/v1/{name}"][method]

    @settings(
        max_examples=EXAMPLES,
        phases=[Phase.explicit, Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=operation.as_strategy(), base=st.sampled_from(bases(name, method)), data=st.data())
    def ask(case: Any, base: dict[str, Any], data: st.DataObject) -> None:
        drawn = case.query if method == "GET" else case.body
        if isinstance(drawn, dict) and drawn:  # most random objects are meaningless
            changed = data.draw(st.lists(st.sampled_from(sorted({*drawn, *base})), max_size=2))
            asked = base | {key: drawn[key] for key in changed if key in drawn}
            if method == "GET":
                case.query = asked
            else:
                case.body = asked
        response = case.call(base_url=server.address)
        if response.status_code not in (503, 504):  # too busy, or too slow
            case.validate_response(response, checks=HELD)

    ask()
