"""Writing to a terminal, and groups of commands: what both programs, `addin` and `dataservice`, stand on."""
