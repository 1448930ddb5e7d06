"""Sign-in by OpenID Connect, where a firm wants it: who is there, what they may do, and their keys and usage."""
