"""What goes wrong around the functions: settings, files, ports. A function's own errors are in `udfs.errors`."""

from __future__ import annotations


class AddinError(Exception):
    """Something the user can put right; the message says what happened and what to do.

    Every command prints the message to stderr and ends with exit code 1, without a traceback.
    """


class SettingsError(AddinError, ValueError):
    """A setting cannot be used: which one, from where, what was given and what is allowed."""
