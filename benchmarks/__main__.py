"""Run all benchmarks, or those named: `python -m benchmarks [batch startup …]`."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

HERE = Path(__file__).parent
NO_BENCHMARKS = {"__init__", "__main__", "measuring", "served"}


def names() -> list[str]:
    """The benchmarks there are."""
    modules = (path.stem for path in HERE.glob("*.py"))
    return sorted(name for name in modules if name not in NO_BENCHMARKS)


def main(chosen: list[str]) -> None:
    """Run the chosen ones, all when none is named."""
    unknown = set(chosen) - set(names())
    if unknown:
        sys.exit(f"there is no benchmark {', '.join(sorted(unknown))}; there are {', '.join(names())}")
    for name in chosen or names():
        importlib.import_module(f"benchmarks.{name}").main()


if __name__ == "__main__":
    main(sys.argv[1:])
