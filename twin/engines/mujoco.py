"""MuJoCo behind the engine protocol; loops closed by six `connect` constraints.

Presets: `validation` integrates with RK4, `fast` with implicitfast (first order, about half the
time). Both hold the loops as stiffly as MuJoCo allows: solref = (2 timestep, 1),
solimp = (0.9999, 0.9999, 0.001). With RK4 the softness that is left dominates: loop gap and pose
error fall with the square of the time step, the twist's with the step.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from twin.arrays import FloatArray
from twin.engines.base import BaseEngine
from twin.engines.engine import Preset, State
from twin.engines.gaps import largest_distance
from twin.engines.guard import LARGEST_GAP
from twin.engines.mujoco_model import JOINTS_START, compile_model, mujoco
from twin.engines.mujoco_settings import make_settings
from twin.platform import LegCoordinates, Platform

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
        platform: Platform,
        timestep: float = 1e-3,
        preset: Preset = "validation",
        *,
        solref: Any = None,
        solimp: Any = None,
        integrator: str | None = None,
        engine_defaults: bool = False,
        largest_gap: float = LARGEST_GAP,
    ) -> None:
        """Compile the machine's model; call `reset` before `step`.

        Args:
            platform: the machine.
            timestep: step [s].
            preset: "validation" or "fast".
            solref: time constant [s] and damping ratio of the loops, or both negative: minus
                stiffness [1/s2] and minus damping [1/s].
            solimp: impedance of the loops: smallest, largest, width [m], midpoint, power.
            integrator: "RK4", "implicitfast", "implicit" or "Euler" instead of the preset's.
            engine_defaults: use MuJoCo's own constraint settings and solver tolerance, to see
                what they cost.
            largest_gap: loop gap [m] that stops the engine.

        Raises:
            InputError: an argument that cannot be used, or a machine MuJoCo refuses.
        """
        super().__init__(platform, timestep, preset, largest_gap)
        settings = make_settings(
            self.timestep,
            preset,
            solref=solref,
            solimp=solimp,
            integrator=integrator,
            engine_defaults=engine_defaults,
        )
        self._identify(
            f"MuJoCo {mujoco.mj_versionString()}",
            {
                "solref": settings.solref,
                "solimp": settings.solimp,
                "integrator": settings.integrator,
                "engine_defaults": engine_defaults,
            },
        )
        self.model = compile_model(platform)
        settings.apply(self.model, self.timestep)
        # A bad state must reach the guard; MuJoCo would put the machine home and go on.
        self.model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_AUTORESET)
        self.data = mujoco.MjData(self.model)
        self._saved_size = mujoco.mj_stateSize(self.model, SAVED)
        self._warnings: list[str] = []
        self._take_views()

    def _place(self, pose: FloatArray, twist: FloatArray, legs: LegCoordinates) -> None:
        mujoco.mj_resetData(self.model, self.data)
        self._pose[:] = pose
        self._leg_positions[:, :2] = legs.angles
        self._leg_positions[:, 2] = legs.lengths - self.platform.home_lengths
        self._velocity[:] = twist[:3]
        mujoco.mju_rotVecQuat(self._spin, twist[3:], pose[3:] * [1.0, -1.0, -1.0, -1.0])
        self._leg_rates[:, :2] = legs.angle_rates
        self._leg_rates[:, 2] = legs.length_rates
        self._collecting_warnings(mujoco.mj_forward)  # for those who read `data`

    def _advance(self, forces: FloatArray, wrench: FloatArray) -> tuple[float, str]:
        """Step under a wrench that is exact at every stage of the integrator.

        Its force acts on the free joint's translation, which is that of the reference point, its
        moment on the body in base axes.
        """
        self._control[:] = forces
        self._force[:] = wrench[:3]
        self._moment[:] = wrench[3:]
        self._collecting_warnings(mujoco.mj_step)
        return self._gap(), "; ".join(self._warnings)

    def _read(self) -> State:
        """Return the state; lengths and rates are those of the slide joints."""
        pose, twist = self._pose.copy(), np.empty(6)
        twist[:3] = self._velocity
        mujoco.mju_rotVecQuat(twist[3:], self._spin, pose[3:])
        lengths = self.platform.home_lengths + self._extensions
        return State(self._steps * self.timestep, pose, twist, lengths, self._rates.copy())

    def _gap(self) -> float:
        mujoco.mj_kinematics(self.model, self.data)
        return float(largest_distance(self._sites, self._tips, self._platform_joints))

    def _content(self) -> bytes:
        values = np.empty(self._saved_size)
        mujoco.mj_getState(self.model, self.data, values, SAVED)
        return values.tobytes()

    def _load(self, content: bytes) -> None:
        mujoco.mj_resetData(self.model, self.data)
        mujoco.mj_setState(self.model, self.data, np.frombuffer(content), SAVED)
        self._collecting_warnings(mujoco.mj_forward)  # for those who read `data`

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
        data, count = self.data, self.platform.n_actuators
        self._pose: FloatArray = data.qpos[:JOINTS_START]
        self._leg_positions = data.qpos[JOINTS_START:].reshape(count, 3)
        self._velocity, self._spin = data.qvel[:3], data.qvel[3:6]
        self._leg_rates = data.qvel[6:].reshape(count, 3)
        self._extensions, self._rates = self._leg_positions[:, 2], self._leg_rates[:, 2]
        self._control = data.ctrl
        self._force = data.qfrc_applied[:3]
        self._moment = data.xfrc_applied[data.body("platform").id, 3:]
        self._sites = data.site_xpos
        legs = range(1, count + 1)
        self._tips = np.array([data.site(f"leg_{leg}_tip").id for leg in legs])
        self._platform_joints = np.array(
            [data.site(f"leg_{leg}_platform_joint").id for leg in legs]
        )
