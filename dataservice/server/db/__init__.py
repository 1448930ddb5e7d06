"""The database side of the service: tables, keys, usage, repository."""
