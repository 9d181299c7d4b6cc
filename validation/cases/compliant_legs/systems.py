"""Linear systems of the viscoelastic legs.

The paper has three systems: 24 equations for accelerations and joint reactions, 30 with locked
actuators, 36 for the springs' rest lengths of a still platform. They are written in numpy, without
a line of the compiled kernels, and compared with these at random states. A system of 48 equations
from the Lagrangian of a leg, derived with sympy in angles, checks the reactions too.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import cos, radians, sin
from typing import Any, NamedTuple

import numpy as np

from twin.analysis.platform import Platform
from twin.basics.arrays import FloatArray
from twin.engines.mechanism import make_mechanism
from twin.errors import MissingDependencyError
from twin.model.machine_base import ZERO_VECTOR
from twin.papers.compliant_legs.equations import (
    energy,
    free_system,
    locked_system,
    rest_lengths,
    solve_extended,
    solve_free,
    solve_locked,
    still_system,
)
from twin.papers.compliant_legs.machine import CompliantMachine, from_parameters
from twin.validation.case import Case
from twin.validation.measures.comparison import log_curve, missing
from twin.validation.measures.sampling import RandomStates, largest, random_states, relative_error
from twin.validation.published.people import BODY_SEGMENTS
from twin.validation.published.printed import VISCOELASTIC_PAPER, read_errata
from twin.validation.results import CaseResult, Entry, Measure, Panel, Plot, Quantity, Statement

CASE = Case(
    "compliant_systems",
    __doc__,
    kinds=("viscoelastic",),
    because="the paper's systems are those of legs with a spring and a damper in series",
    cost=2.0,
)

STATE_COUNT = 200

EXTENDED_STATES = 5

LENGTH_ROUNDINGS = 3000.0
"""Roundings of a length in the solution of 36 equations, or 48 with eight legs; measured: 25 to
1300."""

TOLERANCE_REASON = "bar; two derivations of the same equations, rounding leaves 1e-13"

PAPER_LEGS = 6
"""Legs of the paper's machine."""

SYSTEM_SIZES = (24, 30, 36)
"""Equations of the three systems; sections 1.13 and 1.14."""

COMPONENT_COUNTS = (13, 6, 18, 19, 6)
"""Rigid bodies, viscoelastic elements, joints, masses and degrees of freedom; section 1.1."""

CHAIR_SIZE = np.array([1.05, 0.62, 0.90])
"""[m] Size of the wheelchair to the front, to the side, up; adopted."""


def run(platform: Platform) -> CaseResult:
    """Run the case on one machine."""
    machine = from_parameters(platform.parameters)
    states = random_states(platform, STATE_COUNT)
    generator = np.random.default_rng(5)
    forces = generator.uniform(-500.0, 500.0, (STATE_COUNT, platform.n_actuators))
    wrench = generator.uniform(-100.0, 100.0, (STATE_COUNT, 6))
    kernels = platform.forward_dynamics(*states[:2], forces, wrench, deflection=states.deflection)
    found = solve_free(machine, *states[:2], states.deflection, forces, wrench)
    errors = relative_error(np.hstack([found.acceleration, found.deflection_acceleration]), kernels)
    measures = [
        Measure(
            f"free system against the machine's dynamics, {STATE_COUNT} states",
            errors.max(),
            1e-10,
            TOLERANCE_REASON,
        ),
        _energies(platform, machine, states),
        *_locked(platform, machine, states, wrench),
        *_still(platform, machine),
        _extended(machine, states, forces, wrench),
    ]
    curve = log_curve("accelerations", np.arange(1.0, STATE_COUNT + 1.0), errors, "markers")
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
    return Measure(
        "energies of the free system against the machine's", error, 1e-10, TOLERANCE_REASON
    )


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
        TOLERANCE_REASON,
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
    moved = solve_locked(changed, platform.home, ZERO_VECTOR, deflection)
    gravity = platform.parameters.gravity or 1.0
    # A rest length is known to the rounding of a leg's length; a spring turns it into a force.
    fastest = float((machine.stiffness / machine.deflecting_mass).max())
    length = float(platform.home_reaches.max())
    rounding = LENGTH_ROUNDINGS * np.finfo(float).eps * length * fastest / gravity
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
    return Measure(name, np.max(errors), 1e-10, TOLERANCE_REASON)


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
    return VISCOELASTIC_PAPER["components"].judged(
        f"The model has {rigid} rigid bodies, {springs} springs, {joints} joints and {masses} "
        f"masses. Of its {mobility} degrees of freedom the springs have {springs} and the platform "
        f"{mobility - springs}. The platform has the moments of inertia of (6); the other masses "
        "are points.",
        ours == COMPONENT_COUNTS,
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
    relaxed = solve_locked(machine, machine.home, ZERO_VECTOR, np.zeros(2 * n))
    left = largest(relaxed.acceleration[:3])
    slips = sum(
        len(paper.entries) for paper in read_errata() if paper.paper == VISCOELASTIC_PAPER.title
    )
    ours = tuple(int(np.linalg.matrix_rank(system.matrix).squeeze()) for system in systems)
    return (
        _components(platform),
        VISCOELASTIC_PAPER["system_sizes"].judged(
            f"Ranks of {', '.join(map(str, ours))} for {n} legs: no equation too many.",
            ours == SYSTEM_SIZES,
        ),
        VISCOELASTIC_PAPER["rest_lengths"].judged(
            "delta1'' = 0, with (80) put into the spring's force, in a system of the same size. "
            "As printed, for relaxed springs, the platform is left an acceleration of "
            f"{left:.3g} m/s2.",
            left < 1e-9,
            "as printed they give the rest lengths of deflections chosen beforehand, with which "
            "the platform moves; see the errata",
        ),
        VISCOELASTIC_PAPER["equations_of_motion"].judged(
            "Derived anew from the Lagrangian, by three ways that agree; the errata have "
            f"{slips} entries.",
            slips == 0,
            "printed lines have slips; the errata list each with its test",
        ),
        VISCOELASTIC_PAPER["parameters"].not_given(
            "Adopted, see the parameters.", "the paper has no numbers"
        ),
    )


UP_AXIS = np.array([0.0, 0.0, 1.0])
"""Unit vector up."""

LEFT_AXIS = np.array([0.0, 1.0, 0.0])
"""Unit vector to the left of the person."""

CHAIR_MASS = 17.0
"""[kg] Mass of the wheelchair: 36 lb of Medicare's class K0001 rounded up."""

CHAIR_SEAT = 0.49
"""[m] Height of the wheelchair's seat: 19 in of the same class rounded up."""

CHAIR_BEHIND = 0.05
"""[m] Distance of the wheelchair's centre behind the person's hips; adopted."""

SEAT_HEIGHT = 0.45
"""[m] Height of a seat without a wheelchair; adopted."""

HEEL_FRACTION = 0.25
"""Distance of the ankle from the heel, as a fraction of the foot; adopted."""


class PointSum(NamedTuple):
    """Mass properties of a sum of point masses."""

    mass: float
    """[kg]"""
    center: FloatArray
    """`(3,)` [m]"""
    inertia: FloatArray
    """`(3, 3)` [kg m2] about the centre"""


def leaning(degrees: float) -> FloatArray:
    """Return the direction `(3,)` straight down, turned forwards by an angle."""
    return np.array([sin(radians(degrees)), 0.0, -cos(radians(degrees))])


def seated_sum(sex: str, stature: float, mass: float, in_chair: bool = False) -> PointSum:
    """Return the sum over a seated person [m], [kg], x from the hips, in a wheelchair or not."""
    points, masses = _person(BODY_SEGMENTS["shares"], BODY_SEGMENTS[sex], stature, mass, in_chair)
    if in_chair:
        middle = np.array([-CHAIR_BEHIND, 0.0, CHAIR_SIZE[2] / 2.0])
        _add(points, masses, CHAIR_MASS, middle, np.eye(3), CHAIR_SIZE**2 / 12.0)
    place, weight = np.concatenate(points), np.array(masses)
    center = weight @ place / weight.sum()
    away = place - center
    inertia = np.einsum("k,kij->ij", weight, (away**2).sum(1)[:, None, None] * np.eye(3))
    inertia -= np.einsum("k,ki,kj->ij", weight, away, away)
    return PointSum(float(weight.sum()), center, inertia)


def _person(
    shares: dict[str, float], sizes: dict[str, Any], stature: float, mass: float, in_chair: bool
) -> tuple[list[FloatArray], list[float]]:
    scale = stature / sizes["stature"]
    parts = {key: value for key, value in sizes.items() if isinstance(value, list)}
    trunk = ("lower_trunk", "middle_trunk", "upper_trunk", "head")
    percent = sum(part[0] * (1 if name in trunk else 2) for name, part in parts.items())
    length = {name: scale * part[1] for name, part in parts.items()}
    points: list[FloatArray] = []
    masses: list[float] = []

    def add(name: str, first: FloatArray, along: FloatArray) -> FloatArray:
        """Add a segment from its first end; return its second."""
        fraction, _, center, *radii = parts[name]
        axes = np.column_stack([np.cross(LEFT_AXIS, along), LEFT_AXIS, along])
        squares = (np.array(radii) / 100.0 * length[name]) ** 2
        moments = squares.sum() / 2.0 - squares
        middle = first + center / 100.0 * length[name] * along
        _add(points, masses, mass * fraction / percent, middle, axes, moments)
        return np.asarray(first + length[name] * along)

    seat = CHAIR_SEAT if in_chair else SEAT_HEIGHT
    upright = sum(length[name] for name in trunk)
    hips = (seat + shares["sitting_height"] * stature - upright) * UP_AXIS
    down, end = leaning(10.0), hips
    for name in trunk[:3]:
        end = end - length[name] * down
        add(name, end, down)
    add("head", end - length["head"] * leaning(0.0), leaning(0.0))
    for side in (LEFT_AXIS, -LEFT_AXIS):
        shoulder = hips + shares["shoulders"] / 2.0 * stature * side
        shoulder = shoulder - scale * sizes["shoulders_above_hips"] * down
        elbow = add("upper_arm", shoulder, leaning(20.0))
        wrist = add("forearm", elbow, leaning(85.0))
        add("hand", wrist, leaning(85.0))
        knee = add("thigh", hips + shares["hips"] / 2.0 * stature * side, leaning(90.0))
        ankle = add("shank", knee, leaning(15.0))
        toe = np.array([1.0, 0.0, 0.0])
        heel = (
            ankle - HEEL_FRACTION * length["foot"] * toe - shares["ankle"] * stature / 2.0 * UP_AXIS
        )
        add("foot", heel, toe)
    return points, masses


def _add(
    points: list[FloatArray],
    masses: list[float],
    mass: float,
    middle: FloatArray,
    axes: FloatArray,
    moments: FloatArray,
) -> None:
    """Add six points with the second moments `mass * moments` `(3,)` [kg m2] along the axes."""
    arms = axes * np.sqrt(3.0 * moments)
    points.append(np.concatenate([middle + arms.T, middle - arms.T]))
    masses.extend([mass / 6.0] * 6)
