"""The paper's Lagrangian under actuator forces: laws, and what the printed energies leave out."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from paper_plate import PAPER
from refusals import refused

from twin.papers.driving_simulator.dae.integration import (
    LENGTH_INDICES,
    integrate_forced,
    numeric_dae,
)

pytestmark = pytest.mark.quick

START, RATES = [PAPER.home_length, 0.02, -0.01], [0.01, -0.02, 0.03]


def wave(time):
    """Return forces [N] of all four actuators."""
    return 662.0 + 40.0 * np.sin(np.array([3.0, 5.0, 7.0, 11.0]) * time)


@pytest.fixture(params=[False, True], ids=["printed", "complete"])
def course(request):
    """Return a motion under waves of all four forces, and whether the energies are complete."""
    run = integrate_forced(PAPER, wave, 0.4, START, RATES, complete=request.param, samples=801)
    return run, request.param


def test_kinetic_energy_grows_by_the_work_of_all_forces(course):
    """d(q'M q'/2)/dt + dV/dt = forces . length rates, with the potential's own gradient."""
    run, complete = course
    dae = numeric_dae(PAPER, complete)
    kinetic = [
        0.5 * v @ np.array(dae.mass(*q), dtype=float) @ v
        for q, v in zip(run.coordinates, run.rates, strict=True)
    ]
    rest = np.zeros(7)
    weight = [
        np.ravel(dae.bias(*q, *rest)) @ v for q, v in zip(run.coordinates, run.rates, strict=True)
    ]
    given = [
        wave(t) @ v[list(LENGTH_INDICES)] for t, v in zip(run.time.tolist(), run.rates, strict=True)
    ]
    step = run.time[1]
    power = np.array(given) - weight
    work = step * (power[1:-1].sum() + 0.5 * (power[0] + power[-1]))
    assert_allclose(kinetic[-1] - kinetic[0], work, rtol=0, atol=1e-6 * max(kinetic))
    assert run.drift < 1e-13


def test_a_tilted_plate_falls_further_only_with_complete_energies():
    """Printed, a quarter of the weight holds any tilt; exactly the tilt grows by cosh(k t)."""
    held = np.full(4, 0.25 * PAPER.lifted_mass * PAPER.gravity)
    start = [PAPER.home_length, 1e-5, 0.0]
    printed, complete = (
        integrate_forced(PAPER, lambda _: held, 0.5, start, [0.0] * 3, complete=each)
        for each in (False, True)
    )
    weight = PAPER.lifted_mass * PAPER.gravity * PAPER.home_length
    inertia = PAPER.roll_inertia + 4.0 * PAPER.upper_mass * PAPER.half_width**2
    inertia += PAPER.lifted_mass * PAPER.home_length**2
    growth = np.cosh(np.sqrt(weight / inertia) * complete.time)
    assert_allclose(printed.plate[:, 1], 1e-5, rtol=1e-7)
    assert_allclose(complete.plate[:, 1], 1e-5 * growth, rtol=1e-4)


def test_a_start_of_the_wrong_shape_is_refused():
    with refused("start"):
        integrate_forced(PAPER, wave, 0.1, [0.3, 0.0], RATES)
