"""The examples in the docstrings run."""

import doctest
import importlib
import pkgutil

import pytest

import dataservice.client
import dataservice.stores

MODULES = [
    found.name
    for package in (dataservice.client, dataservice.stores)
    for found in pkgutil.iter_modules(package.__path__, prefix=f"{package.__name__}.")
]


@pytest.mark.parametrize("name", [*MODULES, "dataservice.observations", "dataservice.models", "dataservice.errors"])
def test_the_examples_of_a_module_run(name):
    assert doctest.testmod(importlib.import_module(name)).failed == 0
