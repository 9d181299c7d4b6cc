"""What integrated motions keep: energy, its balance with work and heat, and constraints."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scales import scale_of
from starts import start_of, without_damping
from tolerance import assert_within, max_abs
from unsymmetric import machine_without_symmetry

import twin
from twin.analysis.platform import Platform

pytestmark = pytest.mark.quick

DAMPED = {
    "hardware": lambda: twin.load("driving_simulator", configuration="hardware"),
    "compliant_stewart": lambda: twin.load("compliant_stewart"),
    "micro_hexapod": lambda: twin.load("micro_hexapod"),
    "lopsided pillars": lambda: Platform(machine_without_symmetry("pillar")),
    "lopsided springs": lambda: Platform(machine_without_symmetry("viscoelastic")),
    "lopsided struts": lambda: Platform(machine_without_symmetry("strut")),
}
"""Machines that turn energy into heat."""


@pytest.fixture(scope="module", params=DAMPED)
def damped(request):
    """Every kind of damping and friction."""
    return start_of(DAMPED[request.param]())


@pytest.fixture(scope="module")
def start(platform):
    """Every machine as it is."""
    return start_of(platform)


@pytest.mark.slow
def test_energy_is_kept_in_free_motion(subtests, platform):
    for method in ["dormand_prince", "rk4"]:
        with subtests.test(f"{method}"):
            start = start_of(without_damping(platform))
            # With springs at work, for many of their periods.
            duration = 10.0 if start.pace < scale_of(platform).time else 1.0
            solution = start.run(duration, method=method, timestep=5e-4)
            kinetic, potential = start.energies(solution.states)
            total = kinetic + potential
            # The project's limit, relative to the energy that goes from one form to the other.
            assert np.ptp(total) <= 1e-10 * max(np.ptp(kinetic), max_abs(total))
            assert np.ptp(kinetic) > 1e-3 * max_abs(total), "nothing moves: the test shows nothing"
            assert_array_equal(start.power(solution.states, 0.0 * start.holding, np.zeros(6)), 0.0)


@pytest.mark.slow
def test_energy_grows_by_the_work_done(start):
    balanced(start, start.run(0.7, forces=1.05 * start.holding, wrench=start.wrench))


def test_energy_falls_by_what_is_turned_into_heat(damped):
    forces = 0.95 * damped.holding
    solution = damped.run(0.7, forces=forces, wrench=damped.wrench)
    lost = damped.platform.dissipation(
        solution.pose, solution.twist, deflection=solution.deflection
    )
    assert (lost >= 0.0).all()
    assert lost.max() * damped.pace > 1e-6 * max_abs(damped.energies(solution.states)[0])
    balanced(damped, solution, 0.95)


def balanced(start, solution, share=1.05):
    """Assert that the energy changes by the work of the actuators, the wrench and the dampers."""
    nodes, weights = np.polynomial.legendre.leggauss(120)
    half = 0.5 * solution.time[-1]
    power = start.power(solution.at(half * (nodes + 1.0)), share * start.holding, start.wrench)
    kinetic, potential = start.energies(solution.states[[0, -1]])
    change = np.diff(kinetic + potential)[0]
    # Continuous output of order four between steps bound to 1e-12.
    scale = half * weights @ np.abs(power)
    assert abs(half * weights @ power - change) <= 1e-8 * scale


def test_conditions_hold_along_the_motion():
    """A fixed foot stays in its place and the platform does not turn about the vertical."""
    for platform in (
        twin.load("driving_simulator"),
        Platform(machine_without_symmetry("pillar")),
    ):
        start = start_of(platform)
        for method in ("dormand_prince", "rk4"):
            solution = start.run(
                1.0, method=method, timestep=5e-3, forces=0.9 * start.holding, wrench=start.wrench
            )
            between = solution.at(np.linspace(0.0, solution.time[-1], 500))
            for states in (solution.states, between):
                pose, twist = states[:, :7], states[:, 7:13]
                settled = platform.constrain(pose, twist)
                assert_within(settled.pose, pose, 1e-12)
                assert_within(settled.twist, twist, 1e-12)
                rates = np.einsum("kij,kj->ki", platform.constraints(pose), twist)
                assert max_abs(rates) <= 1e-12
