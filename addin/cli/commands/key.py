"""`addin key`: keep, show and forget the API key of this machine."""

from __future__ import annotations

import os
import sys

import typer

from addin.config.api_key import ConfiguredKey, KeySource, KeyStore, checked_key, find_key
from addin.config.settings import PREFIX, config_file, load_settings
from addin.errors import SettingsError
from dataservice.terminal import echo, new_group

app = new_group(
    """Keep the API key in the system's keychain, show where it is, or forget it.

\b
Examples:
  addin key set
  addin key show
"""
)


@app.command("set")
def set_key() -> None:
    """Keep a key: asks for it without showing it, or reads it from a pipe.

    \b
    Examples:
      addin key set
      addin key set < key.txt
    """
    keep_key(given_key())


def given_key() -> str:
    """The key that is typed, asked for again if it has not the form of one; without a terminal the first line given.

    Raises `SettingsError` for a line that is no key.
    """
    if not sys.stdin.isatty():
        return checked_key(next((line for line in sys.stdin if line.strip()), ""))
    while True:
        try:
            return checked_key(typer.prompt("API key (what you type or paste is not shown)", hide_input=True))
        except SettingsError as error:
            echo(f"{error}. Try again, or end with Ctrl-C.", err=True)


def keep_key(text: str) -> None:
    """Keep the key of the service in the settings, and say where; raises `SettingsError` for what is not a key."""
    store = _store()
    key = store.save(text)
    echo(f"The key ending in {key.id} is kept in {_place(key, store)}.")
    if key.source is KeySource.FILE:
        echo("There is no keychain on this system, so it lies in that file, readable for you only.", err=True)
    _warn_of_environment()


@app.command("show")
def show_key() -> None:
    """Say where the key in use comes from, and its last four characters.

    \b
    Example:
      addin key show
    """
    store = _store()
    key = find_key(store)
    if key is None:
        echo("No key is set. Keep one with: addin key set")
        raise typer.Exit(1)
    echo(f"The key ending in {key.id} comes from {_place(key, store)}.")


@app.command("forget")
def forget_key() -> None:
    """Remove the kept key.

    \b
    Example:
      addin key forget
    """
    echo("The key is forgotten." if _store().forget() else "No key was kept.")
    _warn_of_environment()


def _store() -> KeyStore:
    from addin.config.connect import key_store

    return key_store(load_settings())


def _place(key: ConfiguredKey, store: KeyStore) -> str:
    places = {
        KeySource.ENVIRONMENT: f"the environment variable {PREFIX}API_KEY",
        KeySource.KEYCHAIN: "the system's keychain",
        KeySource.FILE: str(store.file),
        KeySource.CONFIG: str(config_file()),
    }
    return places[key.source]


def _warn_of_environment() -> None:
    if os.environ.get(f"{PREFIX}API_KEY", "").strip():
        echo(f"Note: {PREFIX}API_KEY is set in the environment and is used before any kept key.", err=True)
