"""Taking the backend off the list of what starts at login."""

from __future__ import annotations

from collections.abc import Sequence

from addin.autostart import machine
from addin.autostart.entries import Entry
from addin.autostart.form import Form
from addin.autostart.record import record_file
from addin.tls.trust import platform
from addin.tls.trust import run as run_steps

FORMS = {"windows": (Form.WINDOWS,), "mac": (Form.MAC,), "linux": (Form.SYSTEMD, Form.XDG)}
"""What may have been put on a system of each kind, also by an earlier version of its desktop."""


def entries_here() -> Sequence[Entry]:
    """The entries that are on this machine."""
    made = [machine.entry_here(form, ("addin",)) for form in FORMS[platform()]]
    return [each for each in made if machine.found(each) is not None]


def remove_autostart() -> str | None:
    """Delete entries and record, and end what runs; returns the places, None if there was nothing.

    Raises `AddinError` if something cannot be deleted.
    """
    entries, file = entries_here(), record_file()
    had_record = file.exists()
    file.unlink(missing_ok=True)  # a backend that runs notices, and ends
    for each in entries:
        run_steps(each.end)  # without a session of the user, as under sudo, there is nothing to end
        machine.take_off(each)
    places = [each.place for each in entries] or ([str(file)] if had_record else [])
    return ", ".join(places) or None
