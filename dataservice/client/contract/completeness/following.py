"""What stands beside a list to say that more follows: totals, cursors, addresses, flags, page numbers, in one table."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from dataservice.client.contract.body import Body, Params, next_in_link, params_of

PLACES = ("pagination", "meta", "paging", "page_info", "pageInfo", "page", "cursors", "links", "_links")
"""Objects in which it may stand, one in another; else beside the list itself."""

TOTALS = ("total", "total_count", "count_total", "totalCount", "total_elements", "totalElements")
LIMITS = ("limit", "per_page", "perPage", "page_size", "pageSize")
FLAGS = (
    *("has_more", "hasMore", "has_next", "hasNext", "has_next_page", "hasNextPage", "more", "truncated"),
    *("is_truncated", "isTruncated", "partial", "is_partial", "isPartial", "incomplete", "is_incomplete"),
    "exceededTransferLimit",
)
"""True where others follow."""

ENDS = (
    *("complete", "is_complete", "isComplete", "last", "is_last", "isLast", "last_page", "lastPage", "is_last_page"),
    *("isLastPage", "done", "finished", "exhausted", "final"),
)
"""True where none does; some are an address or a number elsewhere."""

ADDRESSES = ("next", "next_url", "next_page_url", "nextLink", "@odata.nextLink", "continue")
CURSORS = {
    **dict.fromkeys(("next_cursor", "nextCursor", "cursor_next"), "cursor"),
    **dict.fromkeys(("after", "end_cursor", "endCursor"), "after"),
    **dict.fromkeys(("next_token", "nextToken"), "token"),
    **dict.fromkeys(("next_page_token", "nextPageToken"), "page_token"),
    **{name: name for name in ("continuation", "continuation_token", "continuationToken", "resume_token", "scroll_id")},
}
"""By field, the parameter that takes it."""

PARAMETERS = frozenset(
    {
        *("offset", "start", "start_date", "start_at", "start_index", "from", "from_id", "skip", "since", "since_id"),
        *("begin", "index", "marker", "key", "position", "row", "after", "date"),
    }
)
"""What a field such as `next_start` or `nextFrom` may name; `next_release` says nothing of the list."""

PAGES = ("pages", "total_pages", "totalPages", "page_count")
NUMBERS = ("page", "page_number", "current_page", "currentPage", "number")

NEXT_PAGES = ("next_page", "nextPage")

IN_HEADERS = {
    "x-total-count": "total",
    "x-total": "total",
    "x-next-cursor": "next_cursor",
    "x-has-more": "has_more",
    "x-next-page": "next_page",
}
"""What stands in headers, by the name that it has beside a list."""

_NEXT_FIELD = re.compile(r"next(?:_|(?=[A-Z]))(\w+)")
_RANGE = re.compile(r"\w+ (\d+)-\d+/(\d+)")
_COUNT = re.compile(r"\d+|\d{1,3}(?:,\d{3})+")


@dataclass(frozen=True, slots=True)
class Following:
    """The words of an answer on what follows: whether more does, how much there is in all, how to ask for it."""

    more: bool | None = None
    total: int | None = None
    offset: int = 0
    limit: int | None = None
    params: Params = ()
    pages: int = 0
    """How many pages follow, where all of them are counted."""


def following(beside: Mapping[str, Any], body: bytes, rows: int) -> Following:
    """Return what is said of the rest; `rows` are those of this page.

    A total that is less than those counts something else.
    """
    told = _in_headers(body)
    for each in _all_beside(beside):
        told |= each
    total, limit = _whole(told, TOTALS), _whole(told, LIMITS)
    offset = _whole(told, ("offset",)) or 0
    total = None if total is not None and total < offset + rows else total
    more, params = _said(told, body)
    if more is None and total is not None and "offset" in told:
        params = (("offset", str(offset + rows)),)
    return Following(more, total, offset, limit, params, _pages_behind(told))


def _all_beside(beside: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Return what stands beside a list, and what stands in the usual places there."""
    yield beside
    for place in PLACES:
        if isinstance(inner := beside.get(place), Mapping):
            yield from _all_beside(inner)


def _in_headers(body: bytes) -> dict[str, Any]:
    """Return what the headers of an answer say, by the names that it has beside a list."""
    headers = body.headers if isinstance(body, Body) else {}
    told: dict[str, Any] = {name: headers[header] for header, name in IN_HEADERS.items() if header in headers}
    if found := _RANGE.fullmatch(headers.get("content-range", "")):
        told |= {"offset": int(found[1]), "total": int(found[2])}
    return told


def _said(told: Mapping[str, Any], body: bytes) -> tuple[bool | None, Params]:
    """Return whether more follows, as far as that is said in so many words, and with which parameters."""
    for name in ADDRESSES:
        if name in told and isinstance(address := _address(told[name]), str):
            return True, params_of(address) or (("cursor", address),) * (not address.startswith(("/", "http")))
        if isinstance(told.get(name), int) and told[name]:
            return True, ()
    if address := next_in_link(body):
        return True, params_of(address)
    if (number := _whole(told, NEXT_PAGES)) is not None:
        return True, (("page", str(number)),)
    flag, cursors = _more_by_flags(told), list(_cursors(told))
    for name, parameter in cursors:
        if isinstance(told.get(name), str | int) and told[name] not in ("", False) and flag is not False:
            return True, ((parameter, str(told[name])),)
    page, behind = _page_behind(told)
    if flag is not None:
        return flag, behind if flag else ()
    pages = _whole(told, PAGES)
    if pages is not None and page is not None:
        return page < pages, behind if page < pages else ()
    is_last = any(name in told and told[name] in (None, "") for name in (*ADDRESSES, *NEXT_PAGES, *dict(cursors)))
    return (False if is_last else None), ()


def _pages_behind(told: Mapping[str, Any]) -> int:
    """Return how many pages follow, where their number and that of this one are told; else 0."""
    pages, (page, _) = _whole(told, PAGES), _page_behind(told)
    return 0 if pages is None or page is None else max(0, pages - page)


def _page_behind(told: Mapping[str, Any]) -> tuple[int | None, Params]:
    """Which page of all this is, counted from one, and the parameter that asks for the next; None where nobody says.

    The first may be called nought.
    """
    number = _whole(told, NUMBERS)
    if number is None:
        return None, ()
    return max(number, 1), (("page", str(number + 1)),)


def _cursors(told: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Return the fields that say where the next page begins, each with the parameter that takes it."""
    for name in told:
        found = _NEXT_FIELD.fullmatch(name)
        parameter = found[1][0].lower() + found[1][1:] if found else ""
        if name in CURSORS:
            yield name, CURSORS[name]
        elif re.sub(r"([A-Z])", r"_\1", parameter).lower() in PARAMETERS:
            yield name, parameter


def _more_by_flags(told: Mapping[str, Any]) -> bool | None:
    """Return whether more follows by the first flag that says so or not; None where there is none."""
    flags = [flag for name in FLAGS if (flag := _flag(told.get(name))) is not None]
    words = [told[name] for name in ENDS if isinstance(told.get(name), bool | str)]
    flags += [not flag for word in words if (flag := _flag(word)) is not None]
    return flags[0] if flags else None


def _flag(told: Any) -> bool | None:
    return {"true": True, "false": False, "1": True, "0": False}.get(str(told).lower())


def _address(told: Any) -> Any:
    """The address itself, or that in an object with `href`."""
    address = told.get("href") if isinstance(told, Mapping) else told
    return address or None


def _whole(told: Mapping[str, Any], names: tuple[str, ...]) -> int | None:
    """The first whole number of these, also as text."""
    for name in names:
        value = told.get(name)
        if isinstance(value, str) and _COUNT.fullmatch(value.strip()):
            value = int(value.replace(",", ""))
        if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
            return value
    return None
