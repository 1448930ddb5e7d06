"""A small made-up data set in the layout of an import, the same on every machine: `write_sample`."""

from dataservice.server.sample.directory import write_sample

__all__ = ["write_sample"]
