"""What a page can show: anything that runs by itself and looks like a machine."""

from __future__ import annotations

from typing import Protocol

from twin.model.ball.ball import Ball
from twin.simulation.live.history import History
from twin.simulation.platform import Platform
from twin.simulation.scene import Scene


class Source(Protocol):
    """A live run, an environment with its policy, or a recording that is played."""

    period: float
    """[s] of the smallest advance: what a single step is"""
    real_time_factor: float
    """seconds of the run per second of the clock, told by who runs it"""

    @property
    def platform(self) -> Platform:
        """The machine that is seen."""
        ...

    @property
    def ball(self) -> Ball | None:
        """What rolls on the platform; None where nothing does."""
        ...

    @property
    def history(self) -> History:
        """Of the charts, a row per `NOTE` seconds; another object after some resets."""
        ...

    @property
    def stopped(self) -> str:
        """Why it cannot go on without a reset; empty where it can."""
        ...

    @property
    def time(self) -> float:
        """[s] since the last reset."""
        ...

    @property
    def scene(self) -> Scene:
        """What is to be seen now; the ghost is at the setpoint."""
        ...

    def advance(self, duration: float) -> None:
        """Go on by `duration` [s], rounded down to whole periods; the rest is kept for the next.

        Ends early where the run stops; `stopped` then says why. Never raises for what a run does.
        """
        ...

    def reset(self) -> None:
        """Begin anew."""
        ...

    def close(self) -> None:
        """Free everything; more calls do nothing."""
        ...


NOTE = 1.0 / 30.0
"""[s] of the run's time between two rows of its history."""

KEPT = 30.0
"""[s] of a run that its history keeps."""
