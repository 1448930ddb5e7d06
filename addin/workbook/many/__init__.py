"""Many workbooks as one task: one list, one cost, shared answers, one report."""
