"""What is noted beside the answers: names that are missing, signals without a detail, days of lists, the profile."""
