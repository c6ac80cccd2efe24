"""Recorded answers of iacta to many questions.

`cases/` has one file for each kind of case. Four kinds are command lines and differ in how their
output is compared: `json` and `csv` by value, `text` and `refusal` word by word. A `value` is a
Python expression of public names; an expression that fails is recorded with its error message.
After an intended change, record the answers again by `python -m tests.frozen.record`.
"""
