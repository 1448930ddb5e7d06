"""Refreshing a workbook: the plan, the values, and where they are written."""
