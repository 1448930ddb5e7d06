"""When two results of an engine are the same."""

from addin.workbook.calculation.results import is_same


def test_rows_are_the_same_only_with_the_same_values_of_the_same_types():
    rows = [[1.0, "a"], [True, {"error": "#N/A"}]]
    assert is_same(rows, [[1.0, "a"], [True, {"error": "#N/A"}]])
    assert is_same(1.5, 1.5)
    for other in ([[1.0, "a"]], [[1.0, "a"], [1.0, {"error": "#N/A"}]], [[1.0 + 2**-52, "a"], rows[1]], None):
        assert not is_same(rows, other), other
