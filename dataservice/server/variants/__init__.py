"""The embedded service answering otherwise where the contract leaves it open: one switch for each open question."""

from dataservice.server.variants.middleware import VariantMiddleware
from dataservice.server.variants.series import true_rows
from dataservice.server.variants.switches import SWITCHES, Switch, Variant
from dataservice.server.variants.tellings import Rows, told_in_windows

__all__ = ["SWITCHES", "Rows", "Switch", "Variant", "VariantMiddleware", "told_in_windows", "true_rows"]
