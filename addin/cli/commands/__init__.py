"""The commands of `addin`, one module each, imported only when they run (`addin.cli.main`)."""

__all__: list[str] = []
