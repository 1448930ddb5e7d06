"""Random series of every rhythm: a short run of the comparison with the conventions written down again."""

from tests.attack.series.conventions import attack


def test_tables_of_random_series_are_what_the_conventions_say():
    found = attack(range(120), seed=5)
    assert found.first_wrong == ""
    assert found.figures["tables"] > 100
    assert found.figures["values"] > 5_000
