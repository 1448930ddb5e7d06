"""The registry of this user on Windows."""

from __future__ import annotations

CURRENT_USER = "HKEY_CURRENT_USER"


class WindowsRegistry:
    """Texts below HKEY_CURRENT_USER."""

    def set_value(self, key: str, name: str, text: str) -> None:
        """Set a text."""
        import winreg

        with winreg.CreateKey(winreg.HKEY_CURRENT_USER, key) as opened:  # type: ignore[attr-defined]
            winreg.SetValueEx(opened, name, 0, winreg.REG_SZ, text)  # type: ignore[attr-defined]

    def value(self, key: str, name: str) -> str | None:
        """Return a text, or None."""
        import winreg

        try:
            with winreg.OpenKey(winreg.HKEY_CURRENT_USER, key) as opened:  # type: ignore[attr-defined]
                return str(winreg.QueryValueEx(opened, name)[0])  # type: ignore[attr-defined]
        except FileNotFoundError:
            return None

    def delete_value(self, key: str, name: str) -> bool:
        """Delete a value; return whether there was one."""
        import winreg

        try:
            with winreg.OpenKey(winreg.HKEY_CURRENT_USER, key, 0, winreg.KEY_SET_VALUE) as opened:  # type: ignore[attr-defined]
                winreg.DeleteValue(opened, name)  # type: ignore[attr-defined]
        except FileNotFoundError:
            return False
        return True
