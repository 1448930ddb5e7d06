"""Bringing a workbook up to date: the plan, the values, where they go."""
