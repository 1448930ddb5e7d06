"""A workbook in its file format: the package, the book, its sheets."""
