"""Symbolic results on disk: read again, and derived again where anything changed."""

import numpy as np
import pytest
import sympy
from numpy.testing import assert_allclose

from twin.papers.driving_simulator import exact
from twin.papers.driving_simulator.exact import cached_derivation, code_of, function_of

pytestmark = pytest.mark.quick


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Return the folder that takes the results."""
    monkeypatch.setattr(exact, "cache_from_source", lambda _: str(tmp_path / "module.pyc"))
    return tmp_path


def test_a_result_is_derived_once_and_then_read(folder):
    calls = []

    def square(value):
        calls.append(value)
        return value**2

    # Each decorated function stands for a new process: its memory is empty.
    assert [cached_derivation()(square)(value) for value in (3, 3, 4, 3)] == [9, 9, 16, 9]
    assert calls == [3, 4]
    assert len(list(folder.iterdir())) == 2


def test_another_source_text_is_another_result(folder, monkeypatch):
    calls = []

    def derive():
        calls.append(1)
        return len(calls)

    first = cached_derivation()(derive)()
    monkeypatch.setattr(exact, "_source", lambda module: f"changed {module}")
    assert cached_derivation()(derive)() == first + 1


def test_a_file_that_was_cut_off_is_derived_again(folder):
    def derive():
        return "right"

    cached_derivation()(derive)()
    (file,) = folder.iterdir()
    file.write_bytes(file.read_bytes()[:5])
    assert cached_derivation()(derive)() == "right"


def test_a_folder_that_cannot_be_written_to_is_no_obstacle(folder, monkeypatch):
    monkeypatch.setattr(exact, "cache_from_source", lambda _: "/proc/none/module.pyc")
    assert cached_derivation()(lambda: 5)() == 5


def test_the_text_of_a_function_gives_the_function():
    x, y = sympy.symbols("x y")
    function = function_of(code_of([x, y], [sympy.sin(x) * y, x / y]))
    x_values, y_values = np.array([0.1, 0.2]), np.array([3.0, 4.0])
    found = function(x_values, y_values)
    assert_allclose(found, [np.sin(x_values) * y_values, x_values / y_values], rtol=1e-15)
