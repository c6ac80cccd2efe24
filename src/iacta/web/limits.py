"""The limits of the server, by the resource that they protect."""

# Requests: the main process, which serves all clients, reads them.
MOST_QUERY_BYTES = 10**4
MOST_BODY_BYTES = 10**6

# Work: a question leaves processors and memory for the others.
QUICK_WORKERS = 2  # the lane of pictures has two more
QUICK_SECONDS = 1.0  # a longer job moves to the slow lane
MOST_SECONDS = 30  # longer answers end in status 504
FINISHING = 0.25  # an interrupted search returns its best result in this part of its time
USUAL_PLAN_SECONDS, MOST_PLAN_SECONDS = 2, 20
MOST_CODED = 2_900  # letters, as many as a QR code holds
MOST_WAITING = 200  # small questions
MOST_WAITING_PLANS = 4  # plans in the queue of each process
MOST_WAITING_SECONDS = 10.0  # a request waits no longer for a process
RETRY_SECONDS = 2  # `Retry-After` of a refusal
MOST_BYTES = 3 * 2**30  # memory limit of a process
MOST_RESIDENT = 600 * 2**20  # bytes of memory with which a process is replaced
SLOW_NICENESS, SEARCH_NICENESS = 5, 10  # searches have the lowest priority
LEAST_PAUSE = 0.1  # seconds between two reports of progress

# Memory: answers that are cached for the next question.
MOST_KEPT = 4  # answers that a process remembers
KEPT_SECONDS = 0.2  # faster answers are not cached

# Answers: the main process holds each answer until its client has read it.
MOST_ANSWER_BYTES = 32 * 2**20
MOST_UNREAD_BYTES = 128 * 2**20  # the sum over all answers larger than PART_BYTES
PART_BYTES = 2**16  # the server sends the next part once the client has read this one
MOST_READING_SECONDS = 30.0  # a client must read a part within this time
LARGE_BYTES = 2_000  # larger bodies are compressed
MOST_CELLS = 10_000  # pages show no larger tables

# Connections.
MOST_ACCEPTED = 64  # new connections in one step of the event loop
MOST_CONNECTING = 2048  # the length of the queue of new connections
SHUTDOWN_SECONDS = 1  # clients must read their last answers within this time
LOG_SECONDS = 1.0  # the log gets one record of a kind in this time
