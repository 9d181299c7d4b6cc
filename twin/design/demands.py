"""Demands on candidates of a design: what each needs, per what it may have."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray, IndexArray, rotated
from twin.design.candidates import Candidates, candidates
from twin.design.specification import Specification, Tasks, actuator_units
from twin.kernels.design import (
    BASE_ANGLE,
    CLEARANCE,
    CONDITION,
    FORCE,
    FREQUENCY,
    LONGEST,
    LOST,
    NEED_COUNT,
    PLATFORM_ANGLE,
    SHORTEST,
    SPEED,
    STIFFNESS,
    evaluate,
)
from twin.kernels.legs import rss
from twin.kernels.legs.interface import BASE_JOINT, PLATFORM_JOINT
from twin.machine.file.data_sheet import estimates
from twin.machine.file.data_sheet.text import CRANK_WIDTH
from twin.model.batch import chunk_bounds, on_threads, usable_cores

STROKE_RESERVE = 0.01
"""Part of the travel that is left at each end of a stroke."""

GRAVITY = 9.81
"""[m/s2] Of a designed machine."""

TIP_MASS_FRACTION = 0.45
"""Part of the mass of a straight leg that acts as a point at the platform joint: along the leg that
of the rod, and across it what a lever from the base joint leaves of both parts."""

ROD_MASS_FRACTION = 0.1
"""Mass of a rod over that of a straight leg of its length, as `twin new` estimates it."""

CRANK_LENGTH_FACTOR = 1.5
"""Length of the straight leg with twice a crank's mass, over the crank's, as `twin new` has it."""

CANDIDATES_PER_THREAD = 20
"""Candidates for which a further thread is worth its start."""

LARGEST_SHARE = 10.0
"""Above it all shares are as bad."""

LOST_SHARE = 2.0
"""Share of the demand of reach where a pose is lost, more with each of them."""


class Demand(NamedTuple):
    """One demand on m candidates, `(m,)` each, or on one machine."""

    required: Any
    """what they need, in SI units"""
    limit: Any
    """what they may have; a least value where `share` is its inverse"""
    share: Any
    """fraction of the limit that is used; above 1 the demand is not met"""
    unit: str


class Assessment(NamedTuple):
    """What m candidates need of everything."""

    demands: dict[str, Demand]
    figures: dict[str, FloatArray]
    """`(m,)` of each objective, and the speed of the actuators; a price is infinite without any"""
    actuators: IndexArray
    """`(m,)` of the catalogue; -1 without one"""
    ranges: FloatArray
    """`(m, 2)` smallest and largest coordinate of the actuators, with their reserve [m, rad]"""

    def excess(self, slack: float = 0.0) -> FloatArray:
        """Return the sum over all demands of what is beyond their limits `(m,)`.

        `slack` is the part of each limit that is left free.
        """
        shares = (1.0 + slack) * np.array([demand.share for demand in self.demands.values()])
        over = np.clip(np.nan_to_num(shares, nan=LARGEST_SHARE) - 1.0, 0.0, LARGEST_SHARE)
        total: FloatArray = over.sum(axis=0)
        return total


def needs_of(specification: Specification, machines: Candidates, tasks: Tasks) -> FloatArray:
    """Return what candidates need for tasks `(m, NEED_COUNT)`."""
    needs = np.empty((len(machines.rows), NEED_COUNT))
    bodies = np.column_stack([machines.mass, machines.center, machines.inertia])
    heights = np.nan_to_num(machines.height, nan=-1.0)
    has_cranks = specification.legs == "rss"
    arrays = (bodies, *leg_loads(machines, tasks, has_cranks), machines.arm)
    has_springs = specification.actuator_stiffness is not None
    calls = []
    count = min(usable_cores(), 1 + len(needs) // CANDIDATES_PER_THREAD)
    for begin, end in chunk_bounds(len(needs), count):
        part = slice(begin, end)
        machine = (machines.rows[part], has_cranks, heights[part])
        loads = (array[part] for array in arrays)
        calls.append((*machine, *loads, has_springs, *tasks, GRAVITY, needs[part]))
    on_threads(evaluate, calls)
    needs[np.isnan(machines.height), LOST] = 1.0
    return needs


def leg_loads(
    machines: Candidates, tasks: Tasks, has_cranks: bool
) -> tuple[FloatArray, FloatArray]:
    """Return the part of a leg's mass that the platform carries [kg], and that of the crank [kg m].

    Both `(m,)`, with the masses that `twin new` estimates.
    """
    if has_cranks:
        crank, rod = (machines.rows[:, 0, k] for k in (rss.CRANK_LENGTH, rss.ROD_LENGTH))
        half_rod = 0.5 * ROD_MASS_FRACTION * leg_masses(rod)
        crank_mass = 0.5 * leg_masses(CRANK_LENGTH_FACTOR * crank)
        return half_rod, crank * (half_rod + 0.5 * crank_mass)
    base = machines.rows[:, 0, BASE_JOINT : BASE_JOINT + 3]
    platform = machines.rows[:, 0, PLATFORM_JOINT : PLATFORM_JOINT + 3]
    tips = rotated(tasks.offsets[:, 3:], platform[:, None])
    tips = tips + tasks.offsets[:, :3] + np.array([0.0, 0.0, 1.0]) * machines.height[:, None, None]
    shortest = np.linalg.norm(tips - base[:, None], axis=-1).min(axis=1)
    return TIP_MASS_FRACTION * leg_masses(shortest), np.zeros(len(shortest))


def leg_masses(lengths: FloatArray) -> FloatArray:
    """Return the masses [kg] of legs of some lengths `(m,)` [m]."""
    return np.array([estimates.leg_mass(length) for length in lengths])


def assess(
    specification: Specification,
    values: FloatArray,
    tasks: Tasks,
    scale: Mapping[str, float] | None = None,
) -> Assessment:
    """Return what the candidates of free numbers `(m, d)` need of everything.

    Args:
        specification: the demands.
        values: `(m, d)` free numbers.
        tasks: at which they are judged.
        scale: demand -> factor of its share, 0 where it is dropped.
    """
    machines = candidates(specification, values)
    return judge(specification, machines, needs_of(specification, machines, tasks), scale)


def judge(
    specification: Specification,
    machines: Candidates,
    needs: FloatArray,
    scale: Mapping[str, float] | None = None,
) -> Assessment:
    """Return the demands on m candidates, whose needs `(m, NEED_COUNT)` are known."""
    limits, cranks = specification.limits, specification.legs == "rss"
    units = actuator_units(specification.legs)
    ranges = _ranges(needs, cranks)
    stroke = ranges[:, 1] - ranges[:, 0]
    joints = machines.rows[
        ..., [[BASE_JOINT, BASE_JOINT + 1], [PLATFORM_JOINT, PLATFORM_JOINT + 1]]
    ]
    footprint = 2.0 * np.linalg.norm(joints, axis=-1).max(axis=(1, 2))
    largest: list[tuple[str, FloatArray, float | None, str]] = [
        ("footprint", footprint, limits.footprint, "m"),
        ("condition", needs[:, CONDITION], limits.condition, ""),
        ("height", machines.height, limits.height, "m"),
        ("joint angle at the platform", needs[:, PLATFORM_ANGLE], limits.joint_angle, "rad"),
        ("stroke", stroke, limits.stroke, units["stroke"]),
        ("force", needs[:, FORCE], limits.force, units["force"]),
        ("speed", needs[:, SPEED], limits.speed, units["speed"]),
    ]
    if not cranks:
        angle = needs[:, BASE_ANGLE]
        largest.append(("joint angle at the base", angle, limits.joint_angle, "rad"))
    lost = needs[:, LOST]
    reach = Demand(lost, np.zeros_like(lost), LOST_SHARE * (lost > 0.0) + lost, "poses")
    demands = {"reach": reach} | {
        name: Demand(required, np.full_like(required, limit), required / limit, unit)
        for name, required, limit, unit in largest
        if limit is not None
    }
    demands |= _least_demands(specification, machines, needs, ranges)
    chosen = np.full(len(needs), -1)
    prices = np.full(len(needs), np.inf)
    if specification.actuators:
        chosen = _choose(specification, demands, needs, ranges)
        prices = np.array([one.price for one in specification.actuators])[chosen]
    for name, factor in (scale or {}).items():
        if name in demands:
            share = factor * demands[name].share if factor else np.zeros(len(needs))
            demands[name] = demands[name]._replace(share=share)
    figures = {
        "force": needs[:, FORCE],
        "speed": needs[:, SPEED],
        "stroke": stroke,
        "footprint": footprint,
        "condition": needs[:, CONDITION],
        "price": prices,
    }
    return Assessment(demands, figures, chosen, ranges)


def _least_demands(
    specification: Specification, machines: Candidates, needs: FloatArray, ranges: FloatArray
) -> dict[str, Demand]:
    """Return the demands whose limit is a least value."""
    limits, cranks = specification.limits, specification.legs == "rss"
    clearance = 2.0 * estimates.LEG_RADIUS_RATIO * ranges[:, 0]
    if cranks:
        clearance = CRANK_WIDTH * machines.rows[:, 0, rss.CRANK_LENGTH]
    if limits.clearance is not None:
        clearance = np.full(len(needs), limits.clearance)
    demands = {"clearance": at_least(needs[:, CLEARANCE], clearance, "m")}
    if not cranks:
        retracted = limits.retracted * (ranges[:, 1] - ranges[:, 0])
        demands["retracted length"] = at_least(ranges[:, 0], retracted, "m")
    if limits.stiffness:
        found = specification.actuator_stiffness * needs[:, STIFFNESS]
        demands["stiffness"] = at_least(found, np.full(len(needs), limits.stiffness), "N/m")
    if limits.frequency:
        found = np.sqrt(specification.actuator_stiffness * needs[:, FREQUENCY]) / (2.0 * np.pi)
        demands["frequency"] = at_least(found, np.full(len(needs), limits.frequency), "Hz")
    return demands


def at_least(found: FloatArray, limit: FloatArray, unit: str) -> Demand:
    """Return the demand that what is found `(m,)` is as large as a limit."""
    with np.errstate(invalid="ignore"):  # of candidates that reach no pose
        share = np.where(limit > 0.0, limit / np.maximum(found, 1e-9), 0.0)
    return Demand(found, limit, share, unit)


def _ranges(needs: FloatArray, cranks: bool) -> FloatArray:
    """Return the smallest and largest coordinate with their reserve; of cranks around level."""
    low, high = needs[:, SHORTEST], needs[:, LONGEST]
    if cranks:
        half = (1.0 + STROKE_RESERVE) * np.maximum(np.abs(low), np.abs(high))
        return np.stack([-half, half], axis=1)
    reserve = STROKE_RESERVE * (high - low)
    return np.stack([low - reserve, high + reserve], axis=1)


def _choose(
    specification: Specification,
    demands: dict[str, Demand],
    needs: FloatArray,
    ranges: FloatArray,
) -> IndexArray:
    """Return the actuator of each candidate; its limits join `demands`.

    It is the one with the least excess, and of those that do, the cheapest, then the weakest.
    """
    rows = np.array([one[1:] for one in specification.actuators])
    stroke, retracted, force, speed, price = rows.T
    cranks, units = specification.legs == "rss", actuator_units(specification.legs)
    required = {
        "stroke of the actuator": (ranges[:, 1] - ranges[:, 0], stroke, units["stroke"]),
        "force of the actuator": (needs[:, FORCE], force, units["force"]),
        "speed of the actuator": (needs[:, SPEED], speed, units["speed"]),
    }
    if not cranks:
        required["extended length of the actuator"] = (ranges[:, 1], retracted + stroke, "m")
    shares = {name: need[:, None] / limit for name, (need, limit, _) in required.items()}
    if not cranks:
        shares["retracted length of the actuator"] = retracted / ranges[:, :1]
    excess = np.maximum(np.array(list(shares.values())) - 1.0, 0.0).sum(axis=0)
    order = np.lexsort((force, price))
    chosen: IndexArray = order[np.argmin(excess[:, order], axis=1)]
    every = np.arange(len(chosen))
    for name, (need, limit, unit) in required.items():
        demands[name] = Demand(need, limit[chosen], shares[name][every, chosen], unit)
    if not cranks:
        name = "retracted length of the actuator"
        demands[name] = Demand(ranges[:, 0], retracted[chosen], shares[name][every, chosen], "m")
        del demands["retracted length"]
    return chosen
