"""The library for a firm's own xlwings Server: import this module among its custom functions, with the namespace DS.

The server's namespace makes `DS.SIGNAL` of `SIGNAL`. The functions are coroutines, so that the server answers others
while the service is slow. Only the decorators of the package xlwings are used.
"""

from __future__ import annotations

from addin.desktop.functions import async_functions, error_code
from addin.desktop.sync_session import SyncSession

# xlwings looks for marked functions among the names of the module.
globals().update(async_functions(SyncSession().answer_meanwhile, show_error=error_code))
