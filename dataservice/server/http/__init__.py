"""The HTTP side of the service: middleware, routes, responses."""
