"""The quota headers as a variant of the service writes them."""

from collections.abc import Mapping

from dataservice.server.http.auth_middleware import CAP_HEADER, REMAINING_HEADER, TIER_HEADER


def quota_headers(headers: Mapping[str, str], how: str) -> list[tuple[str, str]]:
    """The three headers of the embedded service, written `how`."""
    tier, cap, left = (headers.get(name.lower(), "") for name in (TIER_HEADER, CAP_HEADER, REMAINING_HEADER))
    written = {
        "grouped": (tier, f"{int(cap or 0):,}", f"{int(left or 0):,}"),
        "window": (tier, f"{cap};w=month", left),
        "unlimited": (tier, "unlimited", left),
        "fraction": (tier, f"{cap}.0", f"{left}.0"),
        "spaced": (tier, f"{cap} requests", f"{left} requests"),
        "tier-plan": (f"{tier.title()} plan", cap, left),
        "draft": (tier, cap, f"limit={cap}, remaining={left}"),
    }.get(how, (tier, cap, left))
    return [] if how == "absent" else list(zip((TIER_HEADER, CAP_HEADER, REMAINING_HEADER), written, strict=True))
