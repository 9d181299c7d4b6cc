"""Exact model, redundant actuation and friction of the driving simulator."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from twin.analysis.platform import Platform, load
from twin.papers.driving_simulator.exact import ExactModel, SlidingFriction
from twin.papers.driving_simulator.inputs import sinusoidal_inputs
from twin.papers.driving_simulator.kinematics import PlateModel
from twin.papers.driving_simulator.studies import (
    FrictionEffect,
    friction_effect,
    split_forces,
)
from twin.validation.case import validation_case
from twin.validation.cases.driving_simulator.engines import MACHINE_REASON
from twin.validation.cases.driving_simulator.figures import (
    accelerations_of,
    coordinates_of,
    rates_of,
)
from twin.validation.measures.sampling import RandomStates, largest, random_states, relative_error
from twin.validation.published.printed import SIMULATOR_PAPER
from twin.validation.results import CaseResult, Entry, Measure, Statement

STATE_COUNT = 200
"""Number of random states at which the equations are compared."""

TOLERANCE_REASON = "bar; two derivations of the same equations, rounding leaves 1e-13"

EXCESS_FORCE = 100.0
"""[N] Excess of the force of one actuator."""

RUN_DURATION = 10.0
"""[s] Duration of the runs with friction."""


@validation_case(machines=("driving_simulator",), because=MACHINE_REASON)
def check_simulator_actuation(platform: Platform) -> CaseResult:
    """Exact model, redundant actuation and friction of the driving simulator.

    Equations of motion in heave, roll and pitch are derived with sympy from the energies. They are
    compared with the machine's own dynamics at random states, with and without friction under the
    feet. Four actuators drive three degrees of freedom: forces in the pattern (1, -1, 1, -1) move
    nothing. Last comes the cost of friction along the paper's sines, viscous as in configuration
    hardware.
    """
    plate = PlateModel.from_parameters(platform.parameters)
    states = random_states(platform, STATE_COUNT)
    with_friction = load(platform.name, configuration="hardware")
    viscous = SlidingFriction.from_legs(with_friction.parameters.legs)
    assert viscous is not None
    effect = friction_effect(plate, sinusoidal_inputs(plate), RUN_DURATION, viscous)
    measures = [
        *against_kernels("", platform, states),
        *against_kernels(", with friction", with_friction, states),
        *_redundancy(platform, states),
    ]
    return check_simulator_actuation.result(
        platform, measures, statements=(_statement(viscous, effect),)
    )


def against_kernels(what: str, platform: Platform, states: RandomStates) -> Iterator[Entry]:
    """Yield the exact model's distance from a machine's dynamics; `what` completes the names."""
    pose, twist, acceleration, _ = states
    model = ExactModel.from_parameters(platform.parameters)
    q, v = coordinates_of(pose), rates_of(pose, twist)
    a = accelerations_of(pose, twist, acceleration)
    forces = platform.inverse_dynamics(pose, twist, acceleration)
    machine_accelerations = platform.forward_dynamics(pose, twist, forces)
    for name, computed, expected in (
        (
            "accelerations",
            model.acceleration(q, v, model.accelerations(q, v, forces)),
            machine_accelerations,
        ),
        ("smallest forces", model.forces(q, v, a), forces),
        (
            "energies",
            np.stack(model.energy(q, v), axis=1),
            np.stack(platform.energy(pose, twist), axis=1),
        ),
    ):
        yield Measure(
            f"exact model against the machine's dynamics{what}: {name}",
            relative_error(computed, expected).max(),
            1e-10,
            TOLERANCE_REASON,
        )


def _redundancy(platform: Platform, states: RandomStates) -> Iterator[Entry]:
    pose, twist, acceleration, _ = states
    forces = platform.inverse_dynamics(pose, twist, acceleration)
    internal_forces = split_forces(forces).twisting
    yield Measure(
        "internal part of the forces that inverse dynamics gives, per largest force",
        largest(internal_forces) / largest(forces),
        1e-12,
        "they are the smallest ones: no part of them twists the plate",
    )
    forces_with_excess = forces + EXCESS_FORCE * np.array([1.0, -1.0, 1.0, -1.0])
    accelerations = platform.forward_dynamics(pose, twist, forces_with_excess)
    yield Measure(
        f"accelerations that {EXCESS_FORCE:g} N in the pattern (1, -1, 1, -1) change",
        relative_error(accelerations, acceleration).max(),
        1e-10,
        "the four lengths are tied by one equation; rounding",
    )


def _statement(friction: SlidingFriction, effect: FrictionEffect) -> Statement:
    return SIMULATOR_PAPER["foot_friction"].not_given(
        f"Friction (viscous, {friction.viscous:g} N s/m) adds at most "
        f"{largest(effect.force_difference):.2g} N; positions are "
        "prescribed and do not change at all.",
        "the coefficient is not printed; the one used is adopted",
    )
