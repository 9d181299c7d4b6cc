"""The longest time step at which springs, dampers and friction of a machine stay stable.

A fixed step of h multiplies every mode exp(lambda t) of the machine, linearised without gravity, by
a factor that depends on the integrator. Where it exceeds one the numbers grow although the machine
does not, until the loops open; with the stiff struts of a positioning hexapod that takes a few
milliseconds.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Literal, NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray, turned
from twin.errors import InputError
from twin.model.machine_model import MachineModel
from twin.plant.drives import drive_timestep

Scheme = Literal["rk4", "explicit"]
"""How an engine steps: Runge-Kutta of order four, or velocities and then positions, with the forces
at the start of the step."""

STEP_MARGIN = 0.8
"""Fraction of the longest stable step that is allowed: other poses than home have faster modes."""

STEPS_PER_PERIOD = 20
"""Steps in a period of the fastest mode that `suitable_timestep` takes."""

DIFFERENCE_STEP = 1e-6
"""[m, rad, m/s, rad/s] Step of the finite differences that linearise the machine."""

STEP_TO_PERIOD_RATIO = 0.5
"""Engine's step in parts of the control period, unless a stiff machine needs a shorter one."""

GROWTH_TOLERANCE = 1e-6
"""Growth of a mode in one step that is rounding: free modes have eigenvalues near zero."""


class Linearisation(NamedTuple):
    """Accelerations of the free coordinates about home."""

    stiffness: FloatArray
    """`(m, m)` per displacement"""
    damping: FloatArray
    """`(m, m)` per velocity"""

    @property
    def modes(self) -> FloatArray:
        """Exponents lambda `(2m,)` [1/s], complex."""
        m = len(self.stiffness)
        rates = np.block([[np.zeros((m, m)), np.eye(m)], [self.stiffness, self.damping]])
        return np.asarray(np.linalg.eigvals(rates))

    def growth(self, step: float, scheme: Scheme) -> float:
        """Return the factor by which a step [s] multiplies the fastest growing mode."""
        if scheme == "rk4":
            z = step * self.modes
            factors = 1.0 + z * (1.0 + z / 2.0 * (1.0 + z / 3.0 * (1.0 + z / 4.0)))
            return float(np.abs(factors).max())
        one = np.eye(len(self.stiffness))
        faster = np.hstack([step * self.stiffness, one + step * self.damping])
        moved = np.hstack([one, np.zeros_like(one)]) + step * faster
        return float(np.abs(np.linalg.eigvals(np.vstack([moved, faster]))).max())


def check_timestep(platform: MachineModel, timestep: float, engine: str, scheme: Scheme) -> None:
    """Refuse a time step [s] at which a machine's springs and dampers would run away.

    Raises:
        InputError: the step is too long; the message has the limit.
    """
    if not _is_stiff(platform):
        return
    if linearise(platform).growth(timestep / STEP_MARGIN, scheme) <= 1.0 + GROWTH_TOLERANCE:
        return
    allowed = STEP_MARGIN * longest_step(platform, scheme)
    if timestep > allowed:
        fastest = float(np.abs(linearise(platform).modes).max()) / (2.0 * np.pi)
        raise InputError(
            "timestep",
            f"{timestep:.3g} s is too long for {platform.name} in {engine}: its fastest mode has "
            f"{fastest:.4g} Hz, and steps above {allowed:.3g} s make it run away; "
            f"{suitable_timestep(platform):g} s is a good one",
        )


@lru_cache(maxsize=32)
def longest_step(platform: MachineModel, scheme: Scheme) -> float:
    """Return the longest stable step [s] about home; infinite where every step is stable."""
    machine = linearise(platform)
    fastest = float(np.abs(machine.modes).max())
    if not fastest > 0.0:
        return np.inf
    low, high = 0.0, 100.0 / fastest
    if machine.growth(high, scheme) <= 1.0 + GROWTH_TOLERANCE:
        return np.inf
    for _ in range(50):
        middle = 0.5 * (low + high)
        stable = machine.growth(middle, scheme) <= 1.0 + GROWTH_TOLERANCE
        low, high = (middle, high) if stable else (low, middle)
    return low


def suitable_timestep(platform: MachineModel) -> float:
    """Return a time step [s] that resolves a machine's fastest mode.

    It is 1 ms, or the longest of 0.5, 0.2, 0.1, 0.05, ... ms that is short enough.

    Raises:
        SingularPoseError: home is singular.
    """
    if not _is_stiff(platform):
        return 1e-3
    fastest = float(np.abs(linearise(platform).modes).max())
    longest = 2.0 * np.pi / fastest / STEPS_PER_PERIOD if fastest > 0.0 else np.inf
    steps = (float(f"{digit}e-{power}") for power in range(3, 12) for digit in (5, 2, 1))
    return 1e-3 if longest >= 1e-3 else next(step for step in steps if step <= longest)


@lru_cache(maxsize=8)
def linearise(platform: MachineModel) -> Linearisation:
    """Return a machine's accelerations about home per displacement and velocity, no gravity."""
    floating = MachineModel(platform.parameters.model_copy(update={"gravity": 0.0}), like=platform)
    no_forces = np.zeros(platform.n_actuators)
    # Directions that the constraints leave free, from the singular value decomposition.
    constraints = platform.constraints(platform.home)
    free = np.linalg.svd(constraints, full_matrices=True)[2][len(constraints) :].T
    size = free.shape[1] + platform.n_deflections

    def accelerations(places: FloatArray, rates: FloatArray) -> FloatArray:
        """Return those of the free coordinates `(m, size)`, as `places` and `rates` are."""
        moved, turning = (part[:, : free.shape[1]] @ free.T for part in (places, rates))
        poses = turned(np.broadcast_to(platform.home, (len(moved), 7)), moved)
        poses, twists, _ = platform.constrain(poses, turning)
        inside = np.hstack([places[:, free.shape[1] :], rates[:, free.shape[1] :]])
        found = floating.forward_dynamics(poses, twists, no_forces, deflection=inside)
        return np.hstack([found[:, :6] @ free, found[:, 6:]])

    steps = DIFFERENCE_STEP * np.vstack([np.eye(size), -np.eye(size)])
    none = np.zeros_like(steps)
    ahead, behind = np.split(accelerations(steps, none), 2)
    faster, slower = np.split(accelerations(none, steps), 2)
    scale = 0.5 / DIFFERENCE_STEP
    return Linearisation(scale * (ahead - behind).T, scale * (faster - slower).T)


def _is_stiff(platform: MachineModel) -> bool:
    """Return whether forces inside the machine depend on its motion."""
    return any(leg.resists_motion for _, leg in platform.parameters.leg_tables())


def dividing_step(platform: MachineModel, period: float) -> float:
    """Return the longest step [s] that divides a control period and suits engine and drives."""
    most = min(suitable_timestep(platform), STEP_TO_PERIOD_RATIO * period, drive_timestep(platform))
    return period / int(np.ceil(period / most - 1e-9))
