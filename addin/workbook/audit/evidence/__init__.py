"""The requests behind signed numbers: what was really sent and received, and working the numbers out again."""
