"""The function library: every function that a formula can call, written once, free of any host.

    >>> import udfs
    >>> value = await udfs.SIGNAL("us-cpi")                          # doctest: +SKIP
    >>> frame = await udfs.SIGNAL_HISTORY("eia.wti.spot", "-5Y")     # doctest: +SKIP
"""

from udfs.registry import REGISTRY
from udfs.session import Call, Outcome, Session, use

__all__ = ["REGISTRY", "Call", "Outcome", "Session", "use"]
