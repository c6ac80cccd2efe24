"""Random rules and battles for the property tests."""

from hypothesis import strategies as st

from iacta import Dice, Rules


@st.composite
def dice(draw: st.DrawFn, most_dice: int = 3, most_faces: int = 5) -> Dice:
    """Draw the dice of one side."""
    faces = draw(st.lists(st.integers(1, most_faces), min_size=1, max_size=most_dice))
    keep = draw(st.none() | st.integers(1, len(faces)))
    bonus = draw(st.lists(st.integers(-2, 2), max_size=keep or len(faces)))
    clamp = draw(st.none() | st.tuples(st.integers(-1, 2), st.integers(3, 7)))
    reroll = draw(st.lists(st.integers(1, max(faces)), max_size=2))
    sort_again = draw(st.sampled_from((True, True, False)))
    return Dice(tuple(faces), keep, tuple(reroll), tuple(bonus), clamp, sort_again)


@st.composite
def rules(draw: st.DrawFn) -> Rules:
    """Draw rules in which every field of the roll may differ from classic."""
    attack, defence = draw(dice()), draw(dice(most_faces=4))
    full_attack = draw(st.none() | dice().filter(lambda other: other.kept == attack.kept))
    full_defence = draw(st.none() | dice(2).filter(lambda other: other.kept == defence.kept))
    return Rules(
        attack=attack,
        defence=defence,
        full_attack=full_attack,
        full_defence=full_defence,
        ties=draw(st.sampled_from(("attacker", "defender"))),
        garrison=draw(st.integers(0, 3)),
    )
