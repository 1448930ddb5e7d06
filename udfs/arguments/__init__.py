"""How the arguments of a formula are read: kinds, dates, options, ranges."""
