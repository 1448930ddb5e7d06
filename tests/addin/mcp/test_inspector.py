"""Another maker's eyes: MCP Inspector, on the TypeScript SDK, in its command-line mode."""

import json
import shutil
import subprocess

import pytest

from tests.addin.commands import command, environment

INSPECTOR = "mcp-inspector"
"""From npm's @modelcontextprotocol/inspector; seen with 2.12.0. Too large to install for one test."""


@pytest.fixture
def inspect(real_service, project, tmp_path):
    """Return what asks `addin mcp` through the inspector, or skip where that is not installed."""
    places = [str(project / "tests" / "node" / "node_modules" / ".bin"), None]
    inspector = next(filter(None, (shutil.which(INSPECTOR, path=place) for place in places)), None)
    if inspector is None:
        pytest.skip("MCP Inspector is not here: npm install --global @modelcontextprotocol/inspector@2.12.0")
    environ = environment(tmp_path, real_service)
    given = [f"{name}={value}" for name, value in environ.items() if name.startswith(("DATA_", "XDG_", "PYTHON"))]
    variables = [part for each in given for part in ("-e", each)]

    def ask(*arguments):
        line = [inspector, "--cli", *variables, *command(["mcp"]), *arguments]
        return json.loads(subprocess.run(line, env=environ, capture_output=True, text=True, timeout=120).stdout)

    return ask


def test_the_inspector_lists_and_calls_the_tools_and_reads_the_catalogue(inspect):
    tools = inspect("--method", "tools/list")["tools"]
    assert len(tools) == 8
    call = ("--method", "tools/call", "--tool-name")
    called = inspect(*call, "get_signal", "--tool-arg", "slug=us-cpi", "--tool-arg", "history=1")
    assert called["structuredContent"]["rows"] == [["2026-05-01", 335.123]]
    refused = inspect(*call, "list_wire", "--tool-arg", "kind=gossip")
    assert refused["isError"] is True
    (content,) = inspect("--method", "resources/read", "--uri", "dataservice://catalogue")["contents"]
    assert content["text"].startswith("slug,shortcode,name")
