"""MuJoCo as an engine; loops are closed by `connect` constraints.

Fidelities: `accurate` integrates with RK4, `fast` with Euler's method (first order, about half the
time). Both hold the loops as stiffly as MuJoCo allows: solref = (2 timestep, 1),
solimp = (0.9999, 0.9999, 0.001). With RK4 the softness that is left dominates: loop gap and pose
error fall with the square of the time step, the twist's with the step.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray, IndexArray, as_flag, as_floats, as_vector, one_of
from twin.basics.optional import optional
from twin.engines.base import LARGEST_GAP, BaseEngine, Scheme, check_timestep
from twin.engines.mechanism import (
    JointForces,
    JointMotion,
    Mechanism,
    as_segments,
    check_masses,
    joint_motion,
    make_mechanism,
    plain,
)
from twin.engines.mjcf import BALL_NAME, LOOP_SOLIMP, REFERENCE_BODY, loop_solref, mechanism_xml
from twin.engines.projection import OpenTree
from twin.errors import InputError
from twin.kernels.kinematics import largest_distance
from twin.machine.mechanism import PLATFORM_NAME
from twin.model.ball import Ball, place_on_plate
from twin.model.engine import Fidelity, State
from twin.model.machine_base import LegCoordinates
from twin.model.machine_model import MachineModel

optional("mujoco")
import mujoco  # noqa: E402

__all__ = ["MujocoEngine", "compile_model", "coordinates", "mujoco", "velocities"]

INTEGRATORS = {
    "Euler": mujoco.mjtIntegrator.mjINT_EULER,
    "RK4": mujoco.mjtIntegrator.mjINT_RK4,
    "implicit": mujoco.mjtIntegrator.mjINT_IMPLICIT,
    "implicitfast": mujoco.mjtIntegrator.mjINT_IMPLICITFAST,
}

FIDELITY_INTEGRATORS: dict[Fidelity, str] = {"accurate": "RK4", "fast": "Euler"}

EXPLICIT_DAMPING = mujoco.mjtDisableBit.mjDSBL_EULERDAMP
"""Flag with which Euler's method takes a damper's force from the start of the step. From its end,
MuJoCo's default, it changes accelerations after the loops' forces were found, and so opens the
loops: by a millimetre where they are held stiffly."""

MAX_INVERSE_WEIGHT = 3.0
"""Inverse weight of a body that closes a loop, at most, per that of the whole machine. MuJoCo lets
a loop yield in proportion to it, and so opens the loops of light legs: at the least mass of a leg's
part by metres. The forces in the loops are those of the whole machine's weight, whatever the legs
weigh."""

SOLVER_TOLERANCE = 1e-14
"""Relative improvement at which the constraint solver stops; MuJoCo's own default is 1e-8."""

DEFAULT_SOLREF = (0.02, 1.0)

DEFAULT_SOLIMP = (0.9, 0.95, 0.001, 0.5, 2.0)

DEFAULT_TOLERANCE = 1e-8

INTEGRATION_STATE = int(mujoco.mjtState.mjSTATE_INTEGRATION)
"""Everything MuJoCo's next step depends on, the solver's warm start included."""


def compile_model(machine: Mechanism, timestep: float = 1e-3) -> mujoco.MjModel:
    """Return the compiled model of a machine for a time step [s], without joint limits.

    The equations of motion of the other engines have none; a plant adds end stops of its own.

    Raises:
        InputError: MuJoCo refuses the model; says why.
    """
    try:
        model = mujoco.MjModel.from_xml_string(mechanism_xml(machine, timestep))
    except ValueError as error:
        raise InputError(
            "platform", f"MuJoCo refuses the model of {machine.name}: {error}"
        ) from None
    model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_LIMIT)
    return model


def coordinates(model: mujoco.MjModel, joints: Iterable[str]) -> IndexArray:
    """Return the places of joints in `qpos`."""
    return np.array([model.joint(name).qposadr[0] for name in joints], dtype=np.int64)


def velocities(model: mujoco.MjModel, joints: Iterable[str]) -> IndexArray:
    """Return the places of joints in `qvel`, `qacc` and forces."""
    return np.array([model.joint(name).dofadr[0] for name in joints], dtype=np.int64)


class Layout(NamedTuple):
    """Indices into MuJoCo's arrays, the same for all machines."""

    joints: IndexArray
    """`(2, m, n)` joints that add up to the actuators' coordinates: in `qpos`, in `qvel`"""
    joint_gains: FloatArray
    """`(m, n)` gains with which they do"""
    springs: IndexArray
    """`(2, k)` springs in the legs, likewise"""
    sliding_joints: IndexArray
    """`(f, 2)` joints of the sliding feet, in `qvel`"""
    tips: IndexArray
    """`(l,)` sites: first points of the loops"""
    sockets: IndexArray
    """`(l,)` second points"""
    free_qpos: int
    """first entry of the platform's free joint in `qpos`; -1 for a platform on joints"""
    free_qvel: int
    """first entry of that joint in `qvel`"""


def layout_of(machine: Mechanism, model: Any) -> Layout:
    """Return the indices of a machine's parts."""
    address_functions = (coordinates, velocities)
    joints = [
        addresses(model, machine.joint_names)[machine.measured] for addresses in address_functions
    ]
    sliding_joints = [velocities(model, friction.joints) for friction in machine.frictions]
    tips, sockets = (
        np.array([model.site(getattr(loop, loop_end)).id for loop in machine.loops])
        for loop_end in ("first", "second")
    )
    joint = model.joint(PLATFORM_NAME) if machine.floats else None
    return Layout(
        np.array(joints),
        machine.measured_gains,
        np.array([addresses(model, machine.deflection) for addresses in address_functions]),
        np.array(sliding_joints, dtype=np.int64).reshape(-1, 2),
        tips,
        sockets,
        -1 if joint is None else int(joint.qposadr[0]),
        -1 if joint is None else int(joint.dofadr[0]),
    )


class Settings(NamedTuple):
    """Settings that are written into the compiled model."""

    integrator: str
    solref: tuple[float, ...]
    """time constant [s] and damping ratio; both negative: minus stiffness and minus damping"""
    solimp: tuple[float, ...]
    """smallest and largest impedance, width [m], midpoint, power"""
    tolerance: float
    bounds_yield: bool
    """whether loops of light legs yield no more than `MAX_INVERSE_WEIGHT` allows"""

    @property
    def scheme(self) -> Scheme:
        """Scheme of the integrator's steps."""
        return "rk4" if self.integrator == "RK4" else "explicit"

    def apply(self, model: mujoco.MjModel, timestep: float) -> None:
        """Write the settings and the time step [s] into `model`."""
        model.opt.timestep = timestep
        model.opt.integrator = INTEGRATORS[self.integrator]
        model.opt.tolerance = self.tolerance
        model.opt.disableflags |= int(EXPLICIT_DAMPING)
        model.eq_solref[:] = self.solref
        model.eq_solimp[:] = self.solimp
        if self.bounds_yield:
            ends = model.site_bodyid[np.concatenate([model.eq_obj1id, model.eq_obj2id])]
            inverse_weight_limit = MAX_INVERSE_WEIGHT / model.body_subtreemass[0]
            model.body_invweight0[ends, 0] = np.minimum(
                model.body_invweight0[ends, 0], inverse_weight_limit
            )


def make_settings(
    timestep: float,
    fidelity: Fidelity,
    *,
    solref: Any = None,
    solimp: Any = None,
    integrator: str | None = None,
    engine_defaults: bool = False,
) -> Settings:
    """Return a fidelity's settings with some replaced.

    Raises:
        InputError: unknown integrator, or numbers MuJoCo would not take as they are.
    """
    default_integrator = FIDELITY_INTEGRATORS[fidelity]
    name = (
        default_integrator if integrator is None else one_of(integrator, "integrator", INTEGRATORS)
    )
    as_flag(engine_defaults, "engine_defaults")
    own_solref = DEFAULT_SOLREF if engine_defaults else loop_solref(timestep)
    own_solimp = DEFAULT_SOLIMP if engine_defaults else LOOP_SOLIMP
    return Settings(
        name,
        own_solref if solref is None else _check_solref(solref),
        own_solimp if solimp is None else _check_solimp(solimp),
        DEFAULT_TOLERANCE if engine_defaults else SOLVER_TOLERANCE,
        not engine_defaults,
    )


def _check_solref(value: Any) -> tuple[float, ...]:
    time_constant, damping_ratio = as_vector(value, "solref", 2)
    if not (min(time_constant, damping_ratio) > 0 or max(time_constant, damping_ratio) < 0):
        raise InputError("solref", "must be two positive or two negative numbers")
    return float(time_constant), float(damping_ratio)


def _check_solimp(value: Any) -> tuple[float, ...]:
    solimp_values = as_floats(value, "solimp")
    if solimp_values.shape not in ((3,), (5,)):
        raise InputError("solimp", f"must be 3 or 5 numbers, got shape {solimp_values.shape}")
    minimum_impedance, maximum_impedance, width, midpoint, power = [
        *solimp_values.tolist(),
        *LOOP_SOLIMP[3:],
    ][:5]
    if not (
        0 < minimum_impedance < 1
        and 0 < maximum_impedance < 1
        and width > 0
        and 0 < midpoint < 1
        and power >= 1
    ):
        raise InputError(
            "solimp",
            "needs impedances between 0 and 1, a width above 0, a midpoint between 0 and 1 and a "
            f"power of at least 1, got {solimp_values.tolist()}",
        )
    return minimum_impedance, maximum_impedance, width, midpoint, power


def open_tree(
    platform: MachineModel,
    pose: FloatArray,
    twist: FloatArray,
    acceleration: FloatArray,
    joints: JointMotion,
) -> OpenTree:
    """Return the tree's generalised forces and Jacobians for one motion `(7,)`, `(6,)`, `(6,)`.

    `joints` is the motion of all joints that goes with it.

    Raises:
        InputError: MuJoCo refuses the machine.
    """
    tree = _tree(platform)
    machine, model, data = tree.machine, tree.model, mujoco.MjData(tree.model)
    data.qpos[tree.coordinates] = joints.values
    data.qvel[tree.velocities] = joints.rates
    data.qacc[tree.velocities] = joints.accelerations
    order, to_platform = tree.velocities, np.eye(6)
    if machine.floats:
        # MuJoCo's free joint: velocity in base axes, angular velocity in platform axes. The time
        # derivative of the latter is the angular acceleration in platform axes.
        first_coordinate, first_velocity = tree.free
        to_platform[3:, 3:] = _rotation(pose[3:]).T
        platform_columns = slice(first_velocity, first_velocity + 6)
        data.qpos[first_coordinate : first_coordinate + 7] = pose
        data.qvel[platform_columns], data.qacc[platform_columns] = (
            to_platform @ twist,
            to_platform @ acceleration,
        )
        order = np.concatenate([np.arange(first_velocity, first_velocity + 6), order])
    mujoco.mj_inverse(model, data)
    dry_friction = JointForces(machine, springs=False, viscous=False)
    friction_joints = dry_friction.joints
    torques = data.qfrc_inverse.copy()
    torques[tree.velocities[friction_joints]] -= dry_friction(
        joints.values[friction_joints], joints.rates[friction_joints]
    )
    torques = torques[order]
    site_pairs = ((loop.first, loop.second) for loop in machine.loops)
    openings = [
        _jacobian(model, data, first_site) - _jacobian(model, data, second_site)
        for first_site, second_site in site_pairs
    ]
    closure = np.concatenate(openings)[:, order]
    if machine.floats:
        torques[:6] = to_platform.T @ torques[:6]
        closure[:, :6] = closure[:, :6] @ to_platform
    return OpenTree(torques, closure)


class _Tree(NamedTuple):
    machine: Mechanism
    model: mujoco.MjModel
    coordinates: IndexArray
    velocities: IndexArray
    free: tuple[int, int]
    """places of the free joint in `qpos` and `qvel`"""


@lru_cache(maxsize=8)
def _tree(platform: MachineModel) -> _Tree:
    machine = make_mechanism(platform.parameters)
    model = compile_model(machine)
    model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONSTRAINT)
    names, layout = machine.joint_names, layout_of(machine, model)
    free = layout.free_qpos, layout.free_qvel
    return _Tree(machine, model, coordinates(model, names), velocities(model, names), free)


def _jacobian(model: mujoco.MjModel, data: mujoco.MjData, site: str) -> FloatArray:
    jacobian = np.empty((3, model.nv))
    mujoco.mj_jacSite(model, data, jacobian, None, data.site(site).id)
    return jacobian


def _rotation(quaternion: FloatArray) -> FloatArray:
    """Return the rotation matrix `(3, 3)` platform to base, by MuJoCo."""
    matrix = np.empty(9)
    mujoco.mju_quat2Mat(matrix, quaternion)
    return matrix.reshape(3, 3)


class FreeBody:
    """A body on a free joint: position and velocity in base axes, spin in its own axes."""

    sign = 1.0

    def __init__(
        self, model: mujoco.MjModel, data: mujoco.MjData, joint: str = PLATFORM_NAME
    ) -> None:
        """Keep views into MuJoCo's own memory; looking them up in each step costs more."""
        free_joint = model.joint(joint)
        first_coordinate, first_velocity = free_joint.qposadr[0], free_joint.dofadr[0]
        self._pose: FloatArray = data.qpos[first_coordinate : first_coordinate + 7]
        self._velocity = data.qvel[first_velocity : first_velocity + 3]
        self._angular_velocity = data.qvel[first_velocity + 3 : first_velocity + 6]

    def place(self, pose: FloatArray, twist: FloatArray) -> None:
        """Put the body at a pose `(7,)` with a twist `(6,)`."""
        self._pose[:] = pose
        self._velocity[:] = twist[:3]
        mujoco.mju_rotVecQuat(self._angular_velocity, twist[3:], pose[3:] * [1.0, -1.0, -1.0, -1.0])

    def read(self) -> tuple[FloatArray, FloatArray]:
        """Return pose `(7,)` and twist `(6,)`."""
        pose, twist = self._pose.copy(), np.empty(6)
        twist[:3] = self._velocity
        mujoco.mju_rotVecQuat(twist[3:], self._angular_velocity, pose[3:])
        return pose, twist


class CarriedPlatform:
    """A platform on joints, whose pose and twist follow from theirs.

    Attributes:
        sign: 1 or -1, of the quaternion at the reset relative to the one that MuJoCo computes.
    """

    def __init__(self, model: mujoco.MjModel, data: mujoco.MjData) -> None:
        """Keep the model, its data and the place of the body in them."""
        self._model, self._data = model, data
        self._body = model.body(PLATFORM_NAME).id
        self._position, self._quaternion = data.xpos[self._body], data.xquat[self._body]
        self._spin_and_velocity = np.empty(6)
        self.sign = 1.0

    def place(self, pose: FloatArray, twist: FloatArray) -> None:
        """Store the sign of the pose's quaternion; the joints have been placed."""
        mujoco.mj_kinematics(self._model, self._data)
        self.sign = 1.0 if self._quaternion.dot(pose[3:]) > 0.0 else -1.0

    def read(self) -> tuple[FloatArray, FloatArray]:
        """Return pose `(7,)` and twist `(6,)`."""
        model, data = self._model, self._data
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)
        mujoco.mj_comVel(model, data)
        object_type = mujoco.mjtObj.mjOBJ_XBODY
        mujoco.mj_objectVelocity(model, data, object_type, self._body, self._spin_and_velocity, 0)
        pose = np.concatenate([self._position, self.sign * self._quaternion])
        return pose, np.concatenate([self._spin_and_velocity[3:], self._spin_and_velocity[:3]])


def platform_of(
    machine: Mechanism, model: mujoco.MjModel, data: mujoco.MjData
) -> FreeBody | CarriedPlatform:
    """Return the accessor of the platform's pose and twist in MuJoCo's data."""
    return (FreeBody if machine.floats else CarriedPlatform)(model, data)


class MujocoEngine(BaseEngine):
    """One machine in MuJoCo.

    Attributes:
        model: the compiled `MjModel`, for reading (change it, and saved states no longer fit).
        data: its `MjData`; rendering and sensors read it.
    """

    name = "mujoco"

    def __init__(
        self,
        platform: MachineModel,
        timestep: float = 1e-3,
        fidelity: Fidelity = "accurate",
        *,
        solref: Any = None,
        solimp: Any = None,
        integrator: str | None = None,
        engine_defaults: bool = False,
        payload: Any = None,
        ball: Any = None,
        largest_gap: float = LARGEST_GAP,
    ) -> None:
        """Compile the machine's model; call `reset` before `step`.

        Args:
            platform: the machine.
            timestep: step [s].
            fidelity: "accurate" or "fast".
            solref: time constant [s] and damping ratio of the loops, or both negative: minus
                stiffness [1/s2] and minus damping [1/s].
            solimp: impedance of the loops: smallest, largest, width [m], midpoint, power.
            integrator: "RK4", "implicitfast", "implicit" or "Euler" instead of the fidelity's.
            engine_defaults: use MuJoCo's own constraint settings and solver tolerance, to see
                the errors that they cause.
            payload: on the platform: an `Occupant`, or its segments.
            ball: one that rolls on the platform: a `Ball`, or True for one in proportion to the
                machine.
            largest_gap: loop gap [m] above which the engine stops.

        Raises:
            InputError: an argument that cannot be used, a time step too long for the machine, or a
                machine MuJoCo refuses.
        """
        super().__init__(platform, timestep, fidelity, largest_gap, ball)
        settings = make_settings(
            self.timestep,
            fidelity,
            solref=solref,
            solimp=solimp,
            integrator=integrator,
            engine_defaults=engine_defaults,
        )
        segments = as_segments(payload, platform.parameters.gravity)
        self._machine = make_mechanism(platform.parameters, segments, self._ball)
        check_masses(self._machine, platform.parameters, self.name)
        check_timestep(platform, self.timestep, self.name, self._scheme(settings))
        self._identify(
            f"MuJoCo {mujoco.mj_versionString()}",
            {
                "solref": settings.solref,
                "solimp": settings.solimp,
                "integrator": settings.integrator,
                "engine_defaults": engine_defaults,
                "payload": plain(segments) or None,
            },
        )
        self.model = compile_model(self._machine, self.timestep)
        settings.apply(self.model, self.timestep)
        # A bad state must reach the guard; MuJoCo would put the machine home and go on.
        self.model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_AUTORESET)
        self.data = mujoco.MjData(self.model)
        self._saved_size = mujoco.mj_stateSize(self.model, INTEGRATION_STATE)
        self._warnings: list[str] = []
        self._take_views()

    def _scheme(self, settings: Settings) -> Scheme:
        """Return the scheme for springs and dampers; dry friction is held constant over a step."""
        has_dry_friction = any(friction.coulomb for friction in self._machine.frictions)
        return "explicit" if has_dry_friction else settings.scheme

    def _place(
        self, pose: FloatArray, twist: FloatArray, deflection: FloatArray, legs: LegCoordinates
    ) -> None:
        mujoco.mj_resetData(self.model, self.data)
        joints = joint_motion(self._machine, legs)
        self.data.qpos[coordinates(self.model, self._machine.joint_names)] = joints.values
        self.data.qvel[velocities(self.model, self._machine.joint_names)] = joints.rates
        self._platform.place(pose, twist)
        self._collecting_warnings(mujoco.mj_forward)  # for readers of `data`

    def _apply_field(self) -> None:
        self.model.opt.gravity[:] = self._field

    def _advance(self, forces: FloatArray, wrench: FloatArray) -> tuple[float, str]:
        """Step; forces of dry friction are held over the step like those of the actuators."""
        self._control[:] = forces
        self._wrench[:] = wrench
        if len(self._friction_dofs):
            rates = self._rates[self._friction_dofs]
            self._applied[self._friction_dofs] = self._friction(np.zeros_like(rates), rates)
        self._collecting_warnings(mujoco.mj_step)
        return self._gap(), "; ".join(self._warnings)

    def _read(self) -> State:
        """Return the state; lengths and rates are those of the actuated joints."""
        pose, twist = self._platform.read()
        values, rates = self._values[self._measured], self._rates[self._measured_rates]
        deflection = np.empty(0)
        if values.ndim > 1:
            values = (self._joint_gains * values).sum(axis=0)
            rates = (self._joint_gains * rates).sum(axis=0)
        if self._springs.size:
            spring_state = (self._values[self._springs], self._rates[self._spring_rates])
            deflection = np.concatenate(spring_state)
        lengths = self.platform.home_coordinates + values
        return State(self._steps * self.timestep, pose, twist, lengths, rates, deflection)

    def _gap(self) -> float:
        mujoco.mj_kinematics(self.model, self.data)
        return float(largest_distance(self._sites, self._tips, self._sockets))

    def _content(self) -> bytes:
        values = np.empty(self._saved_size + 1)
        mujoco.mj_getState(self.model, self.data, values[:-1], INTEGRATION_STATE)
        values[-1] = self._platform.sign
        return values.tobytes()

    def _load(self, content: bytes) -> None:
        values = np.frombuffer(content)
        mujoco.mj_resetData(self.model, self.data)
        mujoco.mj_setState(self.model, self.data, values[:-1], INTEGRATION_STATE)
        self._platform.sign = float(values[-1])
        self._collecting_warnings(mujoco.mj_forward)  # for readers of `data`

    def _place_ball(self, ball: Ball, pose: FloatArray, twist: FloatArray, start: Any) -> None:
        ball_motion = place_on_plate(ball, pose, twist, start)
        FreeBody(self.model, self.data, BALL_NAME).place(ball_motion[:7], ball_motion[7:])
        self._collecting_warnings(mujoco.mj_forward)  # for readers of `data`

    def _read_ball(self, ball: Ball) -> FloatArray:
        return np.concatenate(FreeBody(self.model, self.data, BALL_NAME).read())

    def _collecting_warnings(self, function: Any) -> None:
        """Call into MuJoCo with its warnings in `_warnings` instead of a log file."""
        self._warnings.clear()
        previous_handler = mujoco.get_mju_user_warning()
        mujoco.set_mju_user_warning(self._warnings.append)
        try:
            function(self.model, self.data)
        finally:
            mujoco.set_mju_user_warning(previous_handler)

    def _take_views(self) -> None:
        """Keep views into MuJoCo's own memory; to look them up in each step costs more than it."""
        machine, model, data = self._machine, self.model, self.data
        self._platform = platform_of(machine, model, data)
        self._values, self._rates, self._applied = data.qpos, data.qvel, data.qfrc_applied
        layout = layout_of(machine, model)
        self._measured, self._measured_rates = layout.joints.squeeze()
        self._joint_gains = layout.joint_gains
        self._springs, self._spring_rates = layout.springs
        self._tips, self._sockets = layout.tips, layout.sockets
        # MuJoCo's own joints have springs and dampers, but no dry friction of a finite slope.
        self._friction = JointForces(machine, springs=False, viscous=False)
        friction_joints = [machine.joint_names[k] for k in self._friction.joints]
        self._friction_dofs = velocities(model, friction_joints)
        self._control, self._sites = data.ctrl, data.site_xpos
        self._wrench = data.xfrc_applied[data.body(REFERENCE_BODY).id]
