"""The public batched call on all cores, checks included: 4096 states in one call."""

from __future__ import annotations

import pytest


@pytest.mark.benchmark(group="Platform.forward_dynamics, 4096 states, all cores")
def test_forward_dynamics(benchmark, platform, states):
    arguments = [states[name] for name in ("pose", "twist", "forces", "wrench")]
    benchmark(platform.forward_dynamics, *arguments, deflection=states["deflection"])


@pytest.mark.benchmark(group="Platform.forward_dynamics, 4096 states, all cores")
def test_forward_dynamics_without_lanes(benchmark, platform, states, monkeypatch):
    monkeypatch.setenv("TWIN_LANES", "1")
    test_forward_dynamics(benchmark, platform, states)


@pytest.mark.benchmark(group="all derivatives of forward dynamics, one state")
def test_derivatives(benchmark, platform, states):
    arguments = [states[name][0] for name in ("pose", "twist", "forces", "wrench")]
    benchmark(platform.forward_dynamics_derivatives, *arguments, deflection=states["deflection"][0])


@pytest.mark.benchmark(group="Platform.forward_kinematics, 4096 states, all cores")
def test_forward_kinematics(benchmark, platform, states):
    coordinates = platform.inverse_kinematics(states["pose"])
    benchmark(platform.forward_kinematics, coordinates)


@pytest.mark.benchmark(group="Platform.forward_dynamics, one state")
def test_single(benchmark, platform, states):
    arguments = [states[name][0] for name in ("pose", "twist", "forces", "wrench")]
    benchmark(platform.forward_dynamics, *arguments, deflection=states["deflection"][0])
