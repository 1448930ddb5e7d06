"""The database side of the service: schema, keys, usage, repository."""
