"""QUOTA and STATUS: what is left of the month's requests, and the state of everything asked."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import MISSING, fields
from datetime import UTC, datetime
from functools import lru_cache
from typing import Annotated, Any

from dataservice.client import (
    Answer,
    AsyncClient,
    HistoryResource,
    IndicesResource,
    Quota,
    Resource,
    ResourceState,
    SignalResource,
    VintagesResource,
)
from dataservice.errors import DataServiceError
from udfs.arguments.kinds import Choice, Text
from udfs.cells import Table, table
from udfs.engine.decorator import udf
from udfs.engine.effects import EVER, FRESH, gather, have, need
from udfs.errors import NoDataError, reason
from udfs.records.revisions import Revision, last_revision


@lru_cache(maxsize=16_384)
def label(resource: Resource[Any]) -> str:
    """The resource in words: what it is, and the filters that make it special: `wire (kind=news, since=2026-08-01)`."""
    what = type(resource).__name__.removesuffix("Resource").lower()
    given = {field.name: getattr(resource, field.name) for field in fields(resource) if _is_special(resource, field)}
    slug = given.pop("slug", None)
    named = f"{what} {slug}" if slug else what
    filters = ", ".join(f"{name}={value}" for name, value in given.items())
    return f"{named} ({filters})" if filters else named


def _is_special(resource: Resource[Any], field: Any) -> bool:
    return field.default is MISSING or getattr(resource, field.name) != field.default


KEEP_S = 5.0
"""Both change with every request, and asking again costs none; this only spares a sheet full of them."""

QUOTA_FIELDS = (
    Choice("remaining", "requests left this month"),
    Choice("tier", "the key's tier: free, pro or enterprise"),
    Choice("cap", "requests per month"),
    Choice("used_here", "requests sent by this installation this month"),
)

FIELD = Text(help="the field to show; a range of fields spills", example="tier", choices=QUOTA_FIELDS, vectorized=True)

STATUS_COLUMNS = ("resource", "state", "age", "source", "last_error", "revised_at", "revision")


@udf(group="Account", keep_s=KEEP_S, runs_last=True, examples=("=DS.QUOTA()", '=DS.QUOTA("tier")'))
async def QUOTA(  # noqa: N802 - the id that workbooks store
    field: Annotated[str, FIELD] = "remaining", *, client: AsyncClient
) -> Any:
    """The requests left this month, or the key's tier, its cap, or the requests sent by this installation.

    The values come from the last answer of the service, whatever it was about. If there was no answer yet, one request
    is spent: it loads the indices, which other cells can use.
    """
    if client.quota_now is None:
        await have(IndicesResource(), max_age_s=EVER)  # opens the store, which other processes share
    if client.quota_now is None:
        await need(IndicesResource())
    quota: Quota | None = client.quota_now
    if quota is None:
        raise NoDataError("the service tells no allowance: its answers hold no quota headers")
    return getattr(quota, field)


@udf(group="Account", shape="table", keep_s=KEEP_S, runs_last=True, examples=("=DS.STATUS()", '=DS.STATUS("us-cpi")'))
async def STATUS(  # noqa: N802 - the id that workbooks store
    name: Annotated[str | None, Text(help="only resources with this text in their name", example="us-cpi")] = None,
    *,
    now: float,
    client: AsyncClient,
) -> Table:
    """A table of every resource read so far: name, state, age in seconds, source, last error, last revision.

    The state is fresh, stale (the last known value is shown), missing, locked (the key's tier is too low), spent (the
    month's requests are used up) or offline. The source is memory, shelf (the file on disk), redis or network.
    `revised_at` is when a change of an earlier value was last seen, `revision` which value changed, by how much, and
    the last look that did not show it yet. Costs no request.
    """
    found = sorted(client.states(), key=lambda state: label(state.resource))
    states = [state for state in found if name is None or name.casefold() in label(state.resource).casefold()]
    revisions = await _revisions({slug for state in states if (slug := _slug(state.resource))})
    rows = [_row(state, revisions.get(_slug(state.resource) or ""), now) for state in states]
    return table(STATUS_COLUMNS, rows or [[name, "missing", None, None, None, None, None]] if name else rows)


def _slug(resource: Resource[Any]) -> str | None:
    """The signal that a resource is about."""
    return resource.slug if isinstance(resource, SignalResource | HistoryResource) else None


async def _revisions(slugs: Iterable[str]) -> dict[str, Revision]:
    """The last revision that was seen of each signal, where there was one."""
    ordered = sorted(slugs)
    answers = await gather([have(VintagesResource(slug), max_age_s=FRESH) for slug in ordered])
    found = {slug: answer.value for slug, answer in zip(ordered, answers, strict=True) if isinstance(answer, Answer)}
    last = {slug: last_revision(vintages) for slug, vintages in found.items()}
    return {slug: revision for slug, revision in last.items() if revision is not None}


def _row(state: ResourceState, revision: Revision | None, now: float) -> list[Any]:
    age = None if state.fetched_at is None else round(max(0.0, now - state.fetched_at))
    error = state.last_error
    return [
        label(state.resource),
        str(state.state),
        age,
        None if state.source is None else str(state.source),
        reason(error, label(state.resource).split()[0].upper()) if isinstance(error, DataServiceError) else error,
        _revised_at(state) if revision is None else revision.first_seen,
        None if revision is None else f"{revision.text}, {revision.since}",
    ]


def _revised_at(state: ResourceState) -> datetime | None:
    return None if state.revised_at is None else datetime.fromtimestamp(int(state.revised_at), UTC)
