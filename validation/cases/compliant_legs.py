"""Systems of the paper on compliant legs, and responses of a person on the platform."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import cos, radians, sin
from typing import Any, NamedTuple

import numpy as np

from twin.analysis.platform import Platform
from twin.basics.arrays import FloatArray
from twin.engines.mechanism import make_mechanism
from twin.machine.machine import MachineParameters
from twin.machine.payload import Occupant, Wheelchair, rigid_sum, seated_on
from twin.model.machine_base import ZERO_VECTOR
from twin.papers.compliant_legs.equations import (
    energy,
    free_system,
    locked_system,
    rest_lengths,
    solve_free,
    solve_locked,
    still_system,
)
from twin.papers.compliant_legs.machine import CompliantMachine, from_parameters
from twin.papers.compliant_legs.rest import (
    Equilibrium,
    locked_equilibrium,
    locked_linearisation,
    run_load_cases,
    standard_load_cases,
)
from twin.rotations import displacement
from twin.validation.case import CaseResult, Entry, Measure, Statement, validation_case
from twin.validation.measures.sampling import RandomStates, largest, random_states, relative_error
from twin.validation.published import BODY_SEGMENTS
from twin.validation.published.printed import VISCOELASTIC_PAPER, read_errata

STATE_COUNT = 200
"""Number of random states at which the accelerations of the free system are compared."""

LENGTH_ROUNDINGS = 3000.0
"""Rounding errors of a length in the solution of 36 equations, or 48 with eight legs; measured: 25
to 1300."""

TOLERANCE_REASON = "two derivations of the same equations; rounding leaves 1e-13"

PAPER_LEGS = 6
"""Number of legs of the paper's machine."""

SYSTEM_SIZES = (24, 30, 36)
"""Equations of the three systems; sections 1.13 and 1.14."""

COMPONENT_COUNTS = (13, 6, 18, 19, 6)
"""Rigid bodies, viscoelastic elements, joints, masses and degrees of freedom; section 1.1."""

CHAIR_SIZE = np.array([1.05, 0.62, 0.90])
"""[m] Length, width and height of the wheelchair. Engineering choice."""


@validation_case(
    kinds=("viscoelastic",),
    because="the paper's systems are those of legs with a spring and a damper in series",
    run_time=2.0,
)
def check_compliant_systems(platform: Platform) -> CaseResult:
    """Linear systems of the viscoelastic legs.

    The paper has three systems: 24 equations for accelerations and joint reactions, 30 with locked
    actuators, 36 for the springs' rest lengths of a still platform. They are written in numpy,
    without a line of the compiled kernels, and compared with these at random states.
    """
    machine = from_parameters(platform.parameters)
    states = random_states(platform, STATE_COUNT)
    rng = np.random.default_rng(5)
    forces = rng.uniform(-500.0, 500.0, (STATE_COUNT, platform.n_actuators))
    wrench = rng.uniform(-100.0, 100.0, (STATE_COUNT, 6))
    kernel_accelerations = platform.forward_dynamics(
        *states[:2], forces, wrench, deflection=states.deflection
    )
    solution = solve_free(machine, *states[:2], states.deflection, forces, wrench)
    errors = relative_error(
        np.hstack([solution.acceleration, solution.deflection_acceleration]), kernel_accelerations
    )
    measures = [
        Measure(
            f"free system against the machine's dynamics, {STATE_COUNT} states",
            errors.max(),
            1e-10,
            TOLERANCE_REASON,
        ),
        _energies(platform, machine, states),
        *_locked(platform, machine, states, wrench),
        _still(platform, machine),
    ]
    # The paper's statements are about six legs.
    statements = _systems_statements(platform, machine) if machine.n_legs == PAPER_LEGS else ()
    return check_compliant_systems.result(platform, measures, statements=statements)


def _energies(platform: Platform, machine: CompliantMachine, states: RandomStates) -> Measure:
    pose, twist, _, deflection = states
    system_energies = np.stack(energy(machine, pose, twist, deflection), axis=1)
    platform_energies = np.stack(platform.energy(pose, twist, deflection=deflection), axis=1)
    return Measure(
        "energies of the free system against the machine's",
        relative_error(system_energies, platform_energies).max(),
        1e-10,
        TOLERANCE_REASON,
    )


def _locked(
    platform: Platform, machine: CompliantMachine, states: RandomStates, wrench: FloatArray
) -> Iterator[Entry]:
    pose, twist, _, deflection = states
    solution = solve_locked(machine, pose, twist, deflection, wrench)
    kernel_accelerations = platform.forward_dynamics(
        pose, twist, solution.forces, wrench, deflection=deflection
    )
    system_accelerations = np.hstack([solution.acceleration, solution.deflection_acceleration])
    yield Measure(
        "locked system: its forces in the machine's dynamics give its accelerations",
        relative_error(system_accelerations, kernel_accelerations).max(),
        1e-10,
        TOLERANCE_REASON,
    )
    length_accelerations = np.einsum(
        "kij,kj->ki", platform.jacobian(pose), kernel_accelerations[:, :6]
    ) + np.einsum("kij,kj->ki", platform.jacobian_derivative(pose, twist), twist)
    # The first six columns are the platform's acceleration, the others those of the deflections.
    remaining = largest(length_accelerations - kernel_accelerations[:, 6:])
    yield Measure(
        "locked system: remaining acceleration of an actuator, per largest acceleration",
        remaining / largest(kernel_accelerations),
        1e-10,
        "zero: the actuators are locked",
    )


def _still(platform: Platform, machine: CompliantMachine) -> Measure:
    result = rest_lengths(machine, platform.home, machine.home_extension)
    machine_at_rest = replace(machine, spring_length=result.rest_lengths)
    deflection = machine.spring_length - result.rest_lengths
    deflection = np.append(deflection, np.zeros(platform.n_actuators))
    solution = solve_locked(machine_at_rest, platform.home, ZERO_VECTOR, deflection)
    gravity = platform.parameters.gravity or 1.0
    # A rest length is known to the rounding of a leg's length; a spring turns it into a force.
    max_stiffness_ratio = float((machine.stiffness / machine.deflecting_mass).max())
    length = float(platform.home_reaches.max())
    return Measure(
        "platform with the rest lengths of the third system: acceleration at home",
        largest(solution.acceleration) / gravity,
        max(1e-10, LENGTH_ROUNDINGS * np.finfo(float).eps * length * max_stiffness_ratio / gravity),
        "zero: it stands still; the rounding of a leg's length, times stiffness per mass at the "
        "spring's end, is left",
        "g",
    )


def _components(platform: Platform) -> Statement:
    """Return the statement about the machine's parts, counted in the model of the engines."""
    mechanism = make_mechanism(platform.parameters)
    spring_count = sum(joint.spring is not None for joint in mechanism.joints)
    mass_count = sum(body.mass.mass > 0.0 for body in mechanism.bodies)
    rigid_bodies = mass_count - spring_count
    leg_count, ball_joints = len(mechanism.actuators), len(mechanism.loops)
    hinges = sum(joint.kind == "hinge" for joint in mechanism.joints)
    joint_count = hinges // 2 + leg_count + ball_joints
    # Gruebler's formula: a leg is guide, housing and rod, and its spring is one more joint.
    joint_freedoms = hinges + spring_count + leg_count + 3 * ball_joints
    mobility = 6 * (3 * leg_count + 2 - joint_count - spring_count - 1) + joint_freedoms
    counts = (rigid_bodies, spring_count, joint_count, mass_count, mobility - spring_count)
    return VISCOELASTIC_PAPER["components"].judged(
        f"The model has {rigid_bodies} rigid bodies, {spring_count} springs, {joint_count} joints "
        f"and {mass_count} masses. Of its {mobility} degrees of freedom the springs have "
        f"{spring_count} and the platform {mobility - spring_count}. The platform has the moments "
        "of inertia of (6); the other masses are points.",
        counts == COMPONENT_COUNTS,
    )


def _systems_statements(platform: Platform, machine: CompliantMachine) -> tuple[Statement, ...]:
    n = machine.n_legs
    pose, no_motion = machine.home[None], np.zeros((1, 6))
    state = (pose, no_motion, np.zeros((1, 2 * n)))
    systems = (
        free_system(machine, *state, np.zeros((1, n)), no_motion),
        locked_system(machine, *state, no_motion),
        still_system(machine, pose, machine.home_extension[None], no_motion),
    )
    relaxed = solve_locked(machine, machine.home, ZERO_VECTOR, np.zeros(2 * n))
    remaining_acceleration = largest(relaxed.acceleration[:3])
    errata_count = sum(
        len(paper.entries) for paper in read_errata() if paper.paper == VISCOELASTIC_PAPER.title
    )
    ranks = tuple(int(np.linalg.matrix_rank(system.matrix).squeeze()) for system in systems)
    return (
        _components(platform),
        VISCOELASTIC_PAPER["system_sizes"].judged(
            f"Ranks of {', '.join(map(str, ranks))} for {n} legs: no equation too many.",
            ranks == SYSTEM_SIZES,
        ),
        VISCOELASTIC_PAPER["rest_lengths"].judged(
            "delta1'' = 0, with (80) put into the spring's force, in a system of the same size. "
            "As printed, for relaxed springs, the platform is left an acceleration of "
            f"{remaining_acceleration:.3g} m/s2.",
            remaining_acceleration < 1e-9,
            "as printed they give the rest lengths of deflections chosen beforehand, with which "
            "the platform moves; see the errata",
        ),
        VISCOELASTIC_PAPER["equations_of_motion"].judged(
            "Derived anew from the Lagrangian, by ways that agree; the errata have "
            f"{errata_count} entries.",
            errata_count == 0,
            "printed lines have slips; the errata list each with its test",
        ),
        VISCOELASTIC_PAPER["parameters"].not_given(
            "Adopted, see the parameters.", "the paper has no numbers"
        ),
    )


UP_AXIS = np.array([0.0, 0.0, 1.0])
"""Unit vector upwards."""

LEFT_AXIS = np.array([0.0, 1.0, 0.0])
"""Unit vector to the left of the person."""

CHAIR_MASS = 17.0
"""[kg] Mass of the wheelchair: 36 lb of Medicare's class K0001 rounded up."""

CHAIR_SEAT_HEIGHT = 0.49
"""[m] Height of the wheelchair's seat: 19 in of the same class rounded up."""

CHAIR_BEHIND = 0.05
"""[m] Distance of the wheelchair's centre behind the person's hips. Engineering choice."""

SEAT_HEIGHT = 0.45
"""[m] Height of a seat without a wheelchair. Engineering choice."""

HEEL_FRACTION = 0.25
"""Distance of the ankle from the heel, as a fraction of the foot. Engineering choice."""


class PointSum(NamedTuple):
    """Mass properties of a sum of point masses."""

    mass: float
    """[kg]"""
    center: FloatArray
    """`(3,)` [m]"""
    inertia: FloatArray
    """`(3, 3)` [kg m2] about the centre"""


def leaning(degrees: float) -> FloatArray:
    """Return the direction `(3,)` straight down, rotated forwards by an angle [deg]."""
    return np.array([sin(radians(degrees)), 0.0, -cos(radians(degrees))])


def seated_sum(sex: str, stature: float, mass: float, in_chair: bool = False) -> PointSum:
    """Return the sum over a seated person [m], [kg], x forwards from the hips."""
    points, masses = _person(BODY_SEGMENTS["shares"], BODY_SEGMENTS[sex], stature, mass, in_chair)
    if in_chair:
        chair_center = np.array([-CHAIR_BEHIND, 0.0, CHAIR_SIZE[2] / 2.0])
        _add(points, masses, CHAIR_MASS, chair_center, np.eye(3), CHAIR_SIZE**2 / 12.0)
    positions, point_masses = np.concatenate(points), np.array(masses)
    center = point_masses @ positions / point_masses.sum()
    offsets = positions - center
    inertia = np.einsum("k,kij->ij", point_masses, (offsets**2).sum(1)[:, None, None] * np.eye(3))
    inertia -= np.einsum("k,ki,kj->ij", point_masses, offsets, offsets)
    return PointSum(float(point_masses.sum()), center, inertia)


def _person(
    shares: dict[str, float], sizes: dict[str, Any], stature: float, mass: float, in_chair: bool
) -> tuple[list[FloatArray], list[float]]:
    scale = stature / sizes["stature"]
    parts = {key: value for key, value in sizes.items() if isinstance(value, list)}
    trunk = ("lower_trunk", "middle_trunk", "upper_trunk", "head")
    percent_sum = sum(part[0] * (1 if name in trunk else 2) for name, part in parts.items())
    length = {name: scale * part[1] for name, part in parts.items()}
    points: list[FloatArray] = []
    masses: list[float] = []

    def add(name: str, first: FloatArray, segment_vector: FloatArray) -> FloatArray:
        """Add a segment from its first end; return its second."""
        fraction, _, center, *radii = parts[name]
        axes = np.column_stack([np.cross(LEFT_AXIS, segment_vector), LEFT_AXIS, segment_vector])
        radii_squared = (np.array(radii) / 100.0 * length[name]) ** 2
        moments = radii_squared.sum() / 2.0 - radii_squared
        segment_center = first + center / 100.0 * length[name] * segment_vector
        _add(points, masses, mass * fraction / percent_sum, segment_center, axes, moments)
        return np.asarray(first + length[name] * segment_vector)

    seat = CHAIR_SEAT_HEIGHT if in_chair else SEAT_HEIGHT
    trunk_length = sum(length[name] for name in trunk)
    hips = (seat + shares["sitting_height"] * stature - trunk_length) * UP_AXIS
    trunk_direction, segment_end = leaning(10.0), hips
    for name in trunk[:3]:
        segment_end = segment_end - length[name] * trunk_direction
        add(name, segment_end, trunk_direction)
    add("head", segment_end - length["head"] * leaning(0.0), leaning(0.0))
    for outward_axis in (LEFT_AXIS, -LEFT_AXIS):
        shoulder = hips + shares["shoulders"] / 2.0 * stature * outward_axis
        shoulder = shoulder - scale * sizes["shoulders_above_hips"] * trunk_direction
        elbow = add("upper_arm", shoulder, leaning(20.0))
        wrist = add("forearm", elbow, leaning(85.0))
        add("hand", wrist, leaning(85.0))
        knee = add("thigh", hips + shares["hips"] / 2.0 * stature * outward_axis, leaning(90.0))
        ankle = add("shank", knee, leaning(15.0))
        toe = np.array([1.0, 0.0, 0.0])
        heel = ankle - HEEL_FRACTION * length["foot"] * toe
        add("foot", heel - shares["ankle"] * stature / 2.0 * UP_AXIS, toe)
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


STIFFNESS_FACTORS = (1.0, 10.0, 100.0, 1000.0)
"""Factors on the springs' stiffness."""

STUDIED_OCCUPANTS = {
    "1.75 m, 75 kg": Occupant(1.75, 75.0),
    "the same in a wheelchair": Occupant(1.75, 75.0, wheelchair=Wheelchair()),
}

SEGMENTS_REASON = "typed a second time from de Leva's table, no tensor is moved: rounding alone"


@validation_case(
    machines=("compliant_stewart",),
    because="a person on the platform and loads of 100 N belong to a machine of that size",
    run_time=4.0,
)
def check_compliant_response(platform: Platform) -> CaseResult:
    """Sag, modes, load cases and occupant of the compliant platform.

    Actuators are locked. Where statics has the platform under gravity, nothing accelerates. Without
    gravity its stiffness is J' k J. As the springs stiffen, the sag falls as 1 / k. Twelve load
    cases (a force or a moment, in base or in platform axes) are
    compared with the stiffness matrix. The mass of a seated occupant, with or without a wheelchair,
    is compared with point masses.
    """
    machine = from_parameters(platform.parameters)
    equilibrium = locked_equilibrium(machine, machine.home_extension)
    measures = [
        _rest(machine, equilibrium),
        *_stiffness(platform, machine),
        _loads(machine, equilibrium),
        *_occupants(platform.parameters),
    ]
    statement = VISCOELASTIC_PAPER["humanoid"].not_given(
        "A seated occupant of sixteen segments from published fractions of stature and mass, "
        "with or without a wheelchair.",
        "dimensions stand in figures, without masses and without results",
    )
    return check_compliant_response.result(platform, measures, statements=(statement,))


def _rest(machine: CompliantMachine, equilibrium: Equilibrium) -> Measure:
    deflection = np.concatenate([equilibrium.deflection, np.zeros(machine.n_legs)])
    solution = solve_locked(machine, equilibrium.pose, ZERO_VECTOR, deflection)
    return Measure(
        "acceleration of the locked system where statics has the platform at rest",
        largest(solution.acceleration) / machine.gravity,
        1e-10,
        "zero; the sag is known to rounding, which stiff springs turn into a force",
        "g",
    )


def _stiffness(platform: Platform, machine: CompliantMachine) -> Iterator[Entry]:
    weightless = replace(machine, gravity=0.0)
    equilibrium = locked_equilibrium(weightless, weightless.home_extension)
    stiffness = locked_linearisation(weightless, equilibrium).stiffness
    jacobian = platform.jacobian(equilibrium.pose)
    expected = jacobian.T @ (machine.stiffness[:, None] * jacobian)
    yield Measure(
        "stiffness without gravity against J' k J of the machine's Jacobian",
        largest(stiffness - expected) / largest(expected),
        1e-12,
        "relaxed springs: nothing else is left; rounding",
    )
    sags = np.array([stiffened_sag(machine, factor) for factor in STIFFNESS_FACTORS])
    orders = np.log10(sags[:-1] / sags[1:])
    yield Measure(
        "order at which the sag falls with the stiffness, off 1 by",
        largest(orders[1:] - 1.0),
        0.02,
        f"springs {STIFFNESS_FACTORS[-1]:g} times as stiff: {1e3 * sags[-1]:.2g} mm; the first "
        "step from the machine's own springs is left out, as its sag is large",
    )


def stiffened_sag(machine: CompliantMachine, factor: float) -> float:
    """Return the sag [m] at home with springs of `factor` times the stiffness."""
    stiff_machine = replace(machine, stiffness=factor * machine.stiffness)
    equilibrium = locked_equilibrium(stiff_machine, stiff_machine.home_extension)
    return float(np.linalg.norm(displacement(equilibrium.pose, machine.home)[:3]))


def _loads(machine: CompliantMachine, equilibrium: Equilibrium) -> Measure:
    responses = run_load_cases(machine, standard_load_cases(), equilibrium)
    norm = np.linalg.norm
    return Measure(
        f"{len(responses)} load cases: part that the stiffness matrix does not predict, relative",
        np.max([norm(r.quasi_static - r.linear) / norm(r.quasi_static) for r in responses]),
        0.05,
        "of second order: the displacement per length of a leg, 1e-2 at most, times a few; a wrong "
        "entry of the matrix shows at 1",
    )


def _occupants(parameters: MachineParameters) -> Iterator[Entry]:
    empty_mass = parameters.platform.body.mass
    for name, occupant in STUDIED_OCCUPANTS.items():
        points = seated_sum("male", 1.75, 75.0, occupant.wheelchair is not None)
        body = seated_on(parameters, occupant).platform.body
        rigid_body = rigid_sum(occupant.segments())
        expected_height = points.mass * points.center[2] / (empty_mass + points.mass)
        for quantity, value, expected in (
            ("mass of platform and occupant", body.mass, empty_mass + points.mass),
            ("height of their centre of mass", body.center_of_mass_vector[2], expected_height),
            ("inertia of the occupant", rigid_body.inertia, points.inertia),
        ):
            yield Measure(
                f"{quantity} against point masses from published segments, {name}: relative error",
                largest(value - expected) / largest(expected),
                1e-12,
                SEGMENTS_REASON,
            )
