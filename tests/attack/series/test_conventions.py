"""Random series of every rhythm: a short run of the comparison with the conventions written down again."""

from tests.attack.series.conventions import attack


def test_tables_of_random_series_are_what_the_conventions_say():
    found = attack(range(120), seed=5)
    assert found.first_wrong == ""
    assert found.figures["tables"] > 100
    assert found.figures["values"] > 5_000


def test_a_correlation_on_rows_filled_to_the_end_sees_all_the_rows_that_it_needs():
    found = attack([23443], seed=1)  # a weekly and a yearly series, whose first common row lies after the window's
    assert (found.first_wrong, found.figures["tables"]) == ("", 1)
