"""Services that fit the contract and answer otherwise where it says "not shown", and what every cell shows of them."""
