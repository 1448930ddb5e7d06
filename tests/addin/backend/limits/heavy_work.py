"""Pieces of work that take what they like, for a process apart."""

import os
import threading
from pathlib import Path

from addin.errors import AddinError


def sleep(body: bytes, options: str) -> bytes:
    """Take so many seconds."""
    threading.Event().wait(float(options))
    return body


def wait_for(body: bytes, options: str) -> bytes:
    """Take until such a file is there."""
    while not Path(options).exists():
        threading.Event().wait(0.02)
    return body


def fill(body: bytes, options: str) -> bytes:
    """Take so many MB, and hold them for some seconds."""
    megabytes, seconds = options.split()
    held = bytearray(b"x") * (2**20 * int(megabytes))  # taken at once, and never twice
    threading.Event().wait(float(seconds))
    return bytes(held[: len(body)])


def take_shortly(body: bytes, options: str) -> bytes:
    """Take so many MB, for less than anybody could see."""
    return body[: len(bytearray(2**20 * int(options)))]


def names_of_variables(body: bytes, options: str) -> bytes:
    """Tell what the environment holds."""
    return " ".join(os.environ).encode()


def refuse(body: bytes, options: str) -> bytes:
    """Refuse."""
    raise AddinError(f"no {options}")


def die(body: bytes, options: str) -> bytes:
    """End the process."""
    os._exit(1)


def process_id(body: bytes, options: str) -> bytes:
    """Tell which process it is."""
    return str(os.getpid()).encode()
