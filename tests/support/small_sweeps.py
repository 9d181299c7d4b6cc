"""Sweeps of short runs."""

from __future__ import annotations

from typing import Any

from twin.sweep import Sweep

SMALL: dict[str, Any] = {
    "machine": "srspm",
    "fidelity": "fast",
    "motion": {"name": "sine", "amplitude": 0.01, "frequency": 5.0, "duration": 0.06},
    "parameters": {"platform.body.mass": [1.0, 2.0, 3.0]},
}


def small(**changes: Any) -> Sweep:
    """Return a sweep of three short runs, with changes; those of the motion one by one."""
    content = SMALL | changes
    return Sweep(**content | {"motion": SMALL["motion"] | content["motion"]})
