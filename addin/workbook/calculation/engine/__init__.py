"""The engine that works formulas out, in a process of its own, behind an interface that another engine could fill."""
