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
"""Largest engine step as a fraction of the control period; stiff machines need a shorter one."""

GROWTH_TOLERANCE = 1e-6
"""Growth of a mode per step that counts as rounding: free modes have eigenvalues near zero."""


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
        identity = np.eye(len(self.stiffness))
        faster = np.hstack([step * self.stiffness, identity + step * self.damping])
        step_map = np.hstack([identity, np.zeros_like(identity)]) + step * faster
        return float(np.abs(np.linalg.eigvals(np.vstack([step_map, faster]))).max())


def check_timestep(platform: MachineModel, timestep: float, engine: str, scheme: Scheme) -> None:
    """Refuse a time step [s] at which a machine's springs and dampers would run away.

    Raises:
        InputError: the step is too long; the message has the limit.
    """
    if not _is_stiff(platform):
        return
    if linearise(platform).growth(timestep / STEP_MARGIN, scheme) <= 1.0 + GROWTH_TOLERANCE:
        return
    largest_step = STEP_MARGIN * longest_step(platform, scheme)
    if timestep > largest_step:
        fastest_frequency = float(np.abs(linearise(platform).modes).max()) / (2.0 * np.pi)
        raise InputError(
            "timestep",
            f"{timestep:.3g} s is too long for {platform.name} in {engine}: its fastest mode has "
            f"{fastest_frequency:.4g} Hz, and steps above {largest_step:.3g} s make it run away; "
            f"{suitable_timestep(platform):g} s is a good one",
        )


@lru_cache(maxsize=32)
def longest_step(platform: MachineModel, scheme: Scheme) -> float:
    """Return the longest stable step [s] about home; infinite where every step is stable."""
    machine = linearise(platform)
    fastest_mode = float(np.abs(machine.modes).max())
    if not fastest_mode > 0.0:
        return np.inf
    stable_step, unstable_step = 0.0, 100.0 / fastest_mode
    if machine.growth(unstable_step, scheme) <= 1.0 + GROWTH_TOLERANCE:
        return np.inf
    for _ in range(50):
        trial_step = 0.5 * (stable_step + unstable_step)
        stable = machine.growth(trial_step, scheme) <= 1.0 + GROWTH_TOLERANCE
        stable_step, unstable_step = (
            (trial_step, unstable_step) if stable else (stable_step, trial_step)
        )
    return stable_step


def suitable_timestep(platform: MachineModel) -> float:
    """Return a time step [s] that resolves a machine's fastest mode.

    It is 1 ms, or the longest of 0.5, 0.2, 0.1, 0.05, ... ms that is short enough.

    Raises:
        SingularPoseError: home is singular.
    """
    if not _is_stiff(platform):
        return 1e-3
    fastest_mode = float(np.abs(linearise(platform).modes).max())
    step_limit = 2.0 * np.pi / fastest_mode / STEPS_PER_PERIOD if fastest_mode > 0.0 else np.inf
    steps = (
        float(f"{leading_digit}e-{power}") for power in range(3, 12) for leading_digit in (5, 2, 1)
    )
    return (
        1e-3
        if step_limit >= 1e-3
        else next(candidate for candidate in steps if candidate <= step_limit)
    )


@lru_cache(maxsize=8)
def linearise(platform: MachineModel) -> Linearisation:
    """Return a machine's accelerations about home per displacement and velocity, no gravity."""
    floating = MachineModel(platform.parameters.model_copy(update={"gravity": 0.0}), like=platform)
    no_forces = np.zeros(platform.n_actuators)
    # Directions that the constraints leave free, from the singular value decomposition.
    constraints = platform.constraints(platform.home)
    free_motions = np.linalg.svd(constraints, full_matrices=True)[2][len(constraints) :].T
    size = free_motions.shape[1] + platform.n_deflections

    def accelerations(places: FloatArray, rates: FloatArray) -> FloatArray:
        """Return the accelerations of the free coordinates `(m, size)` at `places` and `rates`."""
        displacements, twists_of_steps = (
            steps_of_kind[:, : free_motions.shape[1]] @ free_motions.T
            for steps_of_kind in (places, rates)
        )
        poses = turned(np.broadcast_to(platform.home, (len(displacements), 7)), displacements)
        poses, twists, _ = platform.constrain(poses, twists_of_steps)
        spring_states = np.hstack(
            [places[:, free_motions.shape[1] :], rates[:, free_motions.shape[1] :]]
        )
        accelerations_found = floating.forward_dynamics(
            poses, twists, no_forces, deflection=spring_states
        )
        return np.hstack([accelerations_found[:, :6] @ free_motions, accelerations_found[:, 6:]])

    steps = DIFFERENCE_STEP * np.vstack([np.eye(size), -np.eye(size)])
    zeros = np.zeros_like(steps)
    forward, backward = np.split(accelerations(steps, zeros), 2)
    faster, slower = np.split(accelerations(zeros, steps), 2)
    scale = 0.5 / DIFFERENCE_STEP
    return Linearisation(scale * (forward - backward).T, scale * (faster - slower).T)


def _is_stiff(platform: MachineModel) -> bool:
    """Return whether forces inside the machine depend on its motion."""
    return any(leg.resists_motion for _, leg in platform.parameters.leg_tables())


def dividing_step(platform: MachineModel, period: float) -> float:
    """Return the longest step [s] that divides a control period and suits engine and drives."""
    step_limit = min(
        suitable_timestep(platform), STEP_TO_PERIOD_RATIO * period, drive_timestep(platform)
    )
    return period / int(np.ceil(period / step_limit - 1e-9))
