"""What shows that an answer is whole, what follows it, and which observations of two answers are one."""
