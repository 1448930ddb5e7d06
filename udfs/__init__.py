"""The function library: every function that a formula can call, written once, free of any host.

>>> import udfs
>>> value = await udfs.SIGNAL("us-cpi")                          # doctest: +SKIP
>>> frame = await udfs.SIGNAL_HISTORY("eia.wti.spot", "-5Y")     # doctest: +SKIP
"""

from udfs.account import QUOTA, STATUS
from udfs.catalogue import SIGNALS
from udfs.codex import CODEX, CODEX_POST
from udfs.currents import CURRENT, CURRENTS
from udfs.explain import EXPLAIN
from udfs.indices import INDEX, INDICES
from udfs.registry import REGISTRY
from udfs.registry import arrange as _arrange
from udfs.session import Call, Outcome, Session, use
from udfs.signal_history import SIGNAL_HISTORY
from udfs.signals import SIGNAL
from udfs.spark import SPARK
from udfs.wire import WIRE

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

_arrange(
    [
        *(SIGNAL, SIGNAL_HISTORY, INDEX, CURRENT, WIRE),
        *(SIGNALS, INDICES, CURRENTS, CODEX, CODEX_POST, QUOTA, STATUS, EXPLAIN, SPARK),
    ]
)
