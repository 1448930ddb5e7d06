"""An agent with the real tools before a service, which looks at every answer that it gets."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import jsonschema
import orjson

from addin.mcp.answer_size import fits
from addin.mcp.runner import ToolFailure, ToolRunner
from addin.mcp.schemas import OTHERS_MARK
from addin.mcp.texts import WORDS_OF_OTHERS
from addin.mcp.tool import ALWAYS, output_schema
from addin.mcp.tools import TOOLS
from dataservice.client import AsyncClient
from dataservice.server import Store, import_directory, running
from tests.embedded import EmbeddedService

BY_NAME = {tool.name: tool for tool in TOOLS}

VALIDATORS = {tool.name: jsonschema.Draft202012Validator(output_schema(tool)) for tool in TOOLS}

UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\U000e0000-\U000e0fff]")
"""Some of what no reader sees; written again here, so that a hole in the product's own list is found."""

COUNTED = re.compile(r"; ([\d,]+) requests? spent")
"""How an error tells what was spent."""


@dataclass
class Agent:
    """Calls tools, counts what they tell, and notes what is wrong with an answer."""

    runner: ToolRunner
    calls: int = 0
    bytes: int = 0
    told: int = 0
    wrong: list[str] = field(default_factory=list)

    async def ask(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """The result of a call; raises `ToolFailure`."""
        self.calls += 1
        try:
            result = await self.runner.answer(BY_NAME[tool], arguments)
        except ToolFailure as failure:
            self.bytes += len(str(failure).encode())
            self.told += told_in(str(failure))
            raise
        self.bytes += len(orjson.dumps(result))
        self.told += result["requests"]
        self._check(tool, arguments, result)
        return result

    def _check(self, tool: str, arguments: Mapping[str, Any], result: Mapping[str, Any]) -> None:
        call = f"{tool} {json.dumps(arguments, default=str)[:200]}"
        if not fits(result):
            self.wrong.append(f"{call}: more than a client accepts")
        if error := next(VALIDATORS[tool].iter_errors(result), None):
            self.wrong.append(f"{call}: not as the schema says: {error.message[:200]}")
        if text := next((text for text in texts_of(result) if UNSEEN.search(text)), None):
            self.wrong.append(f"{call}: characters that nobody sees in {text[:80]!r}")
        if lacking := [name for name in ALWAYS if name not in result]:
            self.wrong.append(f"{call}: lacks {lacking}")
        marked = {name for name, form in output_schema(BY_NAME[tool])["properties"].items() if OTHERS_MARK in form}
        if marked & result.keys() != set(result.get(WORDS_OF_OTHERS, ())):
            self.wrong.append(f"{call}: marks {result.get(WORDS_OF_OTHERS)} and not what the schema marks")


def told_in(failure: str) -> int:
    """How many requests an error tells."""
    found = COUNTED.search(failure)
    return int(found[1].replace(",", "")) if found else 0


def texts_of(value: Any) -> Iterator[str]:
    """Every text and name in a value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for name, each in value.items():
            yield str(name)
            yield from texts_of(each)
    elif isinstance(value, Sequence):
        for each in value:
            yield from texts_of(each)


@asynccontextmanager
async def agent_of(service: EmbeddedService, key: str = "", **options: Any) -> AsyncIterator[Agent]:
    """An agent with an empty cache."""
    async with AsyncClient(service.url, key or service.key) as client:
        yield Agent(ToolRunner(client, deadline_s=options.pop("deadline_s", 30.0), **options))


@contextmanager
def service_of(data: Path, folder: Path) -> Iterator[EmbeddedService]:
    """The embedded service on a folder of data."""
    with Store(folder / "service.db") as store:
        import_directory(store, data)
        with running(store) as service:
            yield EmbeddedService(service, store.create_key("pro"), store.create_key("free"))


def add_signal(data: Path, row: Mapping[str, str], observations: Sequence[tuple[str, float]]) -> None:
    """Add a signal with its observations to a folder of data."""
    file = data / "signals.csv"
    with file.open(newline="", encoding="utf-8") as stream:
        header = next(csv.reader(stream))
    with file.open("a", newline="", encoding="utf-8") as stream:
        csv.DictWriter(stream, header).writerow({"is_premium": "false", **row})
    lines = [f"{moment},{value}\n" for moment, value in observations]
    (data / "observations" / f"{row['slug']}.csv").write_text("observed_at,value\n" + "".join(lines), encoding="utf-8")


def add_post(data: Path, post: Mapping[str, Any]) -> None:
    """Add a post to a folder of data."""
    with (data / "codex.jsonl").open(encoding="utf-8") as stream:
        model = json.loads(stream.readline())
    with (data / "codex.jsonl").open("a", encoding="utf-8") as stream:
        stream.write(json.dumps({**model, **post}) + "\n")
