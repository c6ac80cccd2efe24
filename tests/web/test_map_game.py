"""Games against computers on the board page."""

import json
import re
from pathlib import Path
from urllib.parse import quote

import pytest
from playwright.sync_api import Page, Route, expect

from iacta import CardOdds, Hand
from iacta.forms.percentages import percent
from tests.web.board_page import TINY, attack, link, open_more, reopen, says, spot
from tests.web.conftest import Visit, barriers

# Red is a person and blue a computer; red has ended the turn.
BLUE_PLAYS = link(TINY, "p=red&p=blue&h=a9.a9.b3.b1&y=person.simple&go=1&x=0s.1s.2n&i=3")
BLUE_ATTACKS = BLUE_PLAYS.replace("a9.a9.b3", "a9.a2.b20")
RED_PLAYS = link(TINY, "p=red&p=blue&h=a9.b3.b2.b1&y=person.simple&go=1")


def tap(page: Page, name: str) -> None:
    page.locator("#now").get_by_role("button", name=name, exact=True).click()


def press(page: Page, name: str) -> None:
    """Press a button of the panel by a program, which the guard against double taps lets pass."""
    page.locator("#now").get_by_role("button", name=name, exact=True).dispatch_event("click")


def count_plays(page: Page) -> list[str]:
    """Return a list to which each request for the turn of a computer is added."""
    plays: list[str] = []

    def note(route: Route) -> None:
        plays.append(route.request.url)
        route.continue_()

    page.context.route("**/turn/play", note)
    return plays


def test_a_new_game_deals_the_classic_board_to_a_person_and_two_computers(visit: Visit) -> None:
    page = visit("/map")
    open_more(page)
    page.get_by_role("button", name="New game").click()
    expect(page.locator("#placing-said")).to_be_visible()
    for text in ("red (you)", "blue (medium)", "green (medium)"):
        expect(page.locator("#legend")).to_contain_text(f"{text}: 35 armies, 14 territories")
    assert "&y=person.usual.usual&" in page.url
    code = page.url
    page.reload()
    expect(page.locator("#placing-said")).to_be_visible()
    assert page.url == code


def test_a_link_starts_a_new_game(visit: Visit) -> None:
    page = visit("/map#new")
    expect(page.locator("#legend")).to_contain_text("green (medium): 35 armies")
    expect(page.get_by_text("The steps of the game appear here.")).to_be_visible()


def test_a_list_with_steps_has_no_text_for_an_empty_list(visit: Visit) -> None:
    page = visit(BLUE_PLAYS)
    tap(page, "Skip to my turn")
    expect(page.locator("#steps li").first).to_be_attached()
    expect(page.get_by_text("The steps of the game appear here.")).to_be_hidden()


def test_the_turn_of_a_computer_is_in_the_link_before_it_is_shown(visit: Visit) -> None:
    page = visit("/map")
    plays = count_plays(page)
    page.goto(page.url.partition("/map")[0] + BLUE_PLAYS)
    expect(page.locator("#now h3")).to_contain_text("blue plays")
    expect(page.locator("#computer-said")).to_have_text("Blue places 5 new armies.")
    tap(page, "Next")
    expect(page.locator("#computer-said")).to_contain_text("Place 5 on")
    whole = re.search(r"[#&]x=([^&]*)", page.url)
    assert whole is not None
    assert (
        whole[1]
        .split(".")[-1]
        .endswith(tuple(f"n{letter}" for letter in "abcdefghijklmnopqrstuvwxyz"))
    )
    page.reload()
    tap(page, "Next")
    tap(page, "Skip to my turn")
    expect(page.locator("#turn")).to_have_text("red moves")
    assert f"&x={whole[1]}&" in page.url
    assert len(plays) == 1


def test_the_turn_of_a_computer_goes_on_by_itself(visit: Visit) -> None:
    page = visit(BLUE_PLAYS, reduced_motion="no-preference")
    expect(page.locator("#now h3")).to_contain_text("blue plays")
    expect(page.locator("#turn")).to_have_text("red moves")


def test_a_tap_on_the_map_shows_the_next_step_of_a_computer(visit: Visit) -> None:
    page = visit(BLUE_PLAYS)
    expect(page.locator("#computer-said")).to_have_text("Blue places 5 new armies.")
    expect(page.locator("#now .primary")).to_be_enabled()
    spot(page, "D").click()
    expect(page.locator("#computer-said")).to_contain_text("Place 5 on")


def test_a_computer_may_begin_the_game(visit: Visit) -> None:
    page = visit(link(TINY, "p=red&p=blue&m=1&h=a9.a9.b3.b1&y=person.simple&go=1"))
    expect(page.locator("#computer-said")).to_have_text("Blue attacks.")
    tap(page, "Skip to my turn")
    expect(page.locator("#turn")).to_have_text("red moves")


def test_an_attack_of_a_computer_has_an_arrow_and_its_losses(visit: Visit) -> None:
    page = visit(BLUE_ATTACKS)
    for _ in range(20):
        tap(page, "Next")
        if "loses" in page.locator("#computer-said").inner_text():
            break
    expect(page.locator("#computer-said")).to_contain_text(re.compile("blue loses .*red loses"))
    expect(page.get_by_role("img", name=re.compile(r"^attack dice: \d( \d)*$"))).to_be_visible()
    expect(page.get_by_role("img", name=re.compile(r"^defence dice: \d( \d)*$"))).to_be_visible()
    expect(page.locator("#map .shaft.next")).to_have_count(1)


def test_an_attack_that_matters_has_a_reason_and_changes_the_income(visit: Visit) -> None:
    page = visit(link(TINY, "p=red&p=blue&m=1&h=a90.b20.b1.a1&y=person.simple&go=1"))
    expect(page.locator("#legend")).to_contain_text("91 armies, 2 territories, +3 next turn")
    for _ in range(9):
        tap(page, "Next")
        if "D is taken" in page.locator("#computer-said").inner_text():
            break
    expect(page.locator("#reason")).to_have_text("Blue takes East: +2 a turn.")
    expect(page.locator("#legend")).to_contain_text("+5 next turn, with East")
    spot(page, "A").click(delay=700)  # a long press skips to the person's turn
    expect(page.locator("#turn")).to_have_text("red moves")


def test_a_turn_ends_with_the_turn_of_the_computer(visit: Visit) -> None:
    page = visit(RED_PLAYS)
    tap(page, "Stop attacking")
    expect(page.locator("#now h3")).to_contain_text("blue plays")
    tap(page, "Skip to my turn")
    expect(page.locator("#turn")).to_have_text("red moves")
    page.go_back()
    expect(page.locator("#attack-help")).to_be_visible()


def test_undo_takes_the_own_decision_back_and_is_counted(visit: Visit) -> None:
    page = visit(BLUE_PLAYS)
    tap(page, "Skip to my turn")
    expect(page.locator("#turn")).to_have_text("red moves")
    page.get_by_role("button", name="Undo").click()
    expect(page.locator("#fortify-said")).to_be_visible()
    assert "&l=1.0&" in page.url


def test_a_game_hides_the_numbers_until_the_player_asks(visit: Visit) -> None:
    page = visit(RED_PLAYS)
    attack(page, "A", "B")
    expect(page.locator("#battle-said")).to_have_text("9 against 3.")
    hidden = page.locator("#goal-now, #threatened, #game, #curve, #whole, #rolls, #moves button")
    for each in hidden.all():
        expect(each).to_be_hidden()
    page.get_by_role("button", name="Hint").click()
    expect(page.locator("#hinted")).to_have_text("Hint: Attack B from A.")
    advice = page.get_by_role("button", name="Advice")
    advice.click()
    expect(page.locator("#goals")).to_contain_text("Eliminate blue")
    expect(page.locator("#game")).to_be_visible()
    assert "&l=2.0&" in page.url
    advice.click()
    expect(page.locator("#battle-said")).to_have_text("9 against 3.")
    expect(page.locator("#game")).to_be_hidden()
    assert "&l=2.0&" in page.url


def test_the_map_shows_dangers_as_in_threats_and_counts_them_as_help(visit: Visit) -> None:
    page = visit(link(TINY, "p=red&p=blue&h=a5.b4.a2.b1&y=person.simple&go=1"))
    expect(page.locator(".land.danger")).to_have_count(0)
    page.select_option("#showing", "danger")
    expect(page.locator("#showing-said")).to_contain_text("as in Threats")
    expect(page.locator(".land.danger")).to_have_count(2)
    assert "&l=1.0&" in page.url
    expect(page.locator("#goal-now, #threatened, #moves button").first).to_be_hidden()
    shown = spot(page, "A").get_attribute("aria-label")
    found = re.search(r"A, red, 5 armies, (.*%) to fall", shown or "")
    assert found is not None
    expect(page.locator("#map .name.value")).to_have_count(2)
    page.get_by_role("button", name="Advice").click()
    page.locator("#threatened").click()
    row = page.locator("#now tr").filter(has_text="Take A")
    expect(row.locator("td")).to_have_text(found[1])
    page.select_option("#showing", "income")
    expect(page.locator("#showing-said")).to_have_text("Nobody owns a whole continent.")
    assert barriers(page) == []


def test_two_taps_place_all_new_armies_on_a_territory(visit: Visit) -> None:
    page = visit(link(TINY, "p=red&p=blue&h=a9.a3.b2.b1&f=5&y=person.simple&go=1"))
    said, others = page.locator("#placing-said"), page.locator("#now button:text('All ')")
    expect(said).to_contain_text("5 of 5 new armies to place")
    expect(others).to_have_count(0)
    spot(page, "B").click()
    expect(others).to_have_text("All 4 on B")
    spot(page, "A").click()
    press(page, "All 3 on A")
    says(page, "A", "red, 13")
    says(page, "B", "red, 4")
    expect(others).to_have_count(0)
    press(page, "Confirm")
    expect(page.locator("#steps [aria-current]")).to_contain_text("Place 4 on A, 1 on B")


def test_a_roll_shows_its_dice_and_its_losses(visit: Visit) -> None:
    page = visit(RED_PLAYS)
    said = page.locator("#attack-help")
    expect(said).to_have_text("Tap one of your territories, then the one to attack.")
    spot(page, "A").click()
    expect(said).to_have_text("A: tap the territory to attack.")
    attack(page, "A", "B")
    tap(page, "Roll once")
    expect(page.get_by_role("img", name=re.compile(r"^attack dice: \d \d \d$"))).to_be_visible()
    expect(page.get_by_role("img", name=re.compile(r"^defence dice: \d \d$"))).to_be_visible()
    expect(page.locator("#rolled p")).to_contain_text(re.compile("^A to B: you lose .*1 roll"))


def test_the_end_says_who_won_and_offers_a_rematch(visit: Visit) -> None:
    page = visit(link(TINY, "p=red&p=blue&h=a99.b1.a2.a1&y=person.simple&go=1"))
    attack(page, "A", "B")
    tap(page, "Roll to the end")
    tap(page, "Move in")
    expect(page.locator("#result")).to_have_text("Red has won: no other player is left.")
    expect(page.locator("#now")).to_contain_text(
        "Rounds: 1. You asked for help or took a step back: never."
    )
    assert barriers(page) == []
    tap(page, "Rematch")
    expect(page.locator("#placing-said")).to_be_visible()
    expect(page.locator("#legend")).to_contain_text("blue (easy): 3 armies, 2 territories")


# Red did not attack B while it had one army; blue then took A.
LOST = "&go=1&x=0s.1n.2p1-{0}.3a1-0-4-0.4m3&i=5"


def test_the_end_of_a_game_reviews_it(visit: Visit) -> None:
    fragment = f"p=red&p=blue&h=a4.b1.b1.b1&y=person.simple{LOST.format(5)}"
    page = visit(link(TINY, fragment))
    expect(page.locator("#result")).to_have_text("Blue has won: no other player is left.")
    expect(page.locator("#turn")).to_have_text("blue has won")
    review = page.locator("#game-review")
    expect(review).to_contain_text("Luck in own attacks")
    expect(review.locator("#wins path.win")).to_have_count(2)
    expect(review.locator("[role=status]")).to_be_hidden()  # all turns are judged
    moment = page.locator("#moments button")
    expect(moment).to_have_count(1)
    expect(moment).to_contain_text("Round 1: attack B from A rather than stop attacking")
    assert barriers(page) == []
    with page.expect_download() as download:
        tap(page, "Save a picture")
    assert Path(download.value.path()).read_bytes().startswith(b"\x89PNG")
    moment.click()
    expect(page.locator("#hinted")).to_contain_text("Better: attack B from A")
    expect(page.locator("#battle-name")).to_have_text("A to B")
    expect(page.locator("#map .shaft.next")).to_have_count(1)
    page.go_back()
    expect(page.locator("#result")).to_be_visible()


def test_a_game_that_cannot_be_judged_says_why(visit: Visit) -> None:
    page = visit("/map#setup")
    refusal = {"status": 422, "json": {"detail": "six players at most", "status": 422}}
    page.context.route("**/turn/judge", lambda route: route.fulfill(**refusal))
    fragment = f"p=red&p=blue&h=a4.b1.b1.b1&y=person.simple{LOST.format(5)}"
    reopen(page, link(TINY, fragment))
    expect(page.locator("#game-review [role=status]")).to_have_text("Six players at most")
    expect(page.locator("#game-review")).to_contain_text("Luck in own attacks")


def test_an_eliminated_person_sees_the_review_while_computers_play_on(visit: Visit) -> None:
    fragment = f"p=red&p=blue&p=green&h=a4.b1.c2.c2&y=person.simple.simple{LOST.format(3)}"
    page = visit(link(TINY, fragment))
    expect(page.locator("#reason")).to_have_text("Blue eliminates red.")
    expect(page.locator("#left")).to_have_text("red is eliminated.")
    expect(page.locator("#game-review")).to_contain_text("No decision was clearly worse")
    tap(page, "Skip to the end")
    expect(page.locator("#result")).to_contain_text("has won")
    expect(page.locator("#game-review")).to_be_visible()


def test_a_game_can_be_left_for_its_analysis(visit: Visit) -> None:
    page = visit(RED_PLAYS)
    page.get_by_role("button", name="Leave").click()
    expect(page.locator("#goal-now")).to_be_visible()
    expect(page.get_by_role("button", name="Hint")).to_be_hidden()
    page.go_back()
    expect(page.get_by_role("button", name="Hint")).to_be_visible()


def test_more_stays_open_if_it_is_opened_while_a_step_is_sent(visit: Visit) -> None:
    page = visit(RED_PLAYS)
    more, extra = page.get_by_role("button", name="More", exact=True), page.locator("#extra")
    attack(page, "A", "B")
    held: list[Route] = []
    page.context.route("**/turn/step", lambda route: held.append(route))
    with page.expect_request("**/turn/step"):
        tap(page, "Roll once")
    more.click()
    page.context.unroute("**/turn/step")
    held[0].continue_()
    expect(page.locator("#rolled p")).to_be_visible()
    expect(extra).to_be_visible()
    # The next step closes it.
    press(page, "Stop attacking")
    expect(extra).to_be_hidden()


@pytest.mark.parametrize("lost", ["play", "replay"])
def test_the_game_goes_on_once_the_server_is_back(visit: Visit, lost: str) -> None:
    page = visit("/about")
    page.clock.install()
    page.add_init_script(
        f"""
        const fetchWhole = fetch;
        let lost = 0;
        window.fetch = (address, options) =>
          String(address).endsWith("/{lost}") && !lost++
            ? Promise.reject(new TypeError("no connection"))
            : fetchWhole(address, options);
        """
    )
    page.goto(f"{page.url.removesuffix('/about')}{BLUE_PLAYS}")
    expect(page.locator("#wrong")).to_contain_text("The server does not respond.")
    page.clock.run_for(5_000)
    tap(page, "Skip to my turn")
    expect(page.locator("#turn")).to_have_text("red moves")
    expect(page.locator("#wrong")).to_be_empty()


def test_a_turn_of_a_computer_can_be_requested_again_after_a_failure(visit: Visit) -> None:
    page = visit("/about")
    answers = [{"status": 400, "json": {"detail": "too slow"}}, {"body": '{"turns": ['}]

    def fail(route: Route) -> None:
        if answers:
            route.fulfill(**answers.pop(0))  # type: ignore[arg-type]
        else:
            route.continue_()

    page.context.route("**/turn/play", fail)
    page.goto(f"{page.url.removesuffix('/about')}{BLUE_PLAYS}")
    expect(page.locator("#wrong")).to_contain_text("Too slow")
    tap(page, "Try again")
    expect(page.locator("#wrong")).to_contain_text("The server stopped before the end")
    expect(page.locator("#now .primary")).to_be_enabled()
    expect(page.locator("#wrong")).to_be_empty()


def test_a_computer_without_any_move_ends_its_turn(visit: Visit) -> None:
    # Blue has one army on D, from which no border leads.
    page = visit(link(TINY, "p=red&p=blue&m=1&h=a9.a9.a3.b1&y=person.usual&go=1"))
    tap(page, "Skip to my turn")
    expect(page.locator("#turn")).to_have_text("red moves")


def make_long_game(rounds: int, *, seats: str = "person.person") -> str:
    """Return a link to a game in which two players have placed armies for many rounds."""
    texts = ["s", "s", "n"]
    for number in range(rounds):
        texts += ["p0-3", "s", "s", "n"] if number % 2 else ["p2-5", "s", "n"]
    steps = ".".join(f"{k}{text}" for k, text in enumerate(texts))
    fragment = f"p=red&p=blue&h=a3.a2.b9.b2&y={seats}&go=1&x={steps}&i={len(texts)}"
    return link(TINY, fragment)


def test_a_long_game_is_loaded_once_and_its_requests_carry_the_present_turn(visit: Visit) -> None:
    page = visit("/about")
    sent = list[tuple[str, str]]()
    page.on("request", lambda each: sent.append((each.url.split("/")[-1], each.post_data or "")))
    page.goto(page.url.partition("/about")[0] + make_long_game(301, seats="person.simple"))
    expect(page.locator("#placing-said")).to_be_visible()
    says(page, "A", "red, 453")
    replays = [json.loads(data)["steps"] for name, data in sent if name == "replay"]
    assert [len(steps) for steps in replays] == [500, 500, 56]
    sent.clear()
    spot(page, "A").click(click_count=3)
    tap(page, "Confirm")
    page.get_by_role("button", name="Hint").click()
    expect(page.locator("#hinted")).to_be_visible()
    attack(page, "B", "C")
    tap(page, "Roll once")
    expect(page.locator("#rolled p")).to_contain_text("B to C")
    press(page, "Stop attacking")
    press(page, "Move no armies")
    expect(page.locator("#now .primary")).to_be_enabled()
    assert {name for name, _ in sent} >= {"step", "play"}
    assert max(len(data) for _, data in sent) < 1_000
    page.get_by_role("button", name="Undo").click()
    expect(page.locator("#fortify-said")).to_be_visible()
    assert "replay" not in {name for name, _ in sent}


# Red owns A and will conquer B; cards of one kind decide the trades.
def cards_link(hands: str, *, seats: str = "person.simple", more: str = "") -> str:
    """Return a link to a game with cards, in which red may place or trade first."""
    return link(
        TINY,
        f"v=3&p=red&p=blue&h=a9.b1.b1.b2&f=3&c=phase%3D{more or 'trade'}%3Bcards%3D{hands}"
        f"&y={seats}&go=1&e=1",
    )


def test_a_tap_on_the_cards_of_a_player_shows_what_they_bring(visit: Visit) -> None:
    page = visit(cards_link("red%3A2.1.0.1.0%2Cblue%3A3"))
    cards = page.locator("#legend").get_by_role("button", name="3 cards")
    expect(cards).to_have_attribute("aria-expanded", "false")
    cards.click()
    said = page.locator("#legend .help")
    expect(said).to_contain_text("Blue holds a set with a chance of ")
    odds = CardOdds(Hand(infantry=2, cavalry=1, jokers=1), {"blue": 3})
    [blue] = odds.list_opponents()
    expect(said).to_contain_text(f"a chance of {percent(blue.set_chance)}.")
    expect(said).to_contain_text(f"worth {float(blue.prey.worth):.2f} armies to you.")
    cards.click()
    expect(said).to_have_count(0)
    page.locator("#legend").get_by_role("button", name="4 cards").click()
    expect(said).to_contain_text("Your hand contains a set.")


def test_what_cards_bring_is_hidden_with_the_hand_of_a_person(visit: Visit) -> None:
    page = visit(cards_link("red%3A2.1.0.1.0%2Cblue%3A3", seats="person.person"))
    legend = page.locator("#legend")
    expect(legend).to_contain_text("3 cards")
    expect(legend.get_by_role("button")).to_have_count(0)
    tap(page, "I am red")
    expect(legend.get_by_role("button")).to_have_count(0)
    # Not ignored as the second of two fast taps.
    page.get_by_role("button", name="Show my cards").dispatch_event("click")
    expect(legend.get_by_role("button", name="3 cards")).to_be_visible()


def test_a_set_of_cards_is_traded_by_tapping_its_cards(visit: Visit) -> None:
    page = visit(cards_link("red%3A2.1.0.1.0%2Cblue%3A3"))
    said = page.locator("#trade-said")
    expect(said).to_contain_text("Red may trade cards.")
    expect(said).to_contain_text("the next set brings 4 armies")
    expect(page.locator("#legend")).to_contain_text("+5 next turn, with East, 3 cards")
    cards = page.locator("#hand button")
    expect(cards).to_have_text([" infantry", " infantry", " cavalry", " joker"])
    for name in (" infantry", " cavalry"):
        cards.filter(has_text=name).first.click()
    expect(page.locator("#trade-help")).to_have_text("Tap the three cards of a set.")
    cards.nth(1).click()
    expect(page.locator("#trade-help")).to_have_text("These cards are not a set.")
    cards.nth(3).click()  # replaces the first card
    expect(page.locator("#now .primary")).to_have_text("Trade for 4 armies")
    assert barriers(page) == []
    tap(page, "Trade for 4 armies")
    expect(page.locator("#placing-said")).to_contain_text("7 of 7 new armies")
    expect(page.locator("#hand")).to_have_text(" infantry")
    assert "x=0t1-1-0-1-0" in page.url
    page.reload()
    expect(page.locator("#placing-said")).to_contain_text("7 of 7 new armies")
    expect(page.locator("#hand")).to_have_text(" infantry")


def test_five_cards_must_be_traded(visit: Visit) -> None:
    page = visit(cards_link("red%3A2.2.1.0.0"))
    expect(page.locator("#trade-said")).to_contain_text("Red has 5 cards and must trade a set.")
    expect(page.locator("#now").get_by_role("button", name="Keep the cards")).to_have_count(0)


def test_a_conquest_draws_a_card_and_draws_another_one_after_a_step_back(visit: Visit) -> None:
    page = visit(cards_link("", more="attack").replace("&f=3", ""))
    attack(page, "A", "B")
    tap(page, "Roll to the end")
    press(page, "Move in")
    drawn = set[str]()
    while len(drawn) < 2:
        press(page, "Stop attacking")
        press(page, "Move no armies")
        expect(page.locator("#now .primary")).to_have_text("Next")
        expect(page.locator("#now .primary")).to_be_enabled()
        expect(page.locator("#legend")).to_contain_text("1 card")
        step = re.search(r"[^\d](?:\d+)(d[\d-]+)[a-z]\.\d+n", page.url)
        assert step is not None
        drawn.add(step[1])
        for button in ("Move no armies", "Stop attacking"):
            page.get_by_role("button", name="Undo").click()
            expect(page.get_by_role("button", name=button)).to_be_visible()


def test_hands_are_shown_after_a_tap_if_several_persons_play(visit: Visit) -> None:
    code = "red%3A3.0.0.0.0%2Cblue%3A0.2.0.0.0"
    page = visit(cards_link(code, seats="person.person"))
    show = page.get_by_role("button", name="Show my cards")
    tap(page, "I am red")
    expect(show).to_be_visible()
    expect(page.locator("#hand")).to_have_count(0)
    show.dispatch_event("click")  # not ignored as the second of two fast taps
    expect(page.locator("#hand")).to_contain_text("infantry")
    tap(page, "Keep the cards")
    expect(page.locator("#hand")).to_contain_text("infantry")
    spot(page, "A").click(click_count=3)
    tap(page, "Confirm")
    tap(page, "Stop attacking")
    expect(page.locator("#turn")).to_have_text("blue moves")
    expect(page.locator("#hand")).to_have_count(0)
    tap(page, "I am blue")
    expect(page.locator("#hand")).to_have_count(0)
    show.dispatch_event("click")  # not ignored as the second of two fast taps
    expect(page.locator("#hand")).to_have_text(" cavalry cavalry")


def test_only_the_owner_sees_a_secret_mission(visit: Visit) -> None:
    missions = quote(
        "attack;win=missions:,red:secret%20eliminate%20blue,blue:secret%204%20territories"
    )
    page = visit(
        link(TINY, f"v=3&p=red&p=blue&h=a9.b1.b1.b2&c={missions}&y=person.simple&go=1&e=1")
    )
    expect(page.locator("#mission")).to_contain_text("Your mission: eliminate blue")
    expect(page.locator("#condition")).to_contain_text("All missions are hidden")
    assert "4 territories" not in page.locator("#condition").inner_text()
    open_more(page)
    page.get_by_text("Share it").click()
    expect(page.locator("#no-secrets")).to_contain_text("they are not secret")
    with page.expect_request("**/analysis") as asked:
        page.get_by_role("button", name="Advice").click()
    assert "blue:hidden" in (asked.value.post_data or "")
