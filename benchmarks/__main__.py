"""Run all benchmarks, or those named: `python -m benchmarks [batch startup …] [--json] [--docs]`."""

from __future__ import annotations

import argparse
import contextlib
import importlib
import sys
import time
import traceback
from collections.abc import Sequence
from pathlib import Path

from benchmarks.figures.results import print_json, until_stopped, write_page

HERE = Path(__file__).parent
NO_BENCHMARKS = {"__init__", "__main__"}


def names() -> list[str]:
    """The benchmarks there are."""
    modules = (path.stem for path in HERE.glob("*.py"))
    return sorted(name for name in modules if name not in NO_BENCHMARKS)


def main(arguments: Sequence[str]) -> None:
    """Run the chosen ones, all when none is named."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Measure, each figure beside its floor.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(names())}; default: all")
    parser.add_argument("--json", action="store_true", help="print the tables as JSON")
    parser.add_argument("--docs", action="store_true", help="put the tables into docs/performance.md; others stay")
    given = parser.parse_args(arguments)
    unknown = set(given.names) - set(names())
    if unknown:
        sys.exit(f"there is no benchmark {', '.join(sorted(unknown))}; there are {', '.join(names())}")
    failed: list[str] = []
    begun = time.perf_counter()
    with contextlib.redirect_stdout(sys.stderr) if given.json else contextlib.nullcontext():
        chosen = given.names or names()
        for place, name in enumerate(chosen, 1):
            print(f"{place} of {len(chosen)}: benchmarks.{name}", file=sys.stderr)
            started = time.perf_counter()
            try:
                importlib.import_module(f"benchmarks.{name}").main()
            except SystemExit as missing:  # a program that it needs is not on this machine
                print(f"left out: {missing}", file=sys.stderr)
            except Exception:  # noqa: BLE001 - the figures of the others are not lost
                traceback.print_exc()
                failed.append(name)
            print(f"took {time.perf_counter() - started:.0f} s\n", file=sys.stderr)
    if given.json:
        print_json()
    if given.docs:
        write_page(time.perf_counter() - begun, is_whole=not given.names)
    if failed:
        sys.exit(f"failed: {', '.join(failed)}")


if __name__ == "__main__":
    until_stopped(lambda: main(sys.argv[1:]))
