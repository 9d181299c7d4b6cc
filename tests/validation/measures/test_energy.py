"""Energy balances and laws: they hold, and they notice what is wrong."""

import numpy as np
import pytest
from case_outcomes import failed
from tolerance import assert_within, max_abs

import twin
from twin.analysis.platform import Platform
from twin.validation.cases.general.motions import sines
from twin.validation.measures.comparison import actuated_motion, work_measure
from twin.validation.measures.laws import (
    dynamic_laws,
    effective_forces,
    kinematic_laws,
)
from twin.validation.measures.sampling import later, random_states


def test_laws_notice_forces_that_are_off(platform, monkeypatch):
    states = random_states(platform, 20)
    assert not failed([*dynamic_laws(platform, states), *kinematic_laws(platform, states)])
    honest = Platform.inverse_dynamics

    def off(*arguments, **options):
        return honest(*arguments, **options) * (1.0 + 1e-8)

    monkeypatch.setattr(Platform, "inverse_dynamics", off)
    assert len(failed(dynamic_laws(platform, states))) == 1


def test_states_move_as_their_rates_say(platform):
    states = random_states(platform, 20)
    k, time = platform.n_deflections, 1e-6
    whole = np.hstack([states.acceleration, np.ones((20, k))])
    ahead, behind = later(platform, states, whole, time), later(platform, states, whole, -time)
    rates = [(after - before) / (2.0 * time) for after, before in zip(ahead, behind, strict=True)]
    # Differences over 2 us: rounding leaves 1e-9, what a wrong term leaves is of order one.
    assert_within(rates[0][:, :3], states.twist[:, :3], 1e-8)
    assert_within(rates[1], states.acceleration, 1e-6)
    assert_within(rates[2][:, :k], states.deflection[:, k:], 1e-8)
    assert_within(rates[2][:, k:], np.ones((20, k)), 1e-8)


def test_effective_forces_accelerate_as_the_given_ones():
    redundant = twin.load("driving_simulator")
    states = random_states(redundant, 20)
    forces = np.random.default_rng(3).uniform(-500.0, 500.0, (20, 4))
    smallest = effective_forces(redundant, states.pose, forces)
    assert (np.linalg.norm(smallest, axis=1) < np.linalg.norm(forces, axis=1)).all()
    given, same = (
        redundant.forward_dynamics(states.pose, states.twist, each) for each in (forces, smallest)
    )
    assert_within(same, given, 1e-12 * max_abs(given))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["rss", "stewart", "driving_simulator", "compliant_stewart"])
def test_work_notices_scaled_forces_and_missing_velocity_terms(name):
    platform = twin.load(name)
    motion = sines(platform)
    run = actuated_motion(platform, motion, np.linspace(0.0, motion.duration, 4001))
    assert work_measure(platform, run, 1e-9).verdict == "pass"
    held = platform.constrain(run.pose, 0.0 * run.twist, run.acceleration)
    slow = platform.inverse_dynamics(*held, deflection=run.deflection)
    for forces in (1.5 * run.forces, 1.001 * run.forces, slow):
        off = work_measure(platform, run._replace(forces=forces), 1e-9)
        assert off.verdict == "fail"
        assert off.value > 1e-5
