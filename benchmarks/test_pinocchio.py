"""Forward dynamics of one state and its derivatives, here and in Pinocchio, in the same run.

Pinocchio solves the closed loops with its constraint dynamics, called from Python; ours are the
compiled kernels of single states and in lanes, and the public call, checks included, all on one
core (time of 4096 states in one call, so divide by 4096).
"""

from __future__ import annotations

import tomllib

import numpy as np
import pytest

import twin
from twin.kernels.derivatives import States, forward_dynamics_slopes
from twin.kernels.dynamics.forward import forward_dynamics_batch
from twin.machine.machine import parameters_path
from twin.model import batch as batches
from twin.model.derivatives import dynamics_width

pinocchio = pytest.importorskip("pinocchio")

from pinocchio_tree import KINDS, Tree  # noqa: E402

DERIVATIVES = pytest.mark.benchmark(group="derivatives against Pinocchio")
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


@pytest.fixture
def one_core(monkeypatch):
    """Batches on one thread."""
    monkeypatch.setattr(batches, "usable_cores", lambda: 1)


@GROUP
def test_lanes(benchmark, platform, states, one_core):
    out = np.empty_like(states["twist"])
    kernel = batches.lanes_kernel(forward_dynamics_batch)
    arrays = [states[name] for name in ("pose", "twist", "deflection", "forces", "wrench")]
    constants = platform.constants[:2]
    benchmark(batches.fill_in_lanes, kernel, constants, arrays, out, from_user=False)


@GROUP
def test_public_call(benchmark, platform, states, one_core):
    arguments = [states[name] for name in ("pose", "twist", "forces", "wrench")]
    benchmark(platform.forward_dynamics, *arguments, deflection=states["deflection"])


@GROUP
def test_one_public_call(benchmark, platform, states):
    """One state, as Pinocchio takes it: what a loop in Python gets."""
    state = [states[name][0] for name in ("pose", "twist", "forces", "wrench")]
    benchmark(platform.forward_dynamics, *state, deflection=states["deflection"][0])


@pytest.fixture
def constrained(platform, states):
    """The machine in Pinocchio, with what its constraint dynamics take of the first state."""
    content = tomllib.loads(parameters_path(platform.name).read_text())
    tree = Tree(content)
    settings = pinocchio.ProximalSettings(1e-12, 1e-12, 10)
    q = tree.close(states["pose"][0])
    v = tree.motion(q, states["twist"][0])[1]
    torque = tree.passive(q, v)
    torque[tree.actuated] += states["forces"][0]
    return tree.model, tree.data, (q, v, torque), (*tree.contacts(), settings)


@GROUP
def test_pinocchio(benchmark, constrained):
    model, data, state, loops = constrained
    benchmark(pinocchio.constraintDynamics, model, data, *state, *loops)


@DERIVATIVES
def test_kernel_derivatives(benchmark, platform, states):
    batch = States(*(states[k] for k in ("pose", "twist", "deflection", "forces", "wrench")))
    out = np.empty((len(batch.poses), 6, 27))
    benchmark(forward_dynamics_slopes, *platform.constants[:2], dynamics_width(), batch, out)


@DERIVATIVES
def test_differences(benchmark, platform, states):
    """Central differences of our own kernel by pose, twist and forces: 36 states for one."""
    arrays = [states[k] for k in ("pose", "twist", "deflection", "forces", "wrench")]
    out = np.empty_like(states["twist"])

    def differences():
        for _ in range(36):
            forward_dynamics_batch(*platform.constants[:2], *arrays, out)

    benchmark(differences)


@DERIVATIVES
def test_pinocchio_derivatives(benchmark, constrained):
    """Of all 24 coordinates of the open tree, the accelerations first."""
    model, data, state, loops = constrained

    def derivatives():
        pinocchio.constraintDynamics(model, data, *state, *loops)
        pinocchio.computeConstraintDynamicsDerivatives(model, data, *loops)

    benchmark(derivatives)
