"""nginx in front of a server, configured as in `docs/serve.md`, on a free local port."""

import re
import shutil
import socket
import ssl
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import sleep

NGINX = shutil.which("nginx", path="/usr/local/sbin:/usr/sbin:/usr/local/bin:/usr/bin")
NAME = "risk.example.org"
MAIN = """daemon off; pid nginx.pid; error_log error.log;
events { worker_connections 2048; }
http {
    access_log off;
    client_body_temp_path body; proxy_temp_path proxy;
    fastcgi_temp_path fastcgi; uwsgi_temp_path uwsgi; scgi_temp_path scgi;
    include iacta.conf;
}
"""


def read_configuration(kind: str) -> str:
    """Return a configuration, such as that of `nginx`, from the docs page."""
    page = Path(__file__).parents[2] / "docs" / "serve.md"
    (found,) = re.findall(rf"```{kind}\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    return str(found)


@contextmanager
def run_nginx(server: str, folder: Path, **changes: str) -> Iterator[int]:
    """Run nginx in front of a server; yield its TLS port.

    server: the address and port of the server.
    folder: the folder for the files of nginx and for the certificate `fullchain.pem`.
    changes: texts to replace in the documented file, with their replacements.
    """
    plain, port = _free_port(), _free_port()
    text = read_configuration("nginx")
    for old, new in {
        "listen 80 ": f"listen 127.0.0.1:{plain} ",
        "listen 443 ": f"listen 127.0.0.1:{port} ",
        "127.0.0.1:8000": server,
        f"/etc/letsencrypt/live/{NAME}": str(folder),
        **changes,
    }.items():
        assert old in text, old
        text = text.replace(old, new)
    (folder / "iacta.conf").write_text(text, encoding="utf-8")
    (folder / "nginx.conf").write_text(MAIN, encoding="utf-8")
    _certify(folder)
    assert NGINX is not None
    command = [NGINX, "-p", str(folder), "-c", "nginx.conf", "-e", "error.log"]
    process = subprocess.Popen(command)  # noqa: S603 # our own command
    try:
        while process.poll() is None and not _is_open(port):
            sleep(0.05)
        assert process.poll() is None, (folder / "error.log").read_text(encoding="utf-8")
        yield port
    finally:
        process.terminate()
        process.wait()


def context(folder: Path) -> ssl.SSLContext:
    """Return a TLS context that trusts the certificate in a folder."""
    return ssl.create_default_context(cafile=str(folder / "fullchain.pem"))


def _certify(folder: Path) -> None:
    words = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2"
    names = ["-subj", f"/CN={NAME}", "-addext", f"subjectAltName=DNS:{NAME}"]
    files = ["-keyout", "privkey.pem", "-out", "fullchain.pem"]
    command = [*words.split(), *names, *files]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)  # noqa: S603 # our own


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as found:
        return int(found.getsockname()[1])


def _is_open(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0
