"""The limits of the server, by the resource that they protect."""

# Requests: the main process, which serves all clients, reads them.
MAX_QUERY_BYTES = 10**4
MAX_BODY_BYTES = 10**6

# Work: no question may use up the processors or the memory.
QUICK_WORKERS = 2  # the lane of pictures has two more processes
QUICK_SECONDS = 1.0  # a longer job moves to the slow lane
MAX_SECONDS = 30  # a longer computation ends with status 504
FINISH_SHARE = 0.25  # an interrupted search has this share of its time left to finish
USUAL_PLAN_SECONDS, MAX_PLAN_SECONDS = 2, 20
MAX_QR_LETTERS = 2_900  # a QR code holds at most this many letters
MAX_QUEUED = 200  # the queue of a lane holds at most this many small questions
MAX_QUEUED_PLANS = 4  # the queue holds at most this many plans for each process
MAX_QUEUE_SECONDS = 10.0  # a request that waits longer for a process is refused
RETRY_SECONDS = 2  # a refused client is told to ask again after this time
MAX_PROCESS_BYTES = 3 * 2**30  # the memory limit of a process
MAX_RESIDENT_BYTES = 600 * 2**20  # a process with more bytes of memory is replaced
SLOW_NICENESS, SEARCH_NICENESS = 5, 10  # searches have the lowest priority
MIN_PAUSE = 0.1  # seconds between two reports of progress

# Memory: each process caches recent answers.
MAX_CACHED = 4  # a process caches at most this many answers
MIN_CACHED_SECONDS = 0.2  # answers that took less time are not cached

# Answers: the main process keeps each answer until its client has read it.
MAX_ANSWER_BYTES = 32 * 2**20
MAX_UNREAD_BYTES = 128 * 2**20  # total of all answers larger than PART_BYTES
PART_BYTES = 2**16  # answers are sent in parts of this size
MAX_READ_SECONDS = 30.0  # a client must read each part within this time
LARGE_BYTES = 2_000  # larger bodies are compressed
MAX_CELLS = 10_000  # a page cuts larger tables to this number of cells

# Connections.
MAX_ACCEPTED = 64  # the event loop accepts at most this many connections in one step
MAX_CONNECTING = 2048  # the operating system queues at most this many new connections
SHUTDOWN_SECONDS = 1  # time for clients to read their last answers
LOG_SECONDS = 1.0  # the log gets at most one record of a kind within this time
