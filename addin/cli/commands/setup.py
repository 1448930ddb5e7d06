"""`addin setup`: address, key, host and start at login, one after the other; and all of it undone."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from addin.config.settings import PREFIX, Settings, config_file, load_settings, write_private
from addin.errors import AddinError, SettingsError
from dataservice.errors import AuthenticationError, DataServiceError
from dataservice.key_text import without_keys
from dataservice.terminal import echo


class Host(StrEnum):
    """The program in which formulas will be used."""

    EXCEL = "excel"
    CALC = "calc"
    BOTH = "both"
    NONE = "none"

    @classmethod
    def named(cls, text: str) -> Host:
        """The host by any of the names that people type; raises `ValueError` with those there are.

        >>> Host.named("LibreOffice"), Host.named("Excel")
        (<Host.CALC: 'calc'>, <Host.EXCEL: 'excel'>)
        """
        folded = " ".join(text.casefold().replace("-", " ").split())
        try:
            return cls(_OTHER_NAMES.get(folded, folded))
        except ValueError:
            raise ValueError(f"{text!r} is no program for formulas; there are {', '.join(cls)}") from None


_OTHER_NAMES = {
    **dict.fromkeys(
        ("microsoft excel", "ms excel", "excel for the web", "excel online", "office", "microsoft 365"), "excel"
    ),
    **dict.fromkeys(("libreoffice", "libre office", "libreoffice calc", "openoffice", "localc"), "calc"),
    **dict.fromkeys(("all", "excel and calc", "excel,calc", "excel, calc"), "both"),
    **dict.fromkeys(("neither", "no", "browser", "sheet"), "none"),
}


def _host(text: str | Host) -> Host:
    try:
        return Host.named(text)
    except ValueError as error:
        raise typer.BadParameter(without_keys(str(error))) from None


def setup(
    url: Annotated[str | None, typer.Option(help="The service's address.")] = None,
    key: Annotated[
        bool | None, typer.Option("--key/--no-key", help="Keep a key, asked for or read from a pipe.")
    ] = None,
    host: Annotated[
        Host | None,
        typer.Option(parser=_host, metavar="PROGRAM", help="Where you will use formulas: excel, calc, both or none."),
    ] = None,
    start: Annotated[bool | None, typer.Option("--start/--no-start", help="Start the backend at every login.")] = None,
    undo: Annotated[bool, typer.Option("--undo", help="Take back what setup did.")] = False,
    show: Annotated[bool, typer.Option("--print", help="Only print what would be done.")] = False,
) -> None:
    """Set the add-in up: the address, your key, the spreadsheet program, the start at login. Asks for what is left out.

    It says what it does and asks the service once whether address and key work; a key that it refuses is not kept.
    `--undo` takes it back: start at login, key, address and Excel's entry.

    \b
    Examples:
      addin setup
      addin setup --url https://data.example.com --key --host excel --start < key.txt
      addin setup --print
      addin setup --undo
    """
    if undo:
        _undo(show=show)
        return
    from addin.cli.commands.key import given_key

    url = None if url is None else _usable(url)
    secret = None
    if sys.stdin.isatty() and not show:
        url = url or typer.prompt("Address of the service", default=load_settings().url or None, value_proc=_address)
        key = typer.confirm("Keep an API key", default=True) if key is None else key
        secret = given_key() if key else None
        host = host or typer.prompt("Formulas in (excel, calc, both, none)", default="none", value_proc=_host)
        start = typer.confirm("Start the backend at every login", default=True) if start is None else start
    elif key and not show:
        secret = given_key()
    host = host or Host.NONE
    if show:
        _print(url, key=key is not False, host=host, start=start is not False)
        return
    _set_up(url, key=secret, host=host, start=bool(start))
    echo("Set up. Take it back with: addin setup --undo")


def _set_up(url: str | None, *, key: str | None, host: Host, start: bool) -> None:
    settings = _settings_with(url)
    failure = _tried(settings, key)
    if url:
        _keep_address(url)
    if key and isinstance(failure, AuthenticationError):
        # A key that works is shown only once; one that does not must not take its place.
        raise AddinError(f"the service refused the key ending in {key[-4:]}, so it is not kept. Try: addin setup")
    if key:
        from addin.cli.commands.key import keep_key

        keep_key(key)
    if failure is not None:
        raise _not_yet(failure, has_key=key is not None or _has_key(settings))
    _add_to(host)
    if start:
        from addin.cli.commands.autostart import install

        install(http=host is Host.CALC, show=False, form=None)


def _print(url: str | None, *, key: bool, host: Host, start: bool) -> None:
    for number, step in enumerate(_steps(url, key=key, host=host, start=start), 1):
        echo(f"{number}. {step}")


def _steps(url: str | None, *, key: bool, host: Host, start: bool) -> Iterator[str]:
    yield f"write url = {url or '(the address that you give)'} into {config_file()}"
    if key:
        yield "keep the API key in the system's keychain: addin key set"
    yield "ask the service once whether address and key work"
    if host in (Host.EXCEL, Host.BOTH):
        yield "add the add-in to Excel: addin sideload"
    if host in (Host.CALC, Host.BOTH):
        yield f"write the extension for LibreOffice Calc: addin calc-extension {_extension()}"
    if start:
        yield "start the backend now and at every login: addin autostart install"


def _address(text: str) -> str:
    """The address that was typed; a wrong one is asked for again."""
    try:
        return _usable(text)
    except AddinError as error:
        raise typer.BadParameter(without_keys(str(error))) from None


def _usable(url: str) -> str:
    """The service's address; raises `AddinError` with what is wrong with the one given."""
    from dataservice.client.network.credentials import service_url

    set_here = os.environ.get(f"{PREFIX}URL", "").strip()
    try:
        address = service_url(_settings_with(url).base_url)
        wins = bool(set_here) and service_url(set_here) != address
    except SettingsError as error:
        raise AddinError(str(error).replace(f"in {PREFIX}URL", "in --url")) from None
    except ValueError as error:
        raise AddinError(f"url = {url!r} cannot be used: {error}") from None
    if wins:
        raise AddinError(
            f"{PREFIX}URL is {set_here} in this terminal and would be used in place of {address}; "
            "unset it, then try again"
        )
    return address


def _settings_with(url: str | None) -> Settings:
    """The settings, with this address where one is given."""
    return load_settings({**os.environ, f"{PREFIX}URL": url} if url else os.environ)


def _keep_address(url: str | None) -> None:
    """Write the address into the config file, or take it out."""
    from addin.config.config_text import with_setting

    file = config_file()
    try:
        text = file.read_text(encoding="utf-8") if file.exists() else ""
    except (OSError, UnicodeDecodeError) as error:
        raise AddinError(f"{file} cannot be read: {error}") from None
    write_private(file, with_setting(text, "url", url).encode())
    echo(f"The address {'is kept in' if url else 'is taken out of'} {file}.")


def _tried(settings: Settings, key: str | None) -> DataServiceError | None:
    """Ask the service once, say that it works, or return why not.

    Without a key it refuses, at no cost, and so shows that it is there.
    """
    from addin.config.connect import connected, reach

    async def ask() -> str:
        if key is None and not _has_key(settings):
            await reach(settings)
            return f"{settings.url} answers. It needs a key: addin key set"
        async with connected(settings, key=key) as session:
            quota = await session.client.quota()
            return f"It works: {quota.remaining:,} of {quota.cap:,} requests are left this month ({quota.tier})."

    try:
        echo(asyncio.run(ask()))
    except DataServiceError as error:
        return error
    return None


def _has_key(settings: Settings) -> bool:
    from addin.config.api_key import find_key
    from addin.config.connect import key_store

    return bool(settings.url) and find_key(key_store(settings)) is not None


def _not_yet(failure: DataServiceError, *, has_key: bool) -> AddinError:
    """Return what does not work, why, and how to change it."""
    from udfs.errors import reason

    what = "address or key do" if has_key else "the address does"
    why = reason(failure, "This").rstrip(".")
    return AddinError(f"{what} not work yet: {why}. Change {'them' if has_key else 'it'} with: addin setup")


def _add_to(host: Host) -> None:
    if host in (Host.EXCEL, Host.BOTH):
        from addin.cli.commands.excel import sideload

        sideload(remove=False, base_url=None)
    if host in (Host.CALC, Host.BOTH):
        from addin.cli.commands.calc_extension import calc_extension

        calc_extension(_extension(), url=None, http=host is Host.CALC, ca=None)


def _extension() -> Path:
    return Path("dataservice.oxt")


_WHAT_STAYS = "Cache, certificate and an extension that Calc has stay; everything is removed by: addin uninstall"


def _undo(*, show: bool) -> None:
    if show:
        echo(
            f"1. start the backend no more at login\n2. forget the API key\n3. take the address out of {config_file()}"
        )
        echo(f"4. take the add-in out of Excel: addin sideload --remove\n{_WHAT_STAYS}")
        return
    from addin.cli.autostart.removal import remove_autostart
    from addin.cli.commands.excel import sideload
    from addin.cli.commands.key import forget_key

    removed = remove_autostart()
    echo(f"Removed: {removed}." if removed else "The backend was not started at login.")
    if load_settings().url:
        forget_key()
        if config_file().exists():
            _keep_address(None)
    sideload(remove=True, base_url=None)
    echo(_WHAT_STAYS)
