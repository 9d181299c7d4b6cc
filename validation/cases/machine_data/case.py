"""The machine's own numbers against the papers."""

from __future__ import annotations

from collections.abc import Iterator
from operator import attrgetter
from typing import Any

import numpy as np

from twin.analysis.platform import Platform, load
from twin.basics.arrays import FloatArray
from twin.charts.panels import value_text
from twin.engines.mechanism import make_mechanism
from twin.model.machine_base import ZERO_VECTOR
from twin.validation.case import CaseResult, Entry, Measure, Table, validation_case
from twin.validation.cases.machine_data.composition import Composition, Piece
from twin.validation.measures.equilibrium import free_rates, rest
from twin.validation.measures.sampling import largest
from twin.validation.published import MACHINE_NAMES, typed_numbers

POSE_SHIFT = np.array([0.004, -0.006, 0.005])
"""[m] Displacement of a pose away from home, where no symmetry can conceal an error."""

POSE_TILT = np.array([0.02, -0.015, 0.01])
"""[rad] Rotation vector of that pose."""


TYPED_REASON = "the file and the table were both typed: rounding alone"
JOINTS_REASON = f"{TYPED_REASON}; a joint off by 1 mm shows at 1e-3"
COMPOSED_REASON = (
    "no differences are taken: rounding alone; 1 % of one leg's mass shows at 3e-7 and more"
)
MODES_REASON = (
    "differences of the accelerations leave 1e-9 where legs are stiff; "
    "1 % of a spring's stiffness shows at 5e-3"
)
PRINTED_REASON = "half a unit of the last printed digit; one unit where digits were cut"

PRINTED_PARTS: dict[str, tuple[str, tuple[int, int] | None]] = {
    "crank mass [kg]": ("leg_1_crank", None),
    "crank moment [kg m2]": ("leg_1_crank", (0, 0)),
    "rod mass [kg]": ("leg_1_rod", None),
    "moment about x [kg m2]": ("platform", (0, 0)),
    "moment about y [kg m2]": ("platform", (1, 1)),
}
"""Body, and entry of its tensor or None for its mass, of each number that is printed rounded."""


@validation_case(
    machines=MACHINE_NAMES,
    because="no paper prints this machine's numbers: nothing to hold the file against",
)
def check_machine_data(platform: Platform) -> CaseResult:
    """The machine's own numbers against the papers.

    Reference and engines read the same file and share its derived parameters, so that a wrong
    number in it passes every comparison between them. Here all numbers are held against a table
    that was typed a second time from the papers. It has gravity, joints, actuators, and masses,
    centres and tensors of all bodies in the base frame at home. Mass matrix, holding forces and
    free motion are composed from that table body by body, with derivatives by complex steps. No
    code of parameters or legs takes part.
    """
    typed = typed_numbers(platform.name)
    typed_machine = Composition(typed)
    measures = (
        *_geometry(platform, typed_machine),
        *_actuators(platform, typed_machine),
        *_bodies(platform, typed_machine),
        *_reference(platform, typed_machine),
        *_springs(platform, typed_machine),
        *_printed_entries(platform, typed_machine),
        *_hardware(platform, typed_machine),
    )
    rows = [
        (f"{name}: {key}", _typed_text(table[key]), "" if number else table["place"])
        for name, table in typed.items()
        if name != "legs"
        for number, key in enumerate(key for key in table if key not in ("place", "unit"))
    ]
    title = "Numbers typed a second time, SI units, angles in degrees unless named otherwise"
    columns = ("number", "value", "place in the paper, or adopted; empty: as above")
    return check_machine_data.result(
        platform, measures, tables=(Table(title, columns, tuple(rows)),)
    )


def _typed_text(value: Any) -> str:
    """Return a typed value as text, with all its digits."""
    if isinstance(value, dict):
        return ", ".join(f"{key} {_typed_text(entry)}" for key, entry in value.items())
    return value_text(value, digits=15)


def _geometry(platform: Platform, typed_machine: Composition) -> Iterator[Entry]:
    yield Measure(
        "gravity against the table",
        abs(platform.parameters.gravity - typed_machine.gravity),
        1e-12,
        TYPED_REASON,
        "m/s2",
    )
    for name, value, expected in (
        ("base joints", platform.base_joints, typed_machine.base),
        ("platform joints", platform.platform_joints, typed_machine.corners),
        ("home pose", platform.home, typed_machine.pose),
    ):
        error = largest(value - expected)
        yield Measure(f"{name} against the table", error, 1e-12, JOINTS_REASON, "m")
    error = largest(platform.home_coordinates - typed_machine.home_coordinates)
    name = "actuator coordinates at home against angles and radii of the table"
    yield Measure(name, error, 1e-12, JOINTS_REASON, platform.coordinate_unit)


def _actuators(platform: Platform, typed_machine: Composition) -> Iterator[Entry]:
    limits = {
        key: value for key, value in typed_machine.typed["actuator"].items() if key != "place"
    }
    errors = [
        largest_relative_error(getattr(leg.actuator, key), value)
        for leg in platform.parameters.legs
        for key, value in limits.items()
    ]
    yield Measure(
        f"actuators against the table: {', '.join(limits)}", max(errors), 1e-12, TYPED_REASON
    )


def _bodies(platform: Platform, typed_machine: Composition) -> Iterator[Entry]:
    machine = make_mechanism(platform.parameters)
    model_bodies = {body.name: body for body in machine.bodies}
    matched_bodies = [
        (piece, model_bodies[piece.name])
        for piece in typed_machine.pieces(typed_machine.origin)
        if piece.name in model_bodies
    ]
    mass_errors, center_errors, tensor_errors = [], [], []
    for piece, body in matched_bodies:
        origin, frame = machine.home_frames[body.name]
        tensor = frame @ body.mass.tensor @ frame.T
        expected_tensor = piece.frame @ piece.tensor @ piece.frame.T
        mass_errors.append(largest_relative_error(body.mass.mass, piece.mass))
        center_errors.append(largest(origin + frame @ body.mass.center - piece.center))
        tensor_errors.append(largest_relative_error(tensor, expected_tensor))
    bodies = f"{len(matched_bodies)} bodies at home, base frame"
    yield Measure(f"masses of {bodies}: relative error", max(mass_errors), 1e-12, TYPED_REASON)
    yield Measure(f"centres of {bodies}", max(center_errors), 1e-12, TYPED_REASON, "m")
    yield Measure(f"tensors of {bodies}: relative error", max(tensor_errors), 1e-12, TYPED_REASON)
    total = sum(body.mass.mass + body.extra_weight for body in machine.bodies)
    expected = sum(
        piece.mass * moving_fraction(typed_machine, piece)
        for piece in typed_machine.pieces(typed_machine.origin)
    )
    yield Measure(
        "weight of all moving bodies of the engines' model: relative error",
        largest_relative_error(total, expected),
        1e-12,
        TYPED_REASON,
    )


def _reference(platform: Platform, typed_machine: Composition) -> Iterator[Entry]:
    tilted = Composition(typed_machine.typed, POSE_SHIFT, POSE_TILT)
    tilted.deflection = typed_machine.holding().deflection
    deflection = np.concatenate([tilted.deflection, 0.0 * tilted.deflection])
    state_options = {"deflection": deflection} if typed_machine.series else {}
    dof = typed_machine.dof
    twists = tilted.twists()[:, :dof]
    mass_matrix = twists.T @ platform.mass_matrix(tilted.pose, **state_options) @ twists
    expected = tilted.mass_matrix()[:dof, :dof]
    name = "mass matrix of the reference in a tilted pose: relative error"
    yield Measure(name, largest_relative_error(mass_matrix, expected), 1e-10, COMPOSED_REASON)
    forces = platform.inverse_dynamics(tilted.pose, ZERO_VECTOR, ZERO_VECTOR, **state_options)
    name = "holding forces of the reference in a tilted pose: relative error"
    yield Measure(
        name, largest_relative_error(forces, tilted.balancing_forces()), 1e-10, COMPOSED_REASON
    )
    at_home = typed_machine.holding()
    reference_rest = rest(platform)
    name = "holding forces at home against the weights of the table: relative error"
    yield Measure(
        name, largest_relative_error(reference_rest.forces, at_home.forces), 1e-10, COMPOSED_REASON
    )
    if typed_machine.series:
        yield Measure(
            "static deflection at home",
            largest(reference_rest.deflection[: len(typed_machine.base)] - at_home.deflection),
            1e-10,
            COMPOSED_REASON,
            "m",
        )


def _springs(platform: Platform, typed_machine: Composition) -> Iterator[Entry]:
    spring = typed_machine.typed.get("spring")
    if spring is None:
        return
    leg_springs = platform.leg_springs
    yield Measure(
        "springs and dampers against the table",
        max(
            largest_relative_error(leg_springs.stiffness, spring["stiffness"]),
            largest_relative_error(leg_springs.damping, spring["damping"]),
        ),
        1e-12,
        TYPED_REASON,
    )
    errors = np.abs(free_rates(platform) / typed_machine.free_rates() - 1.0)
    yield Measure(
        f"natural frequencies of the {len(errors) // 2} free motions: relative error",
        errors.max(),
        1e-6,
        MODES_REASON,
    )


def _printed_entries(platform: Platform, typed_machine: Composition) -> Iterator[Entry]:
    home = typed_machine.typed["home"]
    if "length" in home:
        error = largest(platform.home_coordinates - home["length"])
        name = "actuator coordinates at home against print"
        yield Measure(name, error, 0.5 * home["unit"], PRINTED_REASON, platform.coordinate_unit)
    printed = typed_machine.typed.get("printed")
    if printed is None:
        return
    bodies = {body.name: body.mass for body in make_mechanism(platform.parameters).bodies}
    for name, expected in printed.items():
        if name not in PRINTED_PARTS:
            continue
        body, entry = PRINTED_PARTS[name]
        body_mass = bodies[body]
        value = body_mass.mass if entry is None else body_mass.tensor[entry]
        error = abs(value - expected) / printed["unit"]
        yield Measure(f"{name} against print, units of its last digit", error, 1.0, PRINTED_REASON)


def _hardware(platform: Platform, typed_machine: Composition) -> Iterator[Measure]:
    printed = {
        key: v for key, v in typed_machine.typed.get("hardware", {}).items() if key != "place"
    }
    if not printed:
        return
    parameters = load(platform.name, "hardware").parameters
    errors = [
        largest_relative_error(attrgetter(path)(parameters), value)
        for path, value in printed.items()
    ]
    yield Measure(
        f"{len(errors)} numbers of drives, encoders, gains and sensors: largest relative error",
        max(errors),
        1e-10,
        "typed to twelve digits",
    )


def largest_relative_error(value: FloatArray | float, expected: FloatArray | float) -> float:
    """Return the largest error per largest expected entry; the error where all are zero."""
    return largest(np.subtract(value, expected)) / (largest(expected) or 1.0)


def moving_fraction(typed_machine: Composition, piece: Piece) -> float:
    """Return the share of a body's weight that moves: of springs half, of the fixed foot none."""
    if (
        typed_machine.on_pillars
        and piece.name == f"leg_{typed_machine.typed['foot']['fixed']}_foot"
    ):
        return 0.0
    return 0.5 if piece.name.endswith("_spring") else 1.0
