"""HAC-LAC: local damping in every leg, and an outer loop on the pose.

The outer loop is LQG on the pose, with state feedback on (x, z, s): state of the machine with its
drives, of the local laws, and the platform's displacement summed up. Added forces r cost r'r; a
displacement d costs the square of equivalent forces,

    H d,   H = J'^-1 M w_h^2 + G_0^-1,

those that move the platform's mass at the bandwidth w_h and those that displace it at rest against
the locally closed loops (G_0: displacement per added force); sums cost (H w_h / 5)^2. The
machine's state is estimated by a Kalman filter from coordinates, rates and forces; dry friction of
the motors counts as a force that disturbs them. The commands of the drives are known, so
that the laws need no estimate. The delayed commands give the plant many poles at zero, so that the
discrete Riccati equation is solved by doubling.
"""

from __future__ import annotations

from inspect import signature
from typing import Any, ClassVar, NamedTuple

import numpy as np

from twin.basics.arrays import ComplexArray, FloatArray, one_of, positive
from twin.control.active_damping.closed_loop import LocalLaw, closed_loop, driven_plant
from twin.control.active_damping.local import (
    TRACKING_FREQUENCY_FACTOR,
    DirectVelocityFeedback,
    IntegralForceFeedback,
    LocalFeedback,
    local_loop_lag,
    slowest_mode,
)
from twin.control.controller import Reference
from twin.control.gains import drive_model
from twin.control.linear.machine import LinearMachine, StateSpace, lower_triangle
from twin.errors import InputError, StateError
from twin.model.machine_model import MachineModel
from twin.motion import Motion
from twin.plant.signals import Measurement

MAX_DOUBLINGS = 60
"""Largest number of doublings; each doubles the number of periods of the horizon."""

CONVERGENCE_TOLERANCE = 1e-12

DIVERGENCE_LIMIT = 1e60
"""Size of a solution that counts as divergence: its squares would overflow."""


def riccati(
    dynamics: FloatArray, input_matrix: FloatArray, cost: FloatArray, effort: FloatArray
) -> FloatArray:
    """Return the stabilising solution X `(s, s)` by structured doubling.

        X = A' X A - A' X B (R + B' X B)^-1 B' X A + Q

    The cost is summed over 1, 2, 4, ... periods. Chains of delays make the pencil of the usual
    method too ill-conditioned to be sorted; here they have died out after as many periods.

    Args:
        dynamics: `(s, s)` A.
        input_matrix: `(s, i)` B.
        cost: `(s, s)` Q, positive semidefinite; unstable states must cost, or stay unstable.
        effort: `(i, i)` R, the cost of the inputs, positive definite.

    Raises:
        StateError: no solution, because an unstable state is not controllable; its `data` has the
            last relative `change`.

    Reference:
        Chu, Fan, Lin, Wang, structure-preserving algorithms for periodic discrete-time algebraic
        Riccati equations, International Journal of Control 77 (2004).
    """
    transition = dynamics
    control_gramian = input_matrix @ np.linalg.solve(effort, input_matrix.T)
    solution = cost
    identity, change = np.eye(len(dynamics)), np.inf
    for _ in range(MAX_DOUBLINGS):
        if float(np.abs(solution).max()) > DIVERGENCE_LIMIT:
            break
        solved_columns = np.linalg.solve(
            identity + control_gramian @ solution, np.hstack([transition, control_gramian])
        )
        propagation = solved_columns[:, : len(identity)]
        gramian_factor = solved_columns[:, len(identity) :]
        increment = transition.T @ solution @ propagation
        control_gramian = control_gramian + transition @ gramian_factor @ transition.T
        transition = transition @ propagation
        solution = solution + 0.5 * (increment + increment.T)
        control_gramian = 0.5 * (control_gramian + control_gramian.T)
        diagonal_scale = np.sqrt(np.maximum(np.diag(solution), 1e-300))
        change = float(np.abs(increment / np.outer(diagonal_scale, diagonal_scale)).max())
        if change <= CONVERGENCE_TOLERANCE:
            return solution
    raise StateError("the gains of the loop do not settle", {"change": change})


INTEGRAL_CORNER_FRACTION = 0.2
"""Corner frequency of the integral part, as a fraction of the bandwidth."""

FORCE_NOISE = 1.0
"""[N] Engineering choice: standard deviation of the noise on the load cells of the legs."""


COORDINATE_NOISE = 1e-8
"""[m] Engineering choice: standard deviation of exact readings of the coordinates."""

WRENCH_DISTURBANCE = 1.0
"""[N, N m] Engineering choice: standard deviation of the wrench that disturbs the platform."""


class OuterLoop(NamedTuple):
    """Design of the outer loop of HAC-LAC: its gain and the machine that it acts on."""

    gain: FloatArray
    """`(n, s + n + 6)` on (x, z, s)"""
    machine: StateSpace
    """sampled, with its drives: from forces to coordinates, rates and forces"""
    filter: FloatArray
    """`(s, 3n)` Kalman gain on (q, q', F)"""
    displacement: FloatArray
    """`(6, s)` of the platform per state"""
    coordinates_to_displacement: FloatArray
    """`(6, n)` displacement per coordinates, springs in series added"""
    spring_compliance: FloatArray
    """`(n, n)` deflections at rest of springs in series per force, zero where there are none"""
    poles: ComplexArray
    """[1/s] poles of the whole loop: those of the regulator, then those of the Kalman filter"""


def outer_loop(linear: LinearMachine, law: LocalLaw, bandwidth: float) -> OuterLoop:
    """Return the outer loop around a machine with local laws, drives and sensors included.

    Args:
        linear: the machine, of six degrees of freedom.
        law: in every leg.
        bandwidth: w_h / 2 pi [Hz].

    Raises:
        InputError: numbers not above zero.
    """
    outer_frequency = 2.0 * np.pi * positive(bandwidth, "bandwidth")
    gain, regulated = _regulator(linear, law, outer_frequency)
    d, n = linear.size - linear.platform.n_deflections, linear.platform.n_actuators
    plant = driven_plant(linear, law.period, ("wrench", "forces"), ("displacement",))
    drives = drive_model(linear.platform)
    disturbance_input = plant.B[:, n:] * np.concatenate(
        [np.full(6, WRENCH_DISTURBANCE), drives.friction]
    )
    sensor_rows = plant.C[: 3 * n]
    sigma = np.maximum(COORDINATE_NOISE, drives.resolution / np.sqrt(12.0))
    has_encoder = drives.resolution > 0.0
    # Encoder rates are differences over a period; exact rates get the noise over 10 ms.
    rate_std = np.where(has_encoder, np.sqrt(2.0) * sigma / law.period, sigma / 0.01)
    reading_covariance = np.diag(np.concatenate([sigma, rate_std, np.full(n, FORCE_NOISE)]) ** 2)
    covariance = riccati(
        plant.A.T, sensor_rows.T, disturbance_input @ disturbance_input.T, reading_covariance
    )
    innovation = sensor_rows @ covariance @ sensor_rows.T + reading_covariance
    kalman = np.asarray(np.linalg.solve(innovation, sensor_rows @ covariance).T)
    error_dynamics = plant.A @ (np.eye(len(plant.A)) - kalman @ sensor_rows)
    poles = np.concatenate([np.linalg.eigvals(block) for block in (regulated, error_dynamics)])
    # Poles of pure delays are zero, where the logarithm does not exist.
    rates = np.log(np.where(np.abs(poles) < 1e-300, 1e-300, poles.astype(complex))) / law.period
    machine = StateSpace(plant.A, plant.B[:, :n], sensor_rows, np.zeros((3 * n, n)), law.period)
    spring_compliance: FloatArray = np.zeros((n, n))
    if linear.size > d:
        spring_compliance = np.asarray(
            np.linalg.solve(linear.stiffness[d:, d:], linear.force_input[d:])
        )
    coordinates_to_displacement = np.asarray(np.linalg.inv(linear.force_input[:d].T))
    return OuterLoop(
        gain,
        machine,
        kalman,
        plant.C[3 * n :],
        coordinates_to_displacement,
        spring_compliance,
        np.asarray(rates),
    )


def _regulator(
    linear: LinearMachine, law: LocalLaw, outer_frequency: float
) -> tuple[FloatArray, FloatArray]:
    """Return the gain `(n, s + n + 6)` on (x, z, s), and the matrix of the regulated loop."""
    damped_machine = closed_loop(linear, law, outputs=("displacement",))
    d, n = linear.size - linear.platform.n_deflections, linear.platform.n_actuators
    size = len(damped_machine.A)
    dynamics = lower_triangle(damped_machine.A, law.period * damped_machine.C, np.eye(6))
    input_matrix = np.vstack([damped_machine.B, np.zeros((6, n))])
    jacobian = linear.force_input[:d].T
    static_compliance = damped_machine.C @ np.linalg.solve(
        np.eye(size) - damped_machine.A, damped_machine.B
    )
    equivalent_stiffness = np.linalg.solve(
        jacobian.T, linear.mass[:d, :d] * outer_frequency**2
    ) + np.linalg.inv(static_compliance)
    displacement_rows = np.hstack([equivalent_stiffness @ damped_machine.C, np.zeros((n, 6))])
    integral_rows = np.hstack(
        [np.zeros((n, size)), INTEGRAL_CORNER_FRACTION * outer_frequency * equivalent_stiffness]
    )
    cost = displacement_rows.T @ displacement_rows + integral_rows.T @ integral_rows
    cost_to_go = riccati(dynamics, input_matrix, cost, np.eye(n))
    gain = np.linalg.solve(
        np.eye(n) + input_matrix.T @ cost_to_go @ input_matrix,
        input_matrix.T @ cost_to_go @ dynamics,
    )
    return np.asarray(gain), dynamics - input_matrix @ gain


INNER_LOOPS: dict[str, type[IntegralForceFeedback] | type[DirectVelocityFeedback]] = {
    "iff": IntegralForceFeedback,
    "dvf": DirectVelocityFeedback,
}

BANDWIDTH_FRACTION = 0.5
"""Bandwidth of the outer loop, as a fraction of the slowest mode's frequency."""


class HacLac(LocalFeedback):
    """High authority control around low authority control; commands forces.

        f = f_ref + law(..) - K (x, z, s)

    with the states x of the machine, z of the local loops, s the platform's displacement summed up.
    The local loops damp the modes and need no model; the outer one moves the platform as the
    reference says and holds it against constant loads, which force feedback alone gives way to.

    Attributes:
        outer: gains and Kalman filter.
        bandwidth: of the outer loop [Hz].
    """

    name: ClassVar[str] = "hac_lac"

    def __init__(
        self,
        platform: MachineModel,
        motion: Motion | Reference | None = None,
        *,
        inner: str | LocalFeedback = "iff",
        bandwidth: float | None = None,
        period: float | None = None,
        **options: Any,
    ) -> None:
        """Design both loops at home.

        Args:
            platform: with struts or viscoelastic legs, and six degrees of freedom.
            motion: reference motion; default: stay at home.
            inner: "iff" or "dvf"; or a controller whose law shall be taken.
            bandwidth: of the outer loop [Hz]; default half of the slowest mode, or what late
                drives leave of it.
            period: control period [s]; default twenty to the fastest mode's, at most 1 ms.
            options: of the inner loop, such as its gain; none with a controller.

        Raises:
            InputError: no such legs, numbers that cannot be used, or drives behind which the inner
                law damps nothing.
            StateError: the outer loop's gains do not settle.
        """
        inner_controller = _local(platform, inner, period, options)
        super().__init__(platform, inner_controller.law, inner_controller.linear, motion)
        if platform.n_actuators != 6:
            raise InputError("platform", f"{platform.name} must have six actuators")
        delay_limited_frequency = TRACKING_FREQUENCY_FACTOR / local_loop_lag(
            inner_controller.linear, inner_controller.period
        )
        default = min(
            BANDWIDTH_FRACTION * slowest_mode(inner_controller.linear), delay_limited_frequency
        ) / (2.0 * np.pi)
        self.bandwidth = default if bandwidth is None else bandwidth
        self.outer = outer_loop(inner_controller.linear, inner_controller.law, self.bandwidth)
        self._estimate = np.zeros(len(self.outer.machine.A))
        self._sum = np.zeros(6)

    def start(self, measurement: Measurement) -> None:
        """Start with the reference force and with the displacement integral at zero."""
        super().start(measurement)
        self._estimate[:] = 0.0
        self._sum[:] = 0.0

    def signals(self) -> dict[str, FloatArray]:
        """Return the readings of the load cells [N] and the estimated displacement `(6,)`."""
        displacement = self.outer.displacement @ self._estimate
        return super().signals() | {"estimated_displacement": displacement}

    def _outer_force(self, errors: FloatArray, law_force: FloatArray) -> FloatArray | float:
        """Return the forces of the outer loop, and update its filter and sum."""
        outer = self.outer
        machine = outer.machine
        estimate = self._estimate + outer.filter @ (errors - machine.C @ self._estimate)
        added_forces = -outer.gain @ np.concatenate([estimate, self._previous_state, self._sum])
        # From what is measured: a load that the filter does not know biases its estimate.
        n = len(added_forces)
        platform_displacement = outer.coordinates_to_displacement @ (
            errors[:n] + outer.spring_compliance @ errors[2 * n :]
        )
        self._sum = self._sum + self.period * platform_displacement
        self._estimate = machine.A @ estimate + machine.B @ (law_force + added_forces)
        return np.asarray(added_forces)


def _local(
    platform: MachineModel,
    inner: str | LocalFeedback,
    period: float | None,
    options: dict[str, Any],
) -> LocalFeedback:
    """Return the inner loop: the given controller, or one of its name with the options."""
    if not isinstance(inner, LocalFeedback):
        controller_class = INNER_LOOPS[one_of(inner, "inner", INNER_LOOPS)]
        option_names = signature(controller_class).parameters.keys() - {
            "platform",
            "motion",
            "period",
        }
        for unknown_option in sorted(options.keys() - option_names):
            accepted_options = ", ".join(sorted(option_names))
            raise InputError(
                unknown_option, f"no option of hac_lac with {inner}; it takes: {accepted_options}"
            )
        return controller_class(platform, None, period=period, **options)
    if options or period is not None or inner.platform.hash != platform.hash:
        raise InputError("inner", "must be of this machine, and brings its own period and options")
    return inner
