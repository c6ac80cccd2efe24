"""Playing and analysing a turn on the board page."""

import json
import re

import pytest
from playwright.sync_api import Route, expect

import iacta
from iacta.board.built_in import classic_board
from iacta.board.position import read_position
from iacta.forms.percentages import percent
from iacta.forms.whole_game import GAMES_CONDITION, PEOPLE
from iacta.plan import TakeAll, best_plan
from iacta.questions.plan import PlanQuestion
from tests.web.board_page import (
    EXAMPLES,
    HELD,
    POSITION,
    SEEN,
    SLOWEST,
    TINY,
    TINY_LINK,
    attack,
    chance_in,
    downloaded,
    fought,
    link,
    open_more,
    plan_of_tiny,
    play,
    reopen,
    says,
    spot,
    value,
)
from tests.web.conftest import Visit, late


def test_an_analysis_equals_the_library_s_numbers(visit: Visit) -> None:
    page, plan = visit(TINY_LINK), plan_of_tiny()
    play(page)
    value(page, plan.comparable_value)
    expect(page.locator("#report")).to_contain_text("no plan is better")
    bar = page.locator("#bar")
    assert float(bar.get_attribute("aria-valuenow") or "") == pytest.approx(
        100 * plan.comparable_value
    )
    assert bar.get_attribute("aria-valuetext") == percent(plan.comparable_value)
    page.locator("#whole summary").click()
    answer = PlanQuestion(read_position(POSITION), take="East").answer()
    for section in list(answer.sections())[1:]:
        expect(page.locator("#play")).to_contain_text(section.title.rstrip(":"))


def test_a_turn_is_played_with_variations_and_undone(visit: Visit) -> None:
    page = visit(TINY_LINK)
    play(page)
    expect(page.locator("#moves li")).to_have_count(1)
    page.locator("#moves button").click()
    expect(page.locator("#battle-said")).to_contain_text("9 against 1")
    fought(page, 8, 0)
    expect(page.locator("#advance-said")).to_have_text("Armies that move from A into B")
    expect(page.locator("#advance-number")).to_have_text("7, the best")
    assert page.locator("#advance").input_value() == "7"
    page.get_by_role("button", name="Move in", exact=True).click()
    says(page, "B", "red, 7")
    value(page, chance_in(A=("red", 1), B=("red", 7)))
    attack(page, "B", "C")
    page.get_by_role("button", name="I lose 2, they lose 0").click()
    says(page, "B", "red, 5")
    there = chance_in(A=("red", 1), B=("red", 5))
    value(page, there)
    page.get_by_role("button", name="Step back").click()
    says(page, "B", "red, 7")
    attack(page, "B", "D")
    fought(page, 7, 0)
    expect(page.locator("#advance-number")).to_have_text("3, the best")
    page.get_by_role("button", name="Move in", exact=True).click()
    says(page, "D", "red, 3, goal")  # the other armies take C
    expect(page.locator("#steps")).to_contain_text("or: B to C: you lose 2, they lose 0")
    here = page.evaluate("location.pathname + location.hash")
    page.reload()
    says(page, "D", "red, 3, goal")
    other = visit(here)
    says(other, "D", "red, 3, goal")
    other.get_by_role("button", name="or: B to C").click()
    says(other, "B", "red, 5")
    value(other, there)
    other.get_by_role("button", name="Undo").click()
    says(other, "B", "red, 7")
    expect(other.locator("#steps")).not_to_contain_text("lose 2, they lose 0")
    other.go_back()
    says(other, "B", "red, 5")
    for _ in range(3):
        other.get_by_role("button", name="Step back").click()
    expect(other.locator("#steps button[aria-current]")).to_contain_text("Start")


def test_the_steps_of_a_turn_are_shown_at_one_level(visit: Visit) -> None:
    page, waiting = visit("/about"), list[Route]()

    def shift(route: Route) -> None:
        """Make the usual level differ from the quick level, and hold back one of its steps."""
        body = json.loads(route.request.post_data or "")
        if body["level"] == "usual" and not waiting:
            waiting.append(route)
            return
        route.continue_()

    page.route("**/api/v1/steps", shift)
    page.goto(f"{page.url.removesuffix('/about')}{TINY_LINK}&go=1&i=2&x=0a0-1-8-0.1m7")
    steps = page.locator("#steps li")
    expect(steps.nth(2)).to_contain_text("%", timeout=SLOWEST)
    quick = steps.all_text_contents()
    for _ in range(SLOWEST // 100):
        if waiting:
            break
        page.wait_for_timeout(100)
    response = waiting[0].fetch()
    lines = [json.loads(line) for line in response.text().splitlines()]
    values = next(line["answer"]["values"] for line in reversed(lines) if "answer" in line)
    for row in values:
        row["words"] = f"usual {row['words']}"
    assert steps.all_text_contents() == quick
    waiting[0].fulfill(response=response, body=json.dumps({"answer": {"values": values}}) + "\n")
    for k in range(3):
        expect(steps.nth(k)).to_contain_text("usual", timeout=SLOWEST)


def test_the_change_in_each_step_is_divided_into_luck_and_decision(visit: Visit) -> None:
    page = visit(link(TINY, "p=red&p=blue&h=a9.b1.b2.b1&g=all&t=2&go=1"))
    before = best_plan(read_position(POSITION), TakeAll("C")).comparable_value
    value(page, before)
    attack(page, "A", "B")
    fought(page, 9, 0)
    expect(page.locator("#figure")).not_to_be_empty(timeout=SLOWEST)
    page.get_by_role("button", name="Move in", exact=True).click()
    after = chance_of_c(B=8)
    value(page, after)
    expect(page.locator("#steps li").nth(1)).to_contain_text(f"dice +{100 * (after - before):.1f}")
    page.get_by_role("button", name="Step back").click()
    page.locator("#advance").fill("3")
    page.get_by_role("button", name="Move in", exact=True).click()
    value(page, chance_of_c(A=6, B=3))
    step = page.locator("#steps button[aria-current]")
    cost = after - chance_of_c(A=6, B=3)
    expect(step).to_contain_text(f"choice -{100 * cost:.1f}")
    expect(step.locator(".mark")).to_have_count(1)
    expect(page.locator("#graph")).to_be_visible()
    found = iacta.review(downloaded(page, "Download the log"))
    battle, advance = found.steps  # red has not stopped yet
    assert battle.is_assumed  # the dice were not entered
    assert (battle.name, battle.lost, advance.name) == ("A to B", 0, "3 armies move into B")
    assert advance.cost == pytest.approx(cost)


def test_a_log_has_new_armies_during_a_turn(visit: Visit) -> None:
    page = visit(f"{TINY_LINK}&go=1")
    attack(page, "A", "B")
    fought(page, 9, 0)
    page.get_by_role("button", name="Move in", exact=True).click()
    says(page, "B", "red, 8")
    open_more(page)
    page.get_by_label("Armies from cards").fill("4")
    page.get_by_role("button", name="Add", exact=True).click()
    page.get_by_role("button", name="Best: 4 on B").click()
    says(page, "B", "red, 12")
    page.wait_for_timeout(450)  # a second tap at the same place would be ignored
    page.get_by_role("button", name="Stop attacking").click()
    expect(page.locator("#steps button[aria-current]")).to_contain_text("Stop attacking")
    found = iacta.review(downloaded(page, "Download the log"))
    names = ["A to B", "8 armies move into B", "place 4 on B", "stop attacking"]
    assert [(each.turn, each.name) for each in found.steps] == [(1, name) for name in names]
    before, after = found.steps[2].before, found.steps[1].after
    assert before is not None
    assert after is not None
    assert before > after


def chance_of_c(**red: int) -> float:
    territories = {name: {"owner": "red", "armies": number} for name, number in red.items()}
    held = HELD | {"A": {"owner": "red", "armies": 1}} | territories
    position = read_position({**POSITION, "territories": held})
    return best_plan(position, TakeAll("C")).comparable_value


def test_dice_are_rolled_here_or_entered(visit: Visit) -> None:
    page = visit(f"{TINY_LINK}&go=1")
    attack(page, "A", "B")
    page.get_by_text("Enter the dice").click()
    page.fill("#mine", "6 4 1")
    page.fill("#yours", "5")
    page.locator("#faces").get_by_role("button", name="Enter").click()
    expect(page.locator("#steps")).to_contain_text("you lose 0, they lose 1 in 1 roll; B is taken")
    page.get_by_role("button", name="Undo").click()
    attack(page, "A", "B")
    page.get_by_role("button", name="Roll to the end").click()
    expect(page.locator("#steps")).to_contain_text(re.compile("you lose .*; B is taken"))


@pytest.mark.parametrize("how", ["entered", "rolled", "chosen"])
def test_the_dice_of_a_roll_are_in_the_url_and_the_log(visit: Visit, how: str) -> None:
    page = visit(link(TINY, "p=red&p=blue&h=a9.b2.b2.b1&g=all&t=2&go=1"))
    attack(page, "A", "B")
    if how == "entered":
        page.get_by_text("Enter the dice").click()
        page.fill("#mine", "6")
        page.fill("#yours", "5 1")
        page.locator("#faces").get_by_role("button", name="Enter").click()
    elif how == "rolled":
        page.get_by_role("button", name="Roll once").click()
    else:
        page.get_by_role("button", name="I lose 1, they lose 1").click()
    dice = 1 if how == "entered" else 3
    expect(page).to_have_url(re.compile(rf"x=0a0-1-\d-\d-{dice}[a-z]\b"))
    page.reload()
    expect(page.locator("#steps")).to_contain_text("you lose", timeout=SLOWEST)
    log = downloaded(page, "Download the log")
    (battle,) = json.loads(log)["steps"]
    assert battle["dice"] == dice
    step = iacta.review(log).steps[0]
    assert (step.dice, step.is_assumed) == (dice, False)
    assert step.spread is not None


def test_the_choice_of_dice_is_charged(visit: Visit) -> None:
    record = json.loads((EXAMPLES / "break-off.json").read_text(encoding="utf-8"))
    fragment = "p=red&p=blue&h=a7.a8.b2.b3&g=all&t=2.3&go=1&i=1&x=0a"
    page = visit(TINY_LINK)
    step = page.locator("#steps button[aria-current]")
    # With A, two dice give up 0.2 points of the plan's chance, which is within the margin.
    for roll in ("0-2-6-1", "0-2-6-1-3", "0-2-6-1-2"):
        reopen(page, link(record["board"], fragment + roll))
        expect(step).to_contain_text("dice +", timeout=SLOWEST)
        expect(step).not_to_contain_text("choice")
    for roll, choice in (("1-2-7-1-3", "choice -1.7"), ("1-2-7-1-2", "choice -4.6")):
        reopen(page, link(record["board"], fragment + roll))
        expect(step).to_contain_text(choice, timeout=SLOWEST)


def test_new_armies_are_placed_by_the_plan_or_by_hand(visit: Visit) -> None:
    page = visit(f"{TINY_LINK}&f=3&go=1")
    best = page.get_by_role("button", name="Best: 3 on A")
    expect(best).to_be_visible(timeout=SLOWEST)
    for _ in range(3):
        spot(page, "A").click()
    expect(page.locator("#placing-said")).to_have_text(
        "All new armies are on the map: confirm, or clear them."
    )
    page.get_by_role("button", name="Clear", exact=True).click()
    best.click()
    says(page, "A", "red, 12")
    open_more(page)
    page.get_by_label("Armies from cards").fill("4")
    page.get_by_role("button", name="Add", exact=True).click()
    expect(page.get_by_role("button", name="Best: 4 on A")).to_be_visible(timeout=SLOWEST)
    spot(page, "A").click()
    expect(page.locator("#placing-said")).to_contain_text("3 of 4")


def test_a_turn_ends_with_a_move_and_the_next_player(visit: Visit) -> None:
    both = {**TINY, "territories": {"A": ["B"], "B": ["A", "C", "D"], "C": ["B"], "D": ["B"]}}
    page = visit(link(both, "p=red&p=blue&h=a9.a1.b2.b1&g=continent&t=0&go=1"))
    page.route(re.compile("analysis"), late)
    page.get_by_role("button", name="Stop attacking").click()
    expect(page.locator("#fortify-said")).to_be_visible()
    spot(page, "A").click()
    spot(page, "B").click()
    expect(page.get_by_label("Armies to move")).to_have_value("8")
    page.get_by_label("Armies to move").fill("5")
    expect(page.get_by_role("button", name="Best: ")).to_be_visible(timeout=SLOWEST)
    expect(page.get_by_label("Armies to move")).to_have_value("5")
    expect(page.get_by_label("Armies to move")).to_be_focused()
    page.get_by_role("button", name="Move", exact=True).click()
    says(page, "B", "red, 6")
    expect(page.locator("#report")).to_contain_text("Red's turn is over.")
    page.get_by_role("button", name="Next player").click()
    expect(page.locator("#turn")).to_have_text("blue moves")
    page.locator("#goals button").first.click()
    expect(page.locator("#placing-said")).to_contain_text("5 of 5 new armies")


def test_the_sum_of_a_turn_has_the_luck_of_all_its_steps(visit: Visit) -> None:
    page = visit(link(TINY, "p=red&p=blue&h=a9.b1.b2.b1&g=all&t=2&go=1"))
    value(page, plan_value := chance_of_c(A=9))
    attack(page, "A", "B")
    fought(page, 9, 0)
    page.get_by_role("button", name="Move in", exact=True).click()
    value(page, chance_of_c(B=8))
    page.get_by_role("button", name="Stop attacking").click()
    luck = f"{100 * (chance_of_c(B=8) - plan_value):+.1f} points"
    cost = f"your choices cost {100 * chance_of_c(B=8):.1f} points"
    words = f"({luck}) and {cost}."
    expect(page.locator("#report")).to_contain_text(words, timeout=SLOWEST)


def test_a_chosen_goal_leaves_the_focus_before_its_best_action(visit: Visit) -> None:
    page = visit(link(TINY, "p=red&p=blue&h=a9.b1.b2.b1&f=3&go=1"))
    goal = page.locator("#goals").get_by_role("button", name="Take East")
    goal.focus()
    goal.press("Enter")
    best = page.get_by_role("button", name="Best: 3 on A")
    expect(best).to_be_visible(timeout=SLOWEST)
    page.keyboard.press("Tab")
    expect(best).to_be_focused()


def test_the_map_follows_the_armies_that_move_in(visit: Visit) -> None:
    both = {**TINY, "territories": {"A": ["B"], "B": ["A", "C", "D"], "C": ["B"], "D": ["B"]}}
    page = visit(link(both, "p=red&p=blue&h=a9.b1.b6.b1&g=all&t=1&go=1&i=1&x=0a0-1-9-0"))
    expect(page.locator("#advance-number")).to_have_text("8, the best", timeout=SLOWEST)
    says(page, "B", "red, 8, goal")
    page.locator("#advance").fill("5")
    says(page, "A", "red, 4")
    says(page, "B", "red, 5, goal")
    expect(page.locator("#advance-number")).to_have_text("5; the best is 8")


def test_threats_have_the_order_of_play(visit: Visit) -> None:
    both = {**TINY, "territories": {"A": ["B"], "B": ["A", "C", "D"], "C": ["B"], "D": ["B"]}}
    page = visit(link(both, "p=green&p=red&p=blue&m=1&h=c1.b3.a9.c9&g=all&t=0&go=1"))
    page.get_by_role("button", name="Threats").click()
    expect(page.locator("#now thead")).to_have_text(re.compile("blue *green"), timeout=SLOWEST)


def test_chances_to_win_are_shown_at_both_ends_of_a_turn(visit: Visit) -> None:
    both = {**TINY, "territories": {"A": ["B"], "B": ["A", "C", "D"], "C": ["B"], "D": ["B"]}}
    page = visit(
        link(both, "p=red&p=blue&h=a9.b4.b4.b4&g=all&t=1&go=1&i=1&x=0a0-1-9-2-3"), plays_games=True
    )
    start = page.locator("#how summary")
    middle = re.compile(r"^At the start of the turn: Red wins .*\(±[1-4]\)")
    expect(start).to_contain_text(middle, timeout=SLOWEST)
    steps = page.locator("#steps li")
    expect(steps.first).to_contain_text(re.compile(r"wins .*% of games"))
    expect(steps.nth(1)).not_to_contain_text("wins")
    attack(page, "A", "B")
    page.get_by_role("button", name="I lose 2, they lose 0").click()
    expect(steps).to_have_count(3)
    expect(start).to_contain_text(middle)
    expect(steps.nth(2)).not_to_contain_text("wins")
    page.get_by_role("button", name="Stop attacking").click()
    end = re.compile(r"^Red wins .*\(±[1-4]\)\. At the start: .*%\. How")
    expect(start).to_contain_text(end, timeout=SLOWEST)
    expect(steps.last).to_contain_text(re.compile(r"wins .*% of games"))


def test_errors_are_shown_beside_the_wrong_entry(visit: Visit) -> None:
    page = visit(f"{TINY_LINK}&go=1", viewport={"width": 360, "height": 740}, has_touch=True)
    attack(page, "A", "B")
    expect(page.locator("#battle")).to_be_in_viewport()
    page.get_by_text("Enter the dice").click()
    page.locator("#faces").get_by_role("button", name="Enter").click()
    refusal = page.locator("#faces + .wrong")
    expect(refusal).to_have_text("Enter the dice that you rolled, such as 6 4")
    expect(refusal).to_be_in_viewport()
    page.locator("#mine").fill("6 6 6 6")
    page.locator("#yours").fill("5")
    page.locator("#faces").get_by_role("button", name="Enter").click()
    expect(refusal).to_have_text("You can roll at most 3 dice, got 4")
    page.locator("#yours").focus()
    page.set_viewport_size({"width": 360, "height": 400})  # with the keyboard of a phone
    expect(page.locator("#yours")).to_be_in_viewport()
    expect(refusal).to_be_in_viewport()
    spot(page, "D").dispatch_event("click")
    expect(page.locator("#attack-help")).to_have_text("You have no armies that can attack D.")


def test_players_move_in_their_order(visit: Visit) -> None:
    order = "p=red&p=blue&p=green&h=a3.c2.b2.b1&g=all&t=2&go=1"
    page = visit(link(TINY, order))
    page.get_by_role("button", name="Stop attacking").click()
    page.get_by_role("button", name="Next player").click()
    expect(page.locator("#turn")).to_have_text("blue moves")


def test_impossible_steps_are_refused(visit: Visit) -> None:
    page = visit(f"{TINY_LINK}&go=1")
    attack(page, "A", "B")
    fought(page, 10, 0)
    sentence = "Armies left on A must be a whole number from 1 to 9, got 10"
    expect(page.locator("#fought + .wrong")).to_have_text(sentence)
    # C cannot be attacked from A.
    page = visit(f"{TINY_LINK}&go=1&x=0a0-2-8-0.1m7&i=2")
    expect(page.locator("#steps")).to_contain_text("A cannot attack C: no border leads there")
    page.get_by_role("button", name="Start").click()
    value(page, plan_of_tiny().comparable_value)


def test_a_stopped_search_returns_its_best_result(visit: Visit) -> None:
    page = visit("/map")
    page.get_by_role("button", name="Set up", exact=True).click()
    page.get_by_label("Start from").select_option(label="Eliminate blue with four stacks")
    says(page, "Brazil", "red, 22")
    page.get_by_role("button", name="Analyse", exact=True).click()
    expect(page.locator("#moves li")).to_have_count(3, timeout=SLOWEST)
    expect(page.locator("#figure")).not_to_be_empty(timeout=SLOWEST)
    page.get_by_role("button", name="Stop", exact=True).click()
    expect(page.get_by_role("button", name="Search longer")).to_be_visible(timeout=SLOWEST)
    expect(page.locator("#figure")).not_to_be_empty()
    expect(page.locator("#moves li")).to_have_count(3)


def test_requests_are_made_one_at_a_time_the_most_important_first(visit: Visit) -> None:
    script = """async () => {
      const {Queue} = await import("/static/map_analysis.js");
      const seen = [];
      const make = (level, wanted) => ({address: "/search", body: {level, wanted},
        take: ({value}) => seen.push(value), isLast: ({value}) => value === wanted});
      const jobs = [make("quick", 2), make("usual", 3)];
      await new Promise((done) => {
        const queue = new Queue(() => {
          queue.run(jobs);
          if (jobs.every((job) => queue.isDone(job))) done();
        });
        queue.run(jobs);
      });
      return seen;
    }"""

    def stream(route: Route) -> None:
        wanted = json.loads(route.request.post_data or "")["wanted"]
        lines = [json.dumps({"answer": {"value": value}}) + "\n" for value in (wanted - 1, wanted)]
        route.fulfill(body="".join(lines), content_type="application/x-ndjson")

    page = visit("/about")
    page.route("**/search", stream)
    assert page.evaluate(script) == [1, 2, 2, 3]


def test_a_turn_is_played_by_keyboard_alone(visit: Visit) -> None:
    page = visit(f"{TINY_LINK}&go=1")
    value(page, plan_of_tiny().comparable_value)
    spot(page, "A").focus()
    page.keyboard.press("Enter")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    expect(page.locator("#battle-name")).to_have_text("A to B")
    page.get_by_role("button", name="Roll to the end").press("Enter")
    expect(page.locator("#steps li")).to_have_count(2)
    page.keyboard.press("ArrowLeft")
    expect(page.locator("#steps button[aria-current]")).to_contain_text("Start")
    page.keyboard.press("ArrowRight")
    expect(page.locator("#steps button[aria-current]")).to_contain_text("A to B")


def test_a_turn_on_a_phone_needs_no_scrolling(visit: Visit) -> None:
    size = {"width": 390, "height": 844}
    names = classic_board().territories
    held = ".".join("a60" if name == "Central America" else "-" for name in names)
    fragment = f"/map#p=red&p=blue&h={held}"
    page = visit(fragment, plays_games=True, viewport=size, has_touch=True, is_mobile=True)
    page.evaluate(
        "window.scrolls = [];"
        " addEventListener('scroll', () => scrolls.push([scrollY, document.activeElement.id]))"
    )
    route = [
        *("Central America", "Venezuela", "Peru", "Argentina", "Brazil"),
        *("North Africa", "Egypt", "East Africa", "Congo", "South Africa", "Madagascar"),
    ]

    pans = []

    def take(territories: list[str]) -> None:
        """Take territories one after another, moving in all armies each time."""
        for to in territories:
            if not page.evaluate(SEEN, [to]):
                pans.append(to)
            spot(page, to).tap()
            expect(page.locator("#battle-name")).to_contain_text(f"to {to}")
            page.get_by_role("button", name="Roll to the end").tap()
            slider = page.locator("#advance")
            slider.fill(slider.get_attribute("max") or "")
            page.get_by_role("button", name="Move in", exact=True).tap()
            expect(page.locator("#advance")).to_have_count(0)

    page.locator("#rest-armies").fill("1")
    page.get_by_role("button", name="Fill", exact=True).tap()
    page.get_by_role("button", name="Analyse", exact=True).tap()
    page.get_by_label("Goal", exact=True).select_option(label="Take South America (2)")
    page.get_by_role("button", name="Goal: Take South America").tap()
    expect(page.locator("#moves button").first).to_be_in_viewport(timeout=SLOWEST)
    take(route[1:5])
    expect(page.locator("#report")).to_have_text("The goal is reached.")
    page.get_by_role("button", name="Goal: Take South America").tap()
    page.get_by_label("Goal", exact=True).select_option(label="Take Africa (3)")
    page.locator("#goal-now").tap()
    take(route[5:])
    page.get_by_role("button", name="Threats: what can they do to me?").tap()
    expect(page.locator("#now table")).to_contain_text("Break red's", timeout=SLOWEST)
    page.get_by_role("button", name="Threats: what can they do to me?").tap()
    page.get_by_role("button", name="Stop attacking").tap()
    page.get_by_role("button", name="Move no armies").tap()
    expect(page.locator("#report")).to_contain_text(
        re.compile(r"In this turn you were .*lucky.* \(.* points\) and your choices cost ")
    )
    game = re.compile("^Games won: red .*%, blue .*%$")
    expect(page.locator("#shares")).to_have_attribute("aria-label", game, timeout=SLOWEST)
    said = re.compile(r"^Red wins .* of games \(±[1-4]\)\. At the start: .*%\. How is this")
    expect(page.locator("#how summary")).to_have_text(said, timeout=SLOWEST)
    for shown in ("#how", "#now button:text('Review')", "#now button:text('Copy the link')"):
        expect(page.locator(shown)).to_be_in_viewport()
    expect(page.locator("#curve")).to_contain_text("dashed: each player's chance to win the game.")
    page.locator("#how summary").tap()
    for words in (GAMES_CONDITION, "when another AI does", PEOPLE):
        expect(page.locator("#how")).to_contain_text(words)
    page.locator("#how summary").tap()
    page.get_by_role("button", name="Next player").tap()
    expect(page.get_by_role("button", name="Goal: Choose a goal")).to_be_visible()
    expect(page.locator("#how summary")).to_contain_text("Blue wins ", timeout=SLOWEST)
    page.locator("#goals button").nth(1).tap()
    expect(page.locator("#placing-said")).to_be_in_viewport()
    assert page.evaluate("scrolls") == []
    assert pans == []


def test_a_plan_is_copied_as_python_and_as_a_command(visit: Visit) -> None:
    page = visit(f"{TINY_LINK}&go=1", permissions=["clipboard-read", "clipboard-write"])
    value(page, plan_of_tiny().comparable_value)
    page.locator("#whole summary").click()
    page.get_by_role("button", name="Copy as Python").click()
    text = page.evaluate("navigator.clipboard.readText()")
    assert eval(text, {"iacta": iacta}).plan.value == plan_of_tiny().value  # noqa: S307 # our own text
    page.get_by_role("button", name="Copy as command").click()
    command = page.evaluate("navigator.clipboard.readText()").split(" <<")[0]
    assert re.fullmatch("iacta plan - --take East( --level quick)?", command)
