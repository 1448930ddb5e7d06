"""Write the generated parts of all pages again, and the picture of the house: `python -m docs.generate`."""

from __future__ import annotations

from docs.generate.house import PICTURE, house
from docs.generate.pages import renewed_pages

__all__: list[str] = []


def main() -> None:
    """Write the files that differ, and say which."""
    for path, text in {**renewed_pages(), PICTURE: house()}.items():
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
            print(path)  # noqa: T201 - a program for the terminal


if __name__ == "__main__":
    main()
