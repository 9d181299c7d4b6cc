"""Closed-loop runs that several tests share."""

from __future__ import annotations

from typing import Any

from twin.analysis.platform import Platform
from twin.control.controller import Controller
from twin.engines.base import suitable_timestep
from twin.motion import SineMotion, StepMotion
from twin.simulation.simulate import Trajectory

HEAVE = {"micro_hexapod": 1e-4, "compliant_stewart": 0.01, "rss": 0.01}
"""[m] Amplitudes that suit a machine's stroke; 0.02 for the others."""


def angles(platform: Platform) -> str:
    """Return the angle convention that suits a machine's degrees of freedom."""
    return "roll_pitch" if platform.dof == 3 else "yaw_pitch_roll"


def heave(platform: Platform, duration: float = 0.5) -> SineMotion:
    """Return an up and down of 1 Hz that begins and ends at rest."""
    return SineMotion(
        platform.home,
        amplitude={"z": HEAVE.get(platform.name, 0.02)},
        frequency=1.0,
        duration=duration,
        convention=angles(platform),
        fade_in=0.2 * duration,
        fade_out=0.2 * duration,
    )


def lift(platform: Platform, height: float, at: float = 0.05, duration: float = 3.0) -> StepMotion:
    """Return a step of the height [m] at a time [s]."""
    return StepMotion(
        platform.home,
        displacement={"z": height},
        start=at,
        rise=0.0,
        duration=duration,
        convention=angles(platform),
    )


def run(platform: Platform, controller: Controller, duration: float, **options: Any) -> Trajectory:
    """Run a closed loop at a step that suits the machine, fast and without a progress bar."""
    settings: dict[str, Any] = {
        "timestep": min(5e-4, suitable_timestep(platform)),
        "fidelity": "fast" if options.get("engine", "analytic") == "analytic" else "accurate",
        "progress": False,
    }
    return platform.simulate(duration, controller=controller, **settings | options)
