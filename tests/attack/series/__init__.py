"""Series of every rhythm, computed as the page of conventions says, against pandas and the rules written down again."""
