"""Loads under attack: posts, drops, pages that go away, refreshes and a failing service in any order."""
