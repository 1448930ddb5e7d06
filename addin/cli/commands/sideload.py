"""`addin sideload`: give the add-in to the Excel of this user."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def sideload(
    remove: Annotated[bool, typer.Option("--remove", help="Take it away again.")] = False,
    base_url: Annotated[str | None, typer.Option(help="The backend's https address as users reach it.")] = None,
) -> None:
    """Give the add-in to Excel on this machine, or tell how to give it to Excel on the web.

    \b
    Examples:
      addin sideload
      addin sideload --base-url https://data.example.com
      addin sideload --remove
    """
    from addin.config.settings import load_settings
    from addin.excel.manifest import local_url, manifest
    from addin.tls.trust import platform

    settings = load_settings()
    text = manifest(base_url=base_url or local_url(settings), namespace=settings.namespace)
    match platform():
        case "windows":
            _windows(None if remove else text)
        case "mac":
            _mac(None if remove else text)
        case "linux":
            _linux(None if remove else text)


def _windows(text: str | None) -> None:
    from addin.excel.sideload import WindowsRegistry, into_registry

    changed = into_registry(WindowsRegistry(), None if text is None else _kept(text))
    if text is None:
        typer.echo("Excel no longer loads the add-in." if changed else "Excel did not load the add-in.")
        return
    typer.echo("Excel loads the add-in from its next start on: see Insert, My Add-ins, Developer Add-ins.")
    _start()


def _mac(text: str | None) -> None:
    from addin.excel.sideload import into_mac_folder

    file = into_mac_folder(Path.home(), text)
    if text is None:
        typer.echo(f"Deleted {file}." if file else "Excel did not load the add-in.")
        return
    typer.echo(f"Written to {file}. Restart Excel: see Insert, My Add-ins, the menu beside it.")
    _start()


def _linux(text: str | None) -> None:
    from addin.excel.sideload import WEB_STEPS

    if text is None:
        typer.echo("In Excel on the web: Home, Add-ins, More Add-ins, My Add-ins, the add-in's menu, Remove.")
        return
    typer.echo("There is no Excel for Linux. Excel on the web in a browser of this machine takes the add-in:")
    typer.echo(f"  The manifest is {_kept(text)}")
    for number, step in enumerate(WEB_STEPS, start=1):
        typer.echo(f"  {number}. {step}")
    _start()


def _start() -> None:
    typer.echo("The backend must run: addin serve. Excel must trust its certificate: addin certs install.")


def _kept(text: str) -> Path:
    """The manifest as a file that stays."""
    from addin.config.settings import config_dir

    file = config_dir() / "manifest.xml"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
    return file
