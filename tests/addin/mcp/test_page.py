"""The page about MCP names what there is, and its configurations start the command."""

import json
import re
import tomllib

from addin.mcp.schemas import COMMON
from addin.mcp.tools import TOOLS


def test_the_page_names_every_tool_with_its_arguments_and_every_common_member(project):
    text = (project / "docs" / "mcp.md").read_text(encoding="utf-8")
    for tool in TOOLS:
        (row,) = [line for line in text.splitlines() if line.startswith(f"| `{tool.name}` |")]
        assert re.findall(r"`(\w+)`", row.split("|")[3]) == [parameter.name for parameter in tool.parameters]
    assert [name for name in COMMON if f"`{name}`" not in text] == []


def test_the_configurations_are_whole_and_name_the_command(project):
    text = (project / "docs" / "mcp.md").read_text(encoding="utf-8")
    found = [json.loads(code) for code in re.findall(r"```json.*?\n(.*?)```", text, re.DOTALL)]
    found += [tomllib.loads(code) for code in re.findall(r"```toml.*?\n(.*?)```", text, re.DOTALL)]
    servers = [server for each in found for named in each.values() for server in named.values()]
    started = [(server["command"], server["args"]) for server in servers if "command" in server]
    assert started == [("addin", ["mcp"])] * 3
    (reached,) = [server for server in servers if "url" in server]
    assert reached["url"].endswith("/mcp")
    assert reached["headers"]["Authorization"].startswith("Bearer ")
