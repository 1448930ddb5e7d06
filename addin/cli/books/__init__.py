"""The commands about several workbooks, and about signed numbers."""
