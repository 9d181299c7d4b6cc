"""`modelDescription.xml` of a unit, in FMI 3.0 and 2.0."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import repeat
from typing import NamedTuple
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from twin import __version__
from twin.model.integrate import resting_deflection
from twin.model.machine_base import ZERO_VECTOR
from twin.model.machine_model import MachineModel

POSE_NAMES = [f"pose.{name}" for name in ("x", "y", "z", "qw", "qx", "qy", "qz")]

TWIST_NAMES = [f"twist.{name}" for name in ("vx", "vy", "vz", "wx", "wy", "wz")]

WRENCH_NAMES = [f"wrench.{name}" for name in ("fx", "fy", "fz", "mx", "my", "mz")]

CENTER_NAMES = [f"payload.center.{name}" for name in "xyz"]

INERTIA_NAMES = [f"payload.inertia.{name}" for name in ("xx", "yy", "zz", "xy", "xz", "yz")]

FMI_UNITS = {"N m": "N.m"}
"""Units of the machine's file that FMI writes another way."""

CONTINUOUS_INPUT = ("input", "continuous")

FIXED_PARAMETER = ("parameter", "fixed")

TUNABLE_PARAMETER = ("parameter", "tunable")

CONTINUOUS_OUTPUT = ("output", "continuous")

BASE_UNITS = {
    "1": {},
    "s": {"s": 1},
    "m": {"m": 1},
    "rad": {"rad": 1},
    "m/s": {"m": 1, "s": -1},
    "rad/s": {"rad": 1, "s": -1},
    "kg": {"kg": 1},
    "kg.m2": {"kg": 1, "m": 2},
    "N": {"kg": 1, "m": 1, "s": -2},
    "N.m": {"kg": 1, "m": 2, "s": -2},
}
"""Unit -> exponents of SI units."""


class Variable(NamedTuple):
    """A scalar variable of a unit, as `modelDescription.xml` lists it."""

    name: str
    unit: str
    causality: str
    variability: str
    description: str
    start: float
    """initial value; outputs list none, as they are calculated"""


class Block(NamedTuple):
    """Consecutive variables that share one macro in the C code."""

    macro: str
    """C macro for the value reference of the first variable"""
    variables: tuple[Variable, ...]


class Group(NamedTuple):
    """Variables of the same quantity for several axes or legs."""

    names: Sequence[str]
    units: Sequence[str]
    text: str


POSE_GROUP = Group(
    POSE_NAMES, ["m"] * 3 + ["1"] * 4, "pose in the base, quaternion with the scalar first"
)
TWIST_GROUP = Group(
    TWIST_NAMES, ["m/s"] * 3 + ["rad/s"] * 3, "velocity of the reference point and angular velocity"
)
WRENCH_GROUP = Group(
    WRENCH_NAMES, ["N"] * 3 + ["N.m"] * 3, "on the platform at its reference point, base axes"
)


def unit_blocks(platform: MachineModel) -> tuple[Block, ...]:
    """Return all variables; at the start the machine rests at home, held by its actuators.

    Raises:
        SingularPoseError: home is singular.
    """
    n, force = platform.n_actuators, FMI_UNITS.get(platform.force_unit, platform.force_unit)
    unit, deflection = platform.coordinate_unit, resting_deflection(platform)
    holding_forces = platform.inverse_dynamics(
        platform.home, ZERO_VECTOR, ZERO_VECTOR, deflection=deflection
    )
    values = [*platform.home, *ZERO_VECTOR, *deflection]

    def per_leg(name: str, unit: str, text: str) -> Group:
        return Group(leg_names(name, n), [unit] * n, text)

    state_groups = [POSE_GROUP, TWIST_GROUP]
    if len(deflection):
        state_groups += [
            per_leg("deflections", "m", "deflection of the spring of the leg"),
            per_leg("deflection_rates", "m/s", "rate of the deflection"),
        ]
    start_groups = [
        Group([f"start.{name}" for name in group.names], group.units, f"start: {group.text}")
        for group in state_groups
    ]
    body = "of a body fixed to the platform"
    center = Group(CENTER_NAMES, ["m"] * 3, f"centre of mass {body}, platform frame")
    inertia = Group(INERTIA_NAMES, ["kg.m2"] * 6, f"inertia {body} about its centre of mass")
    return (
        _block("TIME", ("independent", "continuous"), [Group(["time"], ["s"], "time")]),
        _block(
            "FORCES",
            CONTINUOUS_INPUT,
            [per_leg("forces", force, "of the actuator")],
            holding_forces,
        ),
        _block("WRENCH", CONTINUOUS_INPUT, [WRENCH_GROUP]),
        _block(
            "PAYLOAD_MASS", TUNABLE_PARAMETER, [Group(["payload.mass"], ["kg"], f"mass {body}")]
        ),
        _block("PAYLOAD_CENTER", TUNABLE_PARAMETER, [center]),
        _block("PAYLOAD_INERTIA", TUNABLE_PARAMETER, [inertia]),
        _block("START", FIXED_PARAMETER, start_groups, values),
        _block("STATE", CONTINUOUS_OUTPUT, state_groups, values),
        _block(
            "COORDINATES",
            CONTINUOUS_OUTPUT,
            [per_leg("coordinates", unit, "length or crank angle of the actuator")],
        ),
        _block(
            "RATES",
            CONTINUOUS_OUTPUT,
            [per_leg("rates", f"{unit}/s", "of the coordinate")],
        ),
        _block(
            "APPLIED",
            CONTINUOUS_OUTPUT,
            [per_leg("applied_forces", force, "of the actuator in the last step")],
        ),
    )


def leg_names(name: str, count: int) -> list[str]:
    """Return the names of a quantity of each leg, from 1."""
    return [f"{name}[{i}]" for i in range(1, count + 1)]


def _block(
    macro: str,
    kind: tuple[str, str],
    groups: Sequence[Group],
    values: Iterable[float] = repeat(0.0),
) -> Block:
    """Return the variables of groups with their values at the start, default zero."""
    start_values = iter(values)
    return Block(
        macro,
        tuple(
            Variable(name, unit, *kind, group.text, float(next(start_values)))
            for group in groups
            for name, unit in zip(group.names, group.units, strict=True)
        ),
    )


class Unit(NamedTuple):
    """Entries of a description other than the variables."""

    name: str
    """text about the machine and the library"""
    token: str
    """token that the shared library also contains, to identify the unit"""
    text: str
    """one-line description of the machine"""
    timestep: float
    """longest integration step [s]"""


def description(unit: Unit, blocks: Sequence[Block], fmi: int) -> bytes:
    """Return the description as XML; `fmi` is 2 or 3."""
    root = Element(
        "fmiModelDescription",
        {
            "fmiVersion": f"{fmi}.0",
            "modelName": unit.name,
            "instantiationToken" if fmi == 3 else "guid": unit.token,
            "description": unit.text,
            "generationTool": f"platform-twin {__version__}",
            "variableNamingConvention": "structured",
        },
    )
    capabilities = {"canHandleVariableCommunicationStepSize": "true"}
    spelling = "FMUState" if fmi == 3 else "FMUstate"
    capabilities |= {f"canGetAndSet{spelling}": "true", f"canSerialize{spelling}": "true"}
    if fmi == 3:
        capabilities["fixedInternalStepSize"] = repr(unit.timestep)
    SubElement(root, "CoSimulation", {"modelIdentifier": unit.name, **capabilities})
    variables = [variable for block in blocks for variable in block.variables]
    _add_units(root, {variable.unit for variable in variables})
    categories = SubElement(root, "LogCategories")
    SubElement(categories, "Category", name="logStatusError")
    experiment = {"startTime": "0", "stopTime": "1", "stepSize": repr(max(1e-3, unit.timestep))}
    SubElement(root, "DefaultExperiment", experiment)
    listed = SubElement(root, "ModelVariables")
    for reference, variable in enumerate(variables):
        _add_variable(listed, variable, reference, fmi)
    _add_structure(root, variables, fmi)
    indent(root)
    text: bytes = tostring(root, encoding="UTF-8", xml_declaration=True)
    return text + b"\n"


def _add_units(root: Element, units: set[str]) -> None:
    definitions = SubElement(root, "UnitDefinitions")
    for name in sorted(units):
        element = SubElement(definitions, "Unit", name=name)
        exponents = {key: str(value) for key, value in BASE_UNITS[name].items()}
        SubElement(element, "BaseUnit", exponents)


def _add_variable(parent: Element, variable: Variable, reference: int, fmi: int) -> None:
    """Add a variable; those that the unit computes have no value at the start."""
    attributes = {
        "name": variable.name,
        "valueReference": str(reference),
        "causality": variable.causality,
        "variability": variable.variability,
        "description": variable.description,
    }
    initial = {"parameter": "exact", "output": "calculated"}.get(variable.causality)
    if initial:
        attributes["initial"] = initial
    real_attributes = {"unit": variable.unit}
    if variable.causality in ("input", "parameter"):
        real_attributes["start"] = repr(variable.start)
    if fmi == 3:
        SubElement(parent, "Float64", attributes | real_attributes)
    else:
        element = SubElement(parent, "ScalarVariable", attributes)
        SubElement(element, "Real", real_attributes)


def _add_structure(root: Element, variables: Sequence[Variable], fmi: int) -> None:
    """List the outputs: they follow from the state, so that no input acts on them at once."""
    structure = SubElement(root, "ModelStructure")
    outputs = [k for k, variable in enumerate(variables) if variable.causality == "output"]
    if fmi == 3:
        for k in outputs:
            SubElement(structure, "Output", valueReference=str(k), dependencies="")
        for k in outputs:
            SubElement(structure, "InitialUnknown", valueReference=str(k))
        return
    for name, extra_attributes in (("Outputs", {"dependencies": ""}), ("InitialUnknowns", {})):
        unknowns = SubElement(structure, name)
        for k in outputs:
            SubElement(unknowns, "Unknown", {"index": str(k + 1), **extra_attributes})
