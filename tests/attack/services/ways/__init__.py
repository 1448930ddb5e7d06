"""Ways in which services tell what the embedded one answers."""
