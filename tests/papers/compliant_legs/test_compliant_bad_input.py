"""What the compliant package refuses, and with which words."""

from dataclasses import replace

import numpy as np
import pytest
from refusals import refused

import twin
from twin.errors import SingularPoseError
from twin.papers.compliant_legs.equations import (
    energy,
    rest_lengths,
    solve_free,
    solve_locked,
)
from twin.papers.compliant_legs.machine import from_parameters
from twin.papers.compliant_legs.rest import locked_equilibrium

NAN = float("nan")


def test_other_machines_are_refused():
    with refused("no viscoelastic legs"):
        from_parameters(twin.load("srspm").parameters)


CALLS = {
    "pose": (lambda m: solve_free(m, np.zeros(6)), "pose"),
    "twist": (lambda m: solve_free(m, m.home, np.zeros(5)), "twist"),
    "deflection": (lambda m: solve_free(m, m.home, None, np.zeros(6)), "deflection"),
    "forces": (lambda m: solve_free(m, m.home, None, None, np.full(6, NAN)), "forces"),
    "wrench": (lambda m: solve_locked(m, m.home, None, None, [1.0]), "wrench"),
    "batch": (lambda m: solve_locked(m, np.tile(m.home, (2, 1)), np.zeros((3, 6))), "leading axes"),
    "energy": (lambda m: energy(m, "home"), "pose"),
    "extension": (lambda m: rest_lengths(m, m.home, np.zeros(4)), "extension"),
    "one guess": (lambda m: locked_equilibrium(m, m.home_extension, guess=[m.home]), "one pose"),
}


def test_arguments_are_checked(subtests, shipped):
    for name in CALLS:
        with subtests.test(f"{name}"):
            call, message = CALLS[name]
            with refused(message):
                call(shipped)


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
