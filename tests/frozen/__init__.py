"""What iacta answers: cases, each with its recorded answer.

`cases/` has a file for each kind of case. The four kinds of command lines differ in how their
output is compared: `json` and `csv` by value, `text` and `refusal` word by word. A `value` is a
Python expression over the public names of iacta; what it refuses is recorded with its sentence. An
answer changed on purpose is recorded anew by `python -m tests.frozen.record`.
"""
