"""The sheets of the template, one file each; `addin.workbook.template` puts them together."""

__all__: list[str] = []
