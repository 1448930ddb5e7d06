"""The add-in's icons, described as shapes and drawn as PNG files by `python -m docs.generate.pictures.icons`.

Shapes live in a square from 0 to 1, y downwards. Each is a signed distance: how far a point lies outside of it.
"""

from __future__ import annotations

import math
import struct
import zlib
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from addin.excel.assets import STATIC

Plane: TypeAlias = NDArray[np.float64]
Point: TypeAlias = tuple[float, float]

EXCEL, CALC = STATIC / "icons", STATIC.parents[1] / "calc" / "icons"

FILES = [(EXCEL, size) for size in (16, 32, 64, 80)] + [(CALC, size) for size in (16, 26)]
"""The folders and sizes of the committed files."""

TOP, BOTTOM = (79, 70, 229), (13, 148, 136)
"""Indigo above, teal below."""
WHITE = (255, 255, 255)

SERIES = ((0.18, 0.70), (0.38, 0.48), (0.56, 0.60), (0.78, 0.29))


def png(icon: str, size: int) -> bytes:
    """The icon `signal` or `refresh` as a PNG of `size` × `size` pixels.

    >>> png("signal", 16)[:4]
    b'\\x89PNG'
    """
    pixels = np.clip(np.rint(ICONS[icon](size)), 0, 255).astype(np.uint8)
    lines = b"".join(b"\0" + row.tobytes() for row in pixels)
    header = struct.pack(">IIBBBBB", size, size, 8, 6, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(lines, 9)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(kind, content) for kind, content in chunks)


def _signal(size: int) -> Plane:
    """A sheet's cells, and a series that rises through them to its latest point."""
    x, y = _points(size)
    canvas = _tile(x, y, size)
    if size >= 32:  # finer lines than a pixel only blur
        for at in (0.36, 0.64):
            canvas = _over(canvas, WHITE, 0.28 * _ink(np.abs(x - at) - 0.008, size) * _inside(y))
            canvas = _over(canvas, WHITE, 0.28 * _ink(np.abs(y - at) - 0.008, size) * _inside(x))
    canvas = _over(canvas, WHITE, _ink(_line(x, y, SERIES) - 0.052, size))
    return _over(canvas, WHITE, _ink(np.hypot(x - SERIES[-1][0], y - SERIES[-1][1]) - 0.105, size))


def _refresh(size: int) -> Plane:
    """An arrow that runs round."""
    x, y = _points(size)
    canvas = _tile(x, y, size)
    angle = np.degrees(np.arctan2(x - 0.5, 0.5 - y)) % 360  # clockwise from the top
    ring = np.abs(np.hypot(x - 0.5, y - 0.5) - 0.25) - 0.052
    gap = np.minimum(angle - 62, 350 - angle) * -0.0044
    canvas = _over(canvas, WHITE, _ink(np.maximum(ring, gap), size))
    return _over(canvas, WHITE, _ink(_triangle(x, y, ((0.46, 0.07), (0.70, 0.25), (0.46, 0.43))), size))


ICONS: dict[str, Callable[[int], Plane]] = {"signal": _signal, "refresh": _refresh}


def _points(size: int) -> tuple[Plane, Plane]:
    """The places of the pixels' middles."""
    line = (np.arange(size) + 0.5) / size
    x, y = np.meshgrid(line, line)
    return x, y


def _tile(x: Plane, y: Plane, size: int) -> Plane:
    """The rounded square that both icons stand on, with its gradient."""
    shade = ((x + 2 * y) / 3)[..., None]
    color = np.asarray(TOP) * (1 - shade) + np.asarray(BOTTOM) * shade
    across, down = np.abs(x - 0.5) - 0.28, np.abs(y - 0.5) - 0.28
    corner = np.hypot(np.maximum(across, 0), np.maximum(down, 0)) + np.minimum(np.maximum(across, down), 0) - 0.2
    return np.concatenate([color, 255 * _ink(corner, size)[..., None]], axis=2)


def _inside(along: Plane) -> Plane:
    return ((along > 0.06) & (along < 0.94)).astype(np.float64)


def _line(x: Plane, y: Plane, points: Sequence[Point]) -> Plane:
    """The distance from a line through `points`."""
    return _reduced(np.minimum, [_segment(x, y, first, last) for first, last in pairwise(points)])


def _segment(x: Plane, y: Plane, first: Point, last: Point) -> Plane:
    dx, dy = last[0] - first[0], last[1] - first[1]
    along = np.clip(((x - first[0]) * dx + (y - first[1]) * dy) / (dx * dx + dy * dy), 0, 1)
    return np.hypot(x - first[0] - along * dx, y - first[1] - along * dy)


def _triangle(x: Plane, y: Plane, corners: tuple[Point, Point, Point]) -> Plane:
    """How far outside of the triangle a point lies; the corners follow each other clockwise."""
    sides = zip(corners, (*corners[1:], corners[0]), strict=True)
    return _reduced(np.maximum, [_beyond(x, y, first, last) for first, last in sides])


def _beyond(x: Plane, y: Plane, first: Point, last: Point) -> Plane:
    dx, dy = last[0] - first[0], last[1] - first[1]
    return ((x - first[0]) * dy - (y - first[1]) * dx) / math.hypot(dx, dy)


def _reduced(ufunc: np.ufunc, planes: Sequence[Plane]) -> Plane:
    return cast("Plane", ufunc.reduce(planes))


def _ink(distance: Plane, size: int) -> Plane:
    """How much of a pixel a shape covers, from the distance of the pixel's middle."""
    return np.clip(0.5 - distance * size, 0, 1)


def _over(canvas: Plane, color: tuple[int, int, int], cover: Plane) -> Plane:
    painted = canvas.copy()
    painted[..., :3] += (np.asarray(color) - painted[..., :3]) * cover[..., None]
    return painted


def _chunk(kind: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))


if __name__ == "__main__":
    for name in ICONS:
        for folder, pixels in FILES:
            (folder / f"{name}-{pixels}.png").write_bytes(png(name, pixels))
