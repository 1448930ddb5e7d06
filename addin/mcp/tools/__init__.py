"""The tools that a model can call, free of the protocol that carries them (`addin.mcp.server`).

Seven read the service, an eighth tells what these would cost, and sends nothing.
"""

from addin.mcp.tools import status as _status
from addin.mcp.tools.composites import list_currents, list_indices
from addin.mcp.tools.observations import get_observations
from addin.mcp.tools.posts import list_posts
from addin.mcp.tools.signals import get_signal, list_signals
from addin.mcp.tools.wire import list_wire

__all__ = [
    "READ_TOOLS",
    "TOOLS",
    "get_observations",
    "get_signal",
    "get_status",
    "list_currents",
    "list_indices",
    "list_posts",
    "list_signals",
    "list_wire",
]

READ_TOOLS = (
    *(list_signals, get_signal, get_observations),
    *(list_indices, list_currents),
    *(list_posts, list_wire),
)
"""The tools that read the service, in the order in which a model meets them."""

get_status = _status.status_tool(READ_TOOLS)

TOOLS = (*READ_TOOLS, get_status)
"""Every tool."""
