"""Large posts to a backend in a process of its own: how long `/health` takes meanwhile, and what memory they leave.

`python -m tests.attack.large_posts` posts 33 MB bodies of every shape, to one user's backend and to a shared one.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx

from tests.addin.serving import address_in, started

MIB = 2**20


@dataclass
class Health:
    """How long `/health` took, in seconds, each time it was asked."""

    url: str
    took_s: list[float] = field(default_factory=list)
    failed: int = 0

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Ask all the time inside the block."""
        ended = threading.Event()
        thread = threading.Thread(target=self._ask_until, args=(ended,))
        thread.start()
        try:
            yield
        finally:
            ended.set()
            thread.join()

    def _ask_until(self, ended: threading.Event) -> None:
        with httpx.Client(trust_env=False, timeout=60) as http:
            while not ended.wait(0.01):
                began = time.perf_counter()
                try:
                    http.get(f"{self.url}/health").raise_for_status()
                except httpx.HTTPError:
                    self.failed += 1
                self.took_s.append(time.perf_counter() - began)

    @property
    def worst_s(self) -> float:
        """The longest wait."""
        return max(self.took_s, default=0.0)


def bodies(size: int) -> dict[str, Callable[[], bytes]]:
    """Bodies of about `size` bytes that cost much to read, by what they hold."""
    return {
        "zeros": lambda: _filled(b"0", size),
        "zeros after NaN": lambda: b'{"calls":[NaN,' + _filled(b"0", size)[10:],
        "empty calls": lambda: _filled(b"[]", size),
        "one range of zeros": lambda: b'{"calls":[["SIGNAL",[[' + b"0," * (size // 2) + b"0]]]]}",
        "a column of names": lambda: b'{"calls":[["SIGNAL",[' + b'["x"],' * (size // 6) + b'["x"]]]]}',
        "one long text": lambda: b'{"calls":[["SIGNAL","' + b"x" * size + b'"]]}',
        "one long text, NaN": lambda: b'{"calls":[["SIGNAL",NaN,"' + b"x" * size + b'"]]}',
        "long texts": lambda: _filled(b'["SIGNAL","' + b"y" * 60_000 + b'"]', size),
        "brackets": lambda: b'{"calls":[' + b"[" * size,
        "escapes": lambda: b'{"calls":[["SIGNAL","' + b"\\u0041" * (size // 6) + b'"]]}',
        "spaces": lambda: b" " * size + b'{"calls":[]}',
        "half a megabyte, NaN": lambda: _filled(b"NaN", min(size, 500_000)),
        "99,999 unknown functions": lambda: _filled(b'["NOPE",1]', 11 * 99_999),
        "49,999 cells of a range": lambda: b'{"calls":[["SIGNAL","us-cpi","value",[' + b"[1]," * 49_990 + b"[1]]]]}",
    }


def memory_bytes(pid: int) -> int:
    """The memory that a process holds now (Linux)."""
    pages = int(Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1])
    return pages * 4096


def posted(url: str, file: Path) -> int:
    """The status of posting a file, sent by another process, so that it does not disturb whoever watches."""
    code = (
        "import sys, httpx\nfrom pathlib import Path\n"
        "content = Path(sys.argv[2]).read_bytes()\n"
        "headers = {'content-type': 'application/json'}\n"
        "url = sys.argv[1] + '/functions/call'\n"
        "print(httpx.post(url, content=content, headers=headers, timeout=300, trust_env=False).status_code)"
    )
    arguments = [sys.executable, "-c", code, url, str(file)]
    return int(subprocess.run(arguments, capture_output=True, text=True, check=True).stdout)


def _filled(item: bytes, size: int) -> bytes:
    return b'{"calls":[' + b",".join([item] * (size // (len(item) + 1))) + b"]}"


def main() -> None:
    """Post each body once to a shared backend, and print what it did."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--bytes", type=int, default=33_000_000)
    size = options.parse_args().bytes
    with tempfile.TemporaryDirectory() as folder:
        environ = {
            "PATH": "/usr/bin:/bin",
            "HOME": folder,
            "DATA_SERVICE_URL": "http://127.0.0.1:9",
            "DATA_SERVICE_API_KEY": "ds_" + "0" * 40,
            "DATA_SERVICE_DEADLINE_S": "5",
        }
        with started("serve", "--http", "--port", "0", environ=environ) as process:
            url = address_in(process)
            httpx.post(f"{url}/functions/call", json={"calls": [["SIGNALS"]]}, trust_env=False, timeout=60)
            before = memory_bytes(process.pid)
            for name, made in bodies(size).items():
                body, health = made(), Health(url)
                file = Path(folder) / "body.json"
                file.write_bytes(body)
                began = time.perf_counter()
                with health.watched():
                    status = posted(url, file)
                took_s, grown = time.perf_counter() - began, memory_bytes(process.pid) - before
                print(  # noqa: T201
                    f"{name:28} {len(body) / 1e6:5.1f} MB -> {status} in {took_s:5.2f} s; /health at worst "
                    f"{health.worst_s * 1000:6.1f} ms, median {statistics.median(health.took_s) * 1000:.1f} ms, "
                    f"failed {health.failed}; memory {grown / MIB:+.0f} MiB"
                )


if __name__ == "__main__":
    main()
