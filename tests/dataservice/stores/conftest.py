"""Fixtures of the cache's tests."""

from tests.dataservice.stores.stores import cluster_url, redis_url, store  # noqa: F401  found by being imported here
