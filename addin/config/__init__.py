"""Settings, the API key, and what is made from them."""
