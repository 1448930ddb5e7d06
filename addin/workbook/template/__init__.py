"""The sheets of the template, one file each; `addin.workbook.template.build` puts them together."""

__all__: list[str] = []
