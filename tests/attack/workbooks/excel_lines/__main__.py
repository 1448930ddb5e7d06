"""Excel's own results: what a refresh, a freeze and `eval` make of the same formulas.

    python -m tests.attack.workbooks.excel_lines [--sample N] [--ways inside beside …] [--dynamic] [--freeze] [--eval]

Each line of the truth stands in a book four times: with a call of ours inside or resting on one, with Excel's result in
the file or without it. A value that is written has to be Excel's; what is not proven keeps what the file held. A
frozen copy of a book with values has to show the same.
"""

from __future__ import annotations

import argparse
import asyncio
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.attack.workbooks.excel_lines.lines import LINES, Way, read_lines
from tests.attack.workbooks.excel_lines.measure import Found, measure, measure_eval, sample


def main() -> None:
    """Run the ways, and print the counts."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--sample", type=int, help="as many lines, chosen evenly; all by default")
    parser.add_argument("--ways", nargs="*", type=Way, choices=list(Way), default=list(Way))
    parser.add_argument("--dynamic", action="store_true", help="write the formulas as dynamic arrays")
    parser.add_argument("--eval", action="store_true", help="work the lines without cells out by `addin eval` instead")
    parser.add_argument("--freeze", action="store_true", help="freeze each book with values too, and compare the copy")
    parser.add_argument("--show", action="store_true", help="print every line that is written wrong or left")
    arguments = parser.parse_args()
    if not LINES.exists():
        parser.exit(0, f"{LINES.name} is not there\n")
    lines = sample(read_lines(), arguments.sample)
    if arguments.eval:
        _print("eval", asyncio.run(measure_eval(lines)), shows=arguments.show)
    for way in () if arguments.eval else arguments.ways:
        with TemporaryDirectory() as folder:
            found = asyncio.run(
                measure(
                    lines, way, Path(folder), is_dynamic=arguments.dynamic, freezes=arguments.freeze and way.is_stored
                )
            )
        _print(way, found, shows=arguments.show)


def _print(way: str, found: Found, *, shows: bool) -> None:
    total = sum(found.counts[name] for name in ("right", "left", "written wrong"))
    shares = ", ".join(f"{name} {count} ({count / total:.2%})" for name, count in sorted(found.counts.items()))
    print(f"{way}: {shares}")  # noqa: T201
    reasons = Counter(each.why for each in found.left)
    for why, count in reasons.most_common(25):
        print(f"  {count:5} left: {why}")  # noqa: T201
    for each in found.wrong:
        print(f"  WRONG {each}")  # noqa: T201
    if shows:
        for each in found.left:
            print(f"  LEFT {each}")  # noqa: T201


if __name__ == "__main__":
    main()
