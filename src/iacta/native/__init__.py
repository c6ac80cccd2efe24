"""The interface to the compiled core: loading, calls, deadlines and bit sets of territories."""
