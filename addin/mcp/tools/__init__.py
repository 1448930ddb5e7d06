"""The seven tools that a model can call, free of the protocol that carries them (`addin.mcp.server`)."""

from addin.mcp.runner import Desk, ToolFailure
from addin.mcp.tool import Found, Tool
from addin.mcp.tools.composites import list_currents, list_indices
from addin.mcp.tools.observations import get_observations
from addin.mcp.tools.posts import list_posts
from addin.mcp.tools.signals import get_signal, list_signals
from addin.mcp.tools.wire import list_wire

__all__ = [
    "TOOLS",
    "Desk",
    "Found",
    "Tool",
    "ToolFailure",
    "get_observations",
    "get_signal",
    "list_currents",
    "list_indices",
    "list_posts",
    "list_signals",
    "list_wire",
]

TOOLS: tuple[Tool, ...] = (
    list_signals,
    get_signal,
    get_observations,
    list_indices,
    list_currents,
    list_posts,
    list_wire,
)
"""Every tool, in the order in which a model meets them."""
