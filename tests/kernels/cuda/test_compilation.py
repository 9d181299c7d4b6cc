"""Kernels compiled for graphics cards that are not here: registers, spills, memory."""

import numpy as np
import pytest

import twin
from twin.envs.episodes import Episodes
from twin.envs.pose_tracking.task import PoseTracking
from twin.kernels.legs.dispatch import LEG_MODULES

MACHINES = (
    *("stewart", "compliant_stewart", "micro_hexapod", "rss", "driving_simulator"),
    *("tripod", "balancer", "linuxcnc_hexapod"),
)
"""One of each kind of legs."""

MOST_REGISTERS = 255

IN_REGISTERS = {"inverse_kinematics", "jacobian", "jacobian_derivative", "energy"}
"""Kernels without memory of their own."""

MOST_SPILLED = 64
"""Bytes of the search for a pose: its matrix and a Newton step before and after each trial."""

MOST_SPILLED_ON_SCREWS = 1664
"""The same in all kernels of legs on screws: their rows are more than the registers hold."""

MOST_LOCAL = 2048
"""Bytes of a thread's memory in the others: rows of the Jacobian; state and stages of a step."""


def environment_kernel(machine):
    """Return name, kernel and types of the arguments of pose tracking."""
    from twin.envs.pose_tracking.cuda_environment import prepare
    from twin.kernels.cuda.compilation import FLOAT_ARRAY, type_of

    episodes = Episodes(PoseTracking, machine, None, "analytic", 2, None, {"duration": 1.0})
    episodes.reset(np.arange(2), [np.random.default_rng(seed) for seed in range(2)])
    assert isinstance(episodes.task, PoseTracking)
    kernel, *groups = prepare(episodes.task, 4, 500, lambda array: array)
    return "environment", kernel, (*map(type_of, groups), FLOAT_ARRAY)


def test_every_kind_of_legs_is_compiled():
    assert {type(twin.load(name).constants.legs) for name in MACHINES} == set(LEG_MODULES)


@pytest.mark.parametrize("machine", MACHINES)
def test_kernels_fit_into_registers(machine):
    pytest.importorskip("numba_cuda", reason="the extra cuda is not installed")
    from twin.kernels.cuda.batches import Sizes
    from twin.kernels.cuda.compilation import (
        COMPUTE_CAPABILITIES,
        machine_kernels,
        resources,
        to_ptx,
    )

    legs = twin.load(machine).constants.legs
    kernels = [*machine_kernels(Sizes(type(legs), *legs.rows.shape)), environment_kernel(machine)]
    assert len(kernels) == 10
    for name, kernel, arguments in kernels:
        for capability in COMPUTE_CAPABILITIES:
            # Code for an older card suits a newer one; the compiler takes most of the time.
            if capability == COMPUTE_CAPABILITIES[0] or machine == MACHINES[0]:
                ptx = to_ptx(kernel, arguments, capability)
                assert f".target sm_{capability[0]}{capability[1]}" in ptx
            taken = resources(ptx, capability)
            assert 32 <= taken.registers <= MOST_REGISTERS, (name, capability, taken)
            on_screws = machine == "linuxcnc_hexapod"
            spilled = MOST_SPILLED if name == "forward_kinematics" else 0
            spilled = MOST_SPILLED_ON_SCREWS if on_screws else spilled
            assert taken.spilled_bytes <= spilled, (name, capability, taken)
            most = 0 if name in IN_REGISTERS and not on_screws else MOST_LOCAL
            assert taken.local <= most, (name, capability, taken)
