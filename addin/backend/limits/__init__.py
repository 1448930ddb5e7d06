"""What callers may take: memory, processor time, keys that are not known, and work in processes apart."""
