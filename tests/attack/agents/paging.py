"""Every row and every character is reached by following `next`, and no call is made twice.

    python -m tests.attack.agents.paging --rows 20000

Series of days, hours and minutes, read in several ways and from several starts; posts of 400 kB in several scripts;
thousands of citations; lists.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import shutil
import sys
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from uuid import UUID

from addin.mcp.runner import ToolFailure
from dataservice.server import write_sample
from tests.attack.agents.world import Agent, add_post, add_signal, agent_of, service_of
from tests.attack.parts.told import Told, conclude

LAST = datetime(2026, 8, 18, tzinfo=UTC)

STEPS = {"daily": timedelta(days=1), "hourly": timedelta(hours=1), "minute": timedelta(minutes=1)}

POST_CHARS = 400_000

SCRIPTS = {
    "latin": "many plain words ",
    "accents": "Öl fällt é ",
    "han": "石油價格上漲。",
    "signs": '"\\<>{}[]|~',
    "emoji": "🛢📈 ",
}

WAYS: tuple[dict[str, Any], ...] = (
    {"start": "MAX", "limit": 10_000},
    {"limit": 10_000},
    {"limit": 700},
    {"start": "MAX", "limit": 900, "transform": "diff"},
)
"""How a series is read to its first row; the last one has a blank first row."""


def moments(name: str, rows: int) -> list[datetime]:
    """The times of a series, oldest first."""
    return [LAST - STEPS[name] * back for back in range(rows - 1, -1, -1)]


def written(moment: datetime, name: str) -> str:
    """A time as a row shows it."""
    return f"{moment:%Y-%m-%d}" if name == "daily" else f"{moment:%Y-%m-%dT%H:%M:%SZ}"


def make_data(folder: Path, rows: int, post_chars: int) -> None:
    """Write the sample with the long series, posts and signals."""
    write_sample(folder, as_of=date(2026, 8, 31))
    for name in STEPS:
        row = {"slug": f"long.{name}", "name": f"Long {name}", "category": "x", "signal_type": "x", "source": "x"}
        add_signal(folder, row, [(f"{at:%Y-%m-%dT%H:%M:%SZ}", float(n)) for n, at in enumerate(moments(name, rows))])
    for name, text in SCRIPTS.items():
        add_post(folder, {"slug": f"long-{name}", "body_md": (text * post_chars)[:post_chars]})
    cited = [
        {"wire_item_id": str(UUID(int=n)), "citation_number": n, "quoted_text": f"quote {n} " * 9} for n in range(3_000)
    ]
    add_post(folder, {"slug": "many-citations", "body_md": "text " * 10_000, "citations": cited})


async def follow(agent: Agent, tool: str, **arguments: Any) -> list[dict[str, Any]]:
    """All answers that following `next` gives; raises `ValueError` where a call is made twice."""
    made, answers = set[str](), list[dict[str, Any]]()
    while True:
        call = json.dumps(arguments, sort_keys=True)
        if call in made:
            raise ValueError(f"{tool} {call[:200]} twice")
        made.add(call)
        answers.append(await agent.ask(tool, **arguments))
        if "next" not in answers[-1]:
            return answers
        arguments |= answers[-1]["next"]


async def check_series(agent: Agent, name: str, rows: int, way: dict[str, Any]) -> None:
    """Note what is missing, doubled or wrong of a series that is read in one way."""
    slug, what = f"long.{name}", f"{name} {way}"
    try:
        answers = await follow(agent, "get_observations", slug=slug, **way)
    except (ToolFailure, ValueError) as error:
        agent.wrong.append(f"{what}: {error}")
        return
    pages = [answer["rows"] for answer in answers]
    got = [row[0] for page in reversed(pages) for row in page]
    wanted = [written(moment, name) for moment in moments(name, rows)]
    if got != wanted:
        missing, more = set(wanted) - set(got), len(got) - len(set(got))
        agent.wrong.append(f"{what}: {len(missing)} rows of {rows} missing {sorted(missing)[:3]}, {more} twice")
    values = [row[1] for page in reversed(pages) for row in page]
    expected: list[float | None] = [float(n) for n in range(rows)]
    if "transform" in way:
        expected = [None, *[1.0] * (rows - 1)]
    if got == wanted and values != expected:
        at = next(n for n, (one, other) in enumerate(zip(values, expected, strict=True)) if one != other)
        agent.wrong.append(f"{what}: row {got[at]} is {values[at]} and not {expected[at]}")


async def check_posts(agent: Agent, post_chars: int) -> None:
    """Note what is missing of the long posts."""
    for name, text in SCRIPTS.items():
        answers = await follow(agent, "list_posts", slug=f"long-{name}")
        whole = "".join(answer["posts"][0]["body_md"] for answer in answers)
        if whole != (text * post_chars)[:post_chars]:
            agent.wrong.append(f"post {name}: {len(whole)} characters of {post_chars}")
    answers = await follow(agent, "list_posts", slug="many-citations")
    cited = [each["citation_number"] for answer in answers for each in answer["posts"][0].get("citations", [])]
    if cited != list(range(3_000)):
        agent.wrong.append(f"citations: {len(cited)} of 3,000")
    for tool, member in (("list_signals", "signals"), ("list_wire", "items"), ("list_posts", "posts")):
        answers = await follow(agent, tool, limit=7, **({} if tool == "list_signals" else {"fields": ["*"]}))
        got = [record for answer in answers for record in answer[member]]
        if len(got) != answers[0]["total"]:
            agent.wrong.append(f"{tool}: {len(got)} of {answers[0]['total']}")


async def attack(rows: int, folder: Path, post_chars: int = POST_CHARS) -> Told:
    """Read everything to its end."""
    data = folder / "data"
    make_data(data, rows, post_chars)
    with service_of(data, folder) as service:
        wrong, calls = list[str](), 0
        for name in STEPS:
            for way in WAYS:
                async with agent_of(service, deadline_s=120) as agent:
                    await check_series(agent, name, rows, way)
                    wrong, calls = wrong + agent.wrong, calls + agent.calls
        async with agent_of(service, deadline_s=120) as agent:
            await check_posts(agent, post_chars)
            wrong, calls = wrong + agent.wrong, calls + agent.calls
    shutil.rmtree(data)
    sys.stdout.write("".join(f"{each}\n" for each in wrong[:20]))
    return Told(calls, wrong=len(wrong))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=20_000)
    given = parser.parse_args()
    with TemporaryDirectory() as folder:
        conclude(asyncio.run(attack(given.rows, Path(folder))))


if __name__ == "__main__":
    main()
