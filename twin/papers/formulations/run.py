"""The result of integrating a formulation: motion, errors of the loop closure, energy."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from twin.basics.arrays import FloatArray


@dataclass(frozen=True)
class FormulationRun:
    """Motion of a machine by one formulation at `k` times.

    `configuration` and its derivatives hold, leg by leg, the first and second universal angle
    [rad] and the length [m].
    """

    formulation: str
    method: str
    time: FloatArray
    """`(k,)` [s]"""
    pose: FloatArray
    """`(k, 7)`"""
    twist: FloatArray
    """`(k, 6)`"""
    acceleration: FloatArray
    """`(k, 6)`"""
    configuration: FloatArray
    """`(k, 18)`"""
    rates: FloatArray
    """`(k, 18)`"""
    accelerations: FloatArray
    """`(k, 18)`"""
    e1: FloatArray
    """`(k,)` [m] largest error of the loop closure"""
    e2: FloatArray
    """`(k,)` [m/s] of its rate"""
    e3: FloatArray
    """`(k,)` [m/s2] of its second rate"""
    resolution: FloatArray
    """`(k, 3)` machine epsilon times the size of the terms that cancel in e1, e2, e3"""
    kinetic: FloatArray
    """`(k,)` [J]"""
    potential: FloatArray
    """`(k,)` [J], zero at z = 0 of the base"""
    determinant: FloatArray
    """`(k,)` of the legs' Jacobian, moments scaled by the platform joints' mean radius"""

    def __len__(self) -> int:
        """Return the number of times."""
        return len(self.time)

    @property
    def energy_error(self) -> FloatArray:
        """Change of the total energy `(k,)` in percent of that at the start."""
        total = self.kinetic + self.potential
        return np.asarray(100.0 * (total - total[0]) / total[0])

    @property
    def crossings(self) -> FloatArray:
        """Times [s] at which a singular pose was passed: the determinant changes sign.

        A platform that turns back at the singular pose, where it could also have gone on, has no
        crossing there; two crossings between neighbouring times cancel.
        """
        before, after = self.determinant[:-1], self.determinant[1:]
        k = np.flatnonzero(before * after < 0.0)
        part = before[k] / (before[k] - after[k])
        return np.asarray(self.time[k] + part * (self.time[k + 1] - self.time[k]))
