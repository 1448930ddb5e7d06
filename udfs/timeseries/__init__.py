"""What SIGNAL_HISTORY computes: windows of a series, periods, transforms, alignment, tables."""
