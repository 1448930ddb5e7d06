"""The functions for programs that do not await: each call waits for its result.

>>> from udfs.sync import SIGNAL, SIGNAL_HISTORY
>>> value = SIGNAL("us-cpi")                              # doctest: +SKIP
>>> frame = SIGNAL_HISTORY("eia.wti.spot", "-5Y")         # doctest: +SKIP

They share the session of `await udfs.SIGNAL(...)`, its cache and its requests, and work in scripts, threads and
notebooks alike. (`udfs.use` concerns the functions that are awaited.) `make reference` writes their signatures into
`sync.pyi`.
"""

from udfs.engine.in_python.python_function import waiting_function as _waiting
from udfs.engine.shared_session import close
from udfs.functions.registered import FUNCTIONS as _FUNCTIONS

globals().update({function.__name__: _waiting(function.udf) for function in _FUNCTIONS})


def __dir__() -> list[str]:
    """Return what editors offer after `udfs.sync.`: the functions, and `close`."""
    return sorted([*(function.__name__ for function in _FUNCTIONS), close.__name__])
