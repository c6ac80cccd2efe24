"""The limits of the server, grouped by the resource that they protect."""

# Requests, which the main process reads for all clients.
MAX_QUERY_BYTES = 10**4
MAX_BODY_BYTES = 10**6

# Work: no question may use up the processors or the memory.
QUICK_WORKERS = 2  # processes of the quick lane; pictures have two more
QUICK_SECONDS = 1.0  # a job that takes longer is moved to the slow lane
MAX_SECONDS = 30  # a computation that takes longer ends with status 504
FINISH_SHARE = 0.25  # fraction of its time that an interrupted search keeps for finishing
USUAL_PLAN_SECONDS, MAX_PLAN_SECONDS = 2, 20
MAX_QR_LETTERS = 2_900  # capacity of a QR code
MAX_QUEUED = 200  # maximum number of small questions in the queue of a lane
MAX_QUEUED_PLANS = 4  # maximum number of plans in the queue, per process
MAX_QUEUE_SECONDS = 10.0  # a request that waits longer for a process is refused
RETRY_SECONDS = 2  # seconds until a refused client should ask again
MAX_PROCESS_BYTES = 3 * 2**30  # memory limit of a process
MAX_RESIDENT_BYTES = 600 * 2**20  # a process that uses more memory is replaced
SLOW_NICENESS, SEARCH_NICENESS = 5, 10  # searches have the lowest priority
MIN_PAUSE = 0.1  # shortest time between two progress reports, in seconds

# Memory: each process caches recent answers.
MAX_CACHED = 4  # maximum number of answers in the cache of a process
MIN_CACHED_SECONDS = 0.2  # answers that took less time are not cached

# Responses, which the main process keeps until the client has read them.
MAX_ANSWER_BYTES = 32 * 2**20
MAX_UNREAD_BYTES = 128 * 2**20  # total size of all responses larger than PART_BYTES
PART_BYTES = 2**16  # size of the parts in which responses are sent
MAX_READ_SECONDS = 30.0  # time for a client to read one part
LARGE_BYTES = 2_000  # larger bodies are compressed
MAX_CELLS = 10_000  # larger tables are cut on a page

# Connections.
MAX_ACCEPTED = 64  # maximum number of connections to accept in one step of the event loop
MAX_CONNECTING = 2048  # maximum number of connections that wait in the operating system
SHUTDOWN_SECONDS = 1  # time for clients to read their last responses
LOG_SECONDS = 1.0  # seconds; the log has at most one record of each kind in this time
