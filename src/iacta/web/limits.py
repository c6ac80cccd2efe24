"""The bounds of the server, each with what it protects."""

# Requests: what they hold is read in the process that serves everybody.
MOST_QUERY_BYTES = 10**4
MOST_BODY_BYTES = 10**6

# Work: a question leaves processors and memory for the others.
QUICK_WORKERS = 2
QUICK_SECONDS = 1.0  # in the quick lane; the first picture of a process takes half of it
MOST_SECONDS = 30  # for an answer
FINISHING = 0.5  # of these, for what is late to return what it has found
USUAL_PLAN_SECONDS, MOST_PLAN_SECONDS = 2, 20
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

# What is sent and written.
LARGE_BYTES = 2_000  # from here on a body is compressed
MOST_CELLS = 10_000  # of a table that a browser shows
