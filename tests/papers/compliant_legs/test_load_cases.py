"""Load cases: frames, quasi-static displacement, end of the step response."""

import numpy as np
import pytest

from twin.basics.arrays import rotation_matrix
from twin.papers.compliant_legs.machine import load, wrench_in_base
from twin.papers.compliant_legs.rest import (
    LoadCase,
    locked_equilibrium,
    locked_linearisation,
    run_load_cases,
)
from twin.rotations import pose_from_angles

TILTED = pose_from_angles([0.02, -0.03, 0.87], [0.1, -0.15, 0.2], "compliant")
"""beta, alpha, gamma of the paper: Ry(beta) Rx(alpha) Rz(gamma)."""


def test_the_papers_angles_turn_platform_axes_into_base_axes():
    beta, alpha, gamma = 0.1, -0.15, 0.2
    c, s = np.cos, np.sin
    # Equation (49).
    printed = np.array(
        [
            [
                c(beta) * c(gamma) + s(alpha) * s(beta) * s(gamma),
                c(gamma) * s(alpha) * s(beta) - c(beta) * s(gamma),
                c(alpha) * s(beta),
            ],
            [c(alpha) * s(gamma), c(alpha) * c(gamma), -s(alpha)],
            [
                c(beta) * s(alpha) * s(gamma) - c(gamma) * s(beta),
                s(beta) * s(gamma) + c(beta) * c(gamma) * s(alpha),
                c(alpha) * c(beta),
            ],
        ]
    )
    assert rotation_matrix(TILTED[3:]) == pytest.approx(printed, abs=1e-15)
    force, moment = np.array([1.0, 2.0, 3.0]), np.array([-2.0, 1.0, 0.5])
    turned = wrench_in_base(load(force, moment, "platform"), TILTED)
    assert turned == pytest.approx([*(printed @ force), *(printed @ moment)], abs=1e-14)
    assert np.array_equal(wrench_in_base(load(force, moment), TILTED), [*force, *moment])


def test_a_follower_force_turns_with_the_platform(shipped):
    """A large sideways force tilts the platform; in platform axes it then points up a little."""
    start = locked_equilibrium(shipped, shipped.home_extension)
    cases = [
        LoadCase("force", frame, "x", load([800.0, 0.0, 0.0], frame=frame))
        for frame in ("base", "platform")
    ]
    base, platform = run_load_cases(shipped, cases, start)
    assert base.linear == pytest.approx(platform.linear, abs=1e-15)
    stiffness = locked_linearisation(shipped, start).stiffness
    up = -800.0 * np.sin(platform.quasi_static[4])
    assert up > 0.5
    lifted = (platform.quasi_static - base.quasi_static)[2]
    assert lifted == pytest.approx(up / stiffness[2, 2], rel=0.02)
