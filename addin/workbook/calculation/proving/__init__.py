"""Whether results may be written: what speaks against each, and what every program has to come to."""
