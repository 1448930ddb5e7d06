"""The reference of the functions: pages, examples, type stubs."""
