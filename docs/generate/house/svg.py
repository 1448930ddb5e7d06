"""Marks of SVG: boxes with words, arrows, text, and the page around them, for light and for dark mode."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from itertools import pairwise
from textwrap import wrap

__all__ = ["Box", "arrow", "box", "box_height", "card", "lines_of", "page", "text", "way"]

LETTER = 7.1
"""The width of a letter in the widest of the fonts, on average, in pixels."""

LINE = 17.0
INDENT = 14.0

TIP, CORNER = 2.0, 22.0
"""How far an arrow ends above a box, and how far from its corner."""

OVERLAP = 24.0
"""Two boxes above each other by so much are joined by a straight arrow."""

Point = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle of the picture."""

    left: float
    top: float
    width: float
    height: float

    @property
    def right(self) -> float:
        """The x of its right edge."""
        return self.left + self.width

    @property
    def bottom(self) -> float:
        """The y of its lower edge."""
        return self.top + self.height


def text(words: str, x: float, y: float, kind: str = "words", *, name: str = "", anchor: str = "start") -> str:
    """A line of text that begins, or with another `anchor` ends or has its middle, at `x`; `name` stands before it."""
    first = f'<tspan class="name">{escape(name)}</tspan>' if name else ""
    rest = f'<tspan dx="10">{escape(words, quote=False)}</tspan>' if name and words else escape(words, quote=False)
    return f'<text class="{kind}" x="{x:g}" y="{y:g}" text-anchor="{anchor}">{first}{rest}</text>'


def lines_of(name: str, words: str, inside: Sequence[str], width: float) -> int:
    """The lines of words below the name in a box of a width; 0 where all stands beside it."""
    letters = len(words) + 1.5 * len(name) + len(" · ".join(inside))
    return 0 if letters * LETTER + 6 * INDENT <= width else len(_wrapped(words, width))


def box_height(lines: int) -> float:
    """The height of a box with so many lines of words below its name.

    >>> box_height(0), box_height(2)
    (42.0, 80.0)
    """
    return 42.0 + 4 * (lines > 0) + LINE * lines


def box(folder: str, words: str, at: Box, *, below: bool, inside: Sequence[str] = ()) -> str:
    """A room with its folder's name and what lives there, beside it or below; `inside` names the folders within."""
    name = folder.rpartition("/")[2]
    left, first = at.left + INDENT, at.top + 27
    lines = _wrapped(words, at.width) if below else []
    marks = [text("" if below else words, left, first, name=name)]
    marks += [text(line, left, first + 4 + LINE * number) for number, line in enumerate(lines, start=1)]
    if inside:
        marks.append(text(" · ".join(inside), at.right - INDENT, first, "inside", anchor="end"))
    return _group("room", folder, folder.split("/")[-2], at, marks)


def card(folder: str, words: str, at: Box) -> str:
    """The ground on which the rooms of a package stand, with its name and what it is."""
    name = folder.rpartition("/")[2]
    return _group("card", folder, name, at, [text(words, at.left + INDENT + 4, at.top + 33, name=name)])


def _group(kind: str, folder: str, colour: str, at: Box, marks: Sequence[str]) -> str:
    place = f'x="{at.left:g}" y="{at.top:g}" width="{at.width:g}" height="{at.height:g}"'
    return f'<g class="{kind} {colour}" data-folder="{folder}"><rect {place} rx="9"/>{"".join(marks)}</g>'


def _wrapped(words: str, width: float) -> list[str]:
    return wrap(words, int((width - 2 * INDENT) / LETTER))


def arrow(a: str, b: str, points: Sequence[Point], kind: str = "within") -> str:
    """An arrow from `a` to `b` through points; between two that are not above each other it bends."""
    (x, y), *rest = points
    path = [f"M{x:g} {y:g}"]
    for to_x, to_y in rest:
        half = (y + to_y) / 2
        path.append(f"V{to_y:g}" if to_x == x else f"C{x:g} {half:g} {to_x:g} {half:g} {to_x:g} {to_y:g}")
        x, y = to_x, to_y
    return f'<path class="arrow {kind}" data-from="{a}" data-to="{b}" d="{"".join(path)}"/>'


def way(names: Sequence[str], boxes: Mapping[str, Box]) -> str:
    """The arrow from the first of `names` to the last, through the shafts between them."""
    stops = [boxes[name] for name in names]
    points: list[Point] = []
    for upper, lower in pairwise(stops):
        x, to_x = _ports(upper, lower)
        points += [(x, upper.bottom), (to_x, lower.top - (TIP if lower is stops[-1] else 0))]
    return arrow(names[0], names[-1], points)


def _ports(upper: Box, lower: Box) -> tuple[float, float]:
    """Where an arrow leaves a box and arrives at the one below: straight down where they overlap."""
    left, right = max(upper.left, lower.left), min(upper.right, lower.right)
    if right - left >= min(OVERLAP, upper.width, lower.width):
        return (left + right) / 2, (left + right) / 2
    inner = CORNER if upper.left < lower.left else -CORNER
    near, far = (upper.right, lower.left) if inner > 0 else (upper.left, lower.right)
    return near - min(inner, upper.width / 2, key=abs), far + min(inner, lower.width / 2, key=abs)


def page(marks: Sequence[str], width: float, height: float) -> str:
    """The whole picture."""
    return PAGE.format(width=f"{width:g}", height=f"{height:g}", style=STYLE, marks="\n".join(marks))


PAGE = """<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" aria-labelledby="t d" \
font-family="system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif" font-size="13.5">
<title id="t">The house: every folder of the code, and what it imports</title>
<desc id="d">Three packages above each other, addin, udfs and dataservice, with their folders as boxes in layers. All \
arrows point down.</desc>
<style>{style}</style>
<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerUnits="userSpaceOnUse" markerWidth="11" \
markerHeight="11" orient="auto"><path class="tip" d="M0 0.6 8 4 0 7.4z"/></marker></defs>
<rect class="page" width="{width}" height="{height}" rx="14"/>
{marks}
</svg>
"""

STYLE = """
.page { fill: #fbfcfe; }
.title .name { font-size: 23px; letter-spacing: -0.01em; } .title { font-size: 15px; fill: #4a5d69; }
.words { fill: #4a5d69; } .name { font-size: 16px; font-weight: 650; fill: #16283a; }
.inside { font-size: 12.5px; }
.card .name { font-size: 18px; fill: var(--ink); }
.card > rect { fill: var(--tint); stroke: var(--line); stroke-opacity: 0.45; }
.room > rect { fill: #ffffff; stroke: var(--line); stroke-width: 1.4; }
.inside { fill: var(--ink); }
.arrow { fill: none; stroke: #64748b; stroke-width: 1.5; marker-end: url(#tip); }
.arrow.between { stroke-width: 3; } .tip { fill: #64748b; }
.addin { --tint: #e9f0fb; --line: #1757a6; --ink: #1757a6; }
.udfs { --tint: #e3f4f1; --line: #0f8f83; --ink: #0b746a; }
.dataservice { --tint: #f1f3f7; --line: #7b8a9c; --ink: #42526a; }
.client, .stores { --tint: #eeebfb; --line: #6a55c2; --ink: #5440ac; }
.server { --tint: #fdf1dc; --line: #b7791f; --ink: #8a5a12; }
@media (prefers-color-scheme: dark) {
.page { fill: #10181f; }
.name { fill: #e9f0f4; } .words, .title { fill: #aabac4; }
.room > rect { fill: #17222b; } .card .name { fill: var(--ink); }
.arrow { stroke: #8fa1b3; } .tip { fill: #8fa1b3; }
.addin { --tint: #13263f; --line: #5f95e0; --ink: #8fb8f0; }
.udfs { --tint: #0f2e2b; --line: #2fae9f; --ink: #5fd0c2; }
.dataservice { --tint: #19232d; --line: #6b7d8f; --ink: #b4c2d0; }
.client, .stores { --tint: #221d40; --line: #8d7ce0; --ink: #b3a6f2; }
.server { --tint: #33270f; --line: #d39a3c; --ink: #f0bd66; }
}
"""
