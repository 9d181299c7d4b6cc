"""Detectors: from sizes of faults to alarms, each with its own conditions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray
from twin.control.drive_model import drive_model
from twin.model.machine_model import MachineModel
from twin.shadow.alarm import Alarm, Kind
from twin.shadow.evidence import Sizes
from twin.shadow.thresholds import Thresholds

CONFIRM: dict[Kind, float] = {"friction": 0.2, "backlash": 0.2, "payload": 0.3, "overload": 0.05}
"""[s] Adopted: how long a candidate must stand. Payload waits for what could be an overload."""

SEVERAL = 0.6
"""[s] The same for friction in several legs at once, which a steady force can look like."""

EXPLAINED = 0.6
"""Adopted: share of what the best cause explains that a simpler one has to explain."""

NEARLY = 0.9
"""Adopted: share of the rating from which efforts are taken for a coming overload."""

CLEARED = 0.5
"""Adopted: share of a threshold below which an alarm ends."""

ENDS = 2.0
"""[s] Adopted: after which it does; a leg that stands for a moment shows no friction."""

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

    def update(self, time: float, sizes: Sizes, jacobian: FloatArray) -> list[Alarm]:
        """Return the alarms that are new at `time` [s]."""
        found = dict(self._candidates(sizes, jacobian))
        self._seen |= dict.fromkeys(found, time)
        for cause in [each for each in self.active if time - self._seen[each] > ENDS]:
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

    def ratios(self, sizes: Sizes) -> FloatArray:
        """Return the largest size per its threshold of every leg `(n,)`."""
        limits = self.thresholds
        shares = [
            np.abs(sizes.friction) / limits.friction,
            np.abs(sizes.backlash) / limits.backlash,
            np.abs(sizes.force) / (limits.force * np.sqrt(len(sizes.force))),
            sizes.effort / self._rating,
        ]
        return np.asarray(np.max(shares, axis=0))

    def _candidates(self, sizes: Sizes, jacobian: FloatArray) -> Iterator[tuple[Cause, Candidate]]:
        limits, (force_unit, unit) = self.thresholds, self._units
        effort = sizes.effort / self._rating
        for leg, ratio in _large(effort):
            size, note = float(sizes.effort[leg]), "effort beyond the continuous rating"
            found = Candidate(ratio, size, force_unit, CONFIRM["overload"], note)
            yield ("overload", leg + 1), found
        if effort.max() > NEARLY:
            return
        best = EXPLAINED * max(sizes.friction_energy, sizes.force_energy)
        heavy = sizes.payload_energy > best
        # Legs that a force moves to one side look rubbing: once it is known, friction has to
        # explain more than it.
        known = ("overload", None) in self.active
        rubbing = sizes.friction_energy > (sizes.force_energy if known else best)
        force = float(np.sqrt(np.mean(sizes.force**2))) / limits.force
        if rubbing and not heavy:
            rising = list(_large(sizes.friction / limits.friction))
            confirm = CONFIRM["friction"] if len(rising) == 1 else SEVERAL
            for leg, ratio in rising:
                size = float(sizes.friction[leg])
                yield ("friction", leg + 1), Candidate(ratio, size, force_unit, confirm)
        elif heavy and abs(sizes.payload) <= self._mass:
            ratio = abs(sizes.payload) / limits.payload
            if ratio > CLEARED:
                yield ("payload", None), Candidate(ratio, sizes.payload, "kg", CONFIRM["payload"])
        elif force > CLEARED:
            wrench = -jacobian.T @ sizes.force
            note = f"force from outside, moment {np.linalg.norm(wrench[3:]):.3g} N m"
            size = float(np.linalg.norm(wrench[:3]))
            yield ("overload", None), Candidate(force, size, "N", CONFIRM["payload"], note)
        # Forces that the model does not know of wind the transmissions up.
        windup = 2.0 * self._compliance * np.abs(sizes.force)
        spread = sizes.backlash**2
        # What moves the platform moves all legs; play moves its own.
        if force > CLEARED and spread.max() < EXPLAINED * spread.sum():
            return
        for leg, ratio in _large(sizes.backlash / (limits.backlash + windup)):
            size = float(sizes.backlash[leg])
            yield ("backlash", leg + 1), Candidate(ratio, size, unit, CONFIRM["backlash"])


def _large(ratios: FloatArray) -> Iterator[tuple[int, float]]:
    """Yield legs, from 0, with ratios above `CLEARED`."""
    for leg in np.flatnonzero(ratios > CLEARED).tolist():
        yield leg, float(ratios[leg])
