"""MuJoCo behind the engine protocol; loops closed by `connect` constraints.

Fidelities: `accurate` integrates with RK4, `fast` with Euler's method (first order, about half the
time). Both hold the loops as stiffly as MuJoCo allows: solref = (2 timestep, 1),
solimp = (0.9999, 0.9999, 0.001). With RK4 the softness that is left dominates: loop gap and pose
error fall with the square of the time step, the twist's with the step.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from twin.basics.arrays import FloatArray
from twin.engines.base import BaseEngine
from twin.engines.guard import LARGEST_GAP
from twin.engines.mechanism.assembly import make_mechanism
from twin.engines.mechanism.joints import JointForces, joint_motion
from twin.engines.mechanism.least_mass import check_masses
from twin.engines.mechanism.payload import as_segments, plain
from twin.engines.mjcf.ball import BALL
from twin.engines.mjcf.robot import REFERENCE
from twin.engines.mujoco.model import compile_model, coordinates, mujoco, velocities
from twin.engines.mujoco.platform import FreeBody, platform_of
from twin.engines.mujoco.settings import Settings, make_settings
from twin.engines.stability import Scheme, check_timestep
from twin.kernels.loop_gaps import largest_distance
from twin.model.ball.ball import Ball
from twin.model.ball.position import place_on_plate
from twin.model.engine import Fidelity, State
from twin.model.machine_model import MachineModel
from twin.model.motions import LegCoordinates

SAVED = int(mujoco.mjtState.mjSTATE_INTEGRATION)
"""Everything MuJoCo's next step depends on, the solver's warm start included."""


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
                what they cost.
            payload: on the platform: an `Occupant`, or segments.
            ball: that rolls on the platform: a `Ball`, or True for one in proportion to the
                machine.
            largest_gap: loop gap [m] that stops the engine.

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
        self._saved_size = mujoco.mj_stateSize(self.model, SAVED)
        self._warnings: list[str] = []
        self._take_views()

    def _scheme(self, settings: Settings) -> Scheme:
        """Return how springs and dampers are stepped; dry friction is held over the step."""
        dry = any(friction.coulomb for friction in self._machine.frictions)
        return "explicit" if dry else settings.scheme

    def _place(
        self, pose: FloatArray, twist: FloatArray, deflection: FloatArray, legs: LegCoordinates
    ) -> None:
        mujoco.mj_resetData(self.model, self.data)
        joints = joint_motion(self._machine, legs)
        self.data.qpos[coordinates(self.model, self._machine.joint_names)] = joints.values
        self.data.qvel[velocities(self.model, self._machine.joint_names)] = joints.rates
        self._platform.place(pose, twist)
        self._collecting_warnings(mujoco.mj_forward)  # for readers of `data`

    def _feel(self) -> None:
        self.model.opt.gravity[:] = self._field

    def _advance(self, forces: FloatArray, wrench: FloatArray) -> tuple[float, str]:
        """Step; forces of dry friction are held over the step like those of the actuators."""
        self._control[:] = forces
        self._wrench[:] = wrench
        if len(self._rubbing):
            rates = self._rates[self._rubbing]
            self._applied[self._rubbing] = self._friction(np.zeros_like(rates), rates)
        self._collecting_warnings(mujoco.mj_step)
        return self._gap(), "; ".join(self._warnings)

    def _read(self) -> State:
        """Return the state; lengths and rates are those of the actuated joints."""
        pose, twist = self._platform.read()
        values, rates = self._values[self._measured], self._rates[self._measured_rates]
        deflection = np.empty(0)
        if self._internal.size:
            values, rates = values.sum(axis=0), rates.sum(axis=0)
            own = (self._values[self._internal], self._rates[self._internal_rates])
            deflection = np.concatenate(own)
        lengths = self.platform.home_coordinates + values
        return State(self._steps * self.timestep, pose, twist, lengths, rates, deflection)

    def _gap(self) -> float:
        mujoco.mj_kinematics(self.model, self.data)
        return float(largest_distance(self._sites, self._tips, self._sockets))

    def _content(self) -> bytes:
        values = np.empty(self._saved_size + 1)
        mujoco.mj_getState(self.model, self.data, values[:-1], SAVED)
        values[-1] = self._platform.sign
        return values.tobytes()

    def _load(self, content: bytes) -> None:
        values = np.frombuffer(content)
        mujoco.mj_resetData(self.model, self.data)
        mujoco.mj_setState(self.model, self.data, values[:-1], SAVED)
        self._platform.sign = float(values[-1])
        self._collecting_warnings(mujoco.mj_forward)  # for readers of `data`

    def _place_ball(self, ball: Ball, pose: FloatArray, twist: FloatArray, start: Any) -> None:
        place = place_on_plate(ball, pose, twist, start)
        FreeBody(self.model, self.data, BALL).place(place[:7], place[7:])
        self._collecting_warnings(mujoco.mj_forward)  # for readers of `data`

    def _read_ball(self, ball: Ball) -> FloatArray:
        return np.concatenate(FreeBody(self.model, self.data, BALL).read())

    def _collecting_warnings(self, function: Any) -> None:
        """Call into MuJoCo with its warnings in `_warnings` instead of a log file."""
        self._warnings.clear()
        before = mujoco.get_mju_user_warning()
        mujoco.set_mju_user_warning(self._warnings.append)
        try:
            function(self.model, self.data)
        finally:
            mujoco.set_mju_user_warning(before)

    def _take_views(self) -> None:
        """Keep views into MuJoCo's own memory; to look them up in each step costs more than it."""
        machine, model, data = self._machine, self.model, self.data
        self._platform = platform_of(machine, model, data)
        self._values, self._rates, self._applied = data.qpos, data.qvel, data.qfrc_applied
        names = [actuator.measured for actuator in machine.actuators]
        self._measured, self._measured_rates = (
            np.stack([places(model, row) for row in names], axis=1).squeeze()
            for places in (coordinates, velocities)
        )
        self._internal = coordinates(model, machine.deflection)
        self._internal_rates = velocities(model, machine.deflection)
        # MuJoCo's own joints have springs and dampers, but no dry friction of a finite slope.
        self._friction = JointForces(machine, springs=False, viscous=False)
        rubbing = [machine.joint_names[k] for k in self._friction.joints]
        self._rubbing = velocities(model, rubbing)
        self._control, self._sites = data.ctrl, data.site_xpos
        self._wrench = data.xfrc_applied[data.body(REFERENCE).id]
        self._tips, self._sockets = (
            np.array([data.site(getattr(loop, end)).id for loop in machine.loops])
            for end in ("first", "second")
        )
