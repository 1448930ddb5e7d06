"""What pages load: scripts and styles, under addresses with a hash of their content that browsers keep."""

from __future__ import annotations

import hashlib
import posixpath
import re
from collections.abc import Iterable, Mapping
from functools import cached_property
from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from addin.web.answers import static_answer

KEPT_FOR_GOOD = "public, max-age=31536000, immutable"

_IMPORTED = re.compile(r"""^\s*(?:import|export)\b[^;]*?["'](\.[^"']+)["']""", re.MULTILINE)


class Assets:
    """Files by their address below the hash of all of them: whatever changes, no browser mixes two versions."""

    def __init__(self, files: Mapping[str, Path]) -> None:
        self._content = {name: path.read_bytes() for name, path in sorted(files.items())}

    @cached_property
    def prefix(self) -> str:
        """Return where they are served, such as `assets/1a2b3c4d5e6f/`."""
        digest = hashlib.sha256()
        for name, content in self._content.items():
            digest.update(f"{name} {len(content)} ".encode() + content)
        return f"assets/{digest.hexdigest()[:12]}/"

    def page(self, html: str, *entries: str) -> str:
        """A page whose `{{assets}}` is the address of the files, with a hint for each module behind its entries."""
        hints = "".join(f'<link rel="modulepreload" href="{self.prefix}{name}">\n' for name in self.modules(entries))
        return html.replace("{{modules}}\n", hints).replace("{{assets}}", self.prefix)

    def modules(self, entries: Iterable[str]) -> list[str]:
        """The modules that some modules load, and these."""
        found: dict[str, None] = {}
        open_ = list(entries)
        while open_:
            name = open_.pop(0)
            if name in found:
                continue
            found[name] = None
            imported = _IMPORTED.findall(self._content[name].decode())
            open_ += [posixpath.normpath(posixpath.join(posixpath.dirname(name), each)) for each in imported]
        return list(found)

    def route(self) -> Route:
        """Serves them; there is nothing else below its address."""

        async def endpoint(request: Request) -> Response:
            name = request.path_params["name"]
            content = self._content.get(name)
            if content is None:
                return Response("not here", 404, media_type="text/plain")
            # They hold nothing but published code; Excel on the web may load them from a page of its own.
            headers = {"cache-control": KEPT_FOR_GOOD, "access-control-allow-origin": "*"}
            return await static_answer(request, content, posixpath.splitext(name)[1], headers)

        return Route(f"/{self.prefix}{{name:path}}", endpoint)


def files_in(root: Path, folders: Iterable[str]) -> dict[str, Path]:
    """The scripts and styles in some folders below `root`, by their address."""
    found = [path for folder in folders for path in (root / folder).rglob("*") if path.suffix in (".js", ".css")]
    return {path.relative_to(root).as_posix(): path for path in found}
