"""Compiled kernels on one core: time of 4096 states in one call, so divide by 4096."""

from __future__ import annotations

import numpy as np
import pytest

from twin.engines.base import suitable_timestep
from twin.kernels.dynamics.forward import forward_dynamics_batch, inverse_dynamics_batch
from twin.kernels.kinematics import forward_kinematics_batch
from twin.model.integrate import integrate

NEAR = 0.4
"""Share of the actuators' ranges about home from which coordinates are drawn: all have a pose."""


def per_state(benchmark, count):
    """Note the time of one state, unless benchmarks are only run for their assertions."""
    if benchmark.stats:
        benchmark.extra_info["microseconds_per_state"] = benchmark.stats["min"] / count * 1e6


@pytest.mark.benchmark(group="forward dynamics, 4096 states, one core")
def test_forward_dynamics(benchmark, platform, states):
    out = np.empty((len(states["pose"]), 6 + platform.n_deflections))
    arrays = [states[name] for name in ("pose", "twist", "deflection", "forces", "wrench")]
    benchmark(forward_dynamics_batch, *platform.constants[:2], *arrays, out)
    per_state(benchmark, len(out))


@pytest.mark.benchmark(group="inverse dynamics, 4096 states, one core")
def test_inverse_dynamics(benchmark, platform, states):
    out = np.empty_like(states["forces"])
    arrays = [states[name] for name in ("pose", "twist", "deflection", "acceleration", "wrench")]
    benchmark(inverse_dynamics_batch, *platform.constants[:2], *arrays, out)
    per_state(benchmark, len(out))


@pytest.mark.benchmark(group="forward kinematics from home, 4096 sets of coordinates, one core")
def test_forward_kinematics(benchmark, platform):
    generator = np.random.default_rng(3)
    low, high = (
        platform.home_coordinates + NEAR * (limit - platform.home_coordinates)
        for limit in (platform.minimum_coordinates, platform.maximum_coordinates)
    )
    coordinates = generator.uniform(low, high, (4096, platform.n_actuators))
    if platform.leg.has_foot:
        # Pillars on a rectangle differ by equal amounts.
        coordinates[:, 3] = coordinates[:, 0] + coordinates[:, 2] - coordinates[:, 1]
    guesses = np.tile(platform.home, (len(coordinates), 1))
    found = np.empty((len(coordinates), 9))
    benchmark(forward_kinematics_batch, platform.constants.legs, coordinates, guesses, found)
    assert found[:, 7].max() < 1e-12
    per_state(benchmark, len(coordinates))


@pytest.mark.benchmark(group="free fall, Runge-Kutta, 200 steps")
def test_free_fall(benchmark, platform):
    timestep = suitable_timestep(platform)
    benchmark(integrate, platform, 200 * timestep, method="rk4", timestep=timestep)
