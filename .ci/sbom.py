"""The list of packages that the add-in runs on (SBOM), made from the pins: in each wheel, and by `make sbom`.

A pin names who needs it (`# via …`); so what is reached from the project's own requirements is listed, and no tool of
the tests.
"""

from __future__ import annotations

import json
import re
import sys
import tomllib
import uuid
from pathlib import Path
from typing import Any, NamedTuple

try:
    from hatchling.builders.hooks.plugin.interface import BuildHookInterface
except ImportError:  # where only the file is to be written
    BuildHookInterface = object  # type: ignore[assignment,misc]

PINS = Path(".ci/hashes.txt")
FILE = Path("build/sbom.cdx.json")
SPACE = uuid.UUID("0c9d4f3e-6a0f-4f39-9a53-2a3b8a4f6d11")


class Pin(NamedTuple):
    """One package: its version, the hashes of its files, and who needs it."""

    name: str
    version: str
    hashes: list[str]
    needed_by: list[str]


def pins_in(text: str) -> list[Pin]:
    """The pins of a file with hashes and reasons."""
    pins: list[Pin] = []
    for line in text.splitlines():
        if found := re.match(r"([a-z0-9._-]+)==([^ ;\\]+)", line):
            pins.append(Pin(found[1], found[2], [], []))
        elif found := re.match(r" +--hash=sha256:([0-9a-f]{64})", line):
            pins[-1].hashes.append(found[1])
        elif pins and (found := re.match(r" +#(?: via)? +([a-z0-9._-]+(?: \(pyproject.toml:[a-z]+\))?)$", line)):
            pins[-1].needed_by.append(found[1])
    return pins


def needed(pins: list[Pin], project: str) -> list[Pin]:
    """Those that are reached from the project, with its extras, but not from its groups for development."""
    reached, before = {project}, 0
    while len(reached) > before:
        before = len(reached)
        reached |= {pin.name for pin in pins if reached & {*pin.needed_by}}
    return [pin for pin in pins if pin.name in reached]


def sbom(project: str, version: str, pins: list[Pin]) -> dict[str, Any]:
    """The list in the form of CycloneDX; the same pins always give the same one."""
    listed = needed(pins, project)
    names = {project: f"pkg:pypi/{project}@{version}", **{p.name: f"pkg:pypi/{p.name}@{p.version}" for p in listed}}
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{uuid.uuid5(SPACE, json.dumps(names))}",
        "version": 1,
        "metadata": {
            "component": {
                "type": "application",
                "bom-ref": names[project],
                "name": project,
                "version": version,
                "purl": names[project],
            }
        },
        "components": [
            {
                "type": "library",
                "bom-ref": names[pin.name],
                "name": pin.name,
                "version": pin.version,
                "purl": names[pin.name],
                "properties": [{"name": "file:sha256", "value": each} for each in pin.hashes],
            }
            for pin in listed
        ],
        "dependencies": [
            {"ref": ref, "dependsOn": sorted(names[pin.name] for pin in listed if name in pin.needed_by)}
            for name, ref in names.items()
        ],
    }


def write(root: Path, version: str, file: Path) -> int:
    """Write the list; how many packages there are."""
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]["name"]
    listed = sbom(project, version, pins_in((root / PINS).read_text(encoding="utf-8")))
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(listed, indent=1) + "\n", encoding="utf-8")
    return len(listed["components"])


class SbomHook(BuildHookInterface):
    """Puts the list into each wheel."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Before the wheel is built."""
        if version == "standard":
            root = Path(self.root)
            write(root, self.metadata.version, root / FILE)
            build_data.setdefault("sbom_files", []).append(str(FILE))


if __name__ == "__main__":
    sys.stdout.write(f"• {sys.argv[2]}: {write(Path.cwd(), sys.argv[1], Path(sys.argv[2]))} packages\n")
