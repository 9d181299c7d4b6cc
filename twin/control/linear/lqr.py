"""Linearised machines, and LQR along a reference: inverse dynamics and state feedback on the error.

The regulator of a linearised machine is sampled at the control period. It minimises, over the
sampled motions x[k+1] = A x[k] + B u[k] of the machine about its pose,

    J = sum x'Q x + u'R u,    u = -K x,    J_min = x_0' P x_0,

with P of the discrete Riccati equation. With integral action the state is extended by
z[k+1] = z[k] + T d[k], the platform's displacement summed up.

Errors along the reference are in task space, by Jacobians that are computed once.

A machine is linearised about a pose of rest, or about a state of motion. The state is (q, v):
displacement of the platform in the directions its constraints leave free, then the deflections of
springs; and the changes of their rates,

    M v' + C v + K q = E_f f + E_w w + E_b a_b,    K = -M dv'/dq,    C = -M dv'/dv,    q' = v + W q,

with M from the machine's mass matrix and the derivatives from dual numbers, exact. In the frame of
a base with the acceleration a_b, the field -a_b is added to gravity on every body of the machine.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np

from twin.basics.arrays import (
    LARGEST_NUMBER,
    SMALLEST_NUMBER,
    FloatArray,
    as_flag,
    as_floats,
    as_instance,
    as_vector,
    one_pose,
)
from twin.basics.optional import optional
from twin.control.computed_torque import feedforward_table
from twin.control.controller import DEFAULT_PERIOD, Controller, Reference, hold_last
from twin.control.gains import drive_model
from twin.control.linear.machine import (
    LinearMachine,
    OperatingPoint,
    StateSpace,
    discretise,
    masses_on_springs,
    rest_at,
    with_drives,
)
from twin.errors import InputError
from twin.model.derivatives import forward_dynamics_derivatives
from twin.model.machine_base import ZERO_VECTOR, null_space
from twin.model.machine_model import MachineModel, as_model
from twin.motion import Motion
from twin.plant.drives import actuator_limit
from twin.plant.signals import Command, Measurement

REDUCED_AXES = (2, 3, 4)
"""Heave, roll and pitch: the displacements that machines with three degrees of freedom keep."""


def linearise(
    platform: MachineModel,
    pose: Any = None,
    twist: Any = None,
    forces: Any = None,
    *,
    wrench: Any = None,
    deflection: Any = None,
    parameters: Sequence[str] = (),
) -> LinearMachine:
    """Return the small motions of a machine about a state, by default at rest.

    Args:
        platform: any machine.
        pose: `(7,)`, default home.
        twist: `(6,)` [m/s, rad/s], default at rest.
        forces: `(n,)` of the actuators [N] or [N m]; default those that keep the twist constant.
        wrench: `(6,)` [N], [N m] that acts on the platform meanwhile, default none.
        deflection: `(2k,)` of springs in series [m] and their rates [m/s]; default where they rest,
            and zero with a twist or forces.
        parameters: p paths of parameters, as `numeric_paths` lists them, for the input
            `parameters`.

    Raises:
        InputError: wrong shape, not finite, a state the machine cannot have, an unknown parameter,
            a machine with constraints that moves: its free directions turn with the pose, and their
            derivatives would take part.
        SingularPoseError: the pose is singular.
    """
    point = _operating_point(platform, pose, twist, forces, wrench, deflection)
    free_motions = free_directions(platform, point.pose)
    size, k = free_motions.shape[1], platform.n_deflections
    kept_axes = list(range(6)) if size == 6 else list(REDUCED_AXES)
    mass = np.zeros((size + k, size + k))
    deflections = point.deflection
    mass[:size, :size] = (
        free_motions.T @ platform.mass_matrix(point.pose, deflection=deflections) @ free_motions
    )
    mass[size:, size:] = np.diag(masses_on_springs(platform))
    slopes = forward_dynamics_derivatives(
        platform,
        point.pose,
        point.twist,
        point.forces,
        point.wrench,
        deflection=deflections,
        parameters=parameters,
    )
    kept_rows = [*kept_axes, *range(6, 6 + k)]
    by_displacement = np.hstack([slopes.pose @ free_motions, slopes.deflection[:, :k]])[kept_rows]
    by_rate = np.hstack([slopes.twist @ free_motions, slopes.deflection[:, k:]])[kept_rows]

    jacobian = platform.jacobian(point.pose) @ free_motions
    return LinearMachine(
        platform=platform,
        point=point,
        mass=mass,
        damping=-mass @ by_rate,
        stiffness=-mass @ by_displacement,
        force_input=np.vstack([jacobian.T, -np.eye(k, platform.n_actuators)]),
        wrench_input=np.vstack([free_motions.T, np.zeros((k, 6))]),
        base_input=-mass @ slopes.gravity[kept_rows],
        displacement_map=np.hstack([free_motions, np.zeros((6, k))]),
        parameter_input=mass @ slopes.parameters[kept_rows],
        turning=_turning(point.twist[3:], size + k) if point.twist.any() else None,
    )


def _operating_point(
    platform: MachineModel, pose: Any, twist: Any, forces: Any, wrench: Any, deflection: Any
) -> OperatingPoint:
    """Return the state that a machine is linearised about."""
    if twist is None and forces is None and deflection is None:
        return rest_at(platform, pose, wrench)
    machine = as_model(platform)
    operating_pose = one_pose(machine.home if pose is None else pose)
    motion = as_vector(ZERO_VECTOR if twist is None else twist, "twist", 6)
    platform_wrench = as_vector(ZERO_VECTOR if wrench is None else wrench, "wrench", 6)
    if machine.dof < 6 and motion.any():
        raise InputError("twist", f"{machine.name} has constraints: it is linearised at rest only")
    deflections = as_vector(
        machine.as_deflection(deflection), "deflection", 2 * machine.n_deflections
    )
    if forces is None:
        actuator_forces = machine.inverse_dynamics(
            operating_pose, motion, ZERO_VECTOR, platform_wrench, deflection=deflections
        )
    else:
        actuator_forces = as_vector(forces, "forces", machine.n_actuators)
    return OperatingPoint(operating_pose, motion, actuator_forces, platform_wrench, deflections)


def _turning(omega: FloatArray, size: int) -> FloatArray:
    """Return W `(size, size)` with W q = omega x (small rotation); zero for other coordinates."""
    rotation_rate = np.zeros((size, size))
    rotation_rate[3:6, 3:6] = np.cross(omega, -np.eye(3))
    return rotation_rate


def free_directions(platform: MachineModel, pose: FloatArray) -> FloatArray:
    """Return displacements `(..., 6, dof)` that a machine can make at poses `(..., 7)`.

    The unit matrix for six degrees of freedom; for three, one column per unit of heave, roll and
    pitch [m, rad, rad], with what the constraints add to each, in base axes.

    Raises:
        InputError: a machine with other degrees of freedom than six or these three.
    """
    constraints = platform.constraints(pose)
    if platform.dof == 6:
        return np.eye(6)
    null = null_space(constraints)
    reduced_basis = null[..., list(REDUCED_AXES), :]
    if (np.abs(np.linalg.det(reduced_basis)) < 1e-9).any():
        raise InputError("platform", f"{platform.name} does not move in heave, roll and pitch")
    return null @ np.linalg.inv(reduced_basis)


FORCE_FRACTION = 0.1
"""Tolerated force in the cost, as a fraction of the actuator's largest force."""


class RegulatorWeights(NamedTuple):
    """Largest tolerated values: each counts as one in the cost (Bryson's rule)."""

    displacement: float = 1e-3
    """[m] and [rad]"""
    rate: float = 5e-2
    """[m/s] and [rad/s]"""
    force: float | None = None
    """[N] or [N m]; default a tenth of the actuators' limits; without limits, of the largest
    holding force"""
    integral: float = 1e-4
    """[m s] and [rad s]"""


class Regulator(NamedTuple):
    """A regulator with the data of its design."""

    gain: FloatArray
    """`(n, s)` K"""
    cost: FloatArray
    """`(s, s)` P: the least cost from x_0 is x_0' P x_0"""
    model: StateSpace
    """discrete-time, from forces to state; s is twice the degrees of freedom, three times with
    integral action"""
    state_weight: FloatArray
    """`(s, s)` Q"""
    force_weight: FloatArray
    """`(n, n)` R"""
    integral: bool


def regulator(
    linear: LinearMachine,
    period: float = DEFAULT_PERIOD,
    *,
    weights: RegulatorWeights | None = None,
    integral: bool = False,
) -> Regulator:
    """Return the regulator of a rigid machine with one actuator per degree of freedom.

    Args:
        linear: the machine, with or without its drives' inertia.
        period: control period [s].
        weights: what an error and a force cost.
        integral: sum up displacements, so that constant forces leave no error.

    Raises:
        InputError: a machine whose state does not follow from its actuators' coordinates and rates.
        MissingDependencyError: python-control is not installed.
    """
    library = optional("control", "The linear quadratic regulator")
    _check_actuators(linear.platform)
    if linear.size != linear.platform.dof:
        raise InputError("linear", "must have no degrees of freedom inside the legs")
    chosen_weights = as_instance(
        RegulatorWeights() if weights is None else weights, "weights", RegulatorWeights
    )
    values = as_floats(
        [
            chosen_weights.displacement,
            chosen_weights.rate,
            chosen_weights.integral,
            _tolerated_force(linear, chosen_weights),
        ],
        "weights",
    )
    if not ((values >= SMALLEST_NUMBER) & (values <= LARGEST_NUMBER)).all():
        raise InputError(
            "weights", f"must be above zero, from {SMALLEST_NUMBER:g} to {LARGEST_NUMBER:g}"
        )
    continuous, m = linear.system("forces", "coordinates"), linear.size
    model = discretise(continuous._replace(C=np.eye(2 * m), D=np.zeros((2 * m, m))), period)
    tolerances = np.repeat(values[:2], m)
    if as_flag(integral, "integral"):
        model = _with_integral(model)
        tolerances = np.repeat(values[:3], m)
    state_weight = np.diag(1.0 / tolerances**2)
    force_weight = np.eye(m) / values[3] ** 2
    try:
        with np.errstate(all="ignore"):
            gain, cost, _ = library.dlqr(model.A, model.B, state_weight, force_weight)
    except (ValueError, np.linalg.LinAlgError) as error:
        raise InputError("weights", f"no regulator has them at this period ({error})") from None
    arrays = (as_floats(gain, "weights"), as_floats(cost, "weights"))
    return Regulator(*arrays, model, state_weight, force_weight, integral)


def predicted_cost(design: Regulator, start: Any) -> float:
    """Return the least cost x_0' P x_0 from displacement, twist (and sums of displacements).

    Raises:
        InputError: wrong shape, not finite.
    """
    initial_state = as_vector(start, "start", len(design.cost))
    return float(initial_state @ design.cost @ initial_state)


def accumulated_cost(design: Regulator, states: Any, forces: Any) -> float:
    """Return the cost of states `(k, s)` under forces `(k, n)` beyond those of rest.

    Raises:
        InputError: wrong shapes, not finite.
    """
    x = as_floats(states, "states", len(design.cost))
    u = as_floats(forces, "forces", len(design.force_weight))
    if x.ndim != 2 or len(x) != len(u):
        raise InputError("states, forces", "must have one row per control period each")
    effort_cost = np.einsum("ki,ij,kj->", u, design.force_weight, u)
    return float(np.einsum("ki,ij,kj->", x, design.state_weight, x) + effort_cost)


def _tolerated_force(linear: LinearMachine, weights: RegulatorWeights) -> float:
    """Return the force [N] that costs as much as the largest errors."""
    if weights.force is not None:
        return weights.force
    effort = linear.platform.parameters.leg.actuator.effort
    if effort is not None:
        return FORCE_FRACTION * effort
    holding_force = float(np.abs(linear.point.forces).max())
    return max(FORCE_FRACTION * holding_force, 1.0)


def _with_integral(model: StateSpace) -> StateSpace:
    n_states, n_forces = model.B.shape
    dynamics = np.eye(n_states + n_forces)
    dynamics[:n_states, :n_states] = model.A
    dynamics[n_states:, :n_forces] = model.period * np.eye(n_forces)
    input_matrix = np.vstack([model.B, np.zeros((n_forces, n_forces))])
    return StateSpace(
        dynamics,
        input_matrix,
        np.eye(n_states + n_forces),
        np.zeros((n_states + n_forces, n_forces)),
        model.period,
    )


def _check_actuators(platform: MachineModel) -> None:
    """Raise InputError for a machine whose pose does not follow from its actuators alone."""
    if platform.n_actuators != platform.dof or platform.n_deflections:
        raise InputError(
            "controller",
            f"lqr needs one actuator per degree of freedom and no springs in series; "
            f"{platform.name} has {platform.n_actuators} actuators for {platform.dof} degrees of "
            f"freedom and {platform.n_deflections} springs in series; choose another controller",
        )


class TaskErrors:
    """Small displacements from the reference by the inverse Jacobian at its pose.

    d = J^-1 (q - q_ref), v = J^-1 (q' - q'_ref): exact to second order in the error, with J along
    the `free_directions`.
    """

    def __init__(self, platform: MachineModel, reference: Reference) -> None:
        """Compute the Jacobians of all rows.

        Rows that cannot be reached, at which the loop stops, take the last one before them.

        Raises:
            InputError: a machine whose pose does not follow from its actuators.
        """
        _check_actuators(platform)
        self._reference = reference
        poses = hold_last(reference.pose, reference.reachable > 0.0, platform.home)
        self._jacobian = platform.jacobian(poses) @ free_directions(platform, poses)

    def of(self, row: int, measurement: Measurement) -> tuple[FloatArray, FloatArray]:
        """Return displacement and its rate `(dof,)` from row `row` of the reference, base axes."""
        reference, inverse = self._reference, np.linalg.inv(self._jacobian[row])
        return (
            inverse @ (measurement.coordinates - reference.coordinates[row]),
            inverse @ (measurement.rates - reference.rates[row]),
        )


class Lqr(Controller):
    """Linear quadratic regulator of a rigid machine; commands forces.

        f = ID(reference) - K (d, v, z),   d = J^-1 (q - q_ref),  v = J^-1 (q' - q'_ref)

    K is designed at one pose, on the machine with the inertia of its drives. The sums z are held
    while the command of an actuator exceeds its limit.

    Attributes:
        design: the regulator.
    """

    name: ClassVar[str] = "lqr"

    def __init__(
        self,
        platform: MachineModel,
        motion: Motion | Reference | None = None,
        *,
        period: float = DEFAULT_PERIOD,
        weights: RegulatorWeights | None = None,
        integral: bool = False,
        design: Regulator | None = None,
    ) -> None:
        """Design the regulator and compute the forces of the reference.

        Args:
            platform: the machine.
            motion: reference motion; default: stay at home.
            period: control period [s].
            weights: what an error and a force cost.
            integral: sum up displacements, so that constant forces leave no error.
            design: a regulator of the same period instead of one for home.

        Raises:
            InputError: not such a machine, or a design of another period or number of actuators.
            SingularPoseError: the reference passes a singular pose.
            MissingDependencyError: python-control is not installed.
        """
        super().__init__(platform, motion, period=period)
        if design is None:
            machine = with_drives(linearise(platform))
            design = regulator(machine, self.period, weights=weights, integral=integral)
        if as_instance(design, "design", Regulator).model.period != self.period:
            raise InputError("design", "must have the controller's period")
        if len(design.gain) != platform.n_actuators:
            raise InputError(
                "design", f"is for {len(design.gain)} actuators, not {platform.n_actuators}"
            )
        self.design = design
        self._drives = drive_model(platform)
        self._prepare(self.reference)
        self._force_limits = actuator_limit(platform, "effort")
        self._state = np.zeros(design.gain.shape[1])

    def _prepare(self, reference: Reference) -> None:
        errors = TaskErrors(self.platform, reference)
        self._feedforward_forces = feedforward_table(self.platform, reference, self._drives).forces
        self._errors = errors
        super()._prepare(reference)

    def start(self, measurement: Measurement) -> None:
        """Start at `measurement`; with integral action the first force is the feedforward alone."""
        m = len(self.design.gain)
        self._state = np.zeros_like(self._state)
        self._state[: 2 * m] = np.concatenate(
            self._errors.of(self.reference.row(self.first), measurement)
        )
        if self.design.integral:
            error_force = -self.design.gain @ self._state
            self._state[2 * m :] = np.linalg.solve(self.design.gain[:, 2 * m :], error_force)

    def update(self, step: int, measurement: Measurement) -> Command:
        """Return the forces of control period `step`."""
        row_index = self.reference.row(step)
        error_state, m = self._state, len(self.design.gain)
        error_state[: 2 * m] = np.concatenate(self._errors.of(row_index, measurement))
        force = self._feedforward_forces[row_index] - self.design.gain @ error_state
        if self.design.integral and (np.abs(force) <= self._force_limits).all():
            error_state[2 * m :] += self.period * error_state[:m]
        return Command(force, "force")

    def signals(self) -> dict[str, FloatArray]:
        """Return the state that is fed back."""
        return {"error": self._state.copy()}
