"""The table of the embedded service's variants, from its switches."""

from __future__ import annotations

from dataservice.server.variants import SWITCHES
from docs.generate.markdown import table

__all__ = ["variants_part"]


def variants_part() -> str:
    """A row for each switch."""
    rows = [
        [f"`{switch.name}`", switch.about, " ".join(f"`{value}`" for value in switch.values)]
        for switch in SWITCHES.values()
    ]
    return table(["switch", "decides", "values"], rows)
