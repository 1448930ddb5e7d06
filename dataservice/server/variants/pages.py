"""A page of observations in a variant of the service: where it begins, and how it says that more follow."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any
from urllib.parse import urlencode

from dataservice.server.timestamps import parse_date
from dataservice.server.variants.series import refused_window, window_rows
from dataservice.server.variants.spelling import enveloped, written_rows
from dataservice.server.variants.tellings import Rows

FAR = (date(1900, 1, 1), date(2100, 1, 1))


@dataclass(frozen=True)
class Reply:
    """A reply in the place of the embedded service's own; a body of text is sent as it is."""

    status: int
    body: Any
    headers: Mapping[str, str]
    cut_on: date | None = None
    """The last day of a page that others follow."""


def observations_reply(rows: Rows, variant: Mapping[str, str], path: str, params: Mapping[str, str]) -> Reply:
    """One page of a window."""
    start, end = (parse_date(params[name]) if params.get(name) else None for name in ("start", "end"))
    if variant["far-dates"] == "refused" and any(day and not FAR[0] <= day <= FAR[1] for day in (start, end)):
        return Reply(400, {"error": "start and end lie between 1900 and 2100"}, {})
    if why := refused_window(rows, variant, start, end):
        return Reply(400, {"error": why}, {})
    found, size = window_rows(rows, variant, start, end), int(variant["page"])
    offset = _offset(variant["more"], params, size)
    page = found[offset : offset + size]
    body, headers = enveloped(written_rows(page, variant), variant["envelope"]), {}
    next_day = found[offset + len(page)][0].date().isoformat() if offset + len(page) < len(found) else ""
    told = _told(variant["more"], path, params, offset, size, len(page), len(found), next_day)
    if "Link" in told:
        headers["Link"] = told.pop("Link")
    body = {**body, **told} if isinstance(body, dict) else body
    return Reply(200, body, headers, page[-1][0].date() if offset + len(page) < len(found) else None)


def _offset(more: str, params: Mapping[str, str], size: int) -> int:
    match more:
        case "total" | "page-total" | "meta" | "next" | "link":
            return int(params.get("offset", "0"))
        case "cursor":
            return int(params.get("cursor", "c0")[1:])
        case "page-number" | "has-more":
            return (int(params.get("page", "1")) - 1) * size
        case _:
            return 0


def _told(
    more: str, path: str, params: Mapping[str, str], offset: int, size: int, count: int, total: int, next_day: str
) -> dict[str, Any]:
    """Return what stands beside the rows; a Link header by its name."""
    has_more = offset + count < total
    following = f"{path}?{urlencode({**params, 'offset': str(offset + size)})}"
    ways: dict[str, dict[str, Any]] = {
        "total": {"pagination": {"limit": size, "offset": offset, "total": total}},
        "page-total": {"pagination": {"limit": size, "offset": offset, "total": count}},
        "meta": {"meta": {"total_count": total}},
        "cursor": {"next_cursor": f"c{offset + size}" if has_more else None},
        "next": {"next": following if has_more else None},
        "link": {"Link": f'<{following}>; rel="next"'} if has_more else {},
        "has-more": {"has_more": has_more},
        "page-number": {"page": offset // size + 1, "pages": -(-total // size)},
        "next-start": {"next_start": next_day or None},
        "truncated": {"truncated": has_more},
        "not-complete": {"complete": not has_more},
    }
    return ways.get(more, {})
