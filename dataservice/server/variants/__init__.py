"""The embedded service answering otherwise where the contract leaves it open: one switch for each open question."""

from dataservice.server.variants.middleware import VariantMiddleware
from dataservice.server.variants.series import Rows, true_rows
from dataservice.server.variants.switches import SWITCHES, Switch, Variant

__all__ = ["SWITCHES", "Rows", "Switch", "Variant", "VariantMiddleware", "true_rows"]
