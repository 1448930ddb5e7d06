"""The documentation, and the program that writes its generated parts (`python -m docs.generate`)."""

__all__: list[str] = []
