"""How many requests may be under way, and how soon after each other."""
