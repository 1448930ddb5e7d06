"""The road to the service, for tests, attacks and benchmarks: TLS, nginx, distance, limits and losses."""
