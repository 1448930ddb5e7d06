"""Pictures of every state of the sheet and the pane, in two browsers, for people to look at."""
