"""Feet that rub: viscous and dry friction of sliding feet in every engine."""

import numpy as np
import pytest
from unsymmetric import content_without_symmetry

from twin.analysis.platform import Platform
from twin.machine.file.read import parameters_from


def machine(viscous, coulomb):
    content = content_without_symmetry("pillar")
    content["leg"]["friction"] |= {
        "viscous": viscous,
        "coulomb": coulomb,
        "transition_speed": 0.01,
    }
    return Platform(parameters_from(content, "platform.toml"))


def rocked(make, name, platform, timestep, fidelity):
    """Return the state after 0.1 s of rocking that the feet resist."""
    rest = np.zeros(6)
    hold = platform.inverse_dynamics(platform.home, rest, rest)
    start = platform.constrain(platform.home, [0.0, 0.0, 0.1, 0.8, -0.6, 0.0])
    engine = make(name, platform, timestep, fidelity)
    engine.reset(start.pose, start.twist)
    for _ in range(round(0.1 / timestep)):
        state = engine.step(hold)
    return state


@pytest.mark.parametrize("name", ["mujoco", "bullet"])
@pytest.mark.parametrize(("viscous", "coulomb"), [(0.0, 0.0), (2000.0, 0.0), (500.0, 200.0)])
def test_engines_follow_the_reference(make, name, viscous, coulomb, pose_error):
    pytest.importorskip({"bullet": "pybullet"}.get(name, name))
    platform = machine(viscous, coulomb)
    wanted = rocked(make, "analytic", platform, 1e-3, "accurate")
    error = pose_error(rocked(make, name, platform, 1e-3, "accurate"), wanted)
    # MuJoCo holds dry friction over a step: first order.
    assert error < (1e-4 if coulomb and name == "mujoco" else 1e-6)
    if coulomb and name == "mujoco":
        half = pose_error(rocked(make, name, platform, 5e-4, "accurate"), wanted)
        assert error / half == pytest.approx(2.0, abs=0.4)
    free = rocked(make, "analytic", machine(0.0, 0.0), 1e-3, "accurate")
    assert not (viscous or coulomb) or pose_error(free, wanted) > 1e-3
