"""A controller in the loop: every engine settles where the reference does, and stays there."""

import numpy as np
import pytest

from twin.engines.base import suitable_timestep

RISE = 0.01
"""[m] by which the set point lies above home."""

STILL = {"analytic": 1e-8, "bullet": 1e-8, "mujoco": 1e-6}
"""[m, rad] from the pose of equilibrium: the slowest mode is 1e-9 away from it after three seconds,
MuJoCo's loops are springs that stay bent by 5e-7."""


def raised(platform):
    return platform.constrain(platform.home + RISE * np.eye(7)[2]).pose


@pytest.fixture
def controller(platform, still):
    """Return PD control of the actuators about holding forces: all modes 3 Hz, critically damped.

    Held pushes of the platform's mass matrix, seen from the actuators.
    """
    rest, target = np.zeros(6), raised(platform)
    lengths = platform.inverse_kinematics(target)
    hold = platform.inverse_dynamics(target, rest, rest, deflection=still(platform, target))
    constraints = platform.constraints(target)
    free = np.linalg.svd(constraints, full_matrices=True)[2][len(constraints) :].T
    from_actuators = np.linalg.pinv(platform.jacobian(target) @ free)
    masses = from_actuators.T @ free.T @ platform.mass_matrix(target) @ free @ from_actuators

    def forces(_, state):
        wanted = 20.0**2 * (lengths - state.lengths) - 2.0 * 20.0 * state.rates
        return np.asarray(hold + masses @ wanted, dtype=float)

    return forces


@pytest.mark.slow
def test_position_control_holds_a_pose(
    engine_name,
    fidelity,
    platform,
    controller,
):
    """Two seconds: an error that grows by ten each 0.15 s, as a falling platform's, would show.

    The set point is an equilibrium of the machine, so the time step leaves no error at its end.
    Struts hold by themselves; their modes have gone after one second.
    """
    motion = platform.simulate(
        1.0 if platform.kind == "strut" else 2.0,
        forces=controller,
        engine=engine_name,
        fidelity=fidelity,
        timestep=suitable_timestep(platform),
        progress=False,
    )
    assert np.abs(motion.pose[-500:] - raised(platform)).max() < STILL[engine_name]
    assert np.abs(motion.twist[-500:]).max() < 100.0 * STILL[engine_name]
