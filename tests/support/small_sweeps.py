"""Sweeps of short runs."""

from twin.sweep import Sweep

SMALL = {
    "machine": "srspm",
    "fidelity": "fast",
    "motion": {"name": "sine", "amplitude": 0.01, "frequency": 5.0, "duration": 0.06},
    "parameters": {"platform.body.mass": [1.0, 2.0, 3.0]},
}


def small(**changes):
    """Return a sweep of three short runs, with changes; those of the motion one by one."""
    content = SMALL | changes
    return Sweep(**content | {"motion": SMALL["motion"] | content["motion"]})
