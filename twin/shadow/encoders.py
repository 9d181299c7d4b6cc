"""Faults of encoders, seen in single samples: lost counts, readings that stand still."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from twin.basics.arrays import FloatArray
from twin.control.drive_model import drive_model
from twin.shadow.alarm import Alarm
from twin.shadow.model import ShadowModel

STILL = 0.02
"""[s] Adopted: shortest time for which a reading must not change to be called dead."""

STUCK = 6.0
"""Largest change of the force on a leg that sticks, over the largest dry friction of the file.

It is 2 for both directions, times 1.5 for the spread of data sheets, times 2 for a rise. The force
at which both sides of a play touch is added."""

ERRATIC = 4
"""Adopted: jumps of one encoder in a row that are no lost counts any more."""

QUIET = 0.02
"""[s] Adopted: time without a further jump after which lost counts are reported."""

PAUSE = 0.2
"""[s] Adopted: longest time for which one leg alone stands still at work."""

SHOCK = 0.1
"""[s] Adopted: after a shock to the machine, in which innovations are no jumps of encoders."""

OUTSIDE = 0.1
"""Share of the stroke beyond its ends, or in a jump, where a reading is none of the machine's."""


class EncoderWatch:
    """Watches the readings of all encoders, and takes out what they have lost.

    A motor cannot jump: an innovation far beyond its deviation, and as far from the one before, is
    lost counts, and the reading is corrected by them from there on. A reading that does not change
    by a single count while the model needs more force to hold the motor than friction could give
    is dead.

    Attributes:
        offset: `(n,)` lost so far [m, rad], in the readings.
        dead: `(n,)` encoders that are not believed any more.
        jump: largest jump of an innovation at the last sample, in standard deviations.
    """

    def __init__(self, model: ShadowModel, limit: float) -> None:
        """Watch the encoders beside a model; `limit`: of innovations, in standard deviations."""
        machine = model.machine
        n = machine.n_actuators
        self._model, self.limit, drives = model, limit, drive_model(machine)
        self._stuck = STUCK * drives.breakaway + drives.touching
        self._count, self._unit = drives.resolution, machine.coordinate_unit
        self._far = OUTSIDE * (machine.maximum_coordinates - machine.minimum_coordinates)
        self._low = machine.minimum_coordinates - self._far
        self._high = machine.maximum_coordinates + self._far
        self.offset, self.dead = np.zeros(n), np.zeros(n, dtype=bool)
        self.jump, self._shaken = 0.0, 0.0
        self._last, self._still = np.full(n, np.nan), np.zeros(n)
        self._force, self._latest = np.zeros(n), np.zeros(n)
        self._jumps: dict[int, tuple[float, int, float]] = {}

    def innovation(self, reading: FloatArray, missed: int) -> FloatArray:
        """Return innovations `(n,)` of readings after `missed` lost samples; dead ones zero."""
        model = self._model
        self._deviation = model.spread[min(missed, len(model.spread) - 1)]
        found = np.where(self.dead, 0.0, reading - self.offset - model.coordinates)
        # What a model's error makes of the motion is in the one before as well.
        self._before, self._latest = self._latest, found
        sudden = np.minimum(np.abs(found), np.abs(found - self._before))
        self._ratio = sudden / self._deviation
        self.jump = float(self._ratio.max())
        return found

    def check(self, time: float, reading: FloatArray, innovation: FloatArray) -> list[Alarm]:
        """Return new alarms; jumps are taken out of innovations."""
        if self.jump > self.limit and time >= self._shaken and not self.dead.any():
            for leg in np.flatnonzero(self._ratio > self.limit).tolist():
                _, count, before = self._jumps.get(leg, (time, 0, float(self.offset[leg])))
                self._jumps[leg] = time, count + 1, before
                lost, step = innovation[leg] - self._before[leg], self._count[leg]
                lost = step * np.rint(lost / step) if step > 0.0 else lost
                self.offset[leg] += lost
                innovation[leg] -= lost
        same = reading == self._last
        disturbance = self._model.disturbance
        np.copyto(self._force, disturbance, where=~same)
        self._still[:] = np.where(same, self._still + self._model.period, 0.0)
        self._last[:] = reading
        alarms = [*self._after_jumps(time, reading)] if self._jumps else []
        held = (self._still >= STILL) & ~self.dead
        if held.any():
            held &= np.abs(disturbance - self._force) > self._stuck
            alarms += [self._died(time, leg) for leg in np.flatnonzero(held).tolist()]
        return alarms

    def behind_force(self, time: float) -> list[Alarm]:
        """Return the alarm of the one encoder that stands still, as the cause of a steady force.

        The loop moves the leg of a frozen reading, and the model takes what holds it for a force.
        """
        standing = np.flatnonzero((self._still >= PAUSE) & ~self.dead).tolist()
        return [self._died(time, leg) for leg in standing] if len(standing) == 1 else []

    def _after_jumps(self, time: float, reading: FloatArray) -> Iterator[Alarm]:
        """Yield what jumps turn out to be: a dead encoder, or lost counts once it is quiet.

        Most motors thrown again and again, with readings that change, are a shock to the machine.
        """
        thrown = [leg for leg, (_, count, _) in self._jumps.items() if count > 1]
        if len(thrown) > len(reading) // 2 and not self._still[thrown].any():
            for leg, (_, _, before) in self._jumps.items():
                self.offset[leg] = before
            self._jumps.clear()
            self._shaken = time + SHOCK
            return
        for leg, (last, count, before) in list(self._jumps.items()):
            outside = not self._low[leg] <= reading[leg] <= self._high[leg]
            outside |= abs(self.offset[leg] - before) > self._far[leg]
            if outside or count >= ERRATIC:
                self.offset[leg] = before
                yield self._died(time, leg, "out of reach" if outside else "")
            elif time - last >= QUIET > self._still[leg]:  # it reads on: it is not dead
                del self._jumps[leg]
                lost, step = before - float(self.offset[leg]), self._count[leg]
                size, unit = (round(lost / step), "counts") if step > 0.0 else (lost, self._unit)
                yield Alarm(time, "counts", leg + 1, size, unit)

    def _died(self, time: float, leg: int, how: str = "") -> Alarm:
        self.dead[leg] = True
        self._jumps.pop(leg, None)
        still = float(self._still[leg])
        how = how or ("stands still, or the leg does" if still > 0.0 else "jumps")
        return Alarm(time, "sensor", leg + 1, still, "s", f"encoder {how}")
