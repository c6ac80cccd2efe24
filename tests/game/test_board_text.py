"""Turns as text, and as pictures in notebooks."""

from itertools import pairwise

from iacta import Board, Holding, Position, Turn, classic_board, deal

MANY = [f"T{number}" for number in range(1024)]


def test_the_text_names_each_territory_with_its_owner_and_armies() -> None:
    turn = deal(classic_board(), ["red", "blue", "green"], seed=1)
    lines = str(turn).split("\n")
    assert len(lines) <= 20
    assert max(map(len, lines)) <= 100
    text = " ".join(line.strip() for line in lines)
    for name, owner, armies in zip(turn.board.territories, turn.owners, turn.armies, strict=True):
        part = text[: text.index(f"{name} {armies}")].rpartition(":")[2].rpartition(";")[2]
        assert part.split()[0] == owner, name
    assert lines[0] == "red to place on classic, with 4 new"


def test_the_text_of_a_large_board_has_fifty_lines() -> None:
    board = Board.from_edges("many", pairwise(MANY))
    turn = Turn(Position(board, "red", [Holding(("red", "blue")[k % 2], 3) for k in range(1024)]))
    lines = str(turn).split("\n")
    assert len(lines) == 50
    assert lines[-1].endswith("more lines)")


def test_a_notebook_shows_the_text_and_the_map() -> None:
    turn = Turn.from_code("1;classic;red;Peru:red:6,Brazil:blue:2")
    bundle = turn._repr_mimebundle_()
    assert bundle["text/plain"] == repr(turn)
    assert "<p>South America +2: red Peru 6; blue Brazil 2</p>" in bundle["text/html"]
    assert "data:image/svg+xml" in bundle["text/html"]
    assert turn.plot().to_csv() == turn.position.plot().to_csv()
