"""`iacta serve`: the web pages and the API."""

import errno
import re
from contextlib import suppress
from fractions import Fraction
from importlib.util import find_spec
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from iacta.cli.print_answer import Command, command
from iacta.forms.form import Example, Topic, parameter
from iacta.forms.parameter_kinds import Flag, Name, Number, Whole
from iacta.inputs.checks import quote
from iacta.inputs.errors import IllegalError, missing_error
from iacta.web.limits import MAX_ACCEPTED, MAX_CONNECTING, MAX_SECONDS, SHUTDOWN_SECONDS

if TYPE_CHECKING:
    from socket import socket

PACKAGES = ("fastapi", "jinja2", "segno", "uvicorn", "vl_convert", "scipy")
MAX_PORT, MAX_WORKERS = 65_535, 256
PUBLIC_URL = re.compile(r"https?://[\w.-]+(:[0-9]+)?(/[\w./~-]*)?", re.ASCII)
UNUSED_ADDRESS = ("192.0.2.1", 9)  # an address reserved for documentation (RFC 5737)
MAX_TRIED_PORTS = 20  # number of ports to try if the usual port is in use


@command(
    "serve",
    Topic.TOOLS,
    Example("serve --open", "open the page in a browser"),
    Example("serve --port 9000", "use another port"),
)
class ServeCommand(Command):
    """Show iacta's board in your browser, and offer an API to programs.

    The page loads nothing from other hosts and stores nothing. Ctrl-C stops the server.
    """

    host: str = parameter(
        Name(),
        "The network address to listen on; 0.0.0.0 lets other devices connect.",
        metavar="HOST",
        default="127.0.0.1",
    )
    port: int = parameter(
        Whole(minimum=0, maximum=MAX_PORT), "The port; 0 chooses a free port.", default=8000
    )
    open: bool = parameter(Flag(), "Open the page in a browser.", default=False)
    workers: int | None = parameter(
        Whole(minimum=1, maximum=MAX_WORKERS),
        "How many plans and other long answers to compute at the same time.",
        usual="one per core",
        default=None,
    )

    time_limit: Fraction = parameter(
        Number(minimum=1, maximum=3600, unit="seconds"),
        "The longest time that an answer may take.",
        metavar="SECONDS",
        default=Fraction(MAX_SECONDS),
    )

    allow_origin: str | None = parameter(
        Name(),
        "Sites whose pages may call the API, separated by commas: https://example.org, or *.",
        metavar="SITES",
        default=None,
    )

    public_url: str | None = parameter(
        Name(),
        "The URL at which other devices find the page, for QR codes of the board.",
        metavar="URL",
        usual="the address on the local network with --host 0.0.0.0",
        default=None,
    )

    root_path: str = parameter(
        Name(),
        "The start of all paths behind a proxy, such as /iacta.",
        metavar="PATH",
        default="",
    )

    def run(self) -> int:
        gone = [name for name in PACKAGES if find_spec(name) is None]
        if gone:
            raise missing_error(f"the page needs {gone[0]}, which is not installed", "serve")
        listening = self._listen()
        import logging  # slow to import, and only needed here

        import uvicorn

        from iacta.web.app import create_app
        from iacta.web.log_limit import LogLimit
        from iacta.web.process_pool import Work, end_forkserver
        from iacta.web.protocol import BoundedProtocol

        work = Work(self.workers, float(self.time_limit))
        origins = [origin.strip() for origin in (self.allow_origin or "").split(",")]
        port = listening.getsockname()[1]
        public_url = self._make_public_url(port)
        app = create_app(
            work,
            self.host,
            names=filter(None, [urlsplit(public_url).hostname]),
            origins=[*filter(None, origins)],
            public_url=public_url,
        )
        url = self._format_url(port)
        is_open = self.open

        class Server(uvicorn.Server):
            """A server that prints its URL, and that ends jobs before it closes connections.

            error: the exception raised if the URL cannot be printed, or `None`.
            """

            error: OSError | None = None

            async def startup(self, sockets: "list[socket] | None" = None) -> None:
                await super().startup(sockets)
                listening.listen(MAX_CONNECTING)  # restores the backlog, which uvicorn has reduced
                try:
                    print(f"Serving iacta at {url} (Ctrl-C stops it)", flush=True)
                except OSError as error:  # raised later, because uvicorn would print a traceback
                    self.error, self.should_exit = error, True
                    return
                if is_open:
                    import webbrowser  # only needed here

                    webbrowser.open(url)

            async def shutdown(self, sockets: "list[socket] | None" = None) -> None:
                work.close()
                await super().shutdown(sockets)
                end_forkserver()

        log = logging.StreamHandler()
        log.addFilter(LogLimit())
        logging.basicConfig(
            level=logging.ERROR, format="%(levelname)s: %(message)s", handlers=[log]
        )
        config = uvicorn.Config(
            app,
            loop="asyncio",
            http=BoundedProtocol,
            ws="none",
            root_path=self.root_path.rstrip("/"),
            log_config=None,
            log_level="error",
            access_log=False,
            server_header=False,
            backlog=MAX_ACCEPTED,
            timeout_graceful_shutdown=SHUTDOWN_SECONDS,
        )
        server = Server(config)
        try:
            server.run(sockets=[listening])
        finally:
            work.close()
        if server.error is not None:
            raise server.error
        return 0

    def _listen(self) -> "socket":
        import socket  # slow to import

        unknown = IllegalError(
            f"host is not an address of this machine: {quote(self.host)}", parameter="host"
        )
        try:
            family, kind, protocol, _, address = socket.getaddrinfo(
                self.host or "0.0.0.0",  # noqa: S104 # requested by the user
                self.port,
                type=socket.SOCK_STREAM,
            )[0]
        except (OSError, UnicodeError):
            raise unknown from None

        def listen(port: int) -> "socket.socket":
            # asyncio sets TCP_NODELAY only if the protocol is given.
            listening = socket.socket(family, kind, protocol or socket.IPPROTO_TCP)
            try:
                listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                listening.bind((address[0], port, *address[2:]))
                listening.listen(MAX_CONNECTING)
            except OSError:
                listening.close()
                raise
            return listening

        try:
            return listen(self.port)
        except PermissionError:
            raise IllegalError(
                f"port is reserved: {self.port}; try 1024 or higher", parameter="port"
            ) from None
        except OSError as error:
            if error.errno != errno.EADDRINUSE:
                raise unknown from None
        hint = ""
        for port in range(self.port + 1, min(self.port + MAX_TRIED_PORTS, MAX_PORT) + 1):
            with suppress(OSError), listen(port):
                hint = f"; try --port {port}"
                break
        raise IllegalError(
            f"port is in use by another program: {self.port}{hint}", parameter="port"
        )

    def _make_public_url(self, port: int) -> str:
        """Return a URL for other devices, or an empty text if they cannot connect."""
        import socket  # slow to import

        if self.public_url is not None:
            url = PUBLIC_URL.fullmatch(self.public_url.rstrip("/"))
            if url is None:
                raise IllegalError(
                    "public_url must be a URL such as http://risk.example.org/, got "
                    f"{quote(self.public_url)}",
                    parameter="public_url",
                )
            return f"{url[0]}/"
        if self.host in ("", "0.0.0.0", "::"):  # noqa: S104 # as above
            with suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
                probe.connect(UNUSED_ADDRESS)  # chooses a network interface, but sends nothing
                return f"http://{probe.getsockname()[0]}:{port}{self.root_path.rstrip('/')}/"
        return ""

    def _format_url(self, port: int) -> str:
        host = "127.0.0.1" if self.host in ("", "0.0.0.0") else self.host  # noqa: S104 # as above
        host = "[::1]" if host == "::" else f"[{host}]" if ":" in host else host
        return f"http://{host}:{port}/"
