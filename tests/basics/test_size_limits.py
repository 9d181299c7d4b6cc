"""Limits of what a file unpacks to: beyond them an error names the variable that raises them."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from refusals import refused

from twin.basics.files import (
    BYTES_VARIABLE,
    COLUMNS_VARIABLE,
    check_bytes,
    check_columns,
    read_arrays,
)

pytestmark = pytest.mark.quick


def test_a_limit_holds_up_to_its_value(monkeypatch):
    monkeypatch.setenv(BYTES_VARIABLE, "1e3")
    monkeypatch.setenv(COLUMNS_VARIABLE, "2")
    check_bytes("a.npz", 1000)
    check_columns("a.csv", ["a", "b"])
    with refused(BYTES_VARIABLE):
        check_bytes("a.npz", 1001)
    with refused(COLUMNS_VARIABLE):
        check_columns("a.csv", ["a", "b", "c"])


def test_a_limit_that_is_no_number_is_named(subtests, monkeypatch):
    for text in ["much", "0", "-3", "inf", "nan"]:
        with subtests.test(f"{text}"):
            monkeypatch.setenv(BYTES_VARIABLE, text)
            with refused(f"{BYTES_VARIABLE}: must be a number above zero"):
                check_bytes("a.npz", 1)


def test_archives_are_measured_before_they_are_unpacked(tmp_path, monkeypatch):
    path = tmp_path / "zeros.npz"
    np.savez_compressed(path, a=np.zeros(100_000))
    assert path.stat().st_size < 2000
    assert_array_equal(read_arrays(path)["a"], np.zeros(100_000))
    monkeypatch.setenv(BYTES_VARIABLE, "700_000")
    with refused("limit"):
        read_arrays(path)
