"""The function library: every function that a formula can call, written once, free of any host.

>>> import udfs
>>> value = await udfs.SIGNAL("us-cpi")                          # doctest: +SKIP
>>> frame = await udfs.SIGNAL_HISTORY("eia.wti.spot", "-5Y")     # doctest: +SKIP
"""

from udfs.engine.decorator import use
from udfs.engine.registry import REGISTRY
from udfs.engine.registry import register as _register
from udfs.engine.session import Call, Outcome, Session
from udfs.functions.codex import CODEX, CODEX_POST
from udfs.functions.currents import CURRENT, CURRENTS
from udfs.functions.explain import EXPLAIN
from udfs.functions.indices import INDEX, INDICES
from udfs.functions.signal_history import SIGNAL_HISTORY
from udfs.functions.signals import SIGNAL, SIGNALS
from udfs.functions.spark import SPARK
from udfs.functions.status import QUOTA, STATUS
from udfs.functions.wire import WIRE

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

_register(SIGNAL, SIGNAL_HISTORY, INDEX, CURRENT, WIRE)
_register(SIGNALS, INDICES, CURRENTS, CODEX, CODEX_POST, QUOTA, STATUS, EXPLAIN, SPARK)
