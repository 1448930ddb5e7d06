"""Forged workbooks: packages that some program reads otherwise than they were signed."""
