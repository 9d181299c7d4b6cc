"""The check of samples before the model takes them: what is wrong is left out and counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from math import sqrt

import numpy as np

from twin.basics.arrays import BoolArray, FloatArray
from twin.link.protocol import FIELDS, Sample, width_of
from twin.link.protocol.datagram import LATEST, NORM_TOLERANCE
from twin.link.protocol.fields import POSES
from twin.model.machine_model import MachineModel

LARGEST_VALUE = 1e9
"""[SI] Adopted: beyond which a number is no reading of any machine."""

EMPTY = np.zeros(0)

REACH = 0.5
"""Adopted: share of the stroke beyond its ends from which coordinates are none of the machine's."""


class SampleCheck:
    """Leaves out of samples what no machine can send.

    Attributes:
        refused: reason -> how often a sample, or a field of one, was left out for it.
        latest: reason -> what it was in the last one.
    """

    def __init__(self, machine: MachineModel) -> None:
        """Check samples of a machine."""
        self.refused: Counter[str] = Counter()
        self.latest: dict[str, str] = {}
        self._unit = machine.coordinate_unit
        beyond = REACH * (machine.maximum_coordinates - machine.minimum_coordinates)
        self._low = machine.minimum_coordinates - beyond
        self._high = machine.maximum_coordinates + beyond
        self._shapes = {name: (width_of(name, machine.n_actuators),) for name in FIELDS}

    def usable(self, sample: Sample) -> Sample | None:
        """Return a sample without the fields that cannot be used; None where its time cannot."""
        if not 0.0 <= sample.time <= LATEST:
            self.refuse(f"times that are not from 0 to {LATEST:g} s", f"{sample.time:.6g} s")
            return None
        values = sample.values
        if self._sound(values):
            return sample
        wrong = {name: reason for name in values if (reason := self._wrong(name, values[name]))}
        for name, reason in wrong.items():
            self.refuse(f"{name} {reason}", f"at {sample.time:.6g} s")
        return sample._replace(values={k: v for k, v in values.items() if k not in wrong})

    def unreachable(self, coordinates: FloatArray) -> BoolArray:
        """Return which of coordinates `(n,)` [m, rad] lie far outside of the stroke; counted."""
        far = (coordinates < self._low) | (coordinates > self._high)
        if far.any():
            leg = int(far.argmax())
            low, high = self._low[leg], self._high[leg]
            unit = self._unit
            self.refuse(
                "coordinates out of reach; home the machine, or give signs and offsets in a "
                "mapping",
                f"{coordinates[leg]:.6g} {unit} of leg {leg + 1}, which is from {low:.4g} to "
                f"{high:.4g} {unit} with half a stroke to either side",
            )
        return far

    def refuse(self, reason: str, what: str) -> None:
        """Count one sample or field that was left out, for a reason that others may share."""
        self.refused[reason] += 1
        self.latest[reason] = what

    def _sound(self, values: Mapping[str, FloatArray]) -> bool:
        """Return whether nothing is wrong; much quicker than field by field."""
        known = [name for name in values if name in self._shapes]
        if any(getattr(values[name], "shape", None) != self._shapes[name] for name in known):
            return False
        numbers = np.concatenate([EMPTY, *(values[name] for name in known)])
        if not np.abs(numbers).max(initial=0.0) <= LARGEST_VALUE:
            return False
        return all(_is_turned(values[name]) for name in POSES if name in values)

    def _wrong(self, name: str, value: FloatArray) -> str:
        """Return what is wrong with a field, or nothing."""
        shape = self._shapes.get(name)
        if shape is None:
            return ""
        if np.shape(value) != shape:
            return f"that are not {shape[0]} numbers"
        if not np.abs(value).max() <= LARGEST_VALUE:
            return f"that are not finite, or beyond {LARGEST_VALUE:g}"
        return "without a unit quaternion" if name in POSES and not _is_turned(value) else ""


def _is_turned(pose: FloatArray) -> bool:
    """Return whether the quaternion of a pose `(7,)` is one."""
    quaternion = pose[3:]
    return abs(sqrt(quaternion @ quaternion) - 1.0) <= NORM_TOLERANCE
