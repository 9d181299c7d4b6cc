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
"""[s] Engineering choice: time constant of the exponential window of the fault statistics, a
fraction of the 2 s that detection may take.
"""

MIN_MOVING_FRACTION = 0.2
"""Fraction of a window in which a leg must move to show its friction."""

FALSE_ALARMS = 1.0
"""[1/h] Largest rate of false alarms of all detectors together."""

SLOW_DETECTORS = 3
"""Number of slow detectors: of friction, of backlash, and of the load on the platform."""

THRESHOLD_MARGIN = 2.0
"""Engineering choice: ratio of a threshold to the largest size seen in a few healthy machines,
which do not include the worst case.
"""

COMMON_FRICTION_CONFIRMATION = 0.6
"""[s] Engineering choice: how long friction in several legs at once must persist before it is
reported, as a steady force can look like it.
"""

MIN_EXPLAINED_FRACTION = 0.6
"""Engineering choice: fraction of the energy explained by the best cause that a simpler cause must
explain to be preferred.
"""

OVERLOAD_FRACTION = 0.9
"""Engineering choice: fraction of the continuous rating above which efforts count as an imminent
overload.
"""

CLEARING_FRACTION = 0.5
"""Engineering choice: fraction of a threshold below which an alarm ends."""

CLEARING_TIME = 2.0
"""[s] Engineering choice: time below that fraction after which an alarm ends; a leg at rest for a
moment shows no friction.
"""


ONE_ROW, SQUARE_ROW, FRICTION_ROW, LOAD_ROW, PAYLOAD_ROW, BACKLASH_ROW, FORCE_ROW, EFFORT_ROW = (
    range(8)
)
"""Rows of the window sums: 1, direction^2, direction r, u^2, u r, side p, r and effort^2, with r, p
and u as in `Residuals`.
"""


class FaultSizes(NamedTuple):
    """Estimated sizes of faults, and how much of the unexplained forces r each explains."""

    friction: FloatArray
    """`(n,)` rise [N, N m]"""
    backlash: FloatArray
    """`(n,)` growth [m, rad]"""
    payload: float
    """additional mass [kg]"""
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
        """Start with empty sums."""
        self._keep = exp(-period / FORGETTING_TIME)
        self._sums = np.zeros((8, legs))
        self._rows = np.ones((8, legs))

    def clear(self) -> None:
        """Reset all sums to zero."""
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
        """Return the fault sizes that the window shows."""
        sums = self._sums
        count = max(sums[ONE_ROW, 0], 1.0)
        is_moving = sums[SQUARE_ROW] > MIN_MOVING_FRACTION * count
        squared_rates = np.where(is_moving, sums[SQUARE_ROW], np.inf)
        friction = sums[FRICTION_ROW] / squared_rates
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
    """threshold of the rise of friction [N, N m]"""
    backlash: float
    """[m, rad]; infinite where no pose is measured"""
    payload: float
    """threshold of the additional mass [kg]"""
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
    n_decisions = np.array([3600.0 / (2.0 * FORGETTING_TIME), 3600.0 * rate]) * legs
    slow_quantile, fast_quantile = norm.isf(0.5 * rate_per_detector / n_decisions)
    return float(slow_quantile), float(fast_quantile)


class Collection:
    """Sizes that healthy machines show, collected for their thresholds."""

    def __init__(self) -> None:
        """Start without any sizes."""
        self._rows: list[tuple[FloatArray, ...]] = []
        self._jump = 0.0

    def add(self, sizes: FaultSizes) -> None:
        """Add the fault sizes of a healthy machine."""
        force = np.sqrt(np.mean(sizes.force**2))
        self._rows.append((sizes.friction, sizes.backlash, np.array(sizes.payload), force))

    def add_jump(self, jump: float) -> None:
        """Add the largest innovation of a sample, in standard deviations."""
        self._jump = max(self._jump, jump)

    def thresholds(self, legs: int, rate: float) -> Thresholds:
        """Return the normal quantile or `THRESHOLD_MARGIN` times the largest size, if larger."""
        slow_quantile, fast_quantile = quantiles(legs, rate)
        columns = [np.abs(np.array(column)) for column in zip(*self._rows, strict=True)]
        limits = [
            max(
                slow_quantile * float(np.sqrt(np.mean(column**2))),
                THRESHOLD_MARGIN * float(column.max()),
            )
            for column in columns
        ]
        friction, backlash, payload, force = limits
        jump = max(fast_quantile, THRESHOLD_MARGIN * self._jump)
        return Thresholds(friction, backlash or np.inf, payload, force, jump)


Kind = Literal["friction", "backlash", "counts", "payload", "sensor", "overload", "silence"]
"""Kinds of alarms: faults of the machine, and samples that have stopped."""

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
        location = "machine" if self.leg is None else f"leg {self.leg}"
        note_text = f" ({self.note})" if self.note else ""
        return f"{self.time:.3f} s: {self.kind}, {location}, {self.size:.4g} {self.unit}{note_text}"


CONFIRMATION_TIMES: dict[Kind, float] = {
    "friction": 0.2,
    "backlash": 0.2,
    "payload": 0.3,
    "overload": 0.05,
}
"""[s] Engineering choice: how long a candidate must persist before it is reported. Payload waits
longest, as it could be an overload.
"""


Cause = tuple[Kind, int | None]
"""Kind and leg, from 1."""


class Candidate(NamedTuple):
    """A possible fault."""

    ratio: float
    """size over its threshold"""
    size: float
    unit: str
    confirm: float
    """[s] time for which it must persist before it is reported"""
    note: str = ""


class SlowDetectors:
    """Detectors of friction, backlash, payload and overload, from the windowed fault statistics.

    Unexplained forces get one cause only. It is a payload if that single number explains them
    nearly as well as the best cause does, else friction, else a force from outside. A force from
    outside is reported as an overload; so is an effort above the continuous rating.

    Attributes:
        thresholds: of the sizes.
        active: causes whose alarms have been raised and have not ended.
    """

    def __init__(self, machine: MachineModel, thresholds: Thresholds) -> None:
        """Store the ratings and units of a machine."""
        self.thresholds, self.active = thresholds, dict[Cause, Alarm]()
        legs = machine.parameters.legs
        continuous_efforts = [
            leg.actuator.continuous_effort if machine.limits else None for leg in legs
        ]
        self._rating = np.array(
            [np.inf if value is None else value for value in continuous_efforts]
        )
        self._compliance = drive_model(machine).compliance.copy()
        if machine.n_deflections:  # springs in the legs yield under what the model does not know
            self._compliance += 1.0 / machine.leg_springs.stiffness
        self._mass = machine.parameters.platform.body.mass
        self._units = machine.force_unit, machine.coordinate_unit
        self._since: dict[Cause, float] = {}
        self._seen: dict[Cause, float] = {}

    def update(self, time: float, sizes: FaultSizes, jacobian: FloatArray) -> list[Alarm]:
        """Return the alarms that are new at `time` [s]."""
        candidates = dict(self._candidates(sizes, jacobian))
        self._seen |= dict.fromkeys(candidates, time)
        for cause in [
            candidate for candidate in self.active if time - self._seen[candidate] > CLEARING_TIME
        ]:
            del self.active[cause]
        above_threshold = {
            cause: candidate for cause, candidate in candidates.items() if candidate.ratio >= 1.0
        }
        self._since = {cause: self._since.get(cause, time) for cause in above_threshold}
        new_alarms = []
        for cause, candidate in above_threshold.items():
            if cause not in self.active and time - self._since[cause] >= candidate.confirm:
                alarm = Alarm(time, *cause, candidate.size, candidate.unit, candidate.note)
                self.active[cause] = alarm
                new_alarms.append(alarm)
        return new_alarms

    def ratios(self, sizes: FaultSizes) -> FloatArray:
        """Return the largest ratio of size to threshold of every leg `(n,)`."""
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
        """Yield the causes that explain the present residuals, with their sizes."""
        limits, (force_unit, unit) = self.thresholds, self._units
        effort = sizes.effort / self._rating
        for leg, ratio in _large(effort):
            size, note = float(sizes.effort[leg]), "effort beyond the continuous rating"
            candidate = Candidate(ratio, size, force_unit, CONFIRMATION_TIMES["overload"], note)
            yield ("overload", leg + 1), candidate
        if effort.max() > OVERLOAD_FRACTION:
            return
        required_energy = MIN_EXPLAINED_FRACTION * max(sizes.friction_energy, sizes.force_energy)
        heavy = sizes.payload_energy > required_energy
        # Legs that a force moves to one side look rubbing: once it is known, friction has to
        # explain more than it.
        has_overload = ("overload", None) in self.active
        is_friction = sizes.friction_energy > (
            sizes.force_energy if has_overload else required_energy
        )
        force = float(np.sqrt(np.mean(sizes.force**2))) / limits.force
        if is_friction and not heavy:
            rising_legs = list(_large(sizes.friction / limits.friction))
            confirm = (
                CONFIRMATION_TIMES["friction"]
                if len(rising_legs) == 1
                else COMMON_FRICTION_CONFIRMATION
            )
            for leg, ratio in rising_legs:
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
