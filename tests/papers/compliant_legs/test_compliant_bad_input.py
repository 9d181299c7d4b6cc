"""What the compliant package refuses, and with which words."""

from dataclasses import replace

import numpy as np
import pytest
from refusals import assert_all_refused, refused

import twin
from twin.errors import SingularPoseError
from twin.papers.compliant_legs.equations import (
    energy,
    rest_lengths,
    solve_free,
    solve_locked,
)
from twin.papers.compliant_legs.machine import NO_LOAD, from_parameters
from twin.papers.compliant_legs.rest import locked_equilibrium


def test_other_machines_are_refused():
    with refused("no viscoelastic legs"):
        from_parameters(twin.load("srspm").parameters)


def test_arguments_are_checked(shipped):
    home, two = shipped.home, np.tile(shipped.home, (2, 1))
    assert_all_refused(
        lambda call, *arguments: call(shipped, *arguments),
        [
            (solve_free, np.zeros(6), "pose"),
            (solve_free, home, np.zeros(5), "twist"),
            (solve_free, home, None, np.zeros(6), "deflection"),
            (solve_free, home, None, None, np.full(6, np.nan), "forces"),
            (solve_locked, home, None, None, [1.0], "wrench"),
            (solve_locked, two, np.zeros((3, 6)), "leading axes"),
            (energy, "home", "pose"),
            (rest_lengths, home, np.zeros(4), "extension"),
            (locked_equilibrium, shipped.home_extension, NO_LOAD, [home], "one pose"),
        ],
    )


def test_too_few_legs_hold_nothing(shipped):
    one_less = {
        field: getattr(shipped, field)[:5]
        for field in shipped.__dataclass_fields__
        if np.shape(getattr(shipped, field))[:1] == (6,)
    }
    five = replace(shipped, **one_less)
    with refused("six are needed"):
        rest_lengths(five, five.home, np.zeros(5))
    assert solve_free(five, five.home).reactions.shape == (5, 3)


def test_poses_that_cannot_be_held_are_refused(shipped):
    # Parallel legs hold no sideways force.
    upright = replace(shipped, base_joints=shipped.platform_joints)
    with pytest.raises(SingularPoseError, match="cannot hold"):
        rest_lengths(upright, upright.home, np.zeros(6))
    on_joint = np.append(shipped.base_joints[0] - shipped.platform_joints[0], [1, 0, 0, 0])
    with pytest.raises(SingularPoseError, match="no length"):
        solve_free(shipped, on_joint)
