"""Modes of small motions: natural frequencies, damping ratios, shapes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from twin.basics import canonical
from twin.basics.arrays import FloatArray
from twin.papers.compliant_legs.rest.linear import Linearisation


class Modes(NamedTuple):
    """Modes of M x'' + C x' + K x = 0, slowest first."""

    frequencies: FloatArray
    """Without damping `(size,)` [Hz]; zero for a mode that does not come back"""
    growth: FloatArray
    """Without damping `(size,)` [1/s]: rate at which such a mode diverges, else zero"""
    shapes: FloatArray
    """Columns `(size, size)`: x of each undamped mode, largest entry one"""
    eigenvalues: NDArray[np.complex128]
    """Of the damped motion `(2 size,)` [1/s], complex, slowest first"""

    @property
    def damping_ratios(self) -> FloatArray:
        """Damping ratios of the motions that oscillate, in the order of `eigenvalues`."""
        oscillating = self.eigenvalues.imag > 1e-9 * np.abs(self.eigenvalues)
        chosen = self.eigenvalues[oscillating]
        return np.asarray(-chosen.real / np.abs(chosen))

    @property
    def settling_time(self) -> float:
        """Time [s] after which the slowest motion is below 2 %; infinite if one does not settle."""
        slowest = float(self.eigenvalues.real.max())
        return float(np.log(50.0) / -slowest) if slowest < 0.0 else float("inf")


def modes_of(linearisation: Linearisation) -> Modes:
    """Return the modes of small motions about an equilibrium."""
    from scipy.linalg import eig

    mass, damping, stiffness = linearisation
    size = len(mass)
    squared, shapes = eig(stiffness, mass)
    squared, shapes = squared.real, shapes.real
    order = np.argsort(squared)
    squared, shapes = squared[order], shapes[:, order]
    shapes = canonical.modes(squared, shapes)
    shapes = shapes / np.abs(shapes).max(axis=0)
    companion = np.zeros((2 * size, 2 * size))
    companion[:size, size:] = np.eye(size)
    companion[size:] = -np.linalg.solve(mass, np.hstack([stiffness, damping]))
    eigenvalues = np.asarray(np.linalg.eigvals(companion), dtype=np.complex128)
    return Modes(
        np.sqrt(np.maximum(squared, 0.0)) / (2.0 * np.pi),
        np.sqrt(np.maximum(-squared, 0.0)),
        shapes,
        eigenvalues[np.lexsort((eigenvalues.imag, np.abs(eigenvalues)))],
    )
