"""Loop shaping along a reference: inverse dynamics forward, H-infinity controller on the error.

The design is that of Glover and McFarlane: two Riccati equations, no iteration. The shaped plant
G_s = G W = M^-1 N, its left coprime factors normalised, is robustly stabilised against any change
of the factors smaller than epsilon:

    A'X + X A - X B B' X + C'C = 0,    A Z + Z A' - Z C'C Z + B B' = 0
    gamma_min = sqrt(1 + rho(X Z)),    epsilon = 1 / gamma
    L = (1 - gamma^2) I + X Z,    F = -B'X
    K_s = [A + B F + gamma^2 L'^-1 Z C'C | gamma^2 L'^-1 Z C';  B'X | 0]

for positive feedback, u = W K_s y.

Reference:
    McFarlane and Glover, A loop shaping design procedure using H-infinity synthesis, IEEE TAC 37
    (1992); Skogestad and Postlethwaite, Multivariable Feedback Control, section 9.4.

The weights are decoupled actuator channels, each with PI and lead. Forces f of its actuators
accelerate a rigid machine by q'' = (E' M^-1 E) f + .., so that the forces m = (E' M^-1 E)^-1 u
accelerate every actuator by its own u alone: each channel is 1/s^2. Its weight, for the crossover
w_c, is

    w(s) = k (1 + w_i / s) (1 + a s / w_c) / (1 + s / (a w_c)),   |w(j w_c)| = w_c^2.
"""

from __future__ import annotations

from typing import ClassVar, NamedTuple

import numpy as np

from twin.basics.arrays import ComplexArray, FloatArray, as_floats, as_instance, positive
from twin.basics.optional import optional
from twin.control.computed_torque import feedforward_table
from twin.control.controller import DEFAULT_PERIOD, Controller, Reference
from twin.control.gains import drive_model
from twin.control.linear.lqr import linearise
from twin.control.linear.machine import (
    LinearMachine,
    StateSpace,
    driven_system,
    feedback_poles,
    series,
    with_drives,
)
from twin.errors import InputError
from twin.model.machine_model import MachineModel
from twin.motion import Motion
from twin.plant.drives import actuator_limit
from twin.plant.signals import Command, Measurement

GAMMA_MARGIN = 1.1
"""gamma over gamma_min: at gamma_min itself the controller's matrix L is singular."""


class ShapingWeights(NamedTuple):
    """Specification of one channel."""

    crossover: float = 10.0
    """[Hz] crossover frequency of the loop"""
    integral: float = 0.2
    """Corner frequency w_i of the integral part, as a fraction of the crossover"""
    lead: float = 3.0
    """a: the lead acts from 1/a to a times the crossover; 1: none"""


def channel_masses(linear: LinearMachine) -> FloatArray:
    """Return (E' M^-1 E)^-1 `(n, n)` [kg]: forces per acceleration of the actuators.

    Raises:
        InputError: actuators that cannot be accelerated one by one.
    """
    mobility = linear.mobility
    if linear.size != len(mobility) or not np.linalg.cond(mobility) < 1e12:
        raise InputError(
            "controller",
            "loop_shaping needs actuators that can move independently of each other, which those "
            f"of {linear.platform.name} cannot: choose another controller",
        )
    return np.asarray(np.linalg.inv(mobility))


def shaping_filter(masses: FloatArray, weights: ShapingWeights) -> StateSpace:
    """Return the weight W `(n, n)` [N/m] in front of the machine, two states per channel.

    Raises:
        InputError: a crossover or corner not above zero, or a lead below one.
    """
    crossover = 2.0 * np.pi * positive(weights.crossover, "crossover")
    integral_corner = positive(weights.integral, "integral") * crossover
    lead_ratio = positive(weights.lead, "lead")
    if lead_ratio < 1.0:
        raise InputError("lead", f"must be one or more, got {lead_ratio!r}")
    zero, pole = crossover / lead_ratio, crossover * lead_ratio
    # w = k (s + w_i) (s / zero + 1) / (s (s / pole + 1)) = k (d + r_0 / s + r_1 / (s + pole))
    s = 1j * crossover
    magnitude = abs((s + integral_corner) * (s / zero + 1.0) / (s * (s / pole + 1.0)))
    gain = crossover**2 / magnitude
    d = pole / zero
    integral_residue = integral_corner
    lead_residue = pole * (integral_corner - pole) * (1.0 - pole / zero) / -pole
    identity = np.eye(len(masses))
    return StateSpace(
        np.asarray(np.kron(identity, np.diag([0.0, -pole]))),
        np.asarray(np.kron(identity, np.ones((2, 1)))),
        masses @ np.kron(identity, gain * np.array([[integral_residue, lead_residue]])),
        gain * d * masses,
    )


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
    gamma: float
    """norm that this controller was designed for"""

    @property
    def epsilon(self) -> float:
        """Size of coprime factor changes under which the loop is stable: 1 / gamma."""
        return 1.0 / self.gamma


def loop_shaping(
    linear: LinearMachine, weights: ShapingWeights | None = None, *, margin: float = GAMMA_MARGIN
) -> LoopShapingDesign:
    """Return the loop shaping design of a machine, with lag and delay of its drives.

    Args:
        linear: a rigid machine with as many actuators as degrees of freedom, `with_drives` or
            without.
        weights: crossover, integral corner and lead of each actuator.
        margin: gamma over the smallest gamma, above one.

    Raises:
        InputError: not such a machine, or weights that cannot be used.
        MissingDependencyError: python-control is not installed.
    """
    library = optional("control", "Loop shaping")
    scale = positive(margin, "margin")
    if not scale > 1.0:
        raise InputError("margin", "must be above one")
    chosen_weights = as_instance(
        ShapingWeights() if weights is None else weights, "weights", ShapingWeights
    )
    weight = shaping_filter(channel_masses(linear), chosen_weights)
    plant = driven_system(linear, "coordinates")
    shaped = series(weight, plant)
    a, b, c = shaped.A, shaped.B, shaped.C
    if np.abs(shaped.D).max() > 0.0:
        raise InputError("linear", "must have no direct feedthrough from forces to coordinates")
    inputs, outputs = np.eye(b.shape[1]), np.eye(len(c))
    try:
        with np.errstate(all="ignore"):
            x = as_floats(library.care(a, b, c.T @ c, inputs)[0], "weights")
            z = as_floats(library.care(a.T, c.T, b @ b.T, outputs)[0], "weights")
    except (ValueError, np.linalg.LinAlgError) as error:
        raise InputError(
            "weights", f"lead to no controller on this machine ({error}); change them"
        ) from None
    gamma_min = float(np.sqrt(1.0 + np.abs(np.linalg.eigvals(x @ z)).max()))
    gamma = scale * gamma_min
    coupling_matrix = (1.0 - gamma**2) * np.eye(len(a)) + x @ z
    input_matrix = np.asarray(gamma**2 * np.linalg.solve(coupling_matrix.T, z @ c.T))
    robust = StateSpace(
        a - b @ (b.T @ x) + input_matrix @ c,
        input_matrix,
        b.T @ x,
        np.zeros((len(inputs), len(outputs))),
    )
    controller = series(robust, weight)
    return LoopShapingDesign(plant, weight, shaped, robust, controller, -z @ c.T, gamma)


def trapezoidal(system: StateSpace, period: float) -> StateSpace:
    """Return a continuous system sampled by Tustin's (the trapezoidal) rule, for controllers.

    Raises:
        InputError: a sampled system, or a period that is not above zero.
    """
    sample_time = positive(period, "period")
    if system.period:
        raise InputError("system", "must be continuous")
    identity = np.eye(len(system.A))
    try:
        implicit_inverse = np.linalg.inv(identity - 0.5 * sample_time * system.A)
    except np.linalg.LinAlgError:
        raise InputError("period", "the system has a pole at 2 / period") from None
    as_floats(implicit_inverse, "period")
    input_matrix = implicit_inverse @ system.B
    return StateSpace(
        implicit_inverse @ (identity + 0.5 * sample_time * system.A),
        sample_time * input_matrix,
        system.C @ implicit_inverse,
        system.D + 0.5 * sample_time * system.C @ input_matrix,
        sample_time,
    )


class LoopShaping(Controller):
    """H-infinity loop shaping in the actuators' coordinates; commands forces.

        f = ID(reference) + W K_s (q - q_ref)

    sampled by Tustin's rule. Rates are not used. While the command of an actuator exceeds its
    limit, the controller's state is held.

    Attributes:
        design: the continuous design, at home.
        law: what runs, sampled.
    """

    name: ClassVar[str] = "loop_shaping"

    def __init__(
        self,
        platform: MachineModel,
        motion: Motion | Reference | None = None,
        *,
        period: float = DEFAULT_PERIOD,
        weights: ShapingWeights | None = None,
        design: LoopShapingDesign | None = None,
    ) -> None:
        """Design the controller and compute the forces of the reference.

        Args:
            platform: a rigid machine with as many actuators as degrees of freedom.
            motion: reference motion; default: stay at home.
            period: control period [s].
            weights: of the design.
            design: instead of one for home.

        Raises:
            InputError: not such a machine, or weights that cannot be used.
            SingularPoseError: the reference passes a singular pose.
            MissingDependencyError: python-control is not installed.
        """
        super().__init__(platform, motion, period=period)
        if design is None:
            design = loop_shaping(with_drives(linearise(platform)), weights)
        self.design = as_instance(design, "design", LoopShapingDesign)
        self.law = trapezoidal(self.design.controller, self.period)
        self._drives = drive_model(platform)
        self._prepare(self.reference)
        self._force_limits = actuator_limit(platform, "effort")
        self._state = np.zeros(len(self.law.A))
        self._error = np.zeros(platform.n_actuators)

    def _prepare(self, reference: Reference) -> None:
        self._feedforward_forces = feedforward_table(self.platform, reference, self._drives).forces
        super()._prepare(reference)

    def start(self, measurement: Measurement) -> None:
        """Start with the controller state at zero: the first force is the feedforward."""
        self._state = np.zeros_like(self._state)

    def update(self, step: int, measurement: Measurement) -> Command:
        """Return the forces of control period `step`."""
        row_index, law = self.reference.row(step), self.law
        self._error = measurement.coordinates - self.reference.coordinates[row_index]
        force = self._feedforward_forces[row_index] + law.C @ self._state + law.D @ self._error
        if (np.abs(force) <= self._force_limits).all():
            self._state = law.A @ self._state + law.B @ self._error
        return Command(force, "force")

    def signals(self) -> dict[str, FloatArray]:
        """Return the error of the coordinates."""
        return {"error": self._error}


class Margins(NamedTuple):
    """Stability margins of the loops at the actuators.

    One loop at a time is opened while the others stay closed.
    """

    gain: FloatArray
    """`(n,)` factor by which the gain may rise or fall, the smaller one; infinite: any"""
    phase: FloatArray
    """`(n,)` [deg]"""
    sensitivity: float
    """largest singular value of the sensitivity over the frequencies"""


def margins(plant: StateSpace, controller: StateSpace, frequencies: FloatArray) -> Margins:
    """Return the margins of a loop with positive feedback, u = K y, on a grid [Hz].

    The loop that python-control is given is -L_i, for its convention of negative feedback.

    Raises:
        InputError: frequencies that are not above zero.
        MissingDependencyError: python-control is not installed.
    """
    library = optional("control", "Stability margins")
    grid = as_floats(frequencies, "frequencies")
    if grid.ndim != 1 or len(grid) < 2 or not (grid > 0.0).all():
        raise InputError("frequencies", "must be two or more above zero")
    loop = controller.response(grid) @ plant.response(grid)
    identity = np.eye(loop.shape[1])
    sensitivity = np.linalg.inv(identity - loop)
    gains, phases = [], []
    for i in range(loop.shape[1]):
        # S_ii = 1 / (1 - L_i) of the loop broken at input i.
        single_loop = 1.0 / sensitivity[:, i, i] - 1.0
        data = library.FRD(single_loop, 2.0 * np.pi * grid, smooth=True)
        gain, phase = library.stability_margins(data)[:2]
        gains.append(max(gain, 1.0 / gain))
        phases.append(phase)
    peak_sensitivity = float(np.linalg.svd(sensitivity, compute_uv=False).max())
    return Margins(np.array(gains, dtype=float), np.array(phases, dtype=float), peak_sensitivity)


def achieved_gamma(design: LoopShapingDesign, frequencies: FloatArray) -> float:
    """Return the largest singular value of [K; I] (I - G_s K)^-1 M^-1 over frequencies [Hz].

    The coprime factors are normalised, so that [I G_s] in place of M^-1 gives the same norm.
    """
    plant, robust = design.shaped.response(frequencies), design.robust.response(frequencies)
    identity = np.broadcast_to(np.eye(plant.shape[1]), plant.shape)
    loop = np.linalg.inv(identity - plant @ robust)
    upper = np.concatenate([robust, identity], axis=1) @ loop
    closed_transfer = upper @ np.concatenate([identity, plant], axis=2)
    return float(np.linalg.svd(closed_transfer, compute_uv=False).max())


def perturbed_poles(design: LoopShapingDesign, change: FloatArray) -> ComplexArray:
    """Return the closed loop's poles with coprime factors changed by [dN, -dM] `(n, 2n)`.

    The changed plant is x' = A x + B u - H w, y = C x + w with w = change (u, y).

    Raises:
        InputError: wrong shape, not finite.
    """
    shaped, robust = design.shaped, design.robust
    n = len(shaped.C)
    factor_change = as_floats(change, "change", 2 * n)
    if factor_change.shape != (n, 2 * n):
        raise InputError("change", f"must have shape {(n, 2 * n)}")
    # Inputs (u, w), outputs (y, u, y).
    plant = StateSpace(
        shaped.A,
        np.hstack([shaped.B, -design.observer]),
        np.vstack([shaped.C, np.zeros_like(shaped.C), shaped.C]),
        np.block(
            [
                [np.zeros((n, n)), np.eye(n)],
                [np.eye(n), np.zeros((n, n))],
                [np.zeros((n, n)), np.eye(n)],
            ]
        ),
    )
    size = len(robust.A)
    augmented = StateSpace(
        robust.A,
        np.hstack([robust.B, np.zeros((size, 2 * n))]),
        np.vstack([robust.C, np.zeros((n, size))]),
        np.block([[np.zeros((n, 3 * n))], [np.zeros((n, n)), factor_change]]),
    )
    return feedback_poles(plant, augmented)


def random_change(n: int, size: float, random: np.random.Generator) -> FloatArray:
    """Return a change `(n, 2n)` of coprime factors whose largest singular value is `size`."""
    random_matrix = random.normal(size=(n, 2 * n))
    return size * random_matrix / np.linalg.norm(random_matrix, 2)
