"""Forward dynamics of one state, here and in Pinocchio, in the same run.

Pinocchio solves the closed loops with its constraint dynamics, called from Python; ours is the
compiled kernel (time of 4096 states in one call, so divide by 4096) and the public method.
"""

from __future__ import annotations

import tomllib

import numpy as np
import pytest

import twin
from twin.kernels.dynamics.forward import forward_dynamics_batch
from twin.machine.catalogue import parameters_path

pinocchio = pytest.importorskip("pinocchio")

from pinocchio_tree import KINDS, Tree  # noqa: E402

GROUP = pytest.mark.benchmark(group="forward dynamics against Pinocchio")


@pytest.fixture(params=[name for name in twin.machine_names() if twin.load(name).kind in KINDS])
def platform(request):
    """Every machine that the tree of `pinocchio_tree` describes."""
    return twin.load(request.param)


@GROUP
def test_kernel(benchmark, platform, states):
    out = np.empty_like(states["twist"])
    arrays = [states[name] for name in ("pose", "twist", "deflection", "forces", "wrench")]
    benchmark(forward_dynamics_batch, *platform.constants[:2], *arrays, out)


@GROUP
def test_pinocchio(benchmark, platform, states):
    content = tomllib.loads(parameters_path(platform.name).read_text())
    tree = Tree(content)
    contacts, contact_data = tree.contacts()
    settings = pinocchio.ProximalSettings(1e-12, 1e-12, 10)
    q = tree.close(states["pose"][0])
    v = tree.motion(q, states["twist"][0])[1]
    torque = tree.passive(q, v)
    torque[tree.actuated] += states["forces"][0]
    benchmark(
        pinocchio.constraintDynamics,
        tree.model,
        tree.data,
        q,
        v,
        torque,
        contacts,
        contact_data,
        settings,
    )
