"""Large posts to a backend in a process of its own: how long `/health` takes meanwhile, and what memory they leave.

`python -m tests.attack.pages.large_posts` posts 33 MB bodies of every shape, which are refused; with `--accepted`
bodies below every limit, which are worked on: each alone, and four at once; with `--books` workbooks, of which the cost
is asked.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from dataservice.server import Store, import_directory, write_sample
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


def accepted_bodies() -> dict[str, Callable[[], bytes]]:
    """Bodies within every limit that a service answers, by what they hold."""
    day = b'["SIGNAL","btc-usd","value",%d]'
    return {
        "10,000 equal calls": lambda: _batch([b'["SIGNAL","us-cpi"]'] * 10_000),
        "10,000 days": lambda: _batch([day % (45_000 + n) for n in range(10_000)]),
        "10,000 unknown names": lambda: _batch([b'["SIGNAL","no-%d"]' % n for n in range(10_000)]),
        "100,000 days": lambda: _batch([day % n for n in range(1, 100_001)]),
        "49,999 cells of days": lambda: _batch([b'["SIGNAL","btc-usd","value",[%b]]' % _column(b"%d", 49_998)]),
        "49,999 unknown names": lambda: _batch([b'["SIGNAL",[%b]]' % _column(b'"no-%d"', 49_998)]),
        "49,999 equal names": lambda: _batch([b'["SIGNAL",[%b]]' % b",".join([b'["us-cpi"]'] * 49_998)]),
        "9 ranges of 49,999 cells": lambda: _batch(
            [b'["SIGNAL","btc-usd","%b",[%b]]' % (field, _column(b"%d", 49_998)) for field in FIELDS]
        ),
        "4,000 tables": lambda: _batch([b'["SIGNAL_HISTORY","btc-usd","MAX",%d]' % (44_000 + n) for n in range(4_000)]),
        "the largest body": lambda: _batch([b'["SIGNAL","%b%d"]' % (b"x" * 1_600, n) for n in range(10_000)]),
        "500 long texts": lambda: _batch([b'["SIGNAL","%b%d"]' % (b"x" * 32_000, n) for n in range(500)]),
    }


def books() -> dict[str, Callable[[], bytes]]:
    """Workbooks that cost much to read, by what they hold."""
    wide = " ".join(f"+N{number}" for number in range(150))
    column = {"top": 0, "left": 0, "values": [["x"]] * 200_000, "formulas": [[None]] * 200_000, "spilled": False}
    chained = {**column, "values": [["x"]] * 60_000, "formulas": [[f"=A{n}&B{n}"] for n in range(2, 60_002)]}
    blocks = [{**column, "top": 2 * n, "values": [["x"]], "formulas": [[None]]} for n in range(60_000)]
    names = {f"N{number}": f"=DS.SIGNAL(A{number + 1}){wide}" for number in range(150)}
    return {
        "50,000 cells of names": lambda: _book([f"=DS.SIGNAL(A{n})" for n in range(1, 50_001)], [column]),
        "10,000 names": lambda: _book([f'=DS.SIGNAL("no-{n}")' for n in range(10_000)]),
        "10,000 shapes": lambda: _book([f"=IF({'A1+' * (n % 60)}{n},DS.SIGNAL({n}),{n})" for n in range(10_000)]),
        "long formulas": lambda: _book([f"={'1+' * 7_000}DS.SIGNAL({n})" for n in range(1_000)]),
        "areas over each other": lambda: _book([f"=DS.SIGNAL(A1:A{n})" for n in range(1, 30_001)], [column]),
        "rows of a sheet": lambda: _book([f"=DS.SIGNAL({n}:{n + 9})" for n in range(1, 30_001)], [column]),
        "cells that rest on cells": lambda: _book([f"=DS.SIGNAL(A{n})" for n in range(1, 30_001)], [chained]),
        "cells apart": lambda: _book([f"=DS.SIGNAL(A{n}:A60000)" for n in range(1, 10_001)], blocks),
        "names that use each other": lambda: _book([f"=N{n % 150}+{n}" for n in range(10_000)], names=names),
    }


def _book(formulas: list[str], cells: Sequence[Any] = (), names: Mapping[str, str] | None = None) -> bytes:
    placed = {str(16_384 * row + 16_383): formula for row, formula in enumerate(formulas)}
    sheet = {"name": "Sheet1", "rows": 1_000_000, "formulas": placed, "others": {}, "cells": cells}
    return json.dumps({"sheets": [sheet], "names": names or {}}).encode()


FIELDS = (b"value", b"observed_at", b"previous", b"change", b"pct_change", b"name", b"unit", b"category", b"source")


def _batch(calls: list[bytes]) -> bytes:
    return b'{"calls":[' + b",".join(calls) + b"]}"


def _column(item: bytes, count: int) -> bytes:
    return b",".join([b"[" + item % (n + 1) + b"]" for n in range(count)])


def memory_bytes(pid: int) -> int:
    """The memory that a process holds now (Linux)."""
    pages = int(Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1])
    return pages * 4096


def posted(url: str, file: Path, path: str) -> int:
    """The status of posting a file, sent by another process, so that it does not disturb whoever watches."""
    code = (
        "import sys, httpx\nfrom pathlib import Path\n"
        "content = Path(sys.argv[2]).read_bytes()\n"
        "headers = {'content-type': 'application/json'}\n"
        "print(httpx.post(sys.argv[1], content=content, headers=headers, timeout=300, trust_env=False).status_code)"
    )
    arguments = [sys.executable, "-c", code, url + path, str(file)]
    return int(subprocess.run(arguments, capture_output=True, text=True, check=True).stdout)


def _filled(item: bytes, size: int) -> bytes:
    return b'{"calls":[' + b",".join([item] * (size // (len(item) + 1))) + b"]}"


@contextmanager
def backend(folder: Path, **environ: str) -> Iterator[tuple[str, int]]:
    """The address and the process of a backend of one user."""
    environ = {"PATH": "/usr/bin:/bin", "HOME": str(folder), "DATA_SERVICE_API_KEY": "ds_" + "0" * 40, **environ}
    with started("serve", "--http", "--port", "0", environ=environ) as process:
        yield address_in(process), process.pid


@contextmanager
def service_process(database: Path) -> Iterator[str]:
    """The address of the service in a process of its own, so that it takes no turn of the one that is watched."""
    command = [sys.executable, "-m", "dataservice", "serve", "--db", str(database), "--port", "0"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        yield address_in(process)
    finally:
        process.kill()
        process.communicate()


def watch(url: str, pid: int, files: list[Path], path: str = "/functions/call") -> str:
    """Post the files at the same time; what that did."""
    before, health, began = memory_bytes(pid), Health(url), time.perf_counter()
    with health.watched(), ThreadPoolExecutor(len(files)) as pool:
        status = set(pool.map(lambda file: posted(url, file, path), files))
    took_s, grown = time.perf_counter() - began, memory_bytes(pid) - before
    return (
        f"{len(files)} x {files[0].stat().st_size / 1e6:5.1f} MB -> {status} in {took_s:5.2f} s; /health at worst "
        f"{health.worst_s * 1000:6.1f} ms, median {statistics.median(health.took_s) * 1000:.1f} ms, "
        f"failed {health.failed}; memory {grown / MIB:+.0f} MiB"
    )


def refused(folder: Path, size: int) -> None:
    """Post each body that is refused once, while the service is down."""
    with backend(folder, DATA_SERVICE_URL="http://127.0.0.1:9", DATA_SERVICE_DEADLINE_S="5") as (url, pid):
        httpx.post(f"{url}/functions/call", json={"calls": [["SIGNALS"]]}, trust_env=False, timeout=60)
        for name, made in bodies(size).items():
            file = folder / "body.json"
            file.write_bytes(made())
            print(f"{name:28} {watch(url, pid, [file])}", flush=True)  # noqa: T201


def accepted(folder: Path, only: str, *, is_book: bool) -> None:
    """Post each body that is accepted, alone and then four different ones of its kind at once."""
    path = "/functions/book/cost" if is_book else "/functions/call"
    write_sample(folder / "sample")
    with Store(folder / "service.db") as store:
        import_directory(store, folder / "sample")
        key = store.create_key("pro")
    with (
        service_process(folder / "service.db") as address,
        backend(folder, DATA_SERVICE_URL=address, DATA_SERVICE_API_KEY=key) as (url, pid),
    ):
        httpx.post(f"{url}/functions/call", json={"calls": [["SIGNALS"], ["SIGNAL", "us-cpi"]]}, trust_env=False)
        print(f"{'nothing':28} /health at worst {idle(url) * 1000:.1f} ms")  # noqa: T201
        for name, made in (books() if is_book else accepted_bodies()).items():
            if only not in name:
                continue
            files = [folder / f"body{number}.json" for number in range(4)]
            for number, file in enumerate(files):  # other texts, so that none is found in the cache
                file.write_bytes(made().replace(b'"SIGNAL', b" " * number + b'"SIGNAL'))
            print(f"{name:28} {watch(url, pid, files[:1], path)}", flush=True)  # noqa: T201
            print(f"{'':28} {watch(url, pid, files, path)}", flush=True)  # noqa: T201


def idle(url: str) -> float:
    """How long `/health` takes at worst while nothing else is asked."""
    health = Health(url)
    with health.watched():
        threading.Event().wait(2)
    return health.worst_s


def main() -> None:
    """Post each body, and print what it did."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--bytes", type=int, default=33_000_000)
    options.add_argument("--accepted", action="store_true", help="bodies that are worked on, not refused ones")
    options.add_argument("--books", action="store_true", help="workbooks, which are worked on")
    options.add_argument("--only", default="", help="only accepted bodies whose name contains this")
    given = options.parse_args()
    with tempfile.TemporaryDirectory() as name:
        if given.accepted or given.books:
            accepted(Path(name), given.only, is_book=given.books)
        else:
            refused(Path(name), given.bytes)


if __name__ == "__main__":
    main()
