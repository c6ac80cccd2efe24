"""Whole turns in 20 positions: all numbers that iacta shows about one position must agree.

`positions` draws the positions, `play` plays a turn and collects the numbers after each step, and
`checks` compares them. `test_coherence.py` does this at the level `quick` for small boards, and
`python -m benchmarks.coherence` at the level `usual` on the classic board.
"""
