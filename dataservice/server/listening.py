"""The port a service listens on, and how long its connections live."""

import socket

BACKLOG = 2048  # uvicorn's own choice

# Longer than clients keep idle connections (httpx: 5 s), or one is closed just as the next request is on its way.
KEEP_ALIVE_S = 75


def listen(host: str, port: int) -> socket.socket:
    """A listening TCP socket; port 0 takes a free one. `OSError` when the address is taken or not of this machine."""
    # The protocol is named because asyncio turns Nagle off only then, and with it an answer in two writes waits 40 ms.
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, proto=socket.IPPROTO_TCP, flags=socket.AI_PASSIVE)
    family, kind, protocol, _, address = found[0]
    listener = socket.socket(family, kind, protocol)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(BACKLOG)  # callers who come before the server is up wait instead of being refused
    except OSError:
        listener.close()
        raise
    return listener


def address_of(listener: socket.socket) -> str:
    """The base URL of a listening socket."""
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
