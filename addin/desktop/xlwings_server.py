"""The library for a firm's own xlwings Server: import this module among its custom functions, with the namespace DS.

The server's namespace makes `DS.SIGNAL` of `SIGNAL`. Only the decorators of the package xlwings are used.
"""

from __future__ import annotations

from addin.desktop.functions import error_code, functions
from addin.desktop.sync_session import SyncSession

# xlwings looks for marked functions among the names of the module.
globals().update(functions(SyncSession().answer, show_error=error_code))
