"""Exact model, redundant actuation and friction of the driving simulator.

Equations of motion in heave, roll and pitch are derived with sympy from the energies. They are
compared with the machine's own dynamics at random states, with and without friction under the feet.
Four actuators drive three degrees of freedom: forces in the pattern (1, -1, 1, -1) move nothing.
The case shows the effect of a fourth actuator with a wrong force or a wrong length. Last comes the
cost of friction along the paper's sines, viscous as in configuration hardware, and dry.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from twin.analysis.platform import Platform, load
from twin.papers.driving_simulator.exact import ExactModel, SlidingFriction
from twin.papers.driving_simulator.inputs import sinusoidal_inputs
from twin.papers.driving_simulator.kinematics import CORNERS, PlateModel
from twin.papers.driving_simulator.studies import (
    FrictionEffect,
    WrongLength,
    friction_effect,
    split_forces,
    wrong_force,
    wrong_length,
)
from twin.validation.case import Case
from twin.validation.cases.driving_simulator.engines import MACHINE_REASON
from twin.validation.cases.driving_simulator.figures import (
    accelerations_of,
    coordinates_of,
    friction_plot,
    rates_of,
    wrong_length_plot,
)
from twin.validation.measures.sampling import RandomStates, largest, random_states, relative_error
from twin.validation.published.printed import SIMULATOR_PAPER
from twin.validation.results import CaseResult, Entry, Measure, Quantity, Statement

CASE = Case(
    "simulator_actuation",
    __doc__,
    machines=("driving_simulator",),
    because=MACHINE_REASON,
    cost=1.0,
)

STATE_COUNT = 200
"""Number of random states at which the equations are compared."""

TOLERANCE_REASON = "bar; two derivations of the same equations, rounding leaves 1e-13"

EXCESS_FORCE = 100.0
"""[N] Excess of the force of one actuator."""

LENGTH_ERROR = 1e-3
"""[m] Excess of one commanded length. Engineering choice."""

LOOP_STIFFNESS = 1e6
"""[N/m] Stiffness of the position loops. Engineering choice."""

RUN_DURATION = 10.0
"""[s] Duration of the runs with friction."""

COULOMB_FRICTION = 50.0
"""[N] Dry friction under a foot. Engineering choice: a foot carries some 650 N, a coefficient of
0.08."""


def run(platform: Platform) -> CaseResult:
    """Run the case on one machine."""
    plate = PlateModel.from_parameters(platform.parameters)
    states = random_states(platform, STATE_COUNT)
    with_friction = load(platform.name, configuration="hardware")
    viscous = SlidingFriction.from_legs(with_friction.parameters.legs)
    assert viscous is not None
    frictions = {
        f"viscous, {viscous.viscous:g} N s/m": viscous,
        f"dry, {COULOMB_FRICTION:g} N": SlidingFriction(0.0, COULOMB_FRICTION),
    }
    effects = {
        name: friction_effect(plate, sinusoidal_inputs(plate), RUN_DURATION, friction)
        for name, friction in frictions.items()
    }
    length_error_effect = wrong_length(
        plate, [plate.home_length, 0.0, 0.0], CORNERS[1], LENGTH_ERROR, LOOP_STIFFNESS
    )
    measures = [
        *against_kernels("", platform, states),
        *against_kernels(", with friction", with_friction, states),
        *_redundancy(platform, states),
        *_wrong(length_error_effect),
        *_friction(effects),
    ]
    plots = (friction_plot(effects), wrong_length_plot(plate, LENGTH_ERROR, LOOP_STIFFNESS))
    return CASE.result(platform, measures, plots, _statements(effects))


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


def _wrong(wrong: WrongLength) -> Iterator[Entry]:
    split = wrong_force(CORNERS[1], EXCESS_FORCE)
    yield Quantity(
        f"internal force when one actuator pushes {EXCESS_FORCE:g} N too hard",
        largest(split.twisting),
        note="in all four actuators; the rest moves the plate",
        unit="N",
    )
    heave, roll, pitch = wrong.coordinates
    yield Quantity(
        f"force of each actuator when one length is commanded {1e3 * LENGTH_ERROR:g} mm too long",
        largest(wrong.forces),
        note=f"with position loops of {LOOP_STIFFNESS:g} N/m; the plate goes to heave {heave:.6g} "
        f"m, roll {np.degrees(roll):.3g} deg, pitch {np.degrees(pitch):.3g} deg",
        unit="N",
    )


def _friction(effects: dict[str, FrictionEffect]) -> Iterator[Entry]:
    for name, effect in effects.items():
        increase = np.abs(effect.force_difference).max()
        yield Quantity(
            f"friction {name}: largest force that it adds to an actuator",
            increase,
            note=f"{100.0 * increase / np.abs(effect.without).max():.2g} percent of the largest; "
            f"heat over {effect.time[-1]:g} s: {effect.energy:.3g} J",
            unit="N",
        )


def _statements(effects: dict[str, FrictionEffect]) -> tuple[Statement, ...]:
    name, effect = next(iter(effects.items()))
    return (
        SIMULATOR_PAPER["foot_friction"].not_given(
            f"Friction ({name}) adds at most {np.abs(effect.force_difference).max():.2g} N; "
            "positions are prescribed and do not change at all.",
            "the coefficient is not printed; the one used is adopted",
        ),
    )
