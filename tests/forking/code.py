"""A text of Python, run as a program: it comes from standard input, and it may await."""

import ast
import asyncio
import inspect
import sys


def run() -> None:
    """Run the text as `__main__`."""
    code = compile(sys.stdin.read(), "<text>", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    result = eval(code, {"__name__": "__main__"})
    if inspect.iscoroutine(result):
        asyncio.run(result)
