"""The work of `addin uninstall`: what the add-in put on this machine, and how each of it is removed."""
