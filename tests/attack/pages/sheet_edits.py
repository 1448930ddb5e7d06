"""Random edits in the sheet in the browser; in the end every cell must show what the backend answers to its call.

    python -m tests.attack.pages.sheet_edits --steps 400 --seed 1

An edit is a slug, a formula on a slug or on a cell, a cleared cell, or Stop; the service is now fast, now slow. At
every rest, after a refresh, no cell loads, and each cell with a call of ours shows the value or error that the backend
gives to the same call.
"""

from __future__ import annotations

import argparse
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

import httpx

from tests.addin.excel.parts.chromium import Chromium
from tests.addin.sheet.parts.pages import SheetPage, opened_sheet, sheet_server
from tests.attack.parts.chromium_world import chromium_world
from tests.attack.parts.told import Told, conclude
from tests.embedded import EmbeddedService

SLUGS = ("us-cpi", "sp-500", "btc-usd", "eia.wti.spot", "nope", "CPI", "cboe.vix")
FIELDS = ("value", "name", "unit", "observed_at", "price", "change")
ROWS = 8
BETWEEN_RESTS = 12


@dataclass
class Found:
    """What happened: edits by kind, and everything that must not happen."""

    edits: Counter[str] = field(default_factory=Counter)
    compared: int = 0
    posts: int = 0
    wrong: list[str] = field(default_factory=list)


def attack_sheet(chromium: Chromium, service: EmbeddedService, folder: Path, steps: int, seed: int) -> Found:
    """Make `steps` edits, and compare at every rest."""
    random, found = Random(seed), Found()
    with (
        sheet_server(service, folder) as url,
        httpx.Client(base_url=url, trust_env=False, timeout=60) as http,
        opened_sheet(chromium, url) as page,
    ):
        slugs: dict[int, str] = {}
        calls: dict[int, list[Any]] = {}
        for step in range(steps):
            service.running.latency_s = random.choice([0, 0, 0.05])
            _edit(page, random, slugs, calls, found)
            if step % BETWEEN_RESTS == BETWEEN_RESTS - 1 or step == steps - 1:
                service.running.latency_s = 0
                _compare(page, http, slugs, calls, found, f"{seed}/{step}")
        found.posts = page.posts()
    return found


def _edit(page: SheetPage, random: Random, slugs: dict[int, str], calls: dict[int, list[Any]], found: Found) -> None:
    row, what = random.randrange(1, ROWS + 1), random.choice(["slug", "slug", "call", "call", "cell", "clear", "stop"])
    found.edits[what] += 1
    match what:
        case "slug":
            slugs[row] = random.choice(SLUGS)
            page.put({f"A{row}": slugs[row]})
        case "call":
            slug, name = random.choice(SLUGS), random.choice(FIELDS)
            calls[row] = ["SIGNAL", slug, name]
            page.put({f"C{row}": f'=DS.SIGNAL("{slug}","{name}")'})
        case "cell":
            source, name = random.randrange(1, ROWS + 1), random.choice(FIELDS)
            calls[row] = ["SIGNAL", source, name]
            page.put({f"C{row}": f'=DS.SIGNAL(A{source},"{name}")'})
        case "clear":
            calls.pop(row, None)
            page.put({f"C{row}": ""})
        case _:
            page.tab.evaluate("sheet.stop()")


def _compare(
    page: SheetPage,
    http: httpx.Client,
    slugs: dict[int, str],
    calls: dict[int, list[Any]],
    found: Found,
    where: str,
) -> None:
    """Refresh, so that nothing is stopped any more, and hold each cell against the backend's own answer."""
    page.tab.evaluate("sheet.refresh()")
    shown = {row: page.cell(f"C{row}") for row in range(1, ROWS + 1)}
    made = {row: [call[0], slugs.get(call[1], call[1]), call[2]] for row, call in calls.items()}
    made = {row: [call[0], None, call[2]] if isinstance(call[1], int) else call for row, call in made.items()}
    if made:
        answers = http.post("/functions/call", json={"calls": list(made.values())}).json()["answers"]
        expected = dict(zip(made, answers, strict=True))
    else:
        expected = {}
    for row, cell in shown.items():
        found.compared += 1
        answer = expected.get(row)
        wanted = None if answer is None else answer.get("value", answer.get("error"))
        if cell["value"] != wanted or (answer and "error" in answer and cell["message"] != answer["message"]):
            found.wrong.append(f"{where} C{row} {made.get(row)}: {cell} instead of {answer}")


def main() -> None:
    """Attack, and print what was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=400)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    with chromium_world() as (chromium, service, folder):
        found = attack_sheet(chromium, service, folder, options.steps, options.seed)
    print(f"  edits: {dict(found.edits)}; posts: {found.posts}; cells compared: {found.compared:,}")  # noqa: T201
    print(f"  wrong: {len(found.wrong)}", *found.wrong[:40], sep="\n    ")  # noqa: T201
    conclude(Told(options.steps, wrong=len(found.wrong)))


if __name__ == "__main__":
    main()
