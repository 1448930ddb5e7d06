"""A real nginx in front of a service, with TLS: what most services stand behind."""

from __future__ import annotations

import datetime as dt
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from addin.tls.certificates import Certificates

LONGEST_START_S = 20.0

SETUP = """
pid {folder}/pid;
error_log {folder}/error.log;
daemon off;
worker_processes 1;
events {{ worker_connections 1024; }}
http {{
  access_log {folder}/access.log;
  client_body_temp_path {folder}/body;
  proxy_temp_path {folder}/proxy;
  fastcgi_temp_path {folder}/fastcgi;
  uwsgi_temp_path {folder}/uwsgi;
  scgi_temp_path {folder}/scgi;
  keepalive_requests {keepalive_requests};
  {http}
  upstream service {{ server 127.0.0.1:{port}; keepalive 64; keepalive_requests 1000000; }}
  server {{
    listen 127.0.0.1:{listening} ssl{http2};
    ssl_certificate {certificate};
    ssl_certificate_key {key};
    location / {{
      {location}
      proxy_pass http://service;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_set_header Host $host;
    }}
  }}
}}
"""


@dataclass(frozen=True)
class Nginx:
    """A running nginx: its address, its files, and that of the authority that vouches for it."""

    port: int
    authority: Path
    log: Path
    certificate: Path
    key: Path
    pid: Path

    @property
    def url(self) -> str:
        """Its address."""
        return f"https://localhost:{self.port}"


def is_installed() -> bool:
    """Whether this machine has an nginx."""
    return _program() is not None


def _program() -> str | None:
    return shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin:/usr/local/sbin")


@contextmanager
def nginx(
    port: int, *, keepalive_requests: int = 1000, http2: bool = False, http: str = "", location: str = ""
) -> Iterator[Nginx]:
    """An nginx with TLS in front of what listens at `port`; `http` and `location` are further lines of its set-up."""
    program = _program()
    if program is None:
        pytest.skip("no nginx on this machine")
    with TemporaryDirectory(prefix="dataservice-nginx-") as name:
        folder = Path(name)
        own = Certificates(folder / "certificates")
        own.ensure(dt.datetime.now(dt.UTC))
        with socket.create_server(("127.0.0.1", 0)) as free:
            listening = free.getsockname()[1]
        setup = SETUP.format(
            folder=folder,
            keepalive_requests=keepalive_requests,
            http=http,
            location=location,
            port=port,
            listening=listening,
            http2=" http2" if http2 else "",
            certificate=own.leaf.certificate,
            key=own.leaf.private_key,
        )
        (folder / "nginx.conf").write_text(setup, encoding="utf-8")
        command = [program, "-p", str(folder), "-e", str(folder / "error.log"), "-c", str(folder / "nginx.conf")]
        process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
        try:
            _wait_for(listening, process, folder / "error.log", folder / "pid")
            files = (folder / "access.log", Path(own.leaf.certificate), Path(own.leaf.private_key), folder / "pid")
            yield Nginx(listening, own.authority, *files)
        finally:
            process.terminate()
            process.wait()


def _wait_for(port: int, process: subprocess.Popen[bytes], log: Path, pid: Path) -> None:
    until = time.monotonic() + LONGEST_START_S
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            pid.stat()  # written last
        except OSError:
            if process.poll() is not None or time.monotonic() > until:
                raise RuntimeError(f"nginx did not start: {log.read_text(encoding='utf-8')}") from None
            with suppress(subprocess.TimeoutExpired):
                process.wait(0.01)
        else:
            return
