"""Variables of a unit: their names, units and values at the start, in the order of its memory."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import repeat
from typing import NamedTuple

from twin.basics.arrays import FloatArray
from twin.model.machine_model import MachineModel
from twin.model.motions import REST
from twin.model.static_deflection import resting_deflection

POSE = [f"pose.{name}" for name in ("x", "y", "z", "qw", "qx", "qy", "qz")]
TWIST = [f"twist.{name}" for name in ("vx", "vy", "vz", "wx", "wy", "wz")]
WRENCH = [f"wrench.{name}" for name in ("fx", "fy", "fz", "mx", "my", "mz")]
CENTER = [f"payload.center.{name}" for name in "xyz"]
INERTIA = [f"payload.inertia.{name}" for name in ("xx", "yy", "zz", "xy", "xz", "yz")]
UNITS = {"N m": "N.m"}
"""Units of the machine's file that FMI writes another way."""


class Variable(NamedTuple):
    """A number of a unit, as its description lists it."""

    name: str
    unit: str
    causality: str
    variability: str
    description: str
    start: float
    """of outputs: not listed, as they are calculated"""


class Block(NamedTuple):
    """Neighbouring variables with one name in the code."""

    macro: str
    """of the value reference of the first"""
    variables: tuple[Variable, ...]


class Group(NamedTuple):
    """Variables that mean the same of several axes or legs."""

    names: Sequence[str]
    units: Sequence[str]
    text: str


PLACE = Group(POSE, ["m"] * 3 + ["1"] * 4, "pose in the base, quaternion with the scalar first")
MOTION = Group(
    TWIST, ["m/s"] * 3 + ["rad/s"] * 3, "velocity of the reference point and angular velocity"
)
PUSH = Group(WRENCH, ["N"] * 3 + ["N.m"] * 3, "on the platform at its reference point, base axes")

INPUT = ("input", "continuous")
FIXED = ("parameter", "fixed")
TUNABLE = ("parameter", "tunable")
OUTPUT = ("output", "continuous")


def unit_blocks(platform: MachineModel) -> tuple[Block, ...]:
    """Return all variables; at the start the machine rests at home, held by its actuators.

    Raises:
        SingularPoseError: home is singular.
    """
    n, force = platform.n_actuators, UNITS.get(platform.force_unit, platform.force_unit)
    unit, deflection = platform.coordinate_unit, resting_deflection(platform)
    holding = platform.inverse_dynamics(platform.home, REST, REST, deflection=deflection)
    values = [*platform.home, *REST, *deflection]
    state = [PLACE, MOTION]
    if len(deflection):
        state += [
            Group(legs("deflections", n), ["m"] * n, "deflection of the spring of the leg"),
            Group(legs("deflection_rates", n), ["m/s"] * n, "rate of the deflection"),
        ]
    start = [
        Group([f"start.{name}" for name in part.names], part.units, f"start: {part.text}")
        for part in state
    ]
    body = "of a body fixed to the platform"
    center = Group(CENTER, ["m"] * 3, f"centre of mass {body}, platform frame")
    inertia = Group(INERTIA, ["kg.m2"] * 6, f"inertia {body} about its centre of mass")
    return (
        _block("TIME", ("independent", "continuous"), [Group(["time"], ["s"], "time")]),
        _block(
            "FORCES", INPUT, [Group(legs("forces", n), [force] * n, "of the actuator")], holding
        ),
        _block("WRENCH", INPUT, [PUSH]),
        _block("PAYLOAD_MASS", TUNABLE, [Group(["payload.mass"], ["kg"], f"mass {body}")]),
        _block("PAYLOAD_CENTER", TUNABLE, [center]),
        _block("PAYLOAD_INERTIA", TUNABLE, [inertia]),
        _block("START", FIXED, start, values),
        _block("STATE", OUTPUT, state, values),
        _block(
            "COORDINATES",
            OUTPUT,
            [Group(legs("coordinates", n), [unit] * n, "length or crank angle of the actuator")],
        ),
        _block("RATES", OUTPUT, [Group(legs("rates", n), [f"{unit}/s"] * n, "of the coordinate")]),
        _block(
            "APPLIED",
            OUTPUT,
            [Group(legs("applied_forces", n), [force] * n, "of the actuator in the last step")],
        ),
    )


def legs(name: str, count: int) -> list[str]:
    """Return the names of a quantity of each leg, from 1."""
    return [f"{name}[{i}]" for i in range(1, count + 1)]


def _block(
    macro: str,
    kind: tuple[str, str],
    groups: Sequence[Group],
    values: Iterable[float] | FloatArray | None = None,
) -> Block:
    """Return the variables of groups with their values at the start, default zero."""
    given = iter(values) if values is not None else repeat(0.0)
    return Block(
        macro,
        tuple(
            Variable(name, unit, *kind, group.text, float(next(given)))
            for group in groups
            for name, unit in zip(group.names, group.units, strict=True)
        ),
    )
