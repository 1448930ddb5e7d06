"""What is refused because two programs would read it in two ways."""
