"""The way to the service: connections, limits, retries, the circuit breaker, the budget."""
