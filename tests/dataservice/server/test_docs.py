"""docs/server.md names what there is: commands, options, files, headers, tiers and variables."""

import re

import pytest
import typer
from typer.core import TyperGroup

from dataservice.cli.main import app
from dataservice.server import Tier
from dataservice.server.http.auth_middleware import CAP_HEADER, OPEN_PATHS, REMAINING_HEADER, TIER_HEADER
from dataservice.server.imports import dataset
from tests.contract.conftest import OPTIONS


@pytest.fixture(scope="module")
def page(project):
    return (project / "docs/server.md").read_text(encoding="utf-8")


def commands(command, name):
    """The commands of a group and of the groups in it, by their full names."""
    if not isinstance(command, TyperGroup):
        return {name: command}
    return {
        full: inner
        for word, member in command.commands.items()
        for full, inner in commands(member, f"{name} {word}").items()
    }


COMMANDS = commands(typer.main.get_command(app), "dataservice")


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_and_option_is_documented(page, name):
    assert name in page
    options = {option for parameter in COMMANDS[name].params for option in parameter.opts if option.startswith("--")}
    assert {option for option in options if option not in page} == set()


def test_every_file_header_tier_and_variable_is_documented(page):
    names = {dataset.SIGNALS, dataset.OBSERVATIONS, dataset.INDICES, dataset.CURRENTS, dataset.POSTS, dataset.WIRE}
    names |= {TIER_HEADER, CAP_HEADER, REMAINING_HEADER, "DATA_SERVICE_DB", "DATA_SERVICE_TEST_POSTGRESQL"}
    names |= OPEN_PATHS | {tier.value for tier in Tier} | {f"{tier.cap:,}" for tier in Tier}
    names |= set(OPTIONS) | {variable for variable, _ in OPTIONS.values()}
    assert {name for name in names if name not in page} == set()


def test_the_python_example_runs(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    [example] = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    exec(compile(example, "docs/server.md", "exec"), {})  # the page is ours
    assert (tmp_path / "service.db").is_file()
