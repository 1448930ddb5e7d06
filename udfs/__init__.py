"""The function library: every function that a formula can call, written once, free of any host.

    >>> import udfs
    >>> value = await udfs.SIGNAL("us-cpi")                          # doctest: +SKIP
    >>> frame = await udfs.SIGNAL_HISTORY("eia.wti.spot", "-5Y")     # doctest: +SKIP
"""
# ruff: noqa: I001  the order of these imports is the order of the functions in the reference

from udfs.signals import SIGNAL
from udfs.signal_history import SIGNAL_HISTORY
from udfs.indices import INDEX, INDICES
from udfs.currents import CURRENT, CURRENTS
from udfs.wire import WIRE
from udfs.catalogue import SIGNALS
from udfs.codex import CODEX, CODEX_POST
from udfs.explain import EXPLAIN
from udfs.spark import SPARK
from udfs.account import QUOTA, STATUS
from udfs.registry import REGISTRY
from udfs.session import Call, Outcome, Session, use

__all__ = [
    "CODEX",
    "CODEX_POST",
    "CURRENT",
    "CURRENTS",
    "EXPLAIN",
    "INDEX",
    "INDICES",
    "QUOTA",
    "REGISTRY",
    "SIGNAL",
    "SIGNALS",
    "SIGNAL_HISTORY",
    "SPARK",
    "STATUS",
    "WIRE",
    "Call",
    "Outcome",
    "Session",
    "use",
]
