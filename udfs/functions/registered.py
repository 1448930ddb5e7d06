"""Every function of the library, in the order of the reference."""

from __future__ import annotations

from udfs.functions.codex import CODEX, CODEX_POST
from udfs.functions.currents import CURRENT, CURRENTS
from udfs.functions.explain import EXPLAIN
from udfs.functions.indices import INDEX, INDICES
from udfs.functions.revisions import REVISIONS
from udfs.functions.signal_history import SIGNAL_HISTORY
from udfs.functions.signals import SIGNAL, SIGNALS
from udfs.functions.spark import SPARK
from udfs.functions.status import QUOTA, STATUS
from udfs.functions.wire import WIRE

FUNCTIONS = (
    SIGNAL,
    SIGNAL_HISTORY,
    INDEX,
    CURRENT,
    WIRE,
    SIGNALS,
    INDICES,
    CURRENTS,
    CODEX,
    CODEX_POST,
    QUOTA,
    STATUS,
    EXPLAIN,
    SPARK,
    REVISIONS,
)
