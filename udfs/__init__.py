"""The function library: every function that a formula can call, written once, free of any host.

>>> import udfs
>>> value = await udfs.SIGNAL("us-cpi")                          # doctest: +SKIP
>>> frame = await udfs.SIGNAL_HISTORY("eia.wti.spot", "-5Y")     # doctest: +SKIP

All calls of a process share one session, with the settings, key and cache file that the add-in uses (`udfs.close` ends
it early). `make reference` writes the names and signatures for type checkers and editors into `__init__.pyi`.
"""

from udfs.engine.in_python.python_function import use
from udfs.engine.registry import REGISTRY
from udfs.engine.registry import register as _register
from udfs.engine.session import Call, Outcome, Session
from udfs.engine.shared_session import close
from udfs.functions.registered import FUNCTIONS as _FUNCTIONS

_register(*(function.udf for function in _FUNCTIONS))
globals().update({function.__name__: function for function in _FUNCTIONS})

__all__ = [*sorted(REGISTRY), "REGISTRY", "Call", "Outcome", "Session", "close", "use"]
