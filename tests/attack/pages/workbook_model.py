"""A random life of workbooks before a real backend: told is what was counted, and previews hold what is spent.

`python -m tests.attack.pages.workbook_model --steps 10000` is the long run; the suite runs a short one.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from starlette.applications import Starlette
from starlette.responses import JSONResponse
from starlette.routing import Route

from addin.backend.serving import listen, running
from addin.excel.assets import STATIC
from dataservice.server import Store, import_directory, write_sample
from dataservice.server import running as running_service
from tests.addin.backends import RunningBackend, backend_of
from tests.attack.parts.told import Told, conclude
from tests.embedded import SAMPLE_AS_OF, EmbeddedService
from udfs import REGISTRY

MODEL = Path(__file__).with_suffix(".js")
SLUGS = ("us-cpi", "us-10y", "btc-usd", "wb.gold", "sp-500", "cboe.vix", "eth-usd")
CONFIGURATION = {
    "version": "1",
    "namespace": "DS",
    "functions": list(REGISTRY),
    "maxCalls": 10_000,
    "maxBytes": 8_000_000,
    "maxValues": 500_000,
    "maxCells": 50_000,
    "deadlineMs": 40_000,
}


def attack(backend: RunningBackend, service: EmbeddedService, *, steps: int, seed: int) -> dict[str, Any]:
    """What the model found; raises `AssertionError` if it failed itself."""

    async def counted(_: object) -> JSONResponse:
        return JSONResponse({"counted": service.running.request_count})

    with running(Starlette(routes=[Route("/counted", counted)]), listen("127.0.0.1", 0)) as url:
        given = {
            "static": STATIC.as_uri(),
            "url": f"{backend.url}/",
            "counted": f"{url}/counted",
            "configuration": CONFIGURATION,
            "slugs": SLUGS,
            "steps": steps,
            "seed": seed,
        }
        command = [node(), "--no-warnings", str(MODEL), json.dumps(given)]
        ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    found: dict[str, Any] = json.loads(ended.stdout.splitlines()[-1])
    return found


def node() -> str:
    """The path of Node.js."""
    program = shutil.which("node")
    assert program is not None, "no Node.js here"
    return program


def life(steps: int, seed: int) -> dict[str, Any]:
    """What the model found with a service and a backend of its own."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        write_sample(folder / "data", as_of=SAMPLE_AS_OF)
        with Store(folder / "service.db") as store:
            import_directory(store, folder / "data")
            with running_service(store) as service:
                embedded = EmbeddedService(service, store.create_key("pro"), store.create_key("free"))
                with backend_of(embedded, folder, ask_above=1_000_000) as backend:
                    return attack(backend, embedded, steps=steps, seed=seed)


def main() -> None:
    """Run as long as asked, and print what was done."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--steps", type=int, default=10_000, help="of all lives together (default: %(default)s)")
    arguments.add_argument("--seed", type=int, default=1, help="of the first life (default: %(default)s)")
    arguments.add_argument("--lives", type=int, default=4, help="at a time: most of each is waiting (default: 4)")
    chosen = arguments.parse_args()
    seeds = range(chosen.seed, chosen.seed + chosen.lives)
    with ThreadPoolExecutor(chosen.lives) as lives:
        found = list(lives.map(lambda seed: life(chosen.steps // chosen.lives, seed), seeds))
    for each in found:
        sys.stdout.write(f"{json.dumps(each)}\n")
    counts = {what: sum(len(each[what]) for each in found) for what in ("outside", "untold")}
    conclude(Told(sum(each["steps"] for each in found), wrong=counts["outside"], over=counts["untold"]))


if __name__ == "__main__":
    main()
