"""The animated plan on the start page."""

from itertools import pairwise

from iacta.web.start import SIZE, draw_game, play_example


def test_each_still_conquers_one_more_territory() -> None:
    stills = play_example().stills
    for before, after in pairwise(stills):
        taken = [t for t, owner in enumerate(after.owners) if owner != before.owners[t]]
        assert len(taken) == 1
        assert after.owners[taken[0]] == 0
        assert sum(after.armies) <= sum(before.armies)
        assert min(after.armies) >= 1
    assert len(stills) == len(play_example().scene.arrows) + 1
    assert stills[0].words == "Red attacks Asia with 42 armies. Chance of Asia: 94.66%"
    assert stills[-1].words.endswith(" takes Japan. Chance of Asia: 100%")


def test_picture_has_the_size_that_the_page_keeps_for_it() -> None:
    scene = play_example().scene
    assert {"width": scene.width, "height": scene.height} == SIZE
    assert len(draw_game()["territories"]) == len(scene.territories)
