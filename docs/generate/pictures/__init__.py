"""The pictures in the pages, each drawn by a command of its own from what it shows."""
