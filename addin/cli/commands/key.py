"""`addin key`: keep, show and forget the API key of this machine."""

from __future__ import annotations

import os
import sys

import typer

from addin.config.api_key import ConfiguredKey, KeySource, KeyStore, find_key
from addin.config.settings import PREFIX, config_file, load_settings
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
    text = typer.prompt("API key", hide_input=True) if sys.stdin.isatty() else sys.stdin.readline()
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
