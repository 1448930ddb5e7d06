"""What runs inside soffice: standard library only, Python 3.8 and newer, copied into the extension as it stands.

Imports inside are relative, because in the extension this package has another name. The decisions (`calls`, `values`,
`memo`, `backend`, `desk`) know nothing of UNO; the modules that do are `registration` and those it imports first.
"""

from __future__ import annotations

__all__: list[str] = []
