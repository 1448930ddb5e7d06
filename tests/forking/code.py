"""A text of Python, run as a program: it comes from standard input or as an argument, and it may await."""

import ast
import asyncio
import inspect
import sys


def run() -> None:
    """Run the text as `__main__`."""
    _run(sys.stdin.read())


def run_argument() -> None:
    """Run the first argument as `__main__`, with those that follow; standard input is its own."""
    text = sys.argv.pop(1)
    _run(text)


def _run(text: str) -> None:
    code = compile(text, "<text>", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    result = eval(code, {"__name__": "__main__"})
    if inspect.iscoroutine(result):
        asyncio.run(result)
