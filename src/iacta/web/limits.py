"""The bounds of the server, each with what it protects."""

import sys


def _descriptors() -> int:
    """Return how many files and connections this process may have open."""
    if sys.platform == "win32":
        return 1024
    import resource

    return resource.getrlimit(resource.RLIMIT_NOFILE)[0]


# Connections: a client that is slow or asks much leaves room for the others.
MOST_CONNECTIONS = min(512, _descriptors() // 2)
MOST_OF_A_CLIENT = MOST_CONNECTIONS // 4
MOST_AT_A_TIME = 8  # searches for plans of a client
# What a loop accepts before it closes anything comes on top, some rounds of it.
ACCEPTED_AT_ONCE = min(64, _descriptors() // 16)
HEAD_SECONDS = 10.0  # also for the question to a WebSocket
BODY_SECONDS = 30.0
TAKING_SECONDS = 60.0  # for a client to receive what it is sent

# Requests: what they hold is read in the process that serves everybody.
MOST_HEAD_BYTES = 2**16
MOST_QUERY_BYTES = 10**4
MOST_BODY_BYTES = 10**6

# Work: a question leaves processors and memory for the others.
QUICK_WORKERS = 2
QUICK_SECONDS = 1.0  # in the quick lane; the first picture of a process takes half of it
MOST_SECONDS = 30  # for an answer
FINISHING = 0.5  # of these, for what is late to return what it has found
USUAL_PLAN_SECONDS, MOST_PLAN_SECONDS = 2, 20
MOST_STEPS = 500  # of a tree of turns that is sent at once
MOST_ROLLS = 2_000  # thrown at a time
MOST_ADVANCES = 12  # whose values are compared
MOST_CODED = 2_900  # letters, as many as a QR code holds
MOST_WAITING = 200  # small questions
MOST_WAITING_PLANS = 4  # for each process
MOST_WAITING_SECONDS = 10.0  # for a process
RETRY_SECONDS = 2  # until a client that was refused should ask again
MOST_BYTES = 3 * 2**30  # of memory that a process may allocate
MOST_RESIDENT = 600 * 2**20  # bytes of memory with which a process is replaced
NICENESS = 10  # of what may take long
LEAST_PAUSE = 0.1  # seconds between two reports of progress

# Memory: what is kept for the next question.
MOST_KEPT = 4  # answers that a process remembers
KEPT_SECONDS = 0.2  # faster ones are not worth it
MOST_LETTERS = 256 * 2**20  # of the texts of plans, for the links of their pages

# What is sent and written.
LARGE_BYTES = 2_000  # from here on a body is compressed
MOST_CELLS = 10_000  # of a table that a browser shows
LOG_RECORDS, LOG_SECONDS = 20, 60.0  # so many in such a time
LOG_CHARACTERS = 10_000  # of a record
