"""Kernels run by Python: the same numbers, without compiling."""

import os
import subprocess
import sys

import pytest
from numpy.testing import assert_allclose
from tolerance import max_abs

from twin.kernels.dynamics.forward import inverse_dynamics_batch
from twin.kernels.jit import interpreted
from twin.model.machine_base import without_compiling

pytestmark = pytest.mark.quick


def test_python_computes_what_kernels_compute(platform, states):
    for i in range(3):
        state = (states.pose[i], states.twist[i], states.acceleration[i], states.wrench[i])
        wanted = platform.inverse_dynamics(*state, deflection=states.deflection[i])
        jacobian = platform.jacobian(states.pose[i])
        with without_compiling():
            found = platform.inverse_dynamics(*state, deflection=states.deflection[i])
            assert_allclose(platform.jacobian(states.pose[i]), jacobian, rtol=1e-12)
        assert_allclose(found, wanted, rtol=1e-9, atol=1e-9 * max_abs(wanted))


def test_nothing_is_compiled(tmp_path):
    code = """
import os, sys
os.environ["NUMBA_CACHE_DIR"] = sys.argv[1]
import twin
from twin.kernels.dynamics.forward import inverse_dynamics_batch
from twin.model.machine_base import without_compiling
platform = twin.load("stewart")
with without_compiling():
    platform.inverse_dynamics(platform.home, [0] * 6, [0] * 6)
assert not inverse_dynamics_batch.signatures
"""
    subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=True)


@pytest.mark.seconds
def test_nothing_is_compiled_to_show_a_machine(tmp_path):
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
    command = [sys.executable, "-m", "twin", "info", "stewart"]
    subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, check=True)
    assert not list(tmp_path.rglob("*.nbc"))


def test_kernels_stay_as_they_are():
    assert hasattr(inverse_dynamics_batch, "py_func")
    assert not hasattr(interpreted(inverse_dynamics_batch), "py_func")
