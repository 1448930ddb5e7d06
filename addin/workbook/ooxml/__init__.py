"""A workbook as its file format has it: the package, the book, its sheets."""
