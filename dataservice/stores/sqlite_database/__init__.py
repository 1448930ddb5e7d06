"""The SQLite file behind a store: opened, worked on by a thread of its own, and salvaged where it is damaged."""
