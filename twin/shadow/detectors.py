"""Fault detectors: from fault statistics to alarms, each with its own conditions."""

from __future__ import annotations

from collections.abc import Iterator
from math import exp
from typing import Literal, NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray
from twin.control.gains import drive_model
from twin.model.machine_model import MachineModel

FORGETTING_TIME = 0.3
"""[s] Adopted: time constant with which the fault statistics forget, a fraction of the 2 s that
detection may take.
"""

MIN_MOVING_FRACTION = 0.2
"""Fraction of a window in which a leg must move to show its friction."""

FALSE_ALARMS = 1.0
"""[1/h] Largest rate of false alarms of all detectors together."""

SLOW_DETECTORS = 3
"""Number of slow detectors: of friction, of backlash, and of the load on the platform."""

THRESHOLD_MARGIN = 2.0
"""Adopted: threshold over the largest size that healthy machines show; a few do not show the worst.
"""

COMMON_FRICTION_CONFIRMATION = 0.6
"""[s] Adopted: how long friction in several legs at once must stand, which a steady force can look
like.
"""

MIN_EXPLAINED_FRACTION = 0.6
"""Adopted: fraction of what the best cause explains that a simpler one has to explain."""

OVERLOAD_FRACTION = 0.9
"""Adopted: fraction of the rating from which efforts are taken for a coming overload."""

CLEARING_FRACTION = 0.5
"""Adopted: fraction of a threshold below which an alarm ends."""

CLEARING_TIME = 2.0
"""[s] Adopted: time below it after which an alarm ends; a leg that stands for a moment shows no
friction.
"""


ONE_ROW, SQUARE_ROW, FRICTION_ROW, LOAD_ROW, PAYLOAD_ROW, BACKLASH_ROW, FORCE_ROW, EFFORT_ROW = (
    range(8)
)
"""Rows of the sums, in this order: 1, direction^2, direction r, u^2, u r, side p, r, effort^2."""


class FaultSizes(NamedTuple):
    """Estimated sizes of faults, and how much of the unexplained forces r each explains."""

    friction: FloatArray
    """`(n,)` rise [N, N m]"""
    backlash: FloatArray
    """`(n,)` growth [m, rad]"""
    payload: float
    """[kg]"""
    force: FloatArray
    """`(n,)` mean unexplained force [N, N m]"""
    effort: FloatArray
    """`(n,)` root mean square of the motors' forces [N, N m]"""
    friction_energy: float
    """sum of r^2 that rising friction explains, less that of falling one"""
    payload_energy: float
    """sum that a payload explains"""
    force_energy: float
    """sum that a steady force of each leg explains"""


class FaultStatistics:
    """Sums over an exponential window, one matched filter per fault and leg."""

    def __init__(self, legs: int, period: float) -> None:
        """Begin without evidence."""
        self._keep = exp(-period / FORGETTING_TIME)
        self._sums = np.zeros((8, legs))
        self._rows = np.ones((8, legs))

    def clear(self) -> None:
        """Forget all."""
        self._sums[:] = 0.0

    def add(
        self,
        unexplained: FloatArray,
        direction: FloatArray,
        load: FloatArray,
        side: FloatArray,
        effort: FloatArray,
    ) -> None:
        """Add one sample: `unexplained` `(n, 2)`, the others `(n,)`; see `Residuals`."""
        force, deflection = unexplained.T
        rows = self._rows
        rows[SQUARE_ROW] = direction * direction
        rows[FRICTION_ROW] = direction * force
        rows[LOAD_ROW] = load * load
        rows[PAYLOAD_ROW] = load * force
        rows[BACKLASH_ROW] = side * deflection
        rows[FORCE_ROW] = force
        rows[EFFORT_ROW] = effort * effort
        self._sums *= self._keep
        self._sums += rows

    def sizes(self) -> FaultSizes:
        """Return what the window shows."""
        sums = self._sums
        count = max(sums[ONE_ROW, 0], 1.0)
        moving = sums[SQUARE_ROW] > MIN_MOVING_FRACTION * count
        square = np.where(moving, sums[SQUARE_ROW], np.inf)
        friction = sums[FRICTION_ROW] / square
        loads = float(sums[LOAD_ROW].sum())
        payload = float(sums[PAYLOAD_ROW].sum()) / loads if loads > 0.0 else 0.0
        mean = sums[FORCE_ROW] / count
        return FaultSizes(
            friction,
            2.0 * sums[BACKLASH_ROW] / count,
            payload,
            mean,
            np.sqrt(sums[EFFORT_ROW] / count),
            float((np.abs(friction) * sums[FRICTION_ROW]).sum()),
            payload * float(sums[PAYLOAD_ROW].sum()),
            float((mean * sums[FORCE_ROW]).sum()),
        )


class Thresholds(NamedTuple):
    """Sizes above which a fault is reported; noise and uncertain data make smaller ones."""

    friction: float
    """[N, N m]"""
    backlash: float
    """[m, rad]; infinite where no pose is measured"""
    payload: float
    """[kg]"""
    force: float
    """root mean square over the legs of the unexplained force [N, N m]"""
    jump: float
    """threshold of an innovation, in standard deviations"""


def quantiles(legs: int, rate: float) -> tuple[float, float]:
    """Return how many standard deviations slow and fast detectors must allow.

    Every kind has an equal part of `FALSE_ALARMS`. Slow ones look anew every two windows, fast
    ones at every sample; n legs each; normal errors, either sign.
    """
    from scipy.stats import norm

    rate_per_detector = FALSE_ALARMS / (SLOW_DETECTORS + 1)
    looks = np.array([3600.0 / (2.0 * FORGETTING_TIME), 3600.0 * rate]) * legs
    slow, fast = norm.isf(0.5 * rate_per_detector / looks)
    return float(slow), float(fast)


class Collection:
    """Sizes that healthy machines show, collected for their thresholds."""

    def __init__(self) -> None:
        """Begin without sizes."""
        self._rows: list[tuple[FloatArray, ...]] = []
        self._jump = 0.0

    def add(self, sizes: FaultSizes) -> None:
        """Add what a healthy machine shows."""
        force = np.sqrt(np.mean(sizes.force**2))
        self._rows.append((sizes.friction, sizes.backlash, np.array(sizes.payload), force))

    def add_jump(self, jump: float) -> None:
        """Add the largest innovation of a sample, in standard deviations."""
        self._jump = max(self._jump, jump)

    def thresholds(self, legs: int, rate: float) -> Thresholds:
        """Return the normal quantile or `THRESHOLD_MARGIN` times the largest size, if larger."""
        slow, fast = quantiles(legs, rate)
        columns = [np.abs(np.array(column)) for column in zip(*self._rows, strict=True)]
        found = [
            max(slow * float(np.sqrt(np.mean(column**2))), THRESHOLD_MARGIN * float(column.max()))
            for column in columns
        ]
        friction, backlash, payload, force = found
        jump = max(fast, THRESHOLD_MARGIN * self._jump)
        return Thresholds(friction, backlash or np.inf, payload, force, jump)


Kind = Literal["friction", "backlash", "counts", "payload", "sensor", "overload", "silence"]
"""Faults of the machine, and samples that do not come any more."""

ALARM_KINDS: tuple[Kind, ...] = ("friction", "backlash", "counts", "payload", "sensor", "overload")
"""Kinds of alarms, in the order of the field `alarms` of an estimate."""

LOOK_AT: dict[Kind, str] = {
    "friction": "lubrication, screw and bearings of the leg; temperature of the motor",
    "backlash": "nut, gear and couplings of the leg; play of its joints",
    "counts": "encoder cable, shield and scale of the leg; home the machine before going on",
    "payload": "what is on the platform, and the mass that controller and model are told",
    "sensor": "cable, supply and mounting of the sensor; stop the machine",
    "overload": "what pushes the platform: a collision, a jam, a load beyond the rating",
    "silence": "whether controller and sender still run; network and cable between",
}


class Alarm(NamedTuple):
    """One alarm, raised once."""

    time: float
    """[s] time of the sample"""
    kind: Kind
    leg: int | None
    """number of the leg from 1; None for the machine as a whole"""
    size: float
    """estimate of what has changed"""
    unit: str
    note: str = ""
    """name of the sensor, or kind of load"""

    @property
    def look_at(self) -> str:
        """Parts of the machine to look at."""
        return LOOK_AT[self.kind]

    def __str__(self) -> str:
        where = "machine" if self.leg is None else f"leg {self.leg}"
        note = f" ({self.note})" if self.note else ""
        return f"{self.time:.3f} s: {self.kind}, {where}, {self.size:.4g} {self.unit}{note}"


CONFIRMATION_TIMES: dict[Kind, float] = {
    "friction": 0.2,
    "backlash": 0.2,
    "payload": 0.3,
    "overload": 0.05,
}
"""[s] Adopted: how long a candidate must stand. Payload waits for what could be an overload."""


Cause = tuple[Kind, int | None]
"""Kind and leg, from 1."""


class Candidate(NamedTuple):
    """A possible fault."""

    ratio: float
    """size per threshold"""
    size: float
    unit: str
    confirm: float
    """[s]"""
    note: str = ""


class SlowDetectors:
    """Friction, backlash, payload and overload, from the evidence of the last moments.

    Unexplained forces get one cause only. It is a payload if that single number explains them
    nearly as well as the best cause does, else friction, else a force from outside. A force from
    outside is reported as an overload; so is an effort above the continuous rating.

    Attributes:
        thresholds: of the sizes.
        active: causes whose alarms have been raised and have not ended.
    """

    def __init__(self, machine: MachineModel, thresholds: Thresholds) -> None:
        """Take ratings and units of a machine."""
        self.thresholds, self.active = thresholds, dict[Cause, Alarm]()
        legs = machine.parameters.legs
        lasting = [leg.actuator.continuous_effort if machine.limits else None for leg in legs]
        self._rating = np.array([np.inf if value is None else value for value in lasting])
        self._compliance = drive_model(machine).compliance.copy()
        if machine.n_deflections:  # springs in the legs yield under what the model does not know
            self._compliance += 1.0 / machine.leg_springs.stiffness
        self._mass = machine.parameters.platform.body.mass
        self._units = machine.force_unit, machine.coordinate_unit
        self._since: dict[Cause, float] = {}
        self._seen: dict[Cause, float] = {}

    def update(self, time: float, sizes: FaultSizes, jacobian: FloatArray) -> list[Alarm]:
        """Return the alarms that are new at `time` [s]."""
        found = dict(self._candidates(sizes, jacobian))
        self._seen |= dict.fromkeys(found, time)
        for cause in [each for each in self.active if time - self._seen[each] > CLEARING_TIME]:
            del self.active[cause]
        beyond = {cause: each for cause, each in found.items() if each.ratio >= 1.0}
        self._since = {cause: self._since.get(cause, time) for cause in beyond}
        new = []
        for cause, each in beyond.items():
            if cause not in self.active and time - self._since[cause] >= each.confirm:
                alarm = Alarm(time, *cause, each.size, each.unit, each.note)
                self.active[cause] = alarm
                new.append(alarm)
        return new

    def ratios(self, sizes: FaultSizes) -> FloatArray:
        """Return the largest size per its threshold of every leg `(n,)`."""
        limits = self.thresholds
        fractions = [
            np.abs(sizes.friction) / limits.friction,
            np.abs(sizes.backlash) / limits.backlash,
            np.abs(sizes.force) / (limits.force * np.sqrt(len(sizes.force))),
            sizes.effort / self._rating,
        ]
        return np.asarray(np.max(fractions, axis=0))

    def _candidates(
        self, sizes: FaultSizes, jacobian: FloatArray
    ) -> Iterator[tuple[Cause, Candidate]]:
        limits, (force_unit, unit) = self.thresholds, self._units
        effort = sizes.effort / self._rating
        for leg, ratio in _large(effort):
            size, note = float(sizes.effort[leg]), "effort beyond the continuous rating"
            found = Candidate(ratio, size, force_unit, CONFIRMATION_TIMES["overload"], note)
            yield ("overload", leg + 1), found
        if effort.max() > OVERLOAD_FRACTION:
            return
        best = MIN_EXPLAINED_FRACTION * max(sizes.friction_energy, sizes.force_energy)
        heavy = sizes.payload_energy > best
        # Legs that a force moves to one side look rubbing: once it is known, friction has to
        # explain more than it.
        known = ("overload", None) in self.active
        rubbing = sizes.friction_energy > (sizes.force_energy if known else best)
        force = float(np.sqrt(np.mean(sizes.force**2))) / limits.force
        if rubbing and not heavy:
            rising = list(_large(sizes.friction / limits.friction))
            confirm = (
                CONFIRMATION_TIMES["friction"] if len(rising) == 1 else COMMON_FRICTION_CONFIRMATION
            )
            for leg, ratio in rising:
                size = float(sizes.friction[leg])
                yield ("friction", leg + 1), Candidate(ratio, size, force_unit, confirm)
        elif heavy and abs(sizes.payload) <= self._mass:
            ratio = abs(sizes.payload) / limits.payload
            if ratio > CLEARING_FRACTION:
                yield (
                    ("payload", None),
                    Candidate(ratio, sizes.payload, "kg", CONFIRMATION_TIMES["payload"]),
                )
        elif force > CLEARING_FRACTION:
            wrench = -jacobian.T @ sizes.force
            note = f"force from outside, moment {np.linalg.norm(wrench[3:]):.3g} N m"
            size = float(np.linalg.norm(wrench[:3]))
            yield (
                ("overload", None),
                Candidate(force, size, "N", CONFIRMATION_TIMES["payload"], note),
            )
        # Forces that the model does not know of wind the transmissions up.
        windup = 2.0 * self._compliance * np.abs(sizes.force)
        energies = sizes.backlash**2
        # What moves the platform moves all legs; play moves its own.
        if force > CLEARING_FRACTION and energies.max() < MIN_EXPLAINED_FRACTION * energies.sum():
            return
        for leg, ratio in _large(sizes.backlash / (limits.backlash + windup)):
            size = float(sizes.backlash[leg])
            yield (
                ("backlash", leg + 1),
                Candidate(ratio, size, unit, CONFIRMATION_TIMES["backlash"]),
            )


def _large(ratios: FloatArray) -> Iterator[tuple[int, float]]:
    """Yield legs, from 0, with ratios above `CLEARING_FRACTION`."""
    for leg in np.flatnonzero(ratios > CLEARING_FRACTION).tolist():
        yield leg, float(ratios[leg])
