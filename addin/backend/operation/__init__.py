"""Running a backend for many: whether it is ready, its log of requests, its metrics."""
