"""The extension's own names, all made from the namespace, so that two services' extensions do not meet in one Calc."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Names"]


@dataclass(frozen=True, slots=True)
class Names:
    """The names that the parts of the extension know each other by.

    >>> Names("DS").stored("SIGNAL")
    '_xldudf_DS_SIGNAL'
    """

    namespace: str

    @property
    def identifier(self) -> str:
        """The extension's identifier."""
        return f"org.dataservice.addin.{self.namespace.lower()}"

    @property
    def interface(self) -> str:
        """The interface that the type library declares."""
        return f"{self.identifier}.XFunctions"

    @property
    def commands(self) -> str:
        """The implementation that handles the menu's commands."""
        return f"{self.identifier}.Commands"

    @property
    def protocol(self) -> str:
        """What the address of every command begins with."""
        return f"{self.identifier}:"

    @property
    def package(self) -> str:
        """The Python package inside soffice."""
        return f"dataservice_addin_{self.namespace.lower()}"

    def typed(self, function_id: str) -> str:
        """A function's name as users type it."""
        return f"{self.namespace}.{function_id}"

    def stored(self, function_id: str) -> str:
        """A function's name as Excel stores it."""
        return f"_xldudf_{self.namespace}_{function_id}"
