"""The interface to the compiled core: loading, calls, deadlines, and territories as bits."""
