"""Linear systems of the viscoelastic legs.

The paper has three systems: 24 equations for accelerations and joint reactions, 30 with locked
actuators, 36 for the springs' rest lengths of a still platform. They are written in numpy, without
a line of the compiled kernels, and compared with these at random states. A system of 48 equations
from the Lagrangian of a leg, derived with sympy in angles, checks the reactions too.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from twin.analysis.platform import Platform
from twin.basics.arrays import FloatArray
from twin.engines.mechanism.assembly import make_mechanism
from twin.errors import MissingDependencyError
from twin.model.motions import REST
from twin.papers.compliant_legs.equations.extended_system import solve_extended
from twin.papers.compliant_legs.equations.solve import (
    energy,
    rest_lengths,
    solve_free,
    solve_locked,
)
from twin.papers.compliant_legs.equations.systems import free_system, locked_system, still_system
from twin.papers.compliant_legs.machine import CompliantMachine, from_parameters
from twin.validation.case import Case
from twin.validation.measures.comparison import log_curve, missing
from twin.validation.measures.metrics import largest, relative_error
from twin.validation.measures.sampling import RandomStates, random_states
from twin.validation.published.errata import read_errata
from twin.validation.published.papers import VISCOELASTIC
from twin.validation.results import CaseResult, Entry, Measure, Panel, Plot, Quantity, Statement

CASE = Case(
    "compliant_systems",
    __doc__,
    kinds=("viscoelastic",),
    because="the paper's systems are those of legs with a spring and a damper in series",
    cost=2.0,
)

STATES = 200

EXTENDED_STATES = 5

ROUNDINGS = 3000.0
"""Of a length in the solution of 36 equations, or 48 with eight legs; measured: 25 to 1300."""

DERIVED = "bar; two derivations of the same equations, rounding leaves 1e-13"

PAPER_LEGS = 6
"""Legs of the paper's machine."""

SYSTEM_SIZES = (24, 30, 36)
"""Equations of the three systems; sections 1.13 and 1.14."""

COMPONENTS = (13, 6, 18, 19, 6)
"""Rigid bodies, viscoelastic elements, joints, masses and degrees of freedom; section 1.1."""


def run(platform: Platform) -> CaseResult:
    """Run the case on one machine."""
    machine = from_parameters(platform.parameters)
    states = random_states(platform, STATES)
    generator = np.random.default_rng(5)
    forces = generator.uniform(-500.0, 500.0, (STATES, platform.n_actuators))
    wrench = generator.uniform(-100.0, 100.0, (STATES, 6))
    kernels = platform.forward_dynamics(*states[:2], forces, wrench, deflection=states.deflection)
    found = solve_free(machine, *states[:2], states.deflection, forces, wrench)
    errors = relative_error(np.hstack([found.acceleration, found.deflection_acceleration]), kernels)
    measures = [
        Measure(
            f"free system against the machine's dynamics, {STATES} states",
            errors.max(),
            1e-10,
            DERIVED,
        ),
        _energies(platform, machine, states),
        *_locked(platform, machine, states, wrench),
        *_still(platform, machine),
        _extended(machine, states, forces, wrench),
    ]
    curve = log_curve("accelerations", np.arange(1.0, STATES + 1.0), errors, "markers")
    panel = Panel("largest error / largest acceleration", curve, log_y=True)
    plot = Plot("Free system against the machine's dynamics", "state", panel)
    # The paper's statements are about six legs.
    statements = _statements(platform, machine) if machine.n_legs == PAPER_LEGS else ()
    return CASE.result(platform, measures, (plot,), statements)


def _energies(platform: Platform, machine: CompliantMachine, states: RandomStates) -> Measure:
    pose, twist, _, deflection = states
    ours = np.stack(energy(machine, pose, twist, deflection), axis=1)
    theirs = np.stack(platform.energy(pose, twist, deflection=deflection), axis=1)
    error = float(relative_error(ours, theirs).max())
    return Measure("energies of the free system against the machine's", error, 1e-10, DERIVED)


def _locked(
    platform: Platform, machine: CompliantMachine, states: RandomStates, wrench: FloatArray
) -> Iterator[Entry]:
    pose, twist, _, deflection = states
    found = solve_locked(machine, pose, twist, deflection, wrench)
    kernels = platform.forward_dynamics(pose, twist, found.forces, wrench, deflection=deflection)
    ours = np.hstack([found.acceleration, found.deflection_acceleration])
    yield Measure(
        "locked system: its forces in the machine's dynamics give its accelerations",
        relative_error(ours, kernels).max(),
        1e-10,
        DERIVED,
    )
    lengths = np.einsum("kij,kj->ki", platform.jacobian(pose), kernels[:, :6]) + np.einsum(
        "kij,kj->ki", platform.jacobian_derivative(pose, twist), twist
    )
    extension = np.abs(lengths - kernels[:, 6:]).max()
    yield Measure(
        "locked system: acceleration that is left to an actuator, per largest one",
        extension / np.abs(kernels).max(),
        1e-10,
        "zero: the actuators are locked",
    )


def _still(platform: Platform, machine: CompliantMachine) -> Iterator[Entry]:
    found = rest_lengths(machine, platform.home, machine.home_extension)
    changed = replace(machine, spring_length=found.rest_lengths)
    deflection = machine.spring_length - found.rest_lengths
    deflection = np.concatenate([deflection, np.zeros(platform.n_actuators)])
    moved = solve_locked(changed, platform.home, REST, deflection)
    gravity = platform.parameters.gravity or 1.0
    # A rest length is known to the rounding of a leg's length; a spring turns it into a force.
    fastest = float((machine.stiffness / machine.deflecting_mass).max())
    length = float(platform.home_reaches.max())
    rounding = ROUNDINGS * np.finfo(float).eps * length * fastest / gravity
    yield Measure(
        "platform with the rest lengths of the third system: acceleration at home",
        np.abs(moved.acceleration).max() / gravity,
        max(1e-10, rounding),
        "zero: it stands still; the rounding of a leg's length, times stiffness per mass at the "
        "spring's end, is left",
        unit="g",
    )
    yield Quantity(
        "mean rest length of the springs for a platform still at home",
        found.rest_lengths.mean(),
        note=f"theirs is {machine.spring_length.mean():.4g} m; actuator forces "
        f"{np.abs(found.forces).max():.4g} N at most",
        unit="m",
    )


def _extended(
    machine: CompliantMachine, states: RandomStates, forces: FloatArray, wrench: FloatArray
) -> Entry:
    name = "reactions and accelerations against the system of 48 from the legs' Lagrangian"
    try:
        errors = []
        for k in range(EXTENDED_STATES):
            pose, twist, inside = states.pose[k], states.twist[k], states.deflection[k]
            ours = solve_free(machine, pose, twist, inside, forces[k], wrench[k])
            theirs = solve_extended(machine, pose, twist, inside, forces[k], wrench[k])
            errors += [
                relative_error(ours.acceleration, theirs.acceleration),
                relative_error(ours.reactions.ravel(), theirs.reactions.ravel()),
            ]
    except MissingDependencyError as error:
        return missing(name, error)
    return Measure(name, np.max(errors), 1e-10, DERIVED)


def _components(platform: Platform) -> Statement:
    """Return the statement about the machine's parts, counted in the model of the engines."""
    mechanism = make_mechanism(platform.parameters)
    springs = sum(joint.spring is not None for joint in mechanism.joints)
    masses = sum(body.mass.mass > 0.0 for body in mechanism.bodies)
    rigid = masses - springs
    legs, balls = len(mechanism.actuators), len(mechanism.loops)
    hinges = sum(joint.kind == "hinge" for joint in mechanism.joints)
    joints = hinges // 2 + legs + balls
    # Gruebler's formula: a leg is guide, housing and rod, and its spring is one more joint.
    freedoms = hinges + springs + legs + 3 * balls
    mobility = 6 * (3 * legs + 2 - joints - springs - 1) + freedoms
    ours = (rigid, springs, joints, masses, mobility - springs)
    return VISCOELASTIC["components"].judged(
        f"The model has {rigid} rigid bodies, {springs} springs, {joints} joints and {masses} "
        f"masses. Of its {mobility} degrees of freedom the springs have {springs} and the platform "
        f"{mobility - springs}. The platform has the moments of inertia of (6); the other masses "
        "are points.",
        ours == COMPONENTS,
    )


def _statements(platform: Platform, machine: CompliantMachine) -> tuple[Statement, ...]:
    n = machine.n_legs
    pose, rest = machine.home[None], np.zeros((1, 6))
    state = (pose, rest, np.zeros((1, 2 * n)))
    systems = (
        free_system(machine, *state, np.zeros((1, n)), rest),
        locked_system(machine, *state, rest),
        still_system(machine, pose, machine.home_extension[None], rest),
    )
    relaxed = solve_locked(machine, machine.home, REST, np.zeros(2 * n))
    left = largest(relaxed.acceleration[:3])
    slips = sum(len(paper.entries) for paper in read_errata() if paper.paper == VISCOELASTIC.title)
    ours = tuple(int(np.linalg.matrix_rank(system.matrix).squeeze()) for system in systems)
    return (
        _components(platform),
        VISCOELASTIC["system_sizes"].judged(
            f"Ranks of {', '.join(map(str, ours))} for {n} legs: no equation too many.",
            ours == SYSTEM_SIZES,
        ),
        VISCOELASTIC["rest_lengths"].judged(
            "delta1'' = 0, with (80) put into the spring's force, in a system of the same size. "
            "As printed, for relaxed springs, the platform is left an acceleration of "
            f"{left:.3g} m/s2.",
            left < 1e-9,
            "as printed they give the rest lengths of deflections chosen beforehand, with which "
            "the platform moves; see the errata",
        ),
        VISCOELASTIC["equations_of_motion"].judged(
            "Derived anew from the Lagrangian, by three ways that agree; the errata have "
            f"{slips} entries.",
            slips == 0,
            "printed lines have slips; the errata list each with its test",
        ),
        VISCOELASTIC["parameters"].not_given(
            "Adopted, see the parameters.", "the paper has no numbers"
        ),
    )
