"""A workbook as the page opens it: what the component can read of it, laid out as it expects it."""
