"""What the pages show works: Python blocks run, commands exist, and shell blocks run unless they say why not."""

import os
import re
import shlex
import subprocess
import sys
from functools import cache
from itertools import takewhile
from typing import Any

import pytest

from docs.generate.commands import commands
from tests.addin.commands import share_the_compiled_engine
from tests.docs.pages import PROJECT, REASONS, Block, blocks
from tests.forking import run_code, shell_programs

LIMIT_S = 300
"""So long no block takes on any machine: one that does hangs."""

OURS = ("addin", "dataservice")
GUIDES = ("README.md", "docs/")
ELSEWHERE = {"docs/server.md"}
"""Pages whose commands are tested with the part they describe."""

PYTHON = [block for block in blocks("python") if block.page.startswith(GUIDES)]
SHELL = [block for block in blocks("sh") if block.page.startswith(GUIDES)]


def by_id(block: Block) -> str:
    return block.id


@pytest.fixture
def environment(sample_service, tmp_path) -> dict[str, str]:
    """A user's environment with the embedded service instead of the hosted one."""
    own = {name: value for name, value in os.environ.items() if not name.startswith("DATA_SERVICE_")}
    share_the_compiled_engine(tmp_path / "cache")
    return own | {
        "HOME": str(tmp_path / "home"),
        "XDG_CONFIG_HOME": str(tmp_path / "config"),
        "XDG_CACHE_HOME": str(tmp_path / "cache"),
        "PYTHON_KEYRING_BACKEND": "keyring.backends.null.Keyring",
        "PYTHONWARNINGS": "default",
        "DATA_SERVICE_URL": sample_service.url,
        "DATA_SERVICE_API_KEY": sample_service.key,
    }


@pytest.mark.parametrize("block", [block for block in PYTHON if not block.title], ids=by_id)
def test_python_runs(block, environment, tmp_path):
    done = run_code(block.code, environ=environment, cwd=tmp_path)
    assert done.returncode == 0, done.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="the pages' commands are those of a POSIX shell")
@pytest.mark.parametrize(
    "block",
    [
        block
        for block in SHELL
        if not block.title and block.page not in ELSEWHERE and not block.code.startswith("make ")
    ],
    ids=by_id,
)
def test_commands_run(block, environment, tmp_path):
    with shell_programs(tmp_path / "programs") as programs:
        done = subprocess.run(
            ["bash", "-euo", "pipefail"],
            input=block.code,
            env=environment | programs,
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=LIMIT_S,
            check=False,
            close_fds=False,
        )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("block", [block for block in (*PYTHON, *SHELL) if block.title], ids=by_id)
def test_what_is_not_run_says_why(block):
    assert block.title.startswith(REASONS)


def words_of(line: str) -> list[str]:
    """The words of a line as a shell splits them; an empty list if it is not a command line."""
    lexer = shlex.shlex(line, posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    try:
        return list(lexer)
    except ValueError:
        return []


def our_commands() -> list[tuple[str, list[str]]]:
    """Every call of one of our commands in the pages, as its words."""
    found = []
    for block in [*SHELL, *(block for block in blocks("text") if block.page.startswith(GUIDES))]:
        for line in block.code.splitlines():
            words = words_of(line)
            for place, word in enumerate(words):
                before = words[place - 1] if place else ";"
                if word.rpartition("/")[2] in OURS and (before[-1] in ";&|(" or "=" in before):
                    rest = takewhile(lambda each: each[0] not in ";&|<>)", words[place + 1 :])
                    found.append((block.id, [word.rpartition("/")[2], *rest]))
    return found


@cache
def known() -> dict[str, Any]:
    """Every command by its words."""
    return {" ".join(names): command for names, command in commands()}


def test_the_pages_show_commands():
    assert len(our_commands()) > 30


@pytest.mark.parametrize(("place", "words"), our_commands(), ids=lambda each: each if isinstance(each, str) else None)
def test_a_command_and_its_options_exist(place, words):
    name = next(" ".join(words[:count]) for count in (3, 2, 1) if " ".join(words[:count]) in known())
    options = {
        spelling for parameter in known()[name].params for spelling in (*parameter.opts, *parameter.secondary_opts)
    }
    used = {word.split("=")[0] for word in words if re.match(r"--?[a-z]", word)}
    assert used <= options | {"--help"}
    assert name not in OURS or {*words[1:]} & {"[OPTIONS]", *options}, f"no command {words[1]!r}"


def test_the_read_me_names_only_targets_that_exist():
    targets = set(
        re.findall(r"^([a-z-]+):.*## ", (PROJECT / "Makefile").read_text(encoding="utf-8"), flags=re.MULTILINE)
    )
    named = {target for block in SHELL for target in re.findall(r"^make ([a-z-]+)", block.code, flags=re.MULTILINE)}
    assert {"demo"} <= named <= targets
