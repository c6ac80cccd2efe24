"""The door to the compiled core: loading, deadlines, and sets of territories as bits."""
