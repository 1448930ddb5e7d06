"""Formulas with the results that Excel itself gave, through refresh, freeze and eval."""
