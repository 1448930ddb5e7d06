"""Agents for tests: the SDK's own client, connected to the real command."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from mcp import Client, StdioServerParameters

from addin.config.settings import Settings
from addin.mcp.server import server_of
from tests.addin.commands import command, environment
from tests.embedded import EmbeddedService


@asynccontextmanager
async def agent(service: EmbeddedService, folder: Path, **settings: str) -> AsyncIterator[Client]:
    """A client of `addin mcp`, started as clients start it: in a process of its own, over stdin and stdout."""
    program, *arguments = command(["mcp"])
    environ = environment(folder, service, **settings)
    async with Client(StdioServerParameters(command=program, args=arguments, env=environ)) as client:
        yield client


def client_of(service: EmbeddedService, folder: Path, **settings: Any) -> Client:
    """A client of the server in this process, which takes its key from this process's environment."""
    return Client(server_of(Settings(url=service.url, cache_dir=folder / "cache", **settings)))


async def result_of(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    """The structured result of a call; the text beside it says the same."""
    called = await client.call_tool(tool, arguments)
    assert not called.is_error, called.content[0].text
    assert json.loads(called.content[0].text) == called.structured_content
    return called.structured_content


async def refusal_of(client: Client, tool: str, **arguments: Any) -> str:
    """What a call that fails tells the model."""
    called = await client.call_tool(tool, arguments)
    assert called.is_error, called.structured_content
    return called.content[0].text
