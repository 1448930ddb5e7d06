"""Reading data sets from files and importing them."""
