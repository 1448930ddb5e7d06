"""The extension's configuration files: the functions with their help, the commands, the menu and the toolbar."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from xml.etree import ElementTree as ET

from udfs.arguments import Parameter
from udfs.engine import Udf

_OOR = "http://openoffice.org/2001/registry"
_LANG = "{http://www.w3.org/XML/1998/namespace}lang"
_SHEET = "com.sun.star.sheet.SpreadsheetDocument"
_TITLE = "Data Service"
ET.register_namespace("oor", _OOR)


class Names:
    """The names by which the parts of the extension know each other.

    >>> Names("DS").stored("SIGNAL")
    '_xldudf_DS_SIGNAL'
    """

    def __init__(self, namespace: str) -> None:
        self.namespace = namespace
        self.identifier = f"org.dataservice.addin.{namespace.lower()}"
        self.package = f"dataservice_addin_{namespace.lower()}"
        """The Python package inside soffice."""
        self.interface = f"{self.identifier}.XFunctions"
        """The interface that the type library declares."""
        self.commands = f"{self.identifier}.Commands"
        """The implementation that handles the menu's commands."""
        self.opened = f"{self.identifier}.Opened"
        """The implementation that is told of every document that was opened."""
        self.protocol = f"{self.identifier}:"
        """The start of every command's address."""

    def typed(self, function_id: str) -> str:
        """A function's name as users type it."""
        return f"{self.namespace}.{function_id}"

    def stored(self, function_id: str) -> str:
        """A function's name as Excel stores it."""
        return f"_xldudf_{self.namespace}_{function_id}"


@dataclass(frozen=True, slots=True)
class Command:
    """One entry of the menu; entries with an icon are in the toolbar too."""

    path: str
    title: str
    icon: str | None = None


COMMANDS: tuple[Command | None, ...] = (
    Command("refresh", "Refresh", icon="refresh"),
    Command("refresh-everything", "Refresh Everything"),
    Command("ask", "Load Waiting Cells…"),
    Command("stop", "Stop Loading"),
    None,
    Command("explain", "Explain Cell…"),
    Command("status", "Status…", icon="signal"),
)
"""The menu from top to bottom; None is a line."""


def add_ins(functions: Iterable[Udf], names: Names) -> bytes:
    """`CalcAddIns.xcu`: every function with its help and the help of its arguments."""
    nodes = _node("AddInFunctions", *(_function(function, names) for function in functions))
    return _file("org.openoffice.Office", "CalcAddIns", _node("AddInInfo", _replaced(names.namespace, nodes)))


def protocol_handler(names: Names) -> bytes:
    """`ProtocolHandler.xcu`: what handles our commands."""
    handler = _replaced(names.commands, _prop("Protocols", f"{names.protocol}*"))
    return _file("org.openoffice.Office", "ProtocolHandler", _node("HandlerSet", handler))


def jobs(names: Names) -> bytes:
    """`Jobs.xcu`: what is told of every document that was opened."""
    job = _replaced(names.opened, _prop("Service", names.opened))
    event = _node("OnLoadFinished", _node("JobList", _replaced(names.opened)))
    return _file("org.openoffice.Office", "Jobs", _node("Jobs", job), _node("Events", _fused(event)))


def menu(names: Names) -> bytes:
    """`Addons.xcu`: the menu, the toolbar and the icons."""
    entries = [_entry(f"m{i}", command, names) for i, command in enumerate(COMMANDS)]
    submenu = _replaced(names.identifier, _title(_TITLE), _prop("Context", _SHEET), _node("Submenu", *entries))
    with_icons = [command for command in COMMANDS if command is not None and command.icon]
    buttons = [_entry(f"t{i}", command, names) for i, command in enumerate(with_icons)]
    toolbar = _node("OfficeToolBar", _replaced(names.identifier, *buttons))
    images = _node("Images", *(_images(command, names) for command in with_icons))
    return _file("org.openoffice.Office", "Addons", _node("AddonUI", _node("OfficeMenuBar", submenu), toolbar, images))


def toolbar_name(names: Names) -> bytes:
    """`CalcWindowState.xcu`: the toolbar's name in View ▸ Toolbars, which would otherwise be a number."""
    bar = _replaced(f"private:resource/toolbar/addon_{names.identifier}", _prop("UIName", _TITLE, lang="en-US"))
    return _file("org.openoffice.Office.UI", "CalcWindowState", _node("UIElements", _node("States", bar)))


def _function(function: Udf, names: Names) -> ET.Element:
    parameters = (_replaced(p.name, *_described(p.name, _help(p))) for p in function.parameters)
    return _replaced(
        function.id,
        *_described(names.typed(function.id), function.summary),
        _prop("Category", "Add-In"),
        _prop("CompatibilityName", names.stored(function.id), lang="en-US"),
        _node("Parameters", *parameters),
    )


def _described(name: str, description: str) -> tuple[ET.Element, ET.Element]:
    return _prop("DisplayName", name, lang="en"), _prop("Description", description, lang="en")


def _help(parameter: Parameter) -> str:
    """The function wizard's text for an argument; Calc shows all arguments as optional, so it says which are not."""
    kind = parameter.kind
    choices = ", ".join(choice.value for choice in kind.choices)
    parts = [
        f"{kind.help[:1].upper()}{kind.help[1:]}",
        f"one of {choices}{', …' if kind.open_choices else ''}" if choices else "",
        "needed" if parameter.required else "",
        f"{parameter.default} when left out" if isinstance(parameter.default, str | int | float) else "",
        f"for example {kind.example}" if kind.example else "",
    ]
    return "; ".join(part for part in parts if part)


def _entry(name: str, command: Command | None, names: Names) -> ET.Element:
    if command is None:
        return _replaced(name, _prop("URL", "private:separator"))
    target, context = _prop("Target", "_self"), _prop("Context", _SHEET)
    return _replaced(name, _prop("URL", names.protocol + command.path), _title(command.title), target, context)


def _images(command: Command, names: Names) -> ET.Element:
    sizes = {"ImageSmallURL": 16, "ImageBigURL": 26}
    images = [_prop(name, f"%origin%/icons/{command.icon}-{size}.png") for name, size in sizes.items()]
    url = _prop("URL", names.protocol + command.path)
    return _replaced(f"{names.identifier}.{command.path}", url, _node("UserDefinedImages", *images))


def _title(text: str) -> ET.Element:
    return _prop("Title", text, lang="en-US")


def _file(package: str, name: str, *children: ET.Element) -> bytes:
    root = _element(f"{{{_OOR}}}component-data", {"name": name, "package": package}, children)
    content: bytes = ET.tostring(root, encoding="UTF-8", xml_declaration=True)
    return content


def _node(name: str, *children: ET.Element) -> ET.Element:
    return _element("node", {"name": name}, children)


def _replaced(name: str, *children: ET.Element) -> ET.Element:
    """A node that we add."""
    return _element("node", {"name": name, "op": "replace"}, children)


def _fused(node: ET.Element) -> ET.Element:
    """A node that others may have added to as well."""
    node.set(f"{{{_OOR}}}op", "fuse")
    return node


def _prop(name: str, text: str, *, lang: str | None = None) -> ET.Element:
    value = ET.Element("value", {_LANG: lang} if lang else {})
    value.text = text
    return _element("prop", {"name": name}, [value])


def _element(tag: str, attributes: Mapping[str, str], children: Iterable[ET.Element]) -> ET.Element:
    element = ET.Element(tag, {f"{{{_OOR}}}{name}": value for name, value in attributes.items()})
    element.extend(children)
    return element
