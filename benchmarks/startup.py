"""How long until the command line answers, and until the backend does: `python -m benchmarks.startup`."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence

import httpx

from benchmarks.figures.measuring import Row, alternating, report
from benchmarks.figures.results import run_alone
from benchmarks.figures.served import service_settings

HELP_S = 0.1
EVAL_S = 0.5
BACKEND_S = 1.0


def main() -> None:
    """Print the table."""
    with service_settings() as (settings, key):
        environment = {
            "DATA_SERVICE_URL": settings.url,
            "DATA_SERVICE_API_KEY": key,
            "DATA_SERVICE_CACHE_DIR": str(settings.cache_dir),
        }
        times = alternating(
            {
                "floor": lambda: _run([sys.executable, "-c", "pass"], {}),
                "help": lambda: _run([sys.executable, "-m", "addin.cli.main", "--help"], {}),
                "eval": lambda: _run(
                    [sys.executable, "-m", "addin.cli.main", "eval", '=DS.SIGNAL("us-cpi")'], environment
                ),
                "backend": _until_it_answers(environment),
            }
        )
    floor = times["floor"]
    report(
        "From nothing to an answer",
        [
            Row("addin --help", times["help"], floor, reach_s=HELP_S),
            Row("addin eval of a cached value", times["eval"], floor, reach_s=EVAL_S, note="floor: an empty program"),
            Row("addin serve, first answer", times["backend"], floor, reach_s=BACKEND_S),
        ],
    )


def _run(command: Sequence[str], environment: dict[str, str]) -> None:
    subprocess.run(command, check=True, capture_output=True, env=_environment(environment))


def _until_it_answers(environment: dict[str, str]) -> Callable[[], None]:
    def work() -> None:
        command = [sys.executable, "-m", "addin.cli.main", "serve", "--http", "--port", "0"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=_environment(environment)) as process:
            assert process.stdout is not None
            address = next(word for word in process.stdout.readline().split() if word.startswith("http://"))
            _first_answer(address)
            process.terminate()

    return work


def _first_answer(address: str) -> None:
    body = {"calls": [["SIGNAL", "us-cpi"]]}
    while True:
        try:
            httpx.post(f"{address}/functions/call", json=body, trust_env=False).raise_for_status()
            return
        except httpx.ConnectError:
            time.sleep(0.005)


def _environment(more: dict[str, str]) -> dict[str, str]:
    """Byte code is kept, as it is wherever the add-in is installed: compiling all of it takes longer than the rest."""
    return {**os.environ, "PYTHONUNBUFFERED": "1", "PYTHONDONTWRITEBYTECODE": "", **more}


if __name__ == "__main__":
    run_alone(main)
