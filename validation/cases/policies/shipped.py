"""Shipped policies: the episodes that the report runs, and in which conditions each falls short."""

from __future__ import annotations

from typing import Any, NamedTuple

DRIVES = {"configuration": "hardware", "randomisation": "hardware_spread"}


class Shipped(NamedTuple):
    """A shipped policy and what it has to beat."""

    policy: str
    environment: str
    baseline: str
    words: str
    options: dict[str, Any]
    title: str
    """of what is judged"""
    episodes: int
    """run here; the full evaluation has more"""
    within: float | None
    """Times the baseline in the table of robustness that are good enough; None for better by more
    than the interval."""
    short: tuple[str, ...]
    """Conditions of that table in which the policy falls short, on record."""


SHIPPED = {
    "stewart": (
        Shipped(
            "stewart_tracking",
            "twin/PoseTracking-v0",
            "cascade",
            "the cascade of the thesis at 1 kHz",
            {"duration": 2.0},
            "position error [mm]",
            2,
            2.0,
            ("ideal plant", "payload doubled", "delay doubled", "friction doubled"),
        ),
        Shipped(
            "stewart_ball",
            "twin/BallBalance-v0",
            "balance_law",
            "the linear law beneath it",
            {"max_episode_steps": 400},
            "return",
            1,
            None,
            ("target on a circle", "noise of 2 %", "late by a period each way"),
        ),
        Shipped(
            "stewart_cueing",
            "twin/MotionCueing-v0",
            "adaptive",
            "the adaptive washout",
            {},
            "perceived error [thresholds]",
            1,
            None,
            (),
        ),
    ),
    "compliant_stewart": (
        Shipped(
            "stewart_isolation",
            "twin/VibrationIsolation-v0",
            "isolation_law",
            "the linear law beneath it, on drives that its training did not have",
            DRIVES,
            "transmissibility",
            1,
            None,
            (
                "ideal plant",
                "real drives that vary",
                "episodes of 20 s",
                "shaking of 1 m/s²",
                "noise of 2 %",
                "late by a period each way",
            ),
        ),
    ),
}
"""Machine -> its policies."""
