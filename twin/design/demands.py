"""Demands on candidates of a design: what each needs, per what it may have."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray, IndexArray, rotation_matrix
from twin.design.candidates import Candidates, candidates
from twin.design.specification import LIMIT_UNITS, Specification, Tasks, actuator_units
from twin.kernels.design import LOST, NEED_COUNT, Needs, evaluate
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


class Demands(dict[str, Demand]):
    """Demands on m candidates by their names."""

    def at_most(self, name: str, required: FloatArray, limit: Any, unit: str) -> None:
        """Add the demand that what is required `(m,)` is not above a limit; None is no limit."""
        if limit is not None:
            limit = np.broadcast_to(limit, required.shape)
            self[name] = Demand(required, limit, required / limit, unit)

    def at_least(self, name: str, available: FloatArray, limit: Any, unit: str) -> None:
        """Add the demand that what is available `(m,)` is not below a limit."""
        limit = np.broadcast_to(limit, available.shape)
        with np.errstate(invalid="ignore"):  # of candidates that reach no pose
            share = np.where(limit > 0.0, limit / np.maximum(available, 1e-9), 0.0)
        self[name] = Demand(available, limit, share, unit)


class Assessment(NamedTuple):
    """What m candidates need of everything."""

    demands: Demands
    figures: dict[str, FloatArray]
    """`(m,)` of each objective, and the speed of the actuators; a price is infinite without any"""
    actuators: IndexArray
    """`(m,)` of the catalogue; -1 without one"""
    ranges: FloatArray
    """`(m, 2)` smallest and largest coordinate of the actuators, with their reserve [m, rad]"""

    def excess(self, slack: float = 0.0, scale: Mapping[str, float] | None = None) -> FloatArray:
        """Return the sum over all demands of what is beyond their limits `(m,)`.

        Args:
            slack: the part of each limit that is left free.
            scale: demand -> factor of its share, 0 where it is dropped.
        """
        factors = scale or {}
        shares = (1.0 + slack) * np.array(
            [factors.get(name, 1.0) * demand.share for name, demand in self.demands.items()]
        )
        over = np.clip(np.nan_to_num(shares, nan=LARGEST_SHARE) - 1.0, 0.0, LARGEST_SHARE)
        return np.asarray(over.sum(axis=0))


def needs_of(specification: Specification, machines: Candidates, tasks: Tasks) -> Needs:
    """Return what candidates need for tasks."""
    needs = np.empty((len(machines.rows), NEED_COUNT))
    bodies = np.column_stack([machines.mass, machines.center, machines.inertia])
    heights = np.nan_to_num(machines.height, nan=-1.0)
    has_cranks = specification.legs == "rss"
    loads = (bodies, *leg_loads(machines, tasks, has_cranks))
    arrays = (machines.rows, heights, *loads, machines.arm, needs)
    demanded = (has_cranks, bool(specification.actuator_stiffness), *tasks, GRAVITY)
    count = min(usable_cores(), 1 + len(needs) // CANDIDATES_PER_THREAD)
    parts = (slice(*ends) for ends in chunk_bounds(len(needs), count))
    on_threads(evaluate, [(*demanded, *(array[part] for array in arrays)) for part in parts])
    needs[np.isnan(machines.height), LOST] = 1.0
    return Needs(*needs.T)


def leg_loads(
    machines: Candidates, tasks: Tasks, has_cranks: bool
) -> tuple[FloatArray, FloatArray]:
    """Return the part of a leg's mass that the platform carries [kg], and that of the crank [kg m].

    Both `(m,)`, with the masses that `twin new` estimates.
    """
    if has_cranks:
        crank, rod = (machines.rows[:, 0, k] for k in (rss.CRANK_LENGTH, rss.ROD_LENGTH))
        half_rod = 0.5 * ROD_MASS_FRACTION * estimates.leg_mass(rod)
        crank_mass = 0.5 * estimates.leg_mass(CRANK_LENGTH_FACTOR * crank)
        return half_rod, crank * (half_rod + 0.5 * crank_mass)
    base = machines.rows[:, 0, BASE_JOINT : BASE_JOINT + 3]
    platform = machines.rows[:, 0, PLATFORM_JOINT : PLATFORM_JOINT + 3]
    legs = np.tensordot(platform, rotation_matrix(tasks.offsets[:, 3:]), (1, 2))
    legs += tasks.offsets[:, :3]
    legs += (np.array([0.0, 0.0, 1.0]) * machines.height[:, None] - base)[:, None]
    shortest = np.linalg.norm(legs, axis=-1).min(axis=1)
    return TIP_MASS_FRACTION * estimates.leg_mass(shortest), np.zeros(len(shortest))


def assess(specification: Specification, values: FloatArray, tasks: Tasks) -> Assessment:
    """Return what the candidates of free numbers `(m, d)` need of everything for tasks."""
    machines = candidates(specification, values)
    return judge(specification, machines, needs_of(specification, machines, tasks))


def judge(specification: Specification, machines: Candidates, needs: Needs) -> Assessment:
    """Return the demands on m candidates, whose needs are known."""
    limits, cranks = specification.limits, specification.legs == "rss"
    stiffness = specification.actuator_stiffness
    units = LIMIT_UNITS | actuator_units(specification.legs)
    ranges = _ranges(needs, cranks)
    stroke = ranges[:, 1] - ranges[:, 0]
    figures = {
        "force": needs.force,
        "speed": needs.speed,
        "stroke": stroke,
        "footprint": machines.footprint,
        "condition": needs.condition,
        "price": np.full(len(stroke), np.inf),
    }
    lost = needs.lost
    demands = Demands()
    demands["reach"] = Demand(lost, np.zeros_like(lost), LOST_SHARE * (lost > 0.0) + lost, "poses")
    demands.at_most("height", machines.height, limits.height, "m")
    demands.at_most("joint angle at the platform", needs.platform_angle, limits.joint_angle, "rad")
    for name in ("footprint", "condition", "stroke", "force", "speed"):
        demands.at_most(name, figures[name], getattr(limits, name), units.get(name, ""))
    clearance: Any = limits.clearance
    if clearance is None and cranks:
        clearance = CRANK_WIDTH * machines.rows[:, 0, rss.CRANK_LENGTH]
    elif clearance is None:
        clearance = 2.0 * estimates.LEG_RADIUS_RATIO * ranges[:, 0]
    demands.at_least("clearance", needs.clearance, clearance, "m")
    if not cranks:
        demands.at_most("joint angle at the base", needs.base_angle, limits.joint_angle, "rad")
    if limits.stiffness:
        demands.at_least("stiffness", stiffness * needs.stiffness, limits.stiffness, "N/m")
    if limits.frequency:
        frequency = np.sqrt(stiffness * needs.frequency) / (2.0 * np.pi)
        demands.at_least("frequency", frequency, limits.frequency, "Hz")
    chosen = np.full(len(stroke), -1)
    if specification.actuators:
        chosen = _choose(specification, demands, figures, ranges)
    elif not cranks:
        demands.at_least("retracted length", ranges[:, 0], limits.retracted * stroke, "m")
    return Assessment(demands, figures, chosen, ranges)


def _ranges(needs: Needs, cranks: bool) -> FloatArray:
    """Return the smallest and largest coordinate with their reserve; of cranks around level."""
    low, high = needs.shortest, needs.longest
    if cranks:
        half = (1.0 + STROKE_RESERVE) * np.maximum(np.abs(low), np.abs(high))
        return np.stack([-half, half], axis=1)
    reserve = STROKE_RESERVE * (high - low)
    return np.stack([low - reserve, high + reserve], axis=1)


def _choose(
    specification: Specification,
    demands: Demands,
    figures: dict[str, FloatArray],
    ranges: FloatArray,
) -> IndexArray:
    """Return the actuator of each candidate; add its limits to `demands`, its price to `figures`.

    It is the one with the least excess, and of those that do, the cheapest, then the weakest.
    """
    rows = np.array([actuator[1:] for actuator in specification.actuators])
    stroke, force, speed, price, retracted = rows.T
    units = actuator_units(specification.legs)
    low, high = ranges.T[..., None]
    shares = [
        (high - low) / stroke,
        figures["force"][:, None] / force,
        figures["speed"][:, None] / speed,
        high / (retracted + stroke),
        retracted / low,
    ]
    excess = np.maximum(np.array(shares) - 1.0, 0.0).sum(axis=0)
    order = np.lexsort((force, price))
    chosen: IndexArray = order[np.argmin(excess[:, order], axis=1)]
    stroke, force, speed, figures["price"], retracted = rows[chosen].T
    for name, limit in (("stroke", stroke), ("force", force), ("speed", speed)):
        demands.at_most(f"{name} of the actuator", figures[name], limit, units[name])
    if specification.legs == "ups":
        longest = retracted + stroke
        demands.at_most("extended length of the actuator", ranges[:, 1], longest, "m")
        demands.at_least("retracted length of the actuator", ranges[:, 0], retracted, "m")
    return chosen
