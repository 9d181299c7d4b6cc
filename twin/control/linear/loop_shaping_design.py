"""H-infinity loop shaping after Glover and McFarlane: two Riccati equations, no iteration.

The shaped plant G_s = G W = M^-1 N, its left coprime factors normalised, is robustly stabilised
against any change of the factors smaller than epsilon:

    A X + ..:  A'X + X A - X B B' X + C'C = 0,    A Z + Z A' - Z C'C Z + B B' = 0
    gamma_min = sqrt(1 + rho(X Z)),    epsilon = 1 / gamma
    L = (1 - gamma^2) I + X Z,    F = -B'X
    K_s = [A + B F + gamma^2 L'^-1 Z C'C | gamma^2 L'^-1 Z C';  B'X | 0]

for positive feedback, u = W K_s y.

Reference:
    McFarlane and Glover, A loop shaping design procedure using H-infinity synthesis, IEEE TAC 37
    (1992); Skogestad and Postlethwaite, Multivariable Feedback Control, section 9.4.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray, as_floats, positive
from twin.basics.optional import optional
from twin.control.linear.drives import driven_system
from twin.control.linear.machine import LinearMachine
from twin.control.linear.shaping_weights import ShapingWeights, channel_masses, shaping_filter
from twin.control.linear.state_space import StateSpace, series
from twin.errors import InputError

MARGIN = 1.1
"""gamma per gamma_min: at gamma_min itself the controller's matrix L is singular."""


class LoopShapingDesign(NamedTuple):
    """A robust controller with the plant it was designed for."""

    plant: StateSpace
    """G: forces [N] to actuator coordinates [m]"""
    weight: StateSpace
    """W"""
    shaped: StateSpace
    """G_s = G W"""
    robust: StateSpace
    """K_s, for positive feedback"""
    controller: StateSpace
    """W K_s: coordinates [m] to forces [N], for positive feedback"""
    observer: FloatArray
    """`(s, n)` H = -Z C' of the normalised coprime factors of G_s"""
    gamma_min: float
    """least norm that any controller reaches"""
    gamma: float
    """norm that this one was designed for"""

    @property
    def epsilon(self) -> float:
        """Size of coprime factor changes under which the loop is stable: 1 / gamma."""
        return 1.0 / self.gamma


def loop_shaping(
    linear: LinearMachine, weights: ShapingWeights | None = None, *, margin: float = MARGIN
) -> LoopShapingDesign:
    """Return the loop shaping design of a machine, with lag and delay of its drives.

    Args:
        linear: a rigid machine with as many actuators as degrees of freedom, `with_drives` or
            without.
        weights: crossover, integral corner and lead of each actuator.
        margin: gamma per least gamma, above one.

    Raises:
        InputError: not such a machine, or weights that cannot be used.
        MissingDependencyError: python-control is not installed.
    """
    library = optional("control", "Loop shaping")
    scale = positive(margin, "margin")
    if not scale > 1.0:
        raise InputError("margin", "must be above one")
    chosen = ShapingWeights() if weights is None else weights
    weight = shaping_filter(channel_masses(linear), chosen)
    plant = driven_system(linear, "coordinates")
    shaped = series(weight, plant)
    a, b, c = shaped.A, shaped.B, shaped.C
    if np.abs(shaped.D).max() > 0.0:
        raise InputError("linear", "its coordinates must not follow the forces at once")
    inputs, outputs = np.eye(b.shape[1]), np.eye(len(c))
    x = np.asarray(library.care(a, b, c.T @ c, inputs)[0])
    z = np.asarray(library.care(a.T, c.T, b @ b.T, outputs)[0])
    gamma_min = float(np.sqrt(1.0 + np.abs(np.linalg.eigvals(x @ z)).max()))
    gamma = scale * gamma_min
    inner = (1.0 - gamma**2) * np.eye(len(a)) + x @ z
    input_matrix = gamma**2 * np.linalg.solve(inner.T, z @ c.T)
    robust = StateSpace(
        a - b @ (b.T @ x) + input_matrix @ c,
        input_matrix,
        b.T @ x,
        np.zeros((len(inputs), len(outputs))),
    )
    controller = series(robust, weight)
    return LoopShapingDesign(plant, weight, shaped, robust, controller, -z @ c.T, gamma_min, gamma)


def trapezoidal(system: StateSpace, period: float) -> StateSpace:
    """Return a continuous system sampled by Tustin's rule, for controllers.

    Raises:
        InputError: a sampled system, or a period that is not above zero.
    """
    step = positive(period, "period")
    if system.period:
        raise InputError("system", "must be continuous")
    one = np.eye(len(system.A))
    left = np.linalg.inv(one - 0.5 * step * system.A)
    as_floats(left, "period")
    input_matrix = left @ system.B
    return StateSpace(
        left @ (one + 0.5 * step * system.A),
        step * input_matrix,
        system.C @ left,
        system.D + 0.5 * step * system.C @ input_matrix,
        step,
    )
