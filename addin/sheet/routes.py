"""The page of the sheet and what it asks for: its files, the book to open, books to open and to save."""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import msgspec
import orjson
from anyio import CapacityLimiter, to_thread
from starlette.background import BackgroundTask
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from addin.backend.admission import admitted_body
from addin.backend.http import BodyLimits, JsonResponse
from addin.backend.limits.accounts import account_of
from addin.backend.limits.aside import Lane, UnreadableError
from addin.backend.limits.aside_worker import Work
from addin.backend.state import BackendState
from addin.config.settings import Settings
from addin.errors import AddinError
from addin.excel.assets import STATIC as EXCEL
from addin.excel.assets import excel_assets
from addin.sheet.calculation.calculated import warm_up
from addin.sheet.component import FOLDER, is_here
from addin.sheet.files import BLANK_NAME, XLSM, XLSX, blank_book
from addin.sheet.work import calculate_formulas, open_bytes, open_upload, save_edited
from addin.web import Assets, Endpoint, files_in, static_answer
from addin.workbook.ooxml.errors import WorkbookError

T = TypeVar("T")

STATIC = Path(__file__).parent / "static"

MAX_BOOK_BYTES = 64 * 2**20
"""The largest body of a book: one of half a million cells has some 40 MB of XML."""

BOOK_WEIGHT = 4
"""How much memory a book takes while it is worked on, by the size of what was sent."""

MAX_KEPT_BYTES = 4 * 2**20
"""The largest first book that is kept prepared; opening a larger one again takes seconds again."""

CONTENT_SECURITY_POLICY = "; ".join(
    (
        "default-src 'self'",
        "script-src 'self' 'unsafe-eval'",
        "style-src 'self' 'unsafe-inline'",
        "img-src 'self' data: blob:",
        "font-src 'self' data:",
        "object-src 'none'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
    )
)
"""The component compiles each formula and template into a function, which needs 'unsafe-eval': for this page only."""


_FOR_EXCEL = re.compile(r'<!-- In this order.*\n|<script [^>]*src="(?:https:|functions|refresh)[^>]*></script>\n')


@dataclass(frozen=True, slots=True)
class BookToOpen:
    """The workbook that the page opens at first: its name, and how to get its file, which may take seconds."""

    name: str
    file: Callable[[], Path]


def routes(settings: Settings, book: BookToOpen | None = None) -> list[BaseRoute]:
    """The routes of the sheet, for `create_app`; the page opens `book`, or an empty sheet.

    There are none where the component is not here.
    """
    if not is_here():
        return []
    namespace = settings.namespace
    assets = Assets({**files_in(EXCEL, ("client",)), "tokens.css": EXCEL / "taskpane/tokens.css", **_files()})
    one_at_a_time = CapacityLimiter(1)
    """A book in memory may have several times the size of its file."""
    books, formulas = _Worker(settings, one_at_a_time), _Worker(settings, CapacityLimiter(1))

    first = _FirstBook(book, namespace)

    async def first_book(_: Request) -> Response:
        answer = JsonResponse(await _in_thread(first.opened, one_at_a_time))
        if not settings.is_shared:
            answer.background = BackgroundTask(warm_up)
        return answer

    async def open_book(request: Request) -> Response:
        return _answer(await books.made(open_upload, request), "application/json")

    async def calculate(request: Request) -> Response:
        return _answer(await formulas.made(calculate_formulas, request), "application/json")

    async def save_book(request: Request) -> Response:
        made = memoryview(await books.made(save_edited, request))
        return _answer(made[1:], XLSM if made[0] else XLSX)

    return [
        Route("/sheet", _page(assets)),
        Route("/sheet_pane.html", _pane()),
        Route("/sheet/book", first_book),
        Route("/sheet/open", _readable(open_book), methods=["POST"]),
        Route("/sheet/calculate", _readable(calculate), methods=["POST"]),
        Route("/sheet/save", _readable(save_book), methods=["POST"]),
        assets.route(),
        *(Route(f"/sheet/component/{path.name}", _text(path)) for path in sorted(FOLDER.glob("*.txt"))),
    ]


def _page(assets: Assets) -> Endpoint:
    html = assets.page((STATIC / "sheet.html").read_text(encoding="utf-8"), "sheet/main.js")

    async def endpoint(request: Request) -> Response:
        return await static_answer(request, html, ".html", {"content-security-policy": CONTENT_SECURITY_POLICY})

    return endpoint


def _pane() -> Endpoint:
    """Excel's task pane without the scripts that Excel needs, to stand beside the cells."""
    html = _FOR_EXCEL.sub("", (EXCEL / "taskpane.html").read_text(encoding="utf-8"))
    page = excel_assets().page(html, "taskpane/main.js")

    async def endpoint(request: Request) -> Response:
        return await static_answer(request, page, ".html")

    return endpoint


def _text(path: Path) -> Endpoint:
    """The component's licences and versions, at an address that stays."""

    async def endpoint(request: Request) -> Response:
        return await static_answer(request, await to_thread.run_sync(path.read_bytes), path.suffix)

    return endpoint


def _files() -> Mapping[str, Path]:
    """The page's own files and the component's: a fixed set, so that no request can name any other."""
    own = {f"sheet/{name}": path for name, path in files_in(STATIC, (".",)).items()}
    return {**own, **{f"component/{path.name}": path for path in FOLDER.iterdir() if path.is_file()}}


class _Worker:
    """Does what the page asks for: on the user's own machine in a thread, in a shared backend in a process apart."""

    def __init__(self, settings: Settings, limiter: CapacityLimiter) -> None:
        self._settings = settings
        self._limiter = limiter
        self._lane: Lane | None = None
        self._limits = BodyLimits(MAX_BOOK_BYTES, "no larger workbook can be opened here", settings.receive_timeout_s)

    async def made(self, work: Work, request: Request) -> bytes:
        """What `work` makes of the body, for whom formulas are answered too; the request's account holds both."""
        backend, namespace = BackendState.of(request), self._settings.namespace
        account = account_of(request)
        if not self._settings.is_shared:
            async with admitted_body(request, backend, self._limits) as (_, body):
                account.grow((BOOK_WEIGHT - 1) * len(body))
                made = await _in_thread(lambda: work(body, namespace), self._limiter)
        else:
            made = await self._made_apart(work, request, backend)
        account.hold(len(made))
        return made

    async def _made_apart(self, work: Work, request: Request, backend: BackendState) -> bytes:
        if self._lane is None:
            self._lane = Lane(backend.lanes)
            backend.at_end.append(self._lane.close)
        lane, namespace = self._lane, self._settings.namespace
        async with lane.entrance(request) as enter:
            body_of = admitted_body(request, backend, self._limits, needs_proof=True, enter=enter)
            async with body_of as (_, body):
                try:
                    return await lane.run(work, body, namespace, request)
                except AddinError as error:
                    raise HTTPException(400, str(error)) from None


def _answer(content: bytes | memoryview, media_type: str) -> Response:
    return Response(content, media_type=media_type, headers={"cache-control": "no-store"})


def _readable(endpoint: Endpoint) -> Endpoint:
    """Answer 400 to a body that is not what the page sends."""

    async def checked(request: Request) -> Response:
        try:
            return await endpoint(request)
        except (msgspec.MsgspecError, UnreadableError):
            raise HTTPException(400, "the body is not a workbook as the page sends it") from None

    return checked


async def _in_thread(work: Callable[[], T], limiter: CapacityLimiter) -> T:
    """Return what `work` gives in a thread; a reason of ours why it fails is for the user."""
    try:
        return await to_thread.run_sync(work, limiter=limiter)
    except AddinError as error:
        raise HTTPException(400, str(error)) from None


class _FirstBook:
    """The book that the page begins with, prepared once for as long as its file stays the same."""

    def __init__(self, book: BookToOpen | None, namespace: str) -> None:
        self._book = book
        self._namespace = namespace
        self._kept: tuple[bytes, bytes] | None = None

    def opened(self) -> bytes:
        """The answer as JSON, with the file's bytes, which the page holds to save a copy with its changes."""
        content = blank_book() if self._book is None else _content_of(self._book)
        if self._kept is None or self._kept[0] != content:
            name = BLANK_NAME if self._book is None else self._book.name
            opened = open_bytes(content, name, self._namespace)
            whole = {"content": base64.b64encode(content).decode(), "is_blank": self._book is None}
            answer = orjson.dumps(opened | whole)
            if len(answer) > MAX_KEPT_BYTES:
                return answer
            self._kept = content, answer
        return self._kept[1]


def _content_of(book: BookToOpen) -> bytes:
    try:
        return book.file().read_bytes()
    except OSError as error:
        raise WorkbookError(f"{book.name} cannot be read ({error.strerror})") from None
