"""What a post cites, with the headline and address of each wire item, where the wire tells them."""

from __future__ import annotations

from typing import Any

from dataservice.client import AsyncClient, Page, WireResource
from dataservice.errors import DataServiceError
from dataservice.models import Post, WireItem
from udfs.engine.effects import EVER, have, need
from udfs.functions.wire import is_locked
from udfs.records.fields import is_unsafe_address, moment

TOLD = ("headline", "primary_url", "published_at", "source")
"""What is told of a cited item: to cite it, and to read the original."""

EVIDENCE_AGE_S = 86_400.0
"""What was published stays published: a page of the last day will do."""


async def cited(post: Post, client: AsyncClient) -> tuple[list[dict[str, Any]], str]:
    """The citations with what the wire tells of their items, and why some have nothing.

    One request where no page of the wire is at hand, and one could hold the items.
    """
    items, why = await _items(post, client)
    rows = [_told(citation, items.get(str(citation.get("wire_item_id")))) for citation in post.citations]
    without = sum("headline" not in row for row in rows)
    return rows, f"{without} of {len(rows)} citations without headline: {why}" if without else ""


def _told(citation: dict[str, Any], item: WireItem | None) -> dict[str, Any]:
    known = {} if item is None else {name: getattr(item, name) for name in TOLD}
    shown = {name: value for name, value in known.items() if value and not is_unsafe_address(name, value)}
    return {**{name: value for name, value in citation.items() if value is not None}, **shown}


async def _items(post: Post, client: AsyncClient) -> tuple[dict[str, WireItem], str]:
    """The newest wire items by their ids, and why others are not among them."""
    if is_locked(client):
        return {}, "the wire needs the Pro tier"
    found = await have(WireResource(), max_age_s=EVIDENCE_AGE_S)
    if found is None:
        older = await have(WireResource(), max_age_s=EVER)
        if older is not None and _is_before(post, older.value):
            found = older
    try:
        page = found.value if found is not None else (await need(WireResource())).value
    except DataServiceError:
        return {}, "the wire does not tell them to this key, or did not answer"
    return {item.id: item for item in page}, "their items are older than the newest 200, or gone"


def _is_before(post: Post, page: Page[WireItem]) -> bool:
    """Whether a post is older than all items of a page that has others behind it: a newer page reaches no further."""
    times = [at for item in page if (at := moment(item.published_at)) is not None]
    at = moment(post.published_at)
    return not page.complete and bool(times) and at is not None and at < min(times)
