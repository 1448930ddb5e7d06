"""The picture of the house, drawn from the code's own imports: `docs/images/house.svg`.

A card is a package, a box in it a folder, an arrow an import. What lives in a folder is said here, in a few words; a
folder that is not named is an error, so that the picture is never out of date.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from docs.generate.house.layers import Span, floors
from docs.generate.house.svg import Box, arrow, box, box_height, card, lines_of, page, text, way
from docs.generate.imports import PROJECT, Arrows, folder_imports, folders, without_detours

__all__ = ["CARDS", "PICTURE", "card_arrows", "house", "room_arrows", "room_of"]

PICTURE = PROJECT / "docs" / "images" / "house.svg"

WIDTH = 900.0
MARGIN = 20.0
INSET = 14.0
"""The three parts of `dataservice` stand inside its frame."""
LEFT_PART, RIGHT_PART = 540.0, 272.0

TOP = 84.0
BETWEEN = 36.0
"""From one card to the next."""

PADDING = 16.0
TITLE = 54.0
SPINE = 76.0
"""How far from the right edge the arrows run from card to card."""
STEP = 27.0
"""From one floor to the next: room for an arrow."""


@dataclass(frozen=True, slots=True)
class Card:
    """A package in the picture: what it is in a few words, and its folders with what lives in each."""

    folder: str
    words: str
    rooms: Mapping[str, str]
    left: float
    width: float


ADDIN = Card(
    "addin",
    "The ways in: from cells, workbooks, commands and agents to the functions.",
    {
        "cli": "the command line, each command loaded when it runs",
        "sheet": "a spreadsheet in the browser",
        "workbook": "refresh, freeze and write workbook files",
        "mcp": "the tools that agents call",
        "backend": "HTTP routes, security, keys",
        "calc": "the extension for LibreOffice Calc",
        "desktop": "classic Excel through xlwings",
        "autostart": "the backend that starts at login",
        "formulas": "the lexer, and all that reads formulas",
        "excel": "manifest, metadata, Excel's pages",
        "protocol": "batches of calls in, encoded answers out",
        "web": "files for browsers, kept by their hash",
        "tls": "the certificate for this machine, and who trusts it",
        "config": "settings, the API key, logs, and the client made from them",
    },
    MARGIN,
    WIDTH - 2 * MARGIN,
)
UDFS = Card(
    "udfs",
    "The function library, free of any host.",
    {
        "functions": "SIGNAL, WIRE and all the others, as coroutines",
        "timeseries": "windows, resampling, transforms, alignment",
        "records": "names, fields, search",
        "engine": "the registry, the session and its batch of calls",
        "arguments": "reading kinds, dates, options, ranges",
    },
    MARGIN,
    INSET + LEFT_PART,
)
CLIENT = Card(
    "dataservice/client",
    "One answer and one request for each resource.",
    {
        "series": "which windows a series takes, which are whole",
        "network": "limits, retries, circuit breaker, budget",
        "pacing": "how many at a time, how soon after each other",
        "cache": "answers and their freshness, histories",
        "archive": "what was known when",
        "contract": "the service's API as values",
    },
    MARGIN + INSET,
    LEFT_PART,
)
STORES = Card(
    "dataservice/stores",
    "Where answers are kept; beside it, ledger: what is never lost.",
    {"sqlite_database": "one file, and its salvage"},
    MARGIN + INSET,
    LEFT_PART,
)
SERVER = Card(
    "dataservice/server",
    "The service, embedded; beside it, cli and terminal.",
    {
        "sample": "made-up data",
        "variants": "other answers to open questions",
        "http": "routes and keys",
        "imports": "data sets from files",
        "db": "schema, keys, usage, queries",
    },
    WIDTH - MARGIN - INSET - RIGHT_PART,
    RIGHT_PART,
)
DATASERVICE = Card("dataservice", "The Data Service, seen from Python.", {}, MARGIN, WIDTH - 2 * MARGIN)
"""The frame around the last three."""
CARDS = {card.folder: card for card in (ADDIN, UDFS, CLIENT, STORES, SERVER)}

WITH_CARD = {
    "dataservice/ledger": "dataservice/stores",
    "dataservice/cache": STORES.folder,
    "dataservice/cli": SERVER.folder,
    "dataservice/terminal": SERVER.folder,
}
"""Folders that stand with a card: the stores' old name, the server's command and what it shares with `addin`."""

LEGEND = (
    "Each card is a package,",
    "each box one of its folders.",
    "An arrow means “imports”;",
    "all of them point down.",
    "Arrows that follow from",
    "others are left out.",
    "",
    "Files directly in a package,",
    "such as its errors or the",
    "client's reader, belong to",
    "all of it and are not drawn.",
)


@dataclass(slots=True)
class Drawing:
    """The marks of SVG so far, and where the cards stand."""

    marks: list[str] = field(default_factory=list)
    cards: dict[str, Box] = field(default_factory=dict)


def house() -> str:
    """The picture as SVG; raises `ValueError` for a folder that no card names, and for a name without a folder."""
    if gone := {f"{each.folder}/{name}" for each in CARDS.values() for name in each.rooms} - set(folders()):
        raise ValueError(f"take out of docs/generate/house/picture.py what is gone: {', '.join(sorted(gone))}")
    drawing = Drawing([text("every folder stands on what it imports", MARGIN, 46, "title", name="The house")])
    _draw(drawing, ADDIN, TOP)
    _draw(drawing, UDFS, drawing.cards[ADDIN.folder].bottom + BETWEEN)
    frame_top = drawing.cards[UDFS.folder].bottom + BETWEEN
    frame_at = len(drawing.marks)
    _draw(drawing, CLIENT, frame_top + TITLE)
    _draw(drawing, SERVER, frame_top + TITLE)
    _draw(drawing, STORES, drawing.cards[CLIENT.folder].bottom + BETWEEN, drawing.cards[SERVER.folder].bottom)
    bottom = drawing.cards[STORES.folder].bottom + INSET
    frame = Box(DATASERVICE.left, frame_top, DATASERVICE.width, bottom - frame_top)
    drawing.marks.insert(frame_at, card(DATASERVICE.folder, DATASERVICE.words, frame))
    drawing.marks += [_between(a, b, drawing.cards) for a, b in sorted(card_arrows())]
    first = drawing.cards[UDFS.folder].top + 40
    drawing.marks += [text(line, SERVER.left + 64, first + 22 * at) for at, line in enumerate(LEGEND)]
    return page(drawing.marks, WIDTH, bottom + MARGIN)


def room_of(folder: str) -> str:
    """The box or the card that stands for a folder.

    >>> room_of("addin/workbook/refresh")
    'addin/workbook'
    """
    folder = WITH_CARD.get(folder, folder)
    card = next((each for each in CARDS.values() if f"{folder}/".startswith(f"{each.folder}/")), DATASERVICE)
    name = folder.removeprefix(card.folder).strip("/").partition("/")[0]
    if name and name not in card.rooms:
        raise ValueError(f"say in docs/generate/house/picture.py what lives in {folder}")
    return f"{card.folder}/{name}".rstrip("/")


def room_arrows(card: Card) -> Arrows:
    """The imports between the boxes of a card that do not follow from others."""
    pairs = {(room_of(a), room_of(b)) for a, b in folder_imports()}
    inside = {f"{card.folder}/{name}" for name in card.rooms}
    return without_detours(frozenset((a, b) for a, b in pairs if a != b and {a, b} <= inside))


def card_arrows() -> Arrows:
    """The imports between cards that do not follow from others; records and errors are everybody's."""
    pairs = {(_card_of(a), _card_of(b)) for a, b in folder_imports()}
    return without_detours(frozenset((a, b) for a, b in pairs if a != b and {a, b} <= set(CARDS)))


def _card_of(folder: str) -> str:
    room = room_of(folder)
    return room if room in CARDS or room == DATASERVICE.folder else room.rpartition("/")[0]


def _draw(drawing: Drawing, package: Card, top: float, bottom: float = 0.0) -> None:
    """The card with its boxes on floors; it ends at `bottom`, or where its boxes end if that is further down."""
    names = [f"{package.folder}/{name}" for name in package.rooms]
    placed, ways = floors(names, room_arrows(package), package.width - 2 * PADDING)
    boxes: dict[str, Box] = {}
    rooms: list[str] = []
    y = top + TITLE
    for floor in placed:
        lines = max(_lines(package, name, span) for name, span in floor.items() if name in names)
        for name, span in floor.items():
            boxes[name] = Box(package.left + PADDING + span.left, y, span.width, box_height(lines))
            if name in names:
                words = package.rooms[name.rpartition("/")[2]]
                rooms.append(box(name, words, boxes[name], below=lines > 0, inside=_inside(name)))
        y += box_height(lines) + STEP
    end = max(bottom, y - STEP + PADDING if boxes else y)
    drawing.cards[package.folder] = frame = Box(package.left, top, package.width, end - top)
    drawing.marks += [card(package.folder, package.words, frame), *rooms, *(way(each, boxes) for each in ways)]


def _lines(package: Card, room: str, span: Span) -> int:
    name = room.rpartition("/")[2]
    return lines_of(name, package.rooms[name], _inside(room), span.width)


def _between(a: str, b: str, cards: Mapping[str, Box]) -> str:
    """The arrow from one card down to another, past what stands between them."""
    x = SERVER.left + SPINE / 2 if b == SERVER.folder else CLIENT.left + CLIENT.width - SPINE
    return arrow(a, b, [(x, cards[a].bottom), (x, cards[b].top - 2)], "between")


def _inside(room: str) -> list[str]:
    """The names of the folders inside a box's folder."""
    return [folder.removeprefix(f"{room}/") for folder in folders() if folder.startswith(f"{room}/")]
