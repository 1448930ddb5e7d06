"""Every error has a kind beside its message, so that no program has to read the sentence."""

import pytest

from dataservice import errors
from udfs.errors import ArgumentError, CellError, ErrorCode, ErrorKind, NoDataError, error_cell, error_kind


@pytest.mark.parametrize(
    ("cause", "kind"),
    [
        (ArgumentError, ErrorKind.ARGUMENT),
        (NoDataError, ErrorKind.NO_DATA),
        (errors.MissingKeyError, ErrorKind.KEY_MISSING),
        (errors.AuthenticationError, ErrorKind.KEY_REFUSED),
        (errors.TierError, ErrorKind.TIER),
        (errors.QuotaExceededError, ErrorKind.QUOTA),
        (errors.BudgetError, ErrorKind.BUDGET),
        (errors.NotFoundError, ErrorKind.NOT_FOUND),
        (errors.ConnectionFailedError, ErrorKind.OFFLINE),
        (errors.DeadlineExceededError, ErrorKind.OFFLINE),
        (errors.ServerFailedError, ErrorKind.OFFLINE),
        (errors.MalformedAnswerError, ErrorKind.FORM),
        (errors.InterceptedError, ErrorKind.OFFLINE),
        (errors.InvalidRequestError, ErrorKind.REQUEST),
        (ZeroDivisionError, ErrorKind.INTERNAL),
    ],
)
def test_every_error_has_a_kind_that_programs_can_read(cause, kind):
    error = cause("something happened")
    assert error_kind(error) is kind
    assert error_cell(error, "SIGNAL").kind is kind


def test_a_kind_makes_no_two_errors_differ():
    assert CellError(ErrorCode.NA, "none", ErrorKind.NO_DATA) == CellError(ErrorCode.NA, "none")
