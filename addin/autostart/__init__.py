"""The backend that starts with the user's session: what tells each system, what it runs with, and when it restarts."""
