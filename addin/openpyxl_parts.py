"""What reads formulas in openpyxl, without all that reads and writes workbooks: that takes longer to load than to work.

Importing any module of openpyxl first imports the whole package. So its folders have second names here.
"""

from __future__ import annotations

import sys
from importlib.util import find_spec
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from openpyxl.formula.tokenizer import Token as Token
    from openpyxl.formula.tokenizer import Tokenizer as Tokenizer
    from openpyxl.formula.tokenizer import TokenizerError as TokenizerError
    from openpyxl.utils.cell import column_index_from_string as column_index_from_string
    from openpyxl.utils.cell import get_column_letter as get_column_letter
    from openpyxl.utils.cell import range_boundaries as range_boundaries
else:
    from importlib import import_module

    def _part(package: str, module: str) -> ModuleType:
        """A module of a package of openpyxl, with nothing imported but that."""
        name = f"{__name__}.{package}"
        stand_in = sys.modules[name] = ModuleType(name)
        stand_in.__path__ = [f"{folder}/{package}" for folder in find_spec("openpyxl").submodule_search_locations]
        return import_module(f"{name}.{module}")

    _tokenizer, _cell = _part("formula", "tokenizer"), _part("utils", "cell")
    Token, Tokenizer, TokenizerError = _tokenizer.Token, _tokenizer.Tokenizer, _tokenizer.TokenizerError
    column_index_from_string, get_column_letter = _cell.column_index_from_string, _cell.get_column_letter
    range_boundaries = _cell.range_boundaries
