"""MuJoCo behind the engine protocol; loops closed by six `connect` constraints.

Presets: `validation` integrates with RK4, `fast` with implicitfast (first order, about half the
time). Both hold the loops as stiffly as MuJoCo allows: solref = (2 timestep, 1),
solimp = (0.9999, 0.9999, 0.001). With RK4 the softness that is left dominates: loop gap and pose
error fall with the square of the time step, the twist's with the step.
"""

from __future__ import annotations

from math import sqrt
from typing import Any

import numpy as np

from twin.arrays import FloatArray, as_pose, as_vector, positive
from twin.engines.engine import Preset, State
from twin.engines.guard import LARGEST_GAP, Guard
from twin.engines.mujoco_model import JOINTS_START, compile_model, mujoco
from twin.engines.mujoco_settings import make_settings
from twin.engines.saved import header, pack, unpack
from twin.errors import ClosedEngineError, InputError
from twin.platform import REST, Platform

SAVED = int(mujoco.mjtState.mjSTATE_INTEGRATION)
"""Everything MuJoCo's next step depends on, the solver's warm start included."""


class MujocoEngine:
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
        self.platform = platform
        self.timestep = positive(timestep, "timestep")
        self.preset = preset
        settings = make_settings(
            self.timestep,
            preset,
            solref=solref,
            solimp=solimp,
            integrator=integrator,
            engine_defaults=engine_defaults,
        )
        self.model = compile_model(platform)
        settings.apply(self.model, self.timestep)
        # A bad state must reach the guard; MuJoCo would put the machine home and go on.
        self.model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_AUTORESET)
        self.data = mujoco.MjData(self.model)
        self._guard = Guard(
            self.name,
            platform,
            self.timestep,
            preset,
            positive(largest_gap, "largest_gap"),
            {
                "solref": settings.solref,
                "solimp": settings.solimp,
                "integrator": settings.integrator,
                "engine_defaults": engine_defaults,
            },
        )
        options = f"MuJoCo {mujoco.mj_versionString()}, {settings}"
        self._header = header(self.name, platform, preset, self.timestep, options)
        self._saved_size = mujoco.mj_stateSize(self.model, SAVED)
        self._warnings: list[str] = []
        self._steps = 0
        self._ready = self._closed = False
        self._take_views()

    def reset(self, pose: Any = None, twist: Any = None) -> State:
        """Put the machine at `pose` with `twist`, loops closed; see `Engine.reset`."""
        self._check_open()
        place = as_pose(as_vector(self.platform.home if pose is None else pose, "pose", 7))
        motion = as_vector(REST if twist is None else twist, "twist", 6)
        legs = self.platform.leg_coordinates(place, motion)
        mujoco.mj_resetData(self.model, self.data)
        self._pose[:] = place
        self._leg_positions[:, :2] = legs.angles
        self._leg_positions[:, 2] = legs.lengths - self.platform.home_lengths
        self._velocity[:] = motion[:3]
        mujoco.mju_rotVecQuat(self._spin, motion[3:], place[3:] * [1.0, -1.0, -1.0, -1.0])
        self._leg_rates[:, :2] = legs.angle_rates
        self._leg_rates[:, 2] = legs.length_rates
        return self._begin(0)

    def step(self, forces: Any, wrench: Any = None) -> State:
        """Advance by one time step; see `Engine.step`.

        The wrench is exact at every stage of the integrator: its force acts on the free joint's
        translation, which is that of the reference point, its moment on the body in base axes.
        """
        self._check_ready()
        control = as_vector(forces, "forces", self.platform.n_actuators)
        load = REST if wrench is None else as_vector(wrench, "wrench", 6)
        self._guard.record(self.save() if self._guard.wants_saved else None, control, load)
        self._control[:] = control
        self._force[:] = load[:3]
        self._moment[:] = load[3:]
        self._collecting_warnings(mujoco.mj_step)
        self._steps += 1
        state = self._read()
        self._guard.check(state, self.loop_gap, "; ".join(self._warnings))
        return state

    @property
    def state(self) -> State:
        """The present state; lengths and rates are those of the slide joints."""
        self._check_ready()
        return self._read()

    @property
    def loop_gap(self) -> float:
        """Largest distance [m] between a rod's tip and its joint on the platform."""
        self._check_ready()
        mujoco.mj_kinematics(self.model, self.data)
        apart = self._sites.take(self._tips, 0) - self._sites.take(self._platform_joints, 0)
        return sqrt(np.einsum("ij,ij->i", apart, apart).max())

    def save(self) -> bytes:
        """Return everything that determines the future, for `restore`."""
        self._check_ready()
        values = np.empty(self._saved_size)
        mujoco.mj_getState(self.model, self.data, values, SAVED)
        return pack(self._header, np.array([float(self._steps)]), values)

    def restore(self, saved: bytes) -> State:
        """Return to a saved state; the continuation is bit-identical.

        Raises:
            InputError: not a state of this engine, version, machine, step, preset and options.
            ClosedEngineError: the engine is closed.
        """
        self._check_open()
        steps, values = unpack(self._header, saved, 1, self._saved_size)
        if not (np.isfinite(steps).all() and np.isfinite(values).all()):
            raise InputError("saved", "holds numbers that are not finite")
        mujoco.mj_resetData(self.model, self.data)
        mujoco.mj_setState(self.model, self.data, values, SAVED)
        return self._begin(int(steps[0]))

    def close(self) -> None:
        """Close the engine, twice is allowed; MuJoCo's memory is freed with the object."""
        self._closed = True

    def _begin(self, steps: int) -> State:
        self._steps, self._ready = steps, True
        # For those who read `data`; the solver's warm start is part of the state and stays.
        warm_start = self.data.qacc_warmstart.copy()
        self._collecting_warnings(mujoco.mj_forward)
        self.data.qacc_warmstart[:] = warm_start
        self._guard.start(self.save())
        return self._read()

    def _read(self) -> State:
        pose, twist, spin = self._pose.copy(), np.empty(6), np.empty(3)
        mujoco.mju_rotVecQuat(spin, self._spin, pose[3:])
        twist[:3], twist[3:] = self._velocity, spin
        lengths = self.platform.home_lengths + self._leg_positions[:, 2]
        return State(
            self._steps * self.timestep, pose, twist, lengths, self._leg_rates[:, 2].copy()
        )

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
        self._control = data.ctrl
        self._force = data.qfrc_applied[:3]
        self._moment = data.xfrc_applied[data.body("platform").id, 3:]
        self._sites = data.site_xpos
        legs = range(1, count + 1)
        self._tips = np.array([data.site(f"leg_{leg}_tip").id for leg in legs])
        self._platform_joints = np.array(
            [data.site(f"leg_{leg}_platform_joint").id for leg in legs]
        )

    def _check_open(self) -> None:
        if self._closed:
            raise ClosedEngineError("the engine is closed; make a new one")

    def _check_ready(self) -> None:
        self._check_open()
        if not self._ready:
            raise ClosedEngineError("the engine has no state yet; call reset first")
