"""The tool that sends nothing: what is left of the month, what is at hand and how old, and what calls would cost."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

from addin.mcp.calls import Calls, PlannedCall
from addin.mcp.schemas import MAX_REQUESTS, NUMBER, TEXT, WHOLE, Schema, list_of, object_of
from addin.mcp.tool import Found, Tool, tool
from addin.mcp.tools.rows import has_times, labels
from dataservice.client import AsyncClient, CatalogueResource, Cost, Quota, SignalResource
from dataservice.client.cost import NOTHING, UNKNOWN
from dataservice.errors import DataServiceError
from udfs.arguments import Names
from udfs.engine import EVER, CostEstimator, Guess, Run, Snapshot, spread
from udfs.engine import answer as answer_runs
from udfs.errors import UdfError
from udfs.records import nearest
from udfs.timeseries import recent

TIERS = ("free", "pro", "enterprise")
"""Those of the contract: whatever else a header says stands in no answer."""

COST: dict[str, Schema] = {
    "at_least": WHOLE,
    "at_most": {"type": "integer", "description": "left out where nobody can know"},
    "text": TEXT,
}

CACHED: dict[str, Schema] = {
    "slug": TEXT,
    "is_cached": {"type": "boolean"},
    "age_s": NUMBER,
    "fresh_for_s": {"type": "number", "description": "0: the next read asks the service"},
    "observations": {"type": "integer", "description": "recent ones at hand"},
    "last_date": TEXT,
}

SLUGS = Names(help="signals to look for in the cache: slugs or shortcodes", example="us-cpi, WTI", most=1_000)

CALLS = Calls(help='calls to be priced: [{"tool": "get_signal", "arguments": {"slug": "us-cpi"}}]')


def status_tool(tools: Sequence[Tool]) -> Tool:
    """The tool that tells what calls of `tools` would cost."""
    by_name = {each.name: each for each in tools}

    @tool(
        title="What is left, what is at hand, what calls would cost",
        result={
            "cached": list_of(object_of(CACHED)),
            "calls": list_of(object_of({"tool": TEXT, **COST, "error": TEXT}), "in the order given, each by itself"),
            "cost": object_of(COST, "of all calls together: what they share is counted once"),
        },
        optional=frozenset({"cached", "calls", "cost"}),
        others=("cached",),
        sends_nothing=True,
    )
    async def get_status(
        slugs: Annotated[Sequence[str] | None, SLUGS] = None,
        calls: Annotated[Sequence[PlannedCall] | None, CALLS] = None,
        *,
        now: float,
        client: AsyncClient,
    ) -> Found:
        """Return what is left of the month's requests (`quota`, with its age), at no request. Sends nothing.

        With slugs: which of them are cached, how old, and for how long they are fresh. With calls: what each would
        spend now, and all together, from at_least to at_most. Use it before many or wide calls.
        """
        members: dict[str, Any] = {}
        await client.look_up_quota()
        if slugs:
            members["cached"] = [await _cached(name, now, client) for name in slugs]
        if calls:
            priced = [await _priced([call], by_name, now, client) for call in calls]
            together = await _priced(
                [call for call, one in zip(calls, priced, strict=True) if "error" not in one], by_name, now, client
            )
            members["calls"] = [{"tool": call.tool[:60], **one} for call, one in zip(calls, priced, strict=True)]
            members["cost"] = together
        more = None if client.quota_now else "the quota is not known yet: the first answer of the service tells it"
        return Found(members, more, listed="cached" if slugs else None)

    return get_status


def quota_members(quota: Quota, now: float) -> dict[str, Any]:
    """The quota as it was last told, and how long ago that was."""
    return {
        "tier": next((tier for tier in TIERS if tier in quota.tier.casefold()), "other"),
        "cap": quota.cap,
        "remaining": quota.remaining,
        "age_s": round(max(0.0, now - quota.seen_at), 1),
    }


async def _cached(name: str, now: float, client: AsyncClient) -> dict[str, Any]:
    """Return what is at hand of one signal."""
    catalogue = await client.have(CatalogueResource(), max_age_s=EVER)
    listed = catalogue.value.find(name) if catalogue else None
    slug = listed.slug if listed else name
    known = await client.last_known(SignalResource(slug))
    if known is None:
        return {"slug": slug, "is_cached": False}
    near = recent(known.value).observations
    last = {"last_date": labels(near.times[-1:], timed=has_times(near.times))[0]} if len(near) else {}
    return {
        "slug": slug,
        "is_cached": True,
        "age_s": round(known.age_s(now), 1),
        "fresh_for_s": round(known.fresh_for_s(now), 1),
        "observations": len(near),
        **last,
    }


async def _priced(
    calls: Sequence[PlannedCall], tools: dict[str, Tool], now: float, client: AsyncClient
) -> dict[str, Any]:
    """Return what calls would spend together, or why one cannot be made."""
    try:
        cost = await _cost(calls, tools, now, client) if calls else NOTHING
    except UdfError as error:
        return {"error": str(error)}
    most = {} if cost.at_most is None else {"at_most": cost.at_most}
    return {"at_least": cost.at_least, **most, "text": str(cost)}


async def _cost(calls: Sequence[PlannedCall], tools: dict[str, Tool], now: float, client: AsyncClient) -> Cost:
    """From how many to how many requests the calls would spend: they run on guesses of what is not known."""
    at_hand = Snapshot(client, None, now)
    guesses = [CostEstimator(at_hand, guess, now) for guess in Guess]
    for estimator in guesses:
        runs = [Run(_bound(call, tools, now, client)) for call in calls]
        await answer_runs(runs, estimator, now)
        if not all(run.error is None or isinstance(run.error, UdfError | DataServiceError) for run in runs):
            return UNKNOWN
    return spread(estimator.by_subject() for estimator in guesses)


def _bound(call: PlannedCall, tools: dict[str, Tool], now: float, client: AsyncClient) -> Any:
    if call.tool not in tools:
        guess = nearest(call.tool, tools)
        advice = f"did you mean {guess}?" if guess else f"there are {', '.join(tools)}"
        raise UdfError(f"there is no tool '{call.tool[:60]}' to be priced; {advice}")
    arguments = {name: value for name, value in call.arguments.items() if name != MAX_REQUESTS}
    return tools[call.tool].bind(arguments, now, client)
