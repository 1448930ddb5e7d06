"""Workbooks as files: the template, and refreshing any book without a spreadsheet program."""
