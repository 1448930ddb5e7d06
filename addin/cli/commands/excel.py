"""`addin manifest` and `addin sideload`: the file that tells Excel about the add-in, and giving it to Excel."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from addin.config.settings import config_dir, load_settings
from addin.errors import AddinError
from dataservice.terminal import echo

BaseUrlOption = Annotated[str | None, typer.Option(help="The backend's https address as users reach it.")]


def manifest(
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Write it to this file.")] = None,
    base_url: BaseUrlOption = None,
    check: Annotated[str | None, typer.Option(metavar="FILE", help="Check a manifest; - reads it from a pipe.")] = None,
) -> None:
    """Write the manifest that Excel loads, or check one.

    \b
    Examples:
      addin manifest -o manifest.xml
      addin manifest --base-url https://data.example.com -o manifest.xml
      addin manifest | addin manifest --check -
    """
    if check is not None:
        _check(check)
        return
    if output is None:
        echo(_manifest_text(base_url), nl=False)
        return
    from addin.cli.output import check_ending, write_file

    check_ending(output, ".xml")
    write_file(output, _manifest_text(base_url).encode())
    echo(f"Written to {output}. Give it to Excel with: addin sideload", err=True)


def sideload(
    remove: Annotated[bool, typer.Option("--remove", help="Remove it again.")] = False,
    base_url: BaseUrlOption = None,
) -> None:
    """Add the add-in to Excel on this machine, or show how to add it to Excel on the web.

    \b
    Examples:
      addin sideload
      addin sideload --base-url https://data.example.com
      addin sideload --remove
    """
    from addin.tls.trust import platform

    add_to = {"windows": _windows, "mac": _mac, "linux": _linux}[platform()]
    text = _manifest_text(base_url)
    add_to(None if remove else text)


def _manifest_text(base_url: str | None) -> str:
    from addin.excel import manifest as excel_manifest

    settings = load_settings()
    base_url = base_url or excel_manifest.local_url(settings)
    return excel_manifest.manifest(base_url=base_url, namespace=settings.namespace)


def _check(file: str) -> None:
    from addin.excel.manifest_check import problems

    try:
        text = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
    except OSError as error:
        raise AddinError(f"{file} cannot be read: {error.strerror}") from None
    found = problems(text)
    for problem in found:
        echo(problem)
    if found:
        raise typer.Exit(1)
    echo("The manifest is good.")


def _windows(text: str | None) -> None:
    from addin.config.windows_registry import WindowsRegistry
    from addin.excel.sideload import into_registry

    changed = into_registry(WindowsRegistry(), None if text is None else _saved(text))
    if text is None:
        echo("Excel no longer loads the add-in." if changed else "Excel did not load the add-in.")
        return
    echo("Excel loads the add-in from its next start on: see Insert, My Add-ins, Developer Add-ins.")
    _print_next_steps()


def _mac(text: str | None) -> None:
    from addin.excel.sideload import into_mac_folder

    file = into_mac_folder(Path.home(), text)
    if text is None:
        echo(f"Deleted {file}." if file else "Excel did not load the add-in.")
        return
    echo(f"Written to {file}. Restart Excel: see Insert, My Add-ins, the menu beside it.")
    _print_next_steps()


def _linux(text: str | None) -> None:
    if text is None:
        echo("In Excel on the web: Home, Add-ins, More Add-ins, My Add-ins, the add-in's menu, Remove.")
        return
    from addin.excel.sideload import WEB_STEPS

    echo("There is no Excel for Linux. Excel on the web in a browser of this machine can load the add-in:")
    echo(f"  The manifest is {_saved(text)}")
    for number, step in enumerate(WEB_STEPS, start=1):
        echo(f"  {number}. {step}")
    _print_next_steps()


def _print_next_steps() -> None:
    echo("The backend must run: addin serve. Excel must trust its certificate: addin certs install.")


def _saved(text: str) -> Path:
    """The manifest as a file that Excel can load again."""
    from addin.cli.output import write_file

    file = config_dir() / "manifest.xml"
    file.parent.mkdir(parents=True, exist_ok=True)
    write_file(file, text.encode())
    return file
