"""The API: each question gets the same answer as by `iacta.ask` and by the command, or an error."""

import csv
import html
import io
import json
import re
import shlex
from typing import Any
from urllib.parse import quote, urlencode

import pytest
from jsonschema import Draft202012Validator

import iacta
from iacta.cli.parse import read_words
from iacta.forms.form import Example
from iacta.forms.percentages import percent
from iacta.forms.question import Question
from iacta.game import Turn
from iacta.inputs.errors import IactaError
from iacta.web.openapi import make_answer_schemas
from iacta.web.read_question import list_parameters, list_served_questions, read_record, write_query
from tests.fairness.test_layouts import LAYOUTS
from tests.frozen.case import read_cases
from tests.tables import table
from tests.web.server import Server

QUESTIONS = list_served_questions()
UNSTEADY = (
    "analysis",
    "audit",
    "goals",
    "plan",
    "review",
    "simulate",
    "steps",
    "threats",
    "win",
)  # their answers depend on files, dice or the clock
WAR = "1;classic;red;Peru:red:9,Venezuela:green:4,Brazil:blue:6,Argentina:blue:1"
CLOCKED = {"seconds", "relative_error"}
POSITION = {
    "board": {"name": "Isles", "territories": {"Attu": ["Bering"], "Bering": []}},
    "player": "red",
    "territories": {
        "Attu": {"owner": "red", "armies": 5},
        "Bering": {"owner": "blue", "armies": 2},
    },
}
HOUSE = {"garrison": 2, "ties": "attacker"}
GAME = json.dumps(
    {
        "turn": "1;classic;red;Peru:red:6,Brazil:blue:2,Argentina:blue:1",
        "goal": {"take": "Brazil"},
        "battles": [{"from": "Peru", "to": "Brazil", "left": 5, "their_left": 1}],
    }
)


STEPS = '[{"after": 0, "do": "attack", "from": "Peru", "to": "Brazil", "left": 8, "their_left": 5}]'


def read_question(example: Example, name: str) -> Question:
    """Return the question of an example."""
    form = QUESTIONS[name]
    return form.parse(read_words(list(form.parameters()), shlex.split(example.line)[1:], "iacta"))


def questions() -> list[Question]:
    """Return the questions of all repeatable examples, and a few others."""
    found = [
        read_question(example, name)
        for name in QUESTIONS
        for example in QUESTIONS[name].examples
        if name not in UNSTEADY and "narrate" not in example.line
    ]
    thrown = {"attackers": "9", "territories": "3 2", "runs": "1000", "seed": "1"}
    log = {"log": "die\n" + "1\n2\n3\n4\n5\n6\n" * 20}
    game = {"log": GAME, "time_limit": "20"}
    war = {"code": WAR, "games": "6", "seed": "1", "time_limit": "20"}
    more = (
        ("simulate", thrown),
        ("audit", log),
        ("review", game),
        ("win", war),
        ("analysis", {"code": WAR, "level": "quick", "time_limit": "20"}),
        ("threats", {"code": WAR, "time_limit": "20"}),
        ("steps", {"code": WAR, "take": "Brazil", "steps": STEPS, "time_limit": "20"}),
        ("goals", {**war, "win": "true"}),
    )
    return [*found, *(QUESTIONS[name].parse(texts) for name, texts in more)]


def steady(value: Any) -> Any:
    """Return a record without durations."""
    if isinstance(value, dict):
        return {key: steady(each) for key, each in value.items() if key not in CLOCKED}
    return [steady(each) for each in value] if isinstance(value, list) else value


def values(question: Question) -> dict[str, Any]:
    """Return the parameters of a question as JSON values."""
    given = [(each, getattr(question, each.name)) for each in list_parameters(type(question))]
    return {
        each.name: each.kind.to_json(value)
        for each, value in given
        if value is not None and value is not False
    }


@pytest.mark.parametrize("name", ["digits", "cells", "brackets", "list of pairs"])
def test_logs_in_common_layouts_are_answered_with_a_remark(server: Server, name: str) -> None:
    said = iacta.ask("audit", log=LAYOUTS[name]).record()
    assert len(said["remarks"]) == 1
    assert server.ask("/api/v1/audit", {"log": LAYOUTS[name]}).record == said
    assert server.ask(f"/api/v1/audit?{urlencode({'log': LAYOUTS[name]})}").record == said
    page = server.ask(f"/audit?{urlencode({'log': LAYOUTS[name]})}").body.decode()
    assert said["remarks"][0] in html.unescape(page)


def test_a_log_that_is_not_clear_is_refused_with_the_accepted_layouts(server: Server) -> None:
    answer = server.ask("/api/v1/audit", {"log": "6 4,5 3"})
    assert answer.status == 422
    assert b"which side attacked is not clear" in answer.body
    assert b"6 4 1 vs 5 3; see iacta audit --help" in answer.body


@pytest.mark.parametrize(
    "question", questions(), ids=lambda each: f"{each.name}-{write_query(each)}"
)
def test_urls_and_json_get_the_same_answers_as_python(server: Server, question: Question) -> None:
    said = iacta.ask(question.name, **values(question)).record()
    by_address = server.ask(f"/api/v1/{question.name}?{write_query(question)}")
    by_json = server.ask(f"/api/v1/{question.name}", values(question))
    assert (by_address.status, by_json.status) == (200, 200), (by_address.body, by_json.body)
    assert by_address.headers["Content-Type"] == "application/json"
    expected = steady(json.loads(json.dumps(said)))
    assert steady(by_address.record) == steady(by_json.record) == expected
    make_checker(question.name).validate(by_address.record)


def test_a_comma_separates_territories_but_not_thousands(server: Server) -> None:
    for territories, numbers in (("8,2,4", [8, 2, 4]), ("8,200", [8200]), ("8, 2", [8, 2])):
        query = urlencode({"attackers": 30, "territories": territories})
        record = server.ask(f"/api/v1/campaign?{query}").record
        assert [each["defenders"] for each in record["territories"]] == numbers


def test_rows_and_pictures_are_available(server: Server) -> None:
    query = "attackers=12&defenders=10"
    rows = server.ask(f"/api/v1/battle.csv?{query}")
    assert rows.headers["Content-Type"] == "text/csv; charset=utf-8"
    said = [list(map(str, row)) for row in iacta.ask("battle", attackers=12, defenders=10).rows()]
    assert list(csv.reader(io.StringIO(rows.body.decode()))) == said
    light = server.ask(f"/api/v1/battle/picture.svg?{query}")
    dark = server.ask(f"/api/v1/battle/picture.svg?{query}&dark=true")
    assert light.headers["Content-Type"] == dark.headers["Content-Type"] == "image/svg+xml"
    assert light.body.startswith(b"<svg")
    assert light.body != dark.body
    assert "$schema" in server.ask(f"/api/v1/battle/picture.json?{query}").record


def test_house_rules_and_positions_come_in_json(server: Server) -> None:
    house = server.ask("/api/v1/battle", {"attackers": 9, "defenders": 8, "rules": HOUSE}).record
    assert house["garrison"] == 2
    plan: dict[str, Any] = {"position": POSITION, "take": "Bering"}
    server.wait()
    said = steady(iacta.ask("plan", **plan).record())
    assert steady(server.ask("/api/v1/plan", plan).record) == said
    assert said["proven"]


@pytest.mark.parametrize(*table(__file__, "refused_addresses"))
def test_unanswerable_questions_get_a_problem_document(
    server: Server, path: str, status: int, parameter: str | None, words: str
) -> None:
    reply = server.ask(path)
    assert (reply.status, reply.headers["Content-Type"]) == (status, "application/problem+json")
    problem = reply.record
    assert {*problem} - {"parameter"} == {"type", "title", "status", "detail"}
    assert problem["status"] == status
    assert words in problem["detail"]
    assert problem.get("parameter") == parameter


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b"{", "line 1: invalid JSON"),
        (b"[3, 2]", "the body must be a JSON object"),
        (b'{"attackers": NaN}', "NaN"),
        (b"\xff", "is not UTF-8"),
        (b"[" * 1000, "at most 32 deep"),
        (b'{"attackers": 3, "attackers": 4}', "the key 'attackers' appears twice"),
        (b'{"attackers": 3, "defenders": 2, "charge": 7}', "charge must be True or False"),
        (b'{"attackers": 3, "defenders": 2, "rules": {"garrison": -1}}', "garrison must be"),
    ],
)
def test_a_body_that_cannot_be_read_is_refused(server: Server, body: bytes, words: str) -> None:
    reply = server.ask("/api/v1/battle", body=body, headers={"Content-Type": "application/json"})
    assert reply.status == 422
    assert words in reply.record["detail"]


@pytest.mark.parametrize(
    ("text", "words"),
    [("a" * 2901, "letters, got 2,901"), ("🎲" * 800, "fit into a QR code, got 3,200 bytes")],
)
def test_a_text_too_long_for_a_qr_code_is_refused(server: Server, text: str, words: str) -> None:
    reply = server.ask(f"/api/v1/qr.svg?text={quote(text)}")
    assert (reply.status, reply.headers["Content-Type"]) == (422, "application/problem+json")
    assert words in reply.record["detail"]


@pytest.mark.parametrize("name", ["opponents_get", "keep", "rules_of", "prizes", "others"])
def test_values_that_are_not_pairs_are_refused(server: Server, name: str) -> None:
    for pairs in ([None, None], [["Peru"]], ["ab"]):
        reply = server.ask("/api/v1/plan", {"take": "Asia", name: pairs})
        assert reply.status in (422, 503)  # the server may still be starting
        with pytest.raises(IactaError, match=f"{name} must contain only pairs, got "):
            read_record(QUESTIONS["plan"], {"take": "Asia", name: pairs})


def test_only_json_is_accepted(server: Server) -> None:
    body = b'{"attackers": 3, "defenders": 2}'
    reply = server.ask("/api/v1/battle", body=body, headers={"Content-Type": "text/plain"})
    assert reply.status == 415
    assert server.ask("/api/v1/battle.csv", {}).status == 405


def test_every_recorded_answer_fits_the_schema_of_its_question() -> None:
    for line, found in read_cases("json").items():
        name = line.split()[0]
        if name in QUESTIONS and not found["code"]:
            make_checker(name).validate(remove_durations(found["stdout"]))


def make_checker(name: str) -> Draft202012Validator:
    """Return a function that checks an answer against the schema of its question."""
    answers, records = make_answer_schemas()
    return Draft202012Validator({**answers[name], "components": {"schemas": records}})


def remove_durations(value: Any) -> Any:
    """Return a recorded answer with the durations that records leave out."""
    if isinstance(value, dict):
        return {
            key: 1.0 if key == "seconds" else remove_durations(each) for key, each in value.items()
        }
    return [remove_durations(each) for each in value] if isinstance(value, list) else value


def test_the_schema_names_every_question_and_parameter(server: Server) -> None:
    schema = server.ask("/openapi.json").record
    for name, form in QUESTIONS.items():
        taken = schema["paths"][f"/api/v1/{name}"]
        body = taken["post"]["requestBody"]["content"]["application/json"]["schema"]
        assert list(body["properties"]) == [each.name for each in list_parameters(form)]
        # `plan` takes the record of an earlier plan.
        named = {each["name"] for each in taken["get"]["parameters"]} - {"plan"}
        assert named <= {*body["properties"]} <= named | {"position", "board"}


def test_the_page_of_the_api_names_every_address_and_needs_no_script(server: Server) -> None:
    page = html.unescape(server.ask("/docs").body.decode())
    for name, form in QUESTIONS.items():
        assert f"GET /api/v1/{name}<" in page
        assert form.summary() in page


def test_a_turn_is_played_and_analysed_by_its_code(server: Server) -> None:
    server.wait()
    code = "1;classic;red;Peru:red:9,Brazil:blue:2,Argentina:blue:1"
    step = {"do": "attack", "from": 10, "to": 11, "left": 8, "their_left": 0}
    after = server.ask("/api/v1/turn/step", {"code": code, "step": step}).record
    assert Turn.from_code(after["code"]).phase == "advance"
    turns = server.ask(
        "/api/v1/turn/replay", {"code": code, "steps": [{"after": 0, **step}]}
    ).record
    assert turns["turns"][1]["code"] == after["code"]
    found = server.ask("/api/v1/plan", {"position": code, "take": "Brazil, Argentina"})
    assert found.status == 200
    assert found.record["moves"][0]["from"] == "Peru"
    refused = server.ask("/api/v1/turn/step", {"code": code, "step": {**step, "left": 10}})
    sentence = "armies left on Peru must be a whole number from 1 to 9, got 10"
    assert (refused.status, refused.record["detail"]) == (422, sentence)
    assert server.ask(f"/api/v1/qr.svg?text={code}").body.startswith(b"<svg")


def test_a_plan_that_is_asked_again_is_the_same(server: Server) -> None:
    server.wait()
    path = "/api/v1/plan?from_=Ukraine=42,Brazil=30&others=3&take=Asia&time_limit=1"
    first, again = server.ask(path), server.ask(path)
    assert first.status == 200
    assert {**again.record, "seconds": 0} == {**first.record, "seconds": 0}


def test_the_page_of_a_plan_draws_the_plan_that_it_shows(server: Server) -> None:
    server.wait()
    page = server.ask("/plan?from_=Ukraine=12&others=2&take=Europe").body.decode()
    (query,) = set(re.findall(r"/?api/v1/plan/picture\.json\?([^\"]+)", page))
    query = html.unescape(query)
    found = server.ask(f"/api/v1/plan?{query}").record
    rows = server.ask(f"/api/v1/plan.csv?{query}").body.decode().splitlines()
    said = [str(each["reach_probability"]) for each in found["steps"]]
    assert [each["reach_probability"] for each in csv.DictReader(rows)] == said
    drawn = server.ask(f"/api/v1/plan/picture.json?{query}").body.decode()
    owned = {each["own_probability"] for each in found["territories"]}
    assert {each for each in owned if f'"own_probability": {each}' not in drawn} == set()
    assert f"with a chance of {percent(found['win_probability'])}" in page
