"""The bounds of the server, each with what it protects."""

# Requests: what they hold is read in the process that serves everybody.
MOST_QUERY_BYTES = 10**4
MOST_BODY_BYTES = 10**6

# Work: a question leaves processors and memory for the others.
QUICK_WORKERS = 2  # and as many for pictures
QUICK_SECONDS = 1.0  # in the quick lane and that of pictures
MOST_SECONDS = 30  # for an answer
FINISHING = 0.25  # of these, for a search that is interrupted to return what it has found
USUAL_PLAN_SECONDS, MOST_PLAN_SECONDS = 2, 20
MOST_CODED = 2_900  # letters, as many as a QR code holds
MOST_WAITING = 200  # small questions
MOST_WAITING_PLANS = 4  # for each process
MOST_WAITING_SECONDS = 10.0  # for a process
RETRY_SECONDS = 2  # until a client that was refused should ask again
MOST_BYTES = 3 * 2**30  # of memory that a process may allocate
MOST_RESIDENT = 600 * 2**20  # bytes of memory with which a process is replaced
SLOW_NICENESS, SEARCH_NICENESS = 5, 10  # so that searches give way to all other questions
LEAST_PAUSE = 0.1  # seconds between two reports of progress

# Memory: what is kept for the next question.
MOST_KEPT = 4  # answers that a process remembers
KEPT_SECONDS = 0.2  # faster ones are not worth it

# Answers: they wait in the process that serves everybody until clients have read them.
MOST_ANSWER_BYTES = 32 * 2**20
MOST_UNREAD_BYTES = 128 * 2**20  # of all answers with more than one part
PART_BYTES = 2**16  # sent at a time
MOST_READING_SECONDS = 30.0  # for a client to read a part
LARGE_BYTES = 2_000  # from here on a body is compressed
MOST_CELLS = 10_000  # of a table that a browser shows

# Connections.
MOST_ACCEPTED = 64  # at a time
MOST_CONNECTING = 2048  # connections that wait to be accepted
SHUTDOWN_SECONDS = 1  # for clients to read what is sent in the end
LOG_SECONDS = 1.0  # between two lines of a kind in the log
