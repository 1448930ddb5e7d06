"""The ways in: Excel, Calc, desktop Excel, workbooks, the command line and MCP."""

__all__: list[str] = []
