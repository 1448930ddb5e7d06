"""Many users before one backend, made up: what `addin loadtest` sends and measures."""
