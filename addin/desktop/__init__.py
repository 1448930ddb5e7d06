"""Classic desktop Excel, and a firm's own xlwings Server."""
