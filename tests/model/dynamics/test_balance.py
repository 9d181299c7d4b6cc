"""What integrated motions keep: energy and constraints."""

import numpy as np
import pytest
from scales import scale_of
from starts import start_of, without_damping
from tolerance import assert_within, max_abs
from unsymmetric import machine_without_symmetry

import twin
from twin.analysis.platform import Platform

pytestmark = pytest.mark.quick


@pytest.mark.slow
@pytest.mark.parametrize("method", ["dormand_prince", "rk4"])
def test_energy_is_kept_in_free_motion(platform, method):
    start = start_of(without_damping(platform))
    # With springs at work, for many of their periods.
    duration = 10.0 if start.pace < scale_of(platform).time else 1.0
    found = start.run(duration, method=method, timestep=5e-4)
    kinetic, potential = start.platform.energy(found.pose, found.twist, deflection=found.deflection)
    total = kinetic + potential
    # The project's limit, relative to the energy that goes from one form to the other.
    assert np.ptp(total) <= 1e-10 * max(np.ptp(kinetic), max_abs(total))
    assert np.ptp(kinetic) > 1e-3 * max_abs(total), "nothing moves: the test shows nothing"


def test_conditions_hold_along_the_motion():
    """A fixed foot stays in its place and the platform does not turn about the vertical."""
    wrench = np.array([8.0, -4.0, 2.0, 1.0, 1.0, -0.5])
    for platform in (
        twin.load("driving_simulator"),
        Platform(machine_without_symmetry("pillar")),
    ):
        start = start_of(platform)
        for method in ("dormand_prince", "rk4"):
            solution = start.run(
                1.0, method=method, timestep=5e-3, forces=0.9 * start.holding, wrench=wrench
            )
            between = solution.at(np.linspace(0.0, solution.time[-1], 500))
            for states in (solution.states, between):
                pose, twist = states[:, :7], states[:, 7:13]
                settled = platform.constrain(pose, twist)
                assert_within(settled.pose, pose, 1e-12)
                assert_within(settled.twist, twist, 1e-12)
                rates = np.einsum("kij,kj->ki", platform.constraints(pose), twist)
                assert max_abs(rates) <= 1e-12
