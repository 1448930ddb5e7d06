"""The command line of the embedded service."""
