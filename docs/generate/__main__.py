"""Write what is generated: parts of the pages, the navigation, the house, the type stubs: `python -m docs.generate`."""

from __future__ import annotations

from docs.generate.functions.stub import stubs
from docs.generate.house.picture import PICTURE, house
from docs.generate.pages import NAVIGATION, renewed_navigation, renewed_pages
from docs.generate.protocol import protocol_files

__all__: list[str] = []


def main() -> None:
    """Write the files that differ, and say which."""
    navigation = renewed_navigation(NAVIGATION.read_text(encoding="utf-8"))
    files = {**renewed_pages(), PICTURE: house(), **stubs(), **protocol_files(), NAVIGATION: navigation}
    for path, text in files.items():
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
            print(path)  # noqa: T201 - a program for the terminal


if __name__ == "__main__":
    main()
