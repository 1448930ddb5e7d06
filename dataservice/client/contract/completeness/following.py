"""What stands beside a list to say that more follows: totals, cursors, addresses, flags, page numbers, in one table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dataservice.client.contract.body import Params, next_in_link, params_of

PLACES = ("pagination", "meta", "paging", "page_info", "links", "_links")
"""Objects in which it may stand; else beside the list itself."""

TOTALS = ("total", "total_count", "count_total", "totalCount")
LIMITS = ("limit", "per_page", "page_size", "pageSize")
FLAGS = ("has_more", "hasMore", "has_next", "hasNext", "more", "truncated")
ADDRESSES = ("next", "next_url", "next_page_url", "nextLink")
CURSORS = {"next_cursor": "cursor", "nextCursor": "cursor", "cursor_next": "cursor", "next_token": "token"}
"""By field, the parameter that takes it."""

PAGES = ("pages", "total_pages", "totalPages", "page_count")


@dataclass(frozen=True, slots=True)
class Following:
    """What an answer says of what follows: whether more does, how much there is in all, and how to ask for it."""

    more: bool | None = None
    total: int | None = None
    offset: int = 0
    limit: int | None = None
    params: Params = ()


NOTHING_SAID = Following()


def following(beside: Mapping[str, Any], body: bytes, rows: int) -> Following:
    """What is said of the rest; `rows` are those of this page."""
    told = dict(beside)
    for place in PLACES:
        if isinstance(beside.get(place), Mapping):
            told |= beside[place]
    total, limit = _whole(told, TOTALS), _whole(told, LIMITS)
    offset = _whole(told, ("offset",)) or 0
    more, params = _said(told, body)
    if more is None and total is not None and "offset" in told:
        params = (("offset", str(offset + rows)),)
    return Following(more, total, offset, limit, params)


def _said(told: Mapping[str, Any], body: bytes) -> tuple[bool | None, Params]:
    """Whether more follows, as far as that is said in so many words, and with which parameters."""
    for name in ADDRESSES:
        if name in told and isinstance(address := _address(told[name]), str):
            return True, params_of(address) or (("cursor", address),) * (not address.startswith(("/", "http")))
    if address := next_in_link(body):
        return True, params_of(address)
    for name, parameter in CURSORS.items():
        if isinstance(told.get(name), str | int) and told[name] not in ("", False):
            return True, ((parameter, str(told[name])),)
    page = _whole(told, ("page", "page_number", "current_page"))
    behind = () if page is None else (("page", str(page + 1)),)
    for name in FLAGS:
        if isinstance(told.get(name), bool):
            return told[name], behind if told[name] else ()
    pages = _whole(told, PAGES)
    if pages is not None and page is not None:
        return page < pages, behind if page < pages else ()
    is_last = any(name in told and told[name] in (None, "") for name in (*ADDRESSES, *CURSORS))
    return (False if is_last else None), ()


def _address(told: Any) -> Any:
    """The address itself, or that in an object with `href`."""
    address = told.get("href") if isinstance(told, Mapping) else told
    return address or None


def _whole(told: Mapping[str, Any], names: tuple[str, ...]) -> int | None:
    for name in names:
        value = told.get(name)
        if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
            return value
    return None
