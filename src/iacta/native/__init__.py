"""The Python side of the compiled core: loading, calls, deadlines, and bit sets of territories."""
