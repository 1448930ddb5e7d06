"""Workbooks as files: the template, and refreshing any book without a spreadsheet program."""

__all__: list[str] = []
