"""Energy balances and laws: they hold, and they notice what is wrong."""

import numpy as np
import pytest
from case_outcomes import failed

import twin
from twin.analysis.platform import Platform
from twin.validation.cases.general.motions import sines
from twin.validation.measures.comparison import actuated_motion, work_measure
from twin.validation.measures.laws import (
    dynamic_laws,
    kinematic_laws,
)
from twin.validation.measures.sampling import random_states


def test_laws_notice_forces_that_are_off(platform, monkeypatch):
    states = random_states(platform, 20)
    assert not failed([*dynamic_laws(platform, states), *kinematic_laws(platform, states)])
    honest = Platform.inverse_dynamics

    def off(*arguments, **options):
        return honest(*arguments, **options) * (1.0 + 1e-8)

    monkeypatch.setattr(Platform, "inverse_dynamics", off)
    assert len(failed(dynamic_laws(platform, states))) == 1


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
