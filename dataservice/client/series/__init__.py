"""The observations of a signal over the network: its detail, and the windows of its history."""
