"""The picture of the house: its rooms above each other, drawn from the imports."""
