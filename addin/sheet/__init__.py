"""The sheet in the browser: a page with an open-source spreadsheet component and our functions in it."""
