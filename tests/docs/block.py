"""A block of Python from a page, run as a program: its text comes from standard input, and it may await."""

import ast
import asyncio
import inspect
import sys


def run() -> None:
    """Run the block as `__main__`."""
    code = compile(sys.stdin.read(), "block", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    result = eval(code, {"__name__": "__main__"})
    if inspect.iscoroutine(result):
        asyncio.run(result)
