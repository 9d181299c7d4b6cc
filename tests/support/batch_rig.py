"""Batched plants beside single engines with their plants, under the same commands."""

from __future__ import annotations

from collections import namedtuple
from pathlib import Path

import numpy as np
from numpy.testing import assert_array_equal
from tolerance import assert_within, max_abs

import twin
from twin.analysis.platform import Platform
from twin.machine.randomisation import with_values
from twin.model.integrate import static_deflection
from twin.model.machine_base import ZERO_VECTOR
from twin.plant.plant import Plant
from twin.plant.signals import Command
from twin.simulation.batched import make_batched_plant
from twin.simulation.batched.batched_plant import loop_gains

PERIOD = 0.01
DIGITS = 1e-12
"""Tolerance of what a batched plant computes from an engine's state by formulas of its own."""

BITS = ("pose", "coordinates", "rates", "forces", "gap")
"""What a batched plant has bit for bit from its engine."""

MASS = "platform.body.mass"


Told = namedtuple(
    "Told",
    "pose twist deflection acceleration coordinates rates measured measured_rates forces effort "
    "gap",
)
"""What a batched plant tells of a row at the end of every period."""

Orders = namedtuple("Orders", "command feedforward wrench shaking")
"""What acts on one row `(periods, ...)`."""


def machine(name, configuration=None):
    """Return a machine with or without its hardware."""
    return twin.load(name, configuration)


def heavier(platform, share=1.2):
    """Return the machine with a heavier platform."""
    mass = platform.parameters.platform.body.mass
    return Platform(with_values(platform.parameters, {MASS: share * mass}))


def resident():
    """Return the memory [B] that this process has."""
    return 4096 * int(Path("/proc/self/statm").read_text().split()[1])


def springs_at_home(platform):
    """Return what springs are deflected by at rest at home; `(0,)` without springs."""
    if not platform.n_deflections:
        return np.empty(0)
    return static_deflection(platform, platform.home, ZERO_VECTOR, ZERO_VECTOR)


def orders(batch, periods, seed=0, *, shaken=False):
    """Return random commands for all rows `(N, periods, ...)`."""
    platform, size, random = batch.platform, batch.size, np.random.default_rng(seed)
    n, shape = platform.n_actuators, (size, periods)
    inside = springs_at_home(platform)
    held = platform.inverse_dynamics(platform.home, ZERO_VECTOR, ZERO_VECTOR, deflection=inside)
    strong = float(max_abs(held))
    command = random.uniform(-1.0, 1.0, (*shape, n))
    if batch.mode == "velocity":
        span = (platform.maximum_coordinates - platform.minimum_coordinates).min()
        command *= 0.2 * span
        feedforward = 0.01 * strong * random.uniform(-1.0, 1.0, (*shape, n))
    else:
        command = held + 0.02 * strong * command
        feedforward = np.zeros((*shape, n))
    wrench = 0.02 * strong * random.uniform(-1.0, 1.0, (*shape, 6))
    shaking = random.uniform(-2.0, 2.0, (*shape, batch.ratio, 3)) if shaken else None
    return Orders(command, feedforward, wrench, shaking)


def advanced(batch, given):
    """Return what a batched plant tells `(N, periods, ...)` under orders `(N, periods, ...)`."""
    told = []
    for k in range(given.command.shape[1]):
        batch.advance(
            given.command[:, k],
            feedforward=given.feedforward[:, k],
            wrench=given.wrench[:, k],
            shaking=None if given.shaking is None else given.shaking[:, k],
        )
        told.append([getattr(batch, name).copy() for name in Told._fields])
    return Told(*(np.stack(values, axis=1) for values in zip(*told, strict=True)))


def stepped(batch, row, given, start=(None, None, None)):
    """Return what engine and plant of the row's machine tell `(periods, ...)`, step by step."""
    platform, mode = batch.platforms[row], batch.mode
    engine = twin.make_engine(batch.name, platform, batch.timestep, batch.fidelity)
    plant = Plant(platform)
    plant.prepare(batch.timestep)
    state = engine.reset(*start)
    plant.start(state, loop_gains(batch.platform, batch.timestep))
    plant.measure(state)
    told = []
    for k in range(given.command.shape[1]):
        feedforward = given.feedforward[row, k] if mode == "velocity" else None
        plant.command(Command(given.command[row, k], mode, feedforward))
        for part in range(batch.ratio):
            if given.shaking is not None:
                engine.shake(given.shaking[row, k, part])
            before = state.twist
            forces = plant.forces(state).copy()
            state = engine.step(forces, given.wrench[row, k])
        read = plant.measure(state)
        change = (state.twist - before) / batch.timestep
        own = (state.pose, state.twist, state.deflection, change, *plant.actuated(state))
        seen = (read.coordinates, read.rates, forces, plant.states[:, 0], engine.loop_gap)
        told.append([*own, *seen])
    engine.close()
    return Told(*(np.array(values) for values in zip(*told, strict=True)))


def check_rows(engine, platform, mode, *, shaken=False, tolerance=0.0, **options):
    """Hold two rows in motion, one of them with another machine, against engine and plant.

    `tolerance` is that of what a batched plant otherwise has bit for bit from its engine.
    """
    batch = make_batched_plant(engine, platform, 2, PERIOD, mode=mode, **options)
    deflection = np.tile(springs_at_home(platform), (2, 1))
    moving = np.array([0.0, 0.0, 0.01, 0.02, -0.01, 0.0])
    # Engines that close loops start machines of three degrees of freedom only at rest.
    if platform.dof < 6:
        exact = engine == "analytic"
        moving = platform.constrain(platform.home, moving).twist if exact else ZERO_VECTOR
    twist = np.tile(moving, (2, 1))
    machines = [platform, heavier(platform)]
    batch.reset(np.arange(2), twist=twist, deflection=deflection, platforms=machines)
    given = orders(batch, 6, shaken=shaken)
    found = advanced(batch, given)
    assert not batch.failed.any()
    for row in range(2):
        start = (machines[row].home, twist[row], deflection[row])
        wanted = stepped(batch, row, given, start)
        for name in Told._fields:
            one, other = getattr(found, name)[row], getattr(wanted, name)
            if name in BITS and not tolerance:
                assert_array_equal(one, other, err_msg=name)
            else:
                scale = max(1.0, float(np.abs(other).max(initial=0.0)))
                digits = max(DIGITS, tolerance)
                assert_within(one / scale, other / scale, digits, err_msg=name)
    assert not np.array_equal(found.pose[0], found.pose[1])
    batch.close()


def check_alone(engine, platform, size, **options):
    """Compare rows of a batched plant with single machines, bit for bit.

    One of them fails, and another is reset while the others go on.
    """
    batch = make_batched_plant(engine, platform, size, PERIOD, **options)
    machines = [heavier(platform) if row % 3 == 1 else platform for row in range(size)]
    batch.reset(np.arange(size), platforms=machines)
    given = orders(batch, 5)
    given.wrench[size - 1, 2] = np.nan
    found = advanced(batch, given)
    assert_array_equal(batch.failed, np.arange(size) == size - 1)
    batch.reset(np.array([1]))
    later = advanced(batch, given)
    for row in range(size):
        alone = make_batched_plant(engine, platform, 1, PERIOD, **options)
        alone.reset(np.array([0]), platforms=[machines[row]])
        own = Orders(*(None if part is None else part[row : row + 1] for part in given))
        for told in (found, later):
            for name, one, other in zip(Told._fields, told, advanced(alone, own), strict=True):
                assert_array_equal(one[row], other[0], err_msg=name)
            if row == 1:
                alone.reset(np.array([0]))
        alone.close()
    assert all(np.isfinite(part).all() for part in (*found, *later))
    batch.close()


def check_again(engine, platform, **options):
    """Hold a row that is reset after motion, and after it has failed, against a new batch."""
    batch = make_batched_plant(engine, platform, 2, PERIOD, **options)
    batch.reset(np.arange(2))
    given = orders(batch, 4)
    wanted = advanced(batch, given)
    batch.reset(np.array([0]))
    bad = given._replace(wrench=given.wrench.copy())
    bad.wrench[1, 0] = np.inf
    advanced(batch, bad)
    assert_array_equal(batch.failed, [False, True])
    batch.reset(np.arange(2))
    assert not batch.failed.any()
    for name, one, other in zip(Told._fields, wanted, advanced(batch, given), strict=True):
        assert_array_equal(one, other, err_msg=name)
    batch.close()
