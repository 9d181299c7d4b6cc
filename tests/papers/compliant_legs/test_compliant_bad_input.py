"""What the compliant package refuses, and with which words."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import twin
from twin.errors import InputError, SingularPoseError, StateError
from twin.papers.compliant_legs.energies import energy, power
from twin.papers.compliant_legs.equations.extended_system import solve_extended
from twin.papers.compliant_legs.equations.solve import rest_lengths, solve_free, solve_locked
from twin.papers.compliant_legs.loads import load, wrench_in_base
from twin.papers.compliant_legs.machine import CompliantMachine, from_parameters
from twin.papers.compliant_legs.responses.load_cases import run_load_cases, standard_load_cases
from twin.papers.compliant_legs.responses.motion import free_motion, locked_motions
from twin.papers.compliant_legs.rest.equilibrium import held_equilibrium, locked_equilibrium

NAN = float("nan")


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("platform_mass", 0.0, "above zero"),
        ("platform_mass", NAN, "finite"),
        ("gravity", -9.81, "not be negative"),
        ("stiffness", np.zeros(6), "above zero"),
        ("damping", np.full(6, -1.0), "not be negative"),
        ("follower_mass", np.zeros(6), "above zero"),
        ("spring_length", np.zeros(5), "shape"),
        ("platform_joints", np.zeros((5, 3)), "shape"),
        ("platform_inertia", np.zeros(3), "shape"),
        ("home", np.zeros(7), "norm 1"),
    ],
)
def test_machines_that_cannot_be(shipped, field: str, value: Any, message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        replace(shipped, **{field: value})
    assert caught.value.field == field


def test_springs_without_a_mass_are_refused(shipped: CompliantMachine) -> None:
    with pytest.raises(InputError, match="move a mass"):
        replace(shipped, spring_mass=np.zeros(6), housing_mass=np.zeros(6))


def test_other_machines_are_refused() -> None:
    with pytest.raises(InputError, match="no viscoelastic legs"):
        from_parameters(twin.load("srspm").parameters)


def test_a_machine_is_needed() -> None:
    platform: Any = twin.load("compliant_stewart")
    for function in (solve_free, solve_locked, energy):
        with pytest.raises(InputError, match="from_parameters"):
            function(platform, platform.home)
    with pytest.raises(InputError, match="from_parameters"):
        rest_lengths(platform, platform.home, np.zeros(6))


CALLS: dict[str, tuple[Callable[[CompliantMachine], Any], str]] = {
    "pose": (lambda m: solve_free(m, np.zeros(6)), "pose"),
    "twist": (lambda m: solve_free(m, m.home, np.zeros(5)), "twist"),
    "deflection": (lambda m: solve_free(m, m.home, None, np.zeros(6)), "deflection"),
    "forces": (lambda m: solve_free(m, m.home, None, None, np.full(6, NAN)), "forces"),
    "wrench": (lambda m: solve_locked(m, m.home, None, None, [1.0]), "wrench"),
    "batch": (lambda m: solve_locked(m, np.tile(m.home, (2, 1)), np.zeros((3, 6))), "leading axes"),
    "energy": (lambda m: energy(m, "home"), "pose"),
    "power": (lambda m: power(m, m.home, None, None, np.zeros(3)), "forces"),
    "extension": (lambda m: rest_lengths(m, m.home, np.zeros(4)), "extension"),
    "one state": (lambda m: solve_extended(m, [m.home], None, None, None), "one state"),
    "one guess": (lambda m: locked_equilibrium(m, m.home_extension, guess=[m.home]), "one pose"),
    "one pose": (lambda m: held_equilibrium(m, [m.home]), "one pose"),
    "frame": (lambda m: load([1, 0, 0], frame="world"), "unknown frame"),
    "force": (lambda m: load([1, 0]), "force"),
    "load pose": (lambda m: wrench_in_base(load([1, 0, 0]), np.zeros(7)), "norm 1"),
    "time": (lambda m: free_motion(m, [0.0, 0.0], m.home), "ascending"),
    "one time": (lambda m: free_motion(m, [0.0], m.home), "ascending"),
    "motion": (lambda m: free_motion(m, [0.0, 1.0], [m.home]), "one state"),
    "locked motion": (
        lambda m: locked_motions(m, [0.0, 1.0], m.home_extension, [m.home]),
        "one state",
    ),
    "no load": (
        lambda m: locked_motions(m, [0.0, 1.0], m.home_extension, m.home, []),
        "at least one",
    ),
    "no case": (lambda m: run_load_cases(m, []), "at least one"),
    "case size": (lambda m: standard_load_cases(force=0.0), "above zero"),
    "duration": (lambda m: run_load_cases(m, standard_load_cases(), duration=-1.0), "duration"),
}


@pytest.mark.parametrize("name", CALLS)
def test_arguments_are_checked(shipped: CompliantMachine, name: str) -> None:
    call, message = CALLS[name]
    with pytest.raises(InputError, match=message):
        call(shipped)


def test_a_loaded_start_is_refused(shipped: CompliantMachine) -> None:
    start = locked_equilibrium(shipped, shipped.home_extension, load([10.0, 0.0, 0.0]))
    with pytest.raises(InputError, match="without load"):
        run_load_cases(shipped, standard_load_cases(), start)


def test_too_few_legs_hold_nothing(shipped: CompliantMachine) -> None:
    one_less = {
        field: getattr(shipped, field)[:5]
        for field in shipped.__dataclass_fields__
        if np.shape(getattr(shipped, field))[:1] == (6,)
    }
    five = replace(shipped, **one_less)
    with pytest.raises(InputError, match="six are needed"):
        rest_lengths(five, five.home, np.zeros(5))
    with pytest.raises(InputError, match="six are needed"):
        held_equilibrium(five, five.home)
    assert solve_free(five, five.home).reactions.shape == (5, 3)


def test_poses_that_cannot_be_held_are_refused(shipped: CompliantMachine) -> None:
    # Parallel legs hold no sideways force.
    upright = replace(shipped, base_joints=shipped.platform_joints)
    with pytest.raises(SingularPoseError, match="cannot hold"):
        rest_lengths(upright, upright.home, np.zeros(6))
    with pytest.raises(StateError, match="cannot hold"):
        held_equilibrium(upright, upright.home, load([10.0, 0.0, 0.0]))
    on_joint = np.append(shipped.base_joints[0] - shipped.platform_joints[0], [1, 0, 0, 0])
    with pytest.raises(SingularPoseError, match="no length"):
        solve_free(shipped, on_joint)
