"""Books that Excel itself saved, through refresh: what it wrote is the truth that every cell is compared with."""
