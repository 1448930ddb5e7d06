"""Several processes on one port: who starts them, and what they know of each other."""
