"""Rooms on floors: every arrow leads down, and an arrow past a floor has a shaft there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise, permutations

from docs.generate.imports import Arrows

GAP = 14.0
SHAFT = 18.0
"""The width that an arrow needs to pass a floor."""

SWEEPS = 4


@dataclass(frozen=True, slots=True)
class Span:
    """The place of a room or a shaft on its floor, from left to right."""

    left: float
    width: float

    @property
    def right(self) -> float:
        """The x of its right edge."""
        return self.left + self.width

    @property
    def middle(self) -> float:
        """The x of its middle."""
        return self.left + self.width / 2


Floor = dict[str, Span]
"""What stands on one floor, by name; a shaft is named after its arrow and its floor."""


def floors(rooms: Sequence[str], arrows: Arrows, width: float) -> tuple[list[Floor], list[list[str]]]:
    """The floors from top to bottom, and each arrow's way down: a room, the shafts it passes, a room."""
    depth = _depths(rooms, arrows)
    ways = [_way(a, b, depth) for a, b in sorted(arrows)]
    orders = [[room for room in rooms if depth[room] == level] for level in range(max(depth.values(), default=-1) + 1)]
    for way in ways:
        for step, name in enumerate(way[1:-1], start=1):
            orders[depth[way[0]] + step].append(name)
    steps = [step for way in ways for step in pairwise(way)]
    for _ in range(SWEEPS):
        for level, order in enumerate(orders):
            others = [each for at, each in enumerate(orders) if at != level]
            orders[level] = min(map(list, permutations(order)), key=lambda tried: _length(tried, others, steps, width))
    return [_spread(order, width) for order in orders], ways


def _depths(rooms: Sequence[str], arrows: Arrows) -> dict[str, int]:
    """A room stands below all that import it; one that nothing imports stands just above what it imports."""

    def below(room: str) -> int:
        return max((below(a) + 1 for a, b in arrows if b == room), default=0)

    depth = {room: below(room) for room in rooms}
    for room in rooms:
        imported = [depth[b] for a, b in arrows if a == room]
        if depth[room] == 0 and imported:
            depth[room] = min(imported) - 1
    return depth


def _way(a: str, b: str, depth: Mapping[str, int]) -> list[str]:
    return [a, *(f"{a} → {b} on {level}" for level in range(depth[a] + 1, depth[b])), b]


def _spread(order: Sequence[str], width: float) -> Floor:
    """The floor's width shared out: shafts are narrow, rooms of one floor equally wide."""
    shafts = sum(_is_shaft(name) for name in order)
    rest = width - GAP * (len(order) - 1) - SHAFT * shafts
    room = rest / max(1, len(order) - shafts)
    placed: Floor = {}
    left = 0.0
    for name in order:
        placed[name] = Span(left, SHAFT if _is_shaft(name) else room)
        left = placed[name].right + GAP
    return placed


def _is_shaft(name: str) -> bool:
    return " → " in name


def _length(
    order: Sequence[str], others: Sequence[Sequence[str]], steps: Sequence[tuple[str, str]], width: float
) -> float:
    """How far to the side all arrows run when one floor is ordered like this; a straight one counts for little."""
    spans = {name: span for each in (order, *others) for name, span in _spread(each, width).items()}
    return sum(
        max(0.0, spans[a].left - spans[b].right, spans[b].left - spans[a].right)
        + abs(spans[a].middle - spans[b].middle) / 10
        for a, b in steps
    )
