"""Compiled kernels on one core: time of 4096 states in one call, so divide by 4096."""

from __future__ import annotations

import numpy as np
import pytest

from twin.dynamics.forward import forward_dynamics_batch
from twin.dynamics.integrate import integrate
from twin.dynamics.inverse import inverse_dynamics_batch
from twin.kinematics.forward import forward_kinematics_batch


@pytest.mark.benchmark(group="forward dynamics, 4096 states, one core")
def test_forward_dynamics(benchmark, platform, states):
    out = np.empty_like(states["twist"])
    arrays = [states[name] for name in ("pose", "twist", "forces", "wrench")]
    benchmark(forward_dynamics_batch, *platform.constants[:2], *arrays, out)
    benchmark.extra_info["microseconds_per_state"] = benchmark.stats["min"] / len(out) * 1e6


@pytest.mark.benchmark(group="inverse dynamics, 4096 states, one core")
def test_inverse_dynamics(benchmark, platform, states):
    out = np.empty_like(states["forces"])
    arrays = [states[name] for name in ("pose", "twist", "acceleration", "wrench")]
    benchmark(inverse_dynamics_batch, *platform.constants[:2], *arrays, out)


@pytest.mark.benchmark(group="forward kinematics from home, 4096 length sets, one core")
def test_forward_kinematics(benchmark, platform):
    generator = np.random.default_rng(3)
    lengths = generator.uniform(platform.minimum_lengths, platform.maximum_lengths, (4096, 6))
    guesses = np.tile(platform.home, (len(lengths), 1))
    poses, reports = np.empty((len(lengths), 7)), np.empty((len(lengths), 2))
    legs = platform.constants.legs
    benchmark(forward_kinematics_batch, legs, lengths, guesses, poses, reports)
    assert reports[:, 0].max() < 1e-12


@pytest.mark.benchmark(group="free fall 1 s, Runge-Kutta, 200 steps")
def test_free_fall(benchmark, platform):
    duration = 1.0 if platform.name == "srspm" else 0.3
    benchmark(integrate, platform, duration, method="rk4", timestep=duration / 200)
