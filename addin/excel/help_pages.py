"""The help that Excel opens for a function: one page each, and a list of them all, made from the registry."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from html import escape

from addin.excel.metadata import in_namespace
from udfs.arguments.kinds import Choice, Kind
from udfs.arguments.options import Options
from udfs.arguments.parameters import Parameter
from udfs.engine.registry import Udf

BACKQUOTED = re.compile("`+([^`]+)`+")
CODE = r"<code>\1</code>"

PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{title}</title>
<link rel="icon" href="{root}icons/signal-32.png">
<link rel="stylesheet" href="{root}help.css">
</head>
<body>
<main>
{body}
</main>
</body>
</html>
"""


def function_page(function: Udf, *, namespace: str) -> str:
    """The page of one function: what it returns, its arguments, its options and examples."""
    name = f"{namespace}.{function.id}"
    options = [option for p in function.parameters if isinstance(p.kind, Options) for option in p.kind.allowed]
    parts = [
        '<nav><a href="../help">All functions</a></nav>',
        f"<h1>{escape(name)}</h1>",
        f'<p class="summary">{escape(function.summary)}</p>',
        f"<pre><code>={escape(_signature(function, name))}</code></pre>",
        _table("Arguments", ((p.name, p.kind, _left_out(p)) for p in function.parameters)),
        _table("Options", ((f"{option.name}=", option.kind, "") for option in options)),
        _examples(function.examples),
        _prose(function.details),
    ]
    body = "\n".join(part for part in parts if part)
    return PAGE.format(title=escape(name), root="../", body=in_namespace(body, escape(namespace)))


def list_page(functions: Iterable[Udf], *, namespace: str) -> str:
    """The list of all functions by group."""
    parts = ["<h1>Functions</h1>"]
    groups: dict[str, list[Udf]] = {}
    for function in functions:
        groups.setdefault(function.group, []).append(function)
    for group, members in groups.items():
        rows = "".join(
            f'<tr><th scope="row"><a href="help/{f.id}">{escape(namespace)}.{f.id}</a></th>'
            f"<td>{escape(f.summary)}</td></tr>"
            for f in members
        )
        parts.append(f"<h2>{escape(group)}</h2>\n<table>{rows}</table>")
    return PAGE.format(title="Functions", root="", body="\n".join(parts))


def missing_page() -> str:
    """The page for a name that no function has."""
    body = '<h1>No such function</h1>\n<p class="summary">See <a href="../help">all functions</a>.</p>'
    return PAGE.format(title="No such function", root="../", body=body)


def _signature(function: Udf, name: str) -> str:
    shown = [p.name if p.required else f"[{p.name}]" for p in function.parameters]
    return f"{name}({', '.join(shown)})"


def _table(title: str, entries: Iterable[tuple[str, Kind, str]]) -> str:
    """A table of names with their help, a note and their choices; empty without entries."""
    rows = "".join(
        f'<tr><th scope="row"><code>{escape(name)}</code></th>'
        f"<td>{escape(kind.help)}{note}{_choices(kind.choices)}</td></tr>"
        for name, kind, note in entries
    )
    return f"<h2>{title}</h2>\n<table>{rows}</table>" if rows else ""


def _left_out(parameter: Parameter) -> str:
    if parameter.required:
        return '<p class="note">required</p>'
    default = "" if parameter.default is None else f"; left out: <code>{escape(str(parameter.default))}</code>"
    return f'<p class="note">optional{default}</p>'


def _choices(choices: Sequence[Choice]) -> str:
    items = "".join(f"<dt><code>{escape(c.value)}</code></dt><dd>{escape(c.help)}</dd>" for c in choices)
    return f"<dl>{items}</dl>" if items else ""


def _examples(examples: Sequence[str]) -> str:
    lines = "\n".join(map(escape, examples))
    return f"<h2>Examples</h2>\n<pre><code>{lines}</code></pre>" if lines else ""


def _prose(text: str) -> str:
    """The paragraphs of a docstring, with text in backquotes as code."""
    paragraphs = [escape(" ".join(part.split())) for part in text.split("\n\n") if part.strip()]
    return "\n".join(f"<p>{BACKQUOTED.sub(CODE, paragraph)}</p>" for paragraph in paragraphs)
