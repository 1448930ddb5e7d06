"""The seven tools that a model can call, free of the protocol that carries them (`addin.mcp.server`)."""

from addin.mcp.tools.composites import list_currents, list_indices
from addin.mcp.tools.observations import get_observations
from addin.mcp.tools.publications import list_posts, list_wire
from addin.mcp.tools.signals import get_signal, list_signals

__all__ = [
    "TOOLS",
    "get_observations",
    "get_signal",
    "list_currents",
    "list_indices",
    "list_posts",
    "list_signals",
    "list_wire",
]

TOOLS = (
    *(list_signals, get_signal, get_observations),
    *(list_indices, list_currents),
    *(list_posts, list_wire),
)
"""Every tool, in the order in which a model meets them."""
