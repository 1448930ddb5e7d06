"""What runs the functions: the registry, their effects, the batch that answers them, the session."""
