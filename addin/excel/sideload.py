"""Sideloading: adding a manifest to this user's Excel, without a store or an administrator."""

from __future__ import annotations

from pathlib import Path

from addin.config.windows_registry import WindowsRegistry
from addin.excel.manifest import ADDIN_ID

DEVELOPER_KEY = r"Software\Microsoft\Office\16.0\WEF\Developer"
"""Below HKEY_CURRENT_USER: add-ins that Excel for Windows loads from files."""

MAC_FOLDER = Path("Library/Containers/com.microsoft.Excel/Data/Documents/wef")
"""In the user's home: manifests that Excel for Mac loads."""

WEB_STEPS = (
    "Open a workbook in Excel on the web.",
    "Choose Home, Add-ins, More Add-ins, My Add-ins, Upload My Add-in.",
    "Choose the manifest file above, and Upload.",
)


def into_registry(registry: WindowsRegistry, manifest: Path | None) -> bool:
    """Register the manifest with Excel for Windows, or remove it (None); return whether anything changed."""
    if manifest is None:
        return registry.delete_value(DEVELOPER_KEY, ADDIN_ID)
    registry.set_value(DEVELOPER_KEY, ADDIN_ID, str(manifest))
    return True


def into_mac_folder(home: Path, manifest: str | None) -> Path | None:
    """Write the manifest where Excel for Mac looks, or delete it (None); return the file, None if there was none."""
    file = home / MAC_FOLDER / f"{ADDIN_ID}.xml"
    if manifest is not None:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(manifest, encoding="utf-8")
        return file
    existed = file.exists()
    file.unlink(missing_ok=True)
    return file if existed else None
