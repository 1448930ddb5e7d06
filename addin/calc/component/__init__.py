"""What runs inside soffice: standard library only, Python 3.8 and newer, copied into the extension as it is.

Imports are relative, because this package has another name in the extension. `registration`, `commands`, `host`,
`results` and `tables` use UNO; the other modules know nothing of it.
"""
