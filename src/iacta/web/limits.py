"""The limits of the server, grouped by the resource that they protect."""

# Requests. The main process reads the requests of all clients.
MAX_QUERY_BYTES = 10**4
MAX_BODY_BYTES = 10**6

# Work: no question may occupy all processors or the whole memory.
QUICK_WORKERS = 2  # number of processes in the quick lane, and in the picture lane
QUICK_SECONDS = 1.0  # a longer job moves to the slow lane
MAX_SECONDS = 30  # a longer computation ends with status 504
FINISH_SHARE = 0.25  # fraction of a search's time limit that is left after the interrupt
USUAL_PLAN_SECONDS, MAX_PLAN_SECONDS = 2, 20
MAX_QR_LETTERS = 2_900  # capacity of a QR code
MAX_QUEUED = 200  # maximum number of jobs in the queue of a lane
MAX_QUEUED_PLANS = 4  # maximum number of searches in the queue, per process
MAX_QUEUE_SECONDS = 10.0  # maximum waiting time in the queue
RETRY_SECONDS = 2  # the value of the header `Retry-After`
MAX_PROCESS_BYTES = 3 * 2**30  # memory limit of a process
MAX_RESIDENT_BYTES = 600 * 2**20  # a process is replaced if it uses more memory
SLOW_NICENESS, SEARCH_NICENESS = 5, 10  # greater numbers mean lower priority
MIN_PAUSE = 0.1  # minimum time between two progress reports, in seconds

# Memory: each process caches recent answers.
MAX_CACHED_ANSWERS = 4  # maximum number of answers in the cache of a process
MIN_CACHED_SECONDS = 0.2  # minimum computing time of cached answers

# Responses. The main process stores a response until the client has read it.
MAX_ANSWER_BYTES = 32 * 2**20
MAX_UNREAD_BYTES = 128 * 2**20  # maximum total size of unread responses larger than PART_BYTES
PART_BYTES = 2**16  # responses are sent in parts of this size
MAX_READ_SECONDS = 30.0  # time limit for a client to read one part
LARGE_BYTES = 2_000  # minimum size of compressed bodies
GZIP_LEVEL = 5  # takes half the time of the default level, for a slightly larger result
MAX_PAGE_CELLS = 10_000  # maximum number of table cells on a page

# Connections.
MAX_ACCEPTED = 64  # maximum number of accepted connections per step of the event loop
MAX_CONNECTING = 2048  # maximum number of pending connections in the operating system
SHUTDOWN_SECONDS = 1  # time limit for clients to read their last responses
LOG_SECONDS = 1.0  # the log gets at most one record of each kind in this time
