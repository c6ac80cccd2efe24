"""The bounds of the server, each with what it protects."""

# Requests: what they hold is read in the process that serves everybody.
MOST_QUERY_BYTES = 10**4
MOST_BODY_BYTES = 10**6

# Work: a question leaves processors and memory for the others.
QUICK_WORKERS = 2  # the lane of pictures has two more
QUICK_SECONDS = 1.0  # a longer job moves to the slow lane
MOST_SECONDS = 30  # for an answer
FINISHING = 0.25  # an interrupted search returns its best result in this part of its time
USUAL_PLAN_SECONDS, MOST_PLAN_SECONDS = 2, 20
MOST_CODED = 2_900  # letters, as many as a QR code holds
MOST_WAITING = 200  # small questions
MOST_WAITING_PLANS = 4  # for each process
MOST_WAITING_SECONDS = 10.0  # for a process
RETRY_SECONDS = 2  # until a client that was refused should ask again
MOST_BYTES = 3 * 2**30  # of memory that a process may allocate
MOST_RESIDENT = 600 * 2**20  # bytes of memory with which a process is replaced
SLOW_NICENESS, SEARCH_NICENESS = 5, 10  # searches have the lowest priority
LEAST_PAUSE = 0.1  # seconds between two reports of progress

# Memory: what is kept for the next question.
MOST_KEPT = 4  # answers that a process remembers
KEPT_SECONDS = 0.2  # faster ones are not worth it

# Answers: the main process holds each answer until its client has read it.
MOST_ANSWER_BYTES = 32 * 2**20
MOST_UNREAD_BYTES = 128 * 2**20  # the sum over all answers larger than PART_BYTES
PART_BYTES = 2**16  # the server sends the next part once the client has read this one
MOST_READING_SECONDS = 30.0  # a client must read a part within this time
LARGE_BYTES = 2_000  # from here on a body is compressed
MOST_CELLS = 10_000  # of a table that a browser shows

# Connections.
MOST_ACCEPTED = 64  # new connections in one step of the event loop
MOST_CONNECTING = 2048  # the length of the queue of new connections
SHUTDOWN_SECONDS = 1  # clients must read their last answers within this time
LOG_SECONDS = 1.0  # the log gets one record of a kind in this time
