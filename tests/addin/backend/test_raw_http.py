"""Hostile requests as raw bytes: each gets a refusal or is closed, nothing fails inside, and the backend goes on."""

import re
import socket
from itertools import product

import pytest

from tests.addin.backends import backend_of

PATHS = [
    *(
        "/",
        "//",
        "/.",
        "/..",
        "/../../etc/passwd",
        "/%2e%2e/%2e%2e/etc/passwd",
        "/..%5c..%5cwin.ini",
        "/C:/x",
        "/C:%5Cx",
    ),
    *("/icons/..", "/icons/%2e%2e%2fmanifest.xml", "/icons/%5C%5Chost%5Cshare%5Cx.png", "/icons/" + "a" * 300 + ".png"),
    *("/taskpane/C:%5CUsers%5Cme%5Ckeys.json", "/taskpane/%00", "/help/%00", "/help/" + "A" * 5_000, "/help/__class__"),
    *("/help/%3Cscript%3E", "/key/../status", "/key%2ftest", "/KEY", "/status/", "/health?" + "a" * 5_000, "/%ff%fe"),
    *(
        "/%0d%0aSet-Cookie:x=1",
        "/functions/call",
        "/functions/call/",
        "/registry.json%00.html",
        "/%u0041",
        "/%",
        "/%zz",
    ),
    *(
        "http://evil.example/status",
        "http://localhost@evil.example/",
        "*",
        "evil.example:443",
        "/;jsessionid=1",
        "/?" * 50,
    ),
]
HOSTS = [
    *(
        "evil.example",
        "localhost.evil.example",
        "x@localhost",
        "localhost:1:2",
        "localhost/",
        "[::1",
        "127.0.0.1.nip.io",
    ),
    *("127.1", "2130706433", "0x7f000001", "0.0.0.0", "localhost ", "", "localhost\x00", "LOCALHOST\t", "a" * 3_000),
]
HEADS = [
    *("Origin: https://evil.example", "Origin: null", "Origin: http://localhost@evil.example", "Origin: file://"),
    *(
        "Content-Type: text/plain",
        "Content-Type: application/x-www-form-urlencoded",
        "Content-Type: multipart/form-data",
    ),
    *("Transfer-Encoding: gzip", "Transfer-Encoding: chunked, identity", "Content-Length: -1", "Content-Length: 1, 2"),
    *("Content-Length: 99999999999999999999", "Content-Length: 0x10", "Expect: 200-maybe", "Upgrade: websocket"),
    *(
        "X-Data-Service-Key: x",
        "X-Data-Service-Key: ds_" + "0" * 40,
        "X-Forwarded-Host: evil.example",
        "X: " + "a" * 70_000,
    ),
    *("Range: bytes=0-18446744073709551615", "If-None-Match: " + '"' * 999, "Cookie: a=b", "Connection: upgrade"),
]
BODIES = [
    *(b"", b"{", b"[]", b"null", b'{"calls":null}', b'{"calls":[' + b"[" * 9_999, b'{"calls":[NaN]}', b"\xff\xfe{\x00"),
    *(
        b'{"calls":[["__import__","os"]]}',
        b'{"calls":[["SIGNAL",{"__proto__":1}]]}',
        b'{"calls":[' + b"0," * 600_000 + b"0]}",
    ),
    *(
        b'{"mode":"force","mode":3}',
        b'{"key":"ds_x\\r\\nX: y"}',
        b'{"key":' + b"9" * 5_000 + b"}",
        b'{"calls":[[1e999]]}',
    ),
]
LINES = [
    *(b"GET / HTTP/9.9\r\n\r\n", b"GET\r\n\r\n", b"\r\n\r\n\r\n", b"GET / HTTP/1.1\nHost: localhost\n\n", b"\x00" * 99),
    *(b"GET  /  HTTP/1.1\r\n\r\n", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", b"\x16\x03\x01\x02\x00\x01", b"G" * 70_000),
    *(
        b"GET / HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n",
        b"GET / HTTP/1.1\r\n Host: localhost\r\n\r\n",
    ),
    *(b"GET / HTTP/1.0\r\n\r\n", b"CONNECT evil.example:443 HTTP/1.1\r\nHost: localhost\r\n\r\n"),
    (
        b"POST /key HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 2\r\n"
        b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\nDELETE /key HTTP/1.1\r\nHost: localhost\r\n\r\n"
    ),
    b"POST /refresh HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nz",
]
METHODS = ["GET", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "HEAD", "BREW", "get"]
POSTS = ["/functions/call", "/functions/cost", "/refresh", "/key", "/key/test"]


def get(path="/health", host="localhost", method="GET"):
    return f"{method} {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n".encode("latin-1")


def post(path, body, head="Content-Type: application/json"):
    first = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{head}\r\n"
    return f"{first}Content-Length: {len(body)}\r\n\r\n".encode("latin-1") + body


ATTACKS = {
    "paths": [get(path) for path in PATHS],
    "methods": [get(path, method=method) for method, path in product(METHODS, ["/key", "/manifest.xml"])],
    "hosts": [get("/manifest.xml", host) for host in HOSTS],
    "heads": [post("/refresh", b'{"mode":"stale"}', head) for head in HEADS],
    "bodies": [post(path, body) for path, body in product(POSTS, BODIES)],
    "lines": LINES,
}


def answered(backend, request):
    """What the backend sends until it closes, or nothing more comes."""
    host, _, port = backend.url.partition("://")[2].partition(":")
    received = b""
    with socket.create_connection((host, int(port)), timeout=2) as connection:
        try:
            connection.sendall(request)
            connection.shutdown(socket.SHUT_WR)
            while part := connection.recv(65_536):
                received += part
        except OSError:
            pass
    return received


@pytest.mark.parametrize("kind", ATTACKS)
def test_hostile_requests_fail_outside_and_show_nothing(service, tmp_path, kind):
    with backend_of(service, tmp_path) as backend:
        for request in ATTACKS[kind]:
            received = answered(backend, request)
            statuses = [int(text) for text in re.findall(rb"^HTTP/1\.1 (\d+)", received)]
            assert all(status < 500 for status in statuses), (request[:200], received[:300])
            assert service.key.encode() not in received
            assert b"Traceback" not in received
            assert b"evil.example" not in received or b"not served here" in received, request[:200]
        assert backend.http.get("/health").json() == {"ok": True}
