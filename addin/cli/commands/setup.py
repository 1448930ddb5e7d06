"""`addin setup`: address, key, host and start at login, one after the other; and all of it undone."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from addin.config.settings import PREFIX, config_file, load_settings, write_private
from addin.errors import AddinError, SettingsError
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
        raise typer.BadParameter(str(error)) from None


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

    It says what it does, asks the service once whether address and key work, and `--undo` takes everything back.

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
    asks = sys.stdin.isatty() and not show
    if asks:
        url = url or typer.prompt("Address of the service", default=load_settings().url or None)
        key = typer.confirm("Keep an API key", default=True) if key is None else key
        host = host or typer.prompt("Formulas in (excel, calc, both, none)", default="none", value_proc=_host)
        start = typer.confirm("Start the backend at every login", default=True) if start is None else start
    host = host or Host.NONE
    if url:
        _refuse_unusable(url)
    if show:
        _print(url, key=key is not False, host=host, start=start is not False)
        return
    _set_up(url, key=bool(key), host=host, start=bool(start))
    echo("Set up. Take it back with: addin setup --undo")


def _set_up(url: str | None, *, key: bool, host: Host, start: bool) -> None:
    if url:
        _keep_address(url)
    if key:
        from addin.cli.commands.key import set_key

        set_key()
    _test()
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


def _refuse_unusable(url: str) -> None:
    """Say what is wrong with the address where it was given."""
    try:
        load_settings({f"{PREFIX}URL": url}, config_file()).base_url  # noqa: B018 - reports what cannot be used
    except SettingsError as error:
        raise AddinError(str(error).replace(f"in {PREFIX}URL", "in --url")) from None


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


def _test() -> None:
    """Ask the service once; without a key it refuses, at no cost, and so shows that it is there."""
    from addin.config.api_key import find_key
    from addin.config.connect import connected, key_store, reach
    from dataservice.errors import DataServiceError
    from udfs.errors import reason

    settings = load_settings()
    has_key = bool(settings.url) and find_key(key_store(settings)) is not None

    async def ask() -> str:
        if not has_key:
            await reach(settings)
            return f"{settings.url} answers. It needs a key: addin key set"
        async with connected(settings) as session:
            quota = await session.client.quota()
            return f"It works: {quota.remaining:,} of {quota.cap:,} requests are left this month ({quota.tier})."

    try:
        echo(asyncio.run(ask()))
    except DataServiceError as error:
        why = reason(error, "This").rstrip(".")
        what = "address or key do" if has_key else "the address does"
        raise AddinError(
            f"{what} not work yet: {why}. Change {'them' if has_key else 'it'} with: addin setup"
        ) from None


def _add_to(host: Host) -> None:
    if host in (Host.EXCEL, Host.BOTH):
        from addin.cli.commands.excel import sideload

        sideload(remove=False, base_url=None)
    if host in (Host.CALC, Host.BOTH):
        from addin.cli.commands.calc_extension import calc_extension

        calc_extension(_extension(), url=None, http=host is Host.CALC, ca=None)


def _extension() -> Path:
    return Path("dataservice.oxt")


def _undo(*, show: bool) -> None:
    if show:
        echo(
            f"1. start the backend no more at login\n2. forget the API key\n3. take the address out of {config_file()}"
        )
        echo("What was added to Excel is removed by: addin sideload --remove; everything by: addin uninstall")
        return
    from addin.cli.autostart.removal import remove_autostart
    from addin.cli.commands.key import forget_key

    removed = remove_autostart()
    echo(f"Removed: {removed}." if removed else "The backend was not started at login.")
    if load_settings().url:
        forget_key()
        if config_file().exists():
            _keep_address(None)
    echo("What was added to Excel is removed by: addin sideload --remove; everything by: addin uninstall")
