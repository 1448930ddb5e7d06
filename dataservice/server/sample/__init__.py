"""A small made-up data set in the layout of an import, and the data of the day in a store: the same everywhere."""

from dataservice.server.sample.daily import DailySample
from dataservice.server.sample.directory import write_sample

__all__ = ["DailySample", "write_sample"]
