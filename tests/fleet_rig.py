"""Fleets beside single engines with their plants, under the same commands."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

import twin
from twin.machine.randomisation import with_values
from twin.model.motions import REST
from twin.model.static_deflection import quiet_springs
from twin.plant.command import Command
from twin.plant.plant import Plant
from twin.simulation.batched import make_fleet
from twin.simulation.batched.drive_bank import loop_gains
from twin.simulation.platform import Platform

PERIOD = 0.01
DIGITS: dict[str, Any] = {"rtol": 1e-12, "atol": 1e-12}
"""Of what a fleet computes from an engine's state by formulas of its own."""

BITS = ("pose", "coordinates", "rates", "forces", "gap")
"""What a fleet has bit for bit from its engine."""

MASS = "platform.body.mass"


class Told(NamedTuple):
    """What a fleet tells of a row at the end of every period."""

    pose: Any
    twist: Any
    internal: Any
    acceleration: Any
    coordinates: Any
    rates: Any
    measured: Any
    measured_rates: Any
    forces: Any
    effort: Any
    gap: Any


class Orders(NamedTuple):
    """What acts on one row `(periods, ...)`."""

    demand: Any
    feedforward: Any
    wrench: Any
    shaking: Any


def machine(name: str, preset: str | None = None) -> Platform:
    """Return a machine with or without its hardware."""
    return twin.load(name) if preset is None else twin.load(name, preset)


def heavier(platform: Platform, share: float = 1.2) -> Platform:
    """Return the machine with a heavier platform."""
    mass = platform.parameters.platform.body.mass
    return Platform(with_values(platform.parameters, {MASS: share * mass}))


def orders(fleet: Any, periods: int, seed: int = 0, *, shaken: bool = False) -> Orders:
    """Return random commands for all rows `(N, periods, ...)`."""
    platform, size, random = fleet.platform, fleet.size, np.random.default_rng(seed)
    n, shape = platform.n_actuators, (size, periods)
    inside = quiet_springs(platform, platform.home, REST, REST) if platform.n_internal else None
    held = platform.inverse_dynamics(platform.home, REST, REST, internal=inside)
    strong = float(np.abs(held).max())
    demand = random.uniform(-1.0, 1.0, (*shape, n))
    if fleet.mode == "velocity":
        span = (platform.maximum_coordinates - platform.minimum_coordinates).min()
        demand *= 0.2 * span
        feedforward = 0.01 * strong * random.uniform(-1.0, 1.0, (*shape, n))
    else:
        demand = held + 0.02 * strong * demand
        feedforward = np.zeros((*shape, n))
    wrench = 0.02 * strong * random.uniform(-1.0, 1.0, (*shape, 6))
    shaking = random.uniform(-2.0, 2.0, (*shape, fleet.ratio, 3)) if shaken else None
    return Orders(demand, feedforward, wrench, shaking)


def advanced(fleet: Any, given: Orders) -> Told:
    """Return what a fleet tells `(N, periods, ...)` under orders `(N, periods, ...)`."""
    told = []
    for k in range(given.demand.shape[1]):
        fleet.advance(
            given.demand[:, k],
            feedforward=given.feedforward[:, k],
            wrench=given.wrench[:, k],
            shaking=None if given.shaking is None else given.shaking[:, k],
        )
        told.append([getattr(fleet, name).copy() for name in Told._fields])
    return Told(*(np.stack(values, axis=1) for values in zip(*told, strict=True)))


def stepped(fleet: Any, row: int, given: Orders, start: Any = (None, None, None)) -> Told:
    """Return what engine and plant of the row's machine tell `(periods, ...)`, step by step."""
    platform, mode = fleet.platforms[row], fleet.mode
    engine = twin.make_engine(fleet.name, platform, fleet.timestep, fleet.preset)
    plant = Plant(platform)
    plant.prepare(fleet.timestep)
    state = engine.reset(*start)
    plant.start(state, loop_gains(fleet.platform, fleet.timestep))
    plant.measure(state)
    told = []
    for k in range(given.demand.shape[1]):
        feedforward = given.feedforward[row, k] if mode == "velocity" else None
        plant.command(Command(given.demand[row, k], mode, feedforward))
        for part in range(fleet.ratio):
            if given.shaking is not None:
                engine.shake(given.shaking[row, k, part])
            before = state.twist
            forces = plant.forces(state).copy()
            state = engine.step(forces, given.wrench[row, k])
        read = plant.measure(state)
        change = (state.twist - before) / fleet.timestep
        own = (state.pose, state.twist, state.internal, change, *plant.actuated(state))
        seen = (read.coordinates, read.rates, forces, plant.states[:, 0], engine.loop_gap)
        told.append([*own, *seen])
    engine.close()
    return Told(*(np.array(values) for values in zip(*told, strict=True)))


def check_rows(engine: str, platform: Platform, mode: str, **options: Any) -> None:
    """Hold two rows in motion, one of them with another machine, against engine and plant."""
    shaken = options.pop("shaken", False)
    fleet = make_fleet(engine, platform, 2, PERIOD, mode=mode, **options)
    k = platform.n_internal
    inside = quiet_springs(platform, platform.home, REST, REST) if k else np.empty(0)
    internal = np.tile(inside, (2, 1))
    moving = np.array([0.0, 0.0, 0.01, 0.02, -0.01, 0.0])
    # Plants start machines of three freedoms only at rest.
    twist = np.tile(moving if platform.dof == 6 else REST, (2, 1))
    machines = [platform, heavier(platform)]
    fleet.reset(np.arange(2), twist=twist, internal=internal, platforms=machines)
    given = orders(fleet, 6, shaken=shaken)
    found = advanced(fleet, given)
    assert not fleet.failed.any()
    for row in range(2):
        start = (machines[row].home, twist[row], internal[row])
        wanted = stepped(fleet, row, given, start)
        for name in Told._fields:
            one, other = getattr(found, name)[row], getattr(wanted, name)
            if name in BITS:
                np.testing.assert_array_equal(one, other, err_msg=name)
            else:
                scale = max(1.0, float(np.abs(other).max(initial=0.0)))
                np.testing.assert_allclose(one / scale, other / scale, err_msg=name, **DIGITS)
    assert not np.array_equal(found.pose[0], found.pose[1])
    fleet.close()


def check_alone(engine: str, platform: Platform, size: int, **options: Any) -> None:
    """Hold rows of a fleet, one of which fails, against fleets of one, bit for bit."""
    fleet = make_fleet(engine, platform, size, PERIOD, **options)
    machines = [heavier(platform) if row % 3 == 1 else platform for row in range(size)]
    fleet.reset(np.arange(size), platforms=machines)
    given = orders(fleet, 5)
    given.wrench[size - 1, 2] = np.nan
    found = advanced(fleet, given)
    np.testing.assert_array_equal(fleet.failed, np.arange(size) == size - 1)
    for row in range(size):
        alone = make_fleet(engine, platform, 1, PERIOD, **options)
        alone.reset(np.array([0]), platforms=[machines[row]])
        own = Orders(*(None if part is None else part[row : row + 1] for part in given))
        for name, one, other in zip(Told._fields, found, advanced(alone, own), strict=True):
            np.testing.assert_array_equal(one[row], other[0], err_msg=name)
        alone.close()
    assert all(np.isfinite(part).all() for part in found)
    fleet.close()


def check_again(engine: str, platform: Platform, **options: Any) -> None:
    """Hold a row that is reset after motion, and after it has failed, against a new fleet."""
    fleet = make_fleet(engine, platform, 2, PERIOD, **options)
    fleet.reset(np.arange(2))
    given = orders(fleet, 4)
    wanted = advanced(fleet, given)
    fleet.reset(np.array([0]))
    bad = given._replace(wrench=given.wrench.copy())
    bad.wrench[1, 0] = np.inf
    advanced(fleet, bad)
    np.testing.assert_array_equal(fleet.failed, [False, True])
    fleet.reset(np.arange(2))
    assert not fleet.failed.any()
    for name, one, other in zip(Told._fields, wanted, advanced(fleet, given), strict=True):
        np.testing.assert_array_equal(one, other, err_msg=name)
    fleet.close()
