"""The command line of the add-in."""
