"""Calls as no schema allows them: each gets an answer that says what is right, at once, and spends nothing.

    python -m tests.attack.agents.malformed --calls 1000

Wrong types, names, ranges, nesting, sizes and encodings in every argument of every tool, through the protocol's own
client.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import re
import sys
from collections.abc import Callable
from datetime import date
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from mcp import Client, MCPError

from addin.config.settings import Settings
from addin.mcp.server import server_of
from addin.mcp.tool import input_schema
from addin.mcp.tools import TOOLS
from dataservice.server import write_sample
from tests.attack.agents.world import service_of
from tests.attack.parts.told import Told, conclude
from tests.embedded import EmbeddedService

LIMIT_S = 10.0

DEEP: Any = []
for _ in range(60):
    DEEP = [DEEP]

ODD: tuple[Any, ...] = (
    *(
        None,
        True,
        False,
        0,
        -1,
        1.5,
        10**30,
        -(10**30),
        1e308,
        "",
        " ",
        "null",
        "NaN",
        "x",
        "\x00",
        "\u202e",
        "é" * 900,
    ),
    *(
        "x" * 5_000,
        "a,b,,c",
        "[]",
        "{}",
        '{"a": 1}',
        "2024-13-45",
        "-9999Y",
        "yesterday",
        "N0",
        "MAX",
        "W-XYZ",
        "ma(",
        "|",
    ),
    *([], [None], [[]], [{}], [1, 2], ["x"] * 2_000, {}, {"a": 1}, {"": None}, DEEP, ["us-cpi", None], [True], "=1+1"),
    *("'; DROP TABLE signals; --", "../../etc/passwd", "${jndi:ldap://x}", "\ud83d", "%s%n", "0x10", "1e5", "٣", "一"),
)

TEACHES = re.compile(
    r"takes|is not|did you mean|there (is|are)|give |at most|between|missing|has no|more than|lies|no signal|needs|"
    r"in vain|is an error|too (long|many)|cannot|must|no post|look was on|known|raise"
)
"""A word of those that say what is right, or what there is."""

OURS = re.compile(
    r"Traceback|File \"|object at 0x|TypeError|ValueError|KeyError|AttributeError|NoneType|<class|\bfailed \("
)
"""What only whoever wrote the program can use."""


def malformed(rng: random.Random) -> tuple[str, Any]:
    """A tool and arguments that are wrong in some way."""
    tool = rng.choice(TOOLS)
    schema = input_schema(tool)["properties"]
    names = list(schema)
    arguments: dict[str, Any] = (
        {"slug": "us-cpi"} if "slug" in schema and tool.name.startswith("get") and rng.random() < 0.5 else {}
    )
    ways: tuple[Callable[[], Any], ...] = (
        lambda: arguments | {rng.choice(names): rng.choice(ODD)},
        lambda: arguments | {name: rng.choice(ODD) for name in rng.sample(names, min(3, len(names)))},
        lambda: arguments | {misspelt(rng.choice(names), rng): rng.choice(ODD)},
        lambda: arguments | {"slugs": ["us-cpi"], "slug": "us-cpi"},
        lambda: arguments | {"start": "2025-01-01", "end": "2020-01-01"},
        lambda: arguments | {rng.choice(names): [rng.choice(ODD) for _ in range(3)]},
        lambda: {str(rng.choice(ODD)): rng.choice(ODD)},
    )
    return tool.name, rng.choice(ways)()


def misspelt(name: str, rng: random.Random) -> str:
    """A name with a letter less, more, or in another case."""
    place = rng.randrange(len(name))
    return rng.choice([name[:place] + name[place + 1 :], name + rng.choice("sx_ "), name.upper(), name[::-1]])


async def ask(client: Client, tool: str, arguments: Any) -> tuple[str, bool]:
    """What a call gives as text, and whether it is an error."""
    try:
        called = await asyncio.wait_for(client.call_tool(tool, arguments), LIMIT_S)
    except MCPError as error:
        return str(error), True
    return called.content[0].text, bool(called.is_error)


async def attack(calls: int, seed: int, folder: Path) -> Told:
    """Make so many calls; an answer that is none, or teaches nothing, is wrong."""
    rng, wrong, hung = random.Random(seed), list[str](), 0
    write_sample(folder / "data", as_of=date(2026, 8, 31))
    with service_of(folder / "data", folder) as service:
        async with client_of(service, folder) as client:
            warm = ("list_signals", "list_indices", "list_currents", "list_posts", "list_wire")
            for tool in warm:
                await client.call_tool(tool, {})
            await client.call_tool("get_observations", {"slug": "us-cpi", "start": "MAX"})
            for _ in range(calls):
                tool, arguments = malformed(rng)
                shown = f"{tool} {str(arguments)[:160]}"
                before = service.running.request_count
                try:
                    text, is_error = await ask(client, tool, arguments)
                except TimeoutError:
                    hung += 1
                    wrong.append(f"{shown}: no answer within {LIMIT_S:g} s")
                    continue
                except Exception as error:  # noqa: BLE001 - a client that cannot send it has refused it
                    if not isinstance(error, (TypeError, ValueError, UnicodeError)):
                        wrong.append(f"{shown}: {type(error).__name__} {error}")
                    continue
                spent = service.running.request_count - before
                wrong += [f"{shown}: {why}" for why in faults(text, is_error=is_error, spent=spent)]
    sys.stdout.write("".join(f"{each}\n" for each in wrong[:25]))
    return Told(calls, hung=hung, wrong=len(wrong) - hung)


def faults(text: str, *, is_error: bool, spent: int) -> list[str]:
    """What is wrong with an answer."""
    found = []
    if is_error and not TEACHES.search(text):
        found.append(f"teaches nothing: {text[:200]}")
    if OURS.search(text):
        found.append(f"shows the inside: {text[:200]}")
    if is_error and len(text) > 1_200:
        found.append(f"{len(text):,} characters")
    if is_error and spent and "spent" not in text and not text.startswith("no signal"):
        found.append(f"{spent} requests spent unsaid: {text[:200]}")
    return found


def client_of(service: EmbeddedService, folder: Path) -> Client:
    """A client of the server in this process."""
    os.environ["DATA_SERVICE_API_KEY"] = service.key
    return Client(server_of(Settings(url=service.url, cache_dir=folder / "cache")))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calls", type=int, default=1_000)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    with TemporaryDirectory() as folder:
        conclude(asyncio.run(attack(given.calls, given.seed, Path(folder))))


if __name__ == "__main__":
    main()
