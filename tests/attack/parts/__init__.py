"""Parts of the attacks: what they change, break and begin with."""
