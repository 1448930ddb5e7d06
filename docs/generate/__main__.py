"""Write the generated parts of all pages anew: `python -m docs.generate`."""

from __future__ import annotations

from docs.generate.pages import renewed_pages

__all__: list[str] = []


def main() -> None:
    """Write the pages that differ, and say which."""
    for page, text in renewed_pages().items():
        if page.read_text(encoding="utf-8") != text:
            page.write_text(text, encoding="utf-8")
            print(page)  # noqa: T201 - a program for the terminal


if __name__ == "__main__":
    main()
