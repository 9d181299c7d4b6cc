"""Dead sensors other than encoders: channels that stand still or have gone."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from twin.basics.arrays import FloatArray
from twin.shadow.alarm import Alarm

WATCHED = ("forces", "pose", "accelerometer", "gyroscope")

STILL = 0.1
"""[s] Adopted: time without any change, while the machine moves; sensors hold theirs for 5 ms."""

GONE = 0.5
"""[s] Adopted: time without a channel that was there before."""

MOVES = 2e-3
"""[1/s] Adopted: speed in parts of the stroke from which readings of a machine must change."""


class ChannelWatch:
    """Watches all channels but the encoders; of one value per leg, leg by leg.

    Attributes:
        dead: channels that are not believed any more.
    """

    def __init__(self, stroke: FloatArray, period: float) -> None:
        """Watch a machine whose actuators have a `stroke` `(n,)`, once a `period` [s]."""
        self.dead: set[str] = set()
        self._fast, self._period = MOVES * float(stroke.min()), period
        self._last: dict[str, FloatArray] = {}
        self._still: dict[str, FloatArray] = {}
        self._gone: dict[str, float] = {}

    def check(
        self, time: float, values: Mapping[str, FloatArray], rates: FloatArray
    ) -> list[Alarm]:
        """Return new alarms of a sample, at rates `(n,)` of the model."""
        alarms = []
        moving = float(np.abs(rates).max()) > self._fast
        for name in WATCHED:
            value = values.get(name)
            if name in self.dead or (value is None and name not in self._last):
                continue
            if value is None:
                self._gone[name] += self._period
                if self._gone[name] > GONE:
                    alarms.append(self._died(time, name, None, self._gone[name], "is missing"))
                continue
            self._gone[name] = 0.0
            last = self._last.get(name)
            self._last[name] = value
            if last is None or not moving:
                self._still[name] = np.zeros(len(value))
                continue
            still = self._still[name] = np.where(value == last, self._still[name] + self._period, 0)
            stands = still > STILL
            if name == "forces" and stands.any():
                leg = int(np.argmax(stands))
                alarms.append(self._died(time, name, leg + 1, still[leg], "stands still"))
            elif stands.all():
                alarms.append(self._died(time, name, None, still[0], "stands still"))
        return alarms

    def _died(self, time: float, name: str, leg: int | None, size: float, how: str) -> Alarm:
        self.dead.add(name)
        return Alarm(time, "sensor", leg, float(size), "s", f"{name} {how}")
