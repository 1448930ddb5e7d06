"""A server between backend and service that breaks answers off, as a failing network does: real sockets."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import httpx

from udfs.errors import PROBE_ADVICE

HTML = b"<html><body><h1>Sign in to the guests' network</h1></body></html>"

LATE = ("no whole answer in time: the service or the network is slow", "no answer within 1 s")
REASONS = {
    "half": ("the connection broke", *LATE),
    "stall": LATE,
    "html": ("a web page came instead of data",),
}
"""The faults, and what is said of each; broken off again and again, it ends with the deadline, here 1 s."""


def is_told(fault: str, said: str, advice: str = "try Refresh in a minute") -> bool:
    """Whether a message is the one sentence for this fault; a page after answers is no network's."""
    if fault == "html":
        return said in [f"the service's answer cannot be used ({why}); {PROBE_ADVICE}" for why in REASONS[fault]]
    return said in [f"the service did not answer ({why}); {advice}" for why in REASONS[fault]]


class HalfAnswers(ThreadingHTTPServer):
    """Passes requests on to the service at `target`; what comes back is whole, or spoiled as `fault` says."""

    daemon_threads = True

    def __init__(self, target: str) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.target = target
        self.fault = ""
        self.over = threading.Event()

    def handle_error(self, request: object, client_address: object) -> None:
        """Callers that waited long enough are gone."""

    @property
    def url(self) -> str:
        """Its address, in place of the service's."""
        return f"http://127.0.0.1:{self.server_port}"


class _Handler(BaseHTTPRequestHandler):
    server: HalfAnswers
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        key = {"authorization": self.headers.get("authorization", "")}
        answer = httpx.get(self.server.target + self.path, headers=key, trust_env=False, timeout=30)
        is_html = self.server.fault == "html"
        body = HTML if is_html else answer.content
        self.send_response(200 if is_html else answer.status_code)
        self.send_header("Content-Type", "text/html" if is_html else "application/json")
        for name, value in answer.headers.items():
            if name.startswith("x-"):
                self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        is_cut = self.server.fault in ("half", "stall")
        self.wfile.write(body[: len(body) // 2] if is_cut else body)
        self.wfile.flush()
        if self.server.fault == "stall":
            self.server.over.wait()
        self.close_connection = is_cut

    def log_message(self, *_: object) -> None:
        """Nothing is printed."""


@contextmanager
def half_answers_of(target: str) -> Iterator[HalfAnswers]:
    """The server inside the block, in threads of its own."""
    with HalfAnswers(target) as server:
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        try:
            yield server
        finally:
            server.over.set()
            server.shutdown()
