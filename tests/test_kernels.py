"""Compiled functions: what is taken from numba to make them fast, and what it forbids."""

from __future__ import annotations

import gc
from typing import Any

import numpy as np
import pytest
from numba.core.registry import CPUDispatcher

import twin
from twin.dynamics.formulations import Formulation, formulation_names
from twin.dynamics.integrate import integrate


@pytest.fixture(scope="module")
def kernels() -> list[Any]:
    """All compiled functions of the package, after everything that compiles was called."""
    for name in twin.machine_names():
        platform = twin.load(name)
        home, rest = platform.home, np.zeros(6)
        forces = platform.inverse_dynamics(home, rest, rest)
        platform.forward_dynamics(home, rest, forces)
        platform.forward_kinematics(platform.home_coordinates)
        platform.leg_coordinates(home, rest, rest)
        platform.jacobian_derivative(home, rest)
        for method in ("rk4", "dormand_prince"):
            integrate(platform, 1e-4, forces=forces, method=method, timestep=1e-4)(5e-5)
    for name in formulation_names():
        Formulation(twin.load("srspm"), name).integrate(0.01)
    found = [each for each in gc.get_objects() if isinstance(each, CPUDispatcher)]
    return [each for each in found if each.py_func.__module__.startswith("twin.")]


def test_functions_that_count_no_references_return_no_arrays(kernels: list[Any]) -> None:
    """Numba would take such an array for its caller's own, and free what is still in use."""
    uncounted = [each for each in kernels if each.targetoptions.get("_nrt") is False]
    signatures = [
        (each.py_func.__name__, overload.signature)
        for each in uncounted
        for overload in each.overloads.values()
    ]
    assert len(signatures) > 100
    for name, signature in signatures:
        assert "array" not in str(signature.return_type).lower(), name


def test_kernels_are_compiled_without_python_objects(kernels: list[Any]) -> None:
    for each in kernels:
        assert each.targetoptions["nopython"]
        assert each.nopython_signatures == each.signatures
