"""Free terms: what a machine may have that its file has no field for.

Cables, a payload that swings, motors whose constants differ, screws whose leads do, and friction
that drifts in time, rises with load, or bends bristles before it slides. They act along the
recorded motion, so that rollouts need no other states. Groups and priors are in
`twin.identification.parameters`.

Reference:
    Canudas de Wit et al., A new model for control of systems with friction (1995): bristles.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray, cross, cross_matrix, rotation_matrix
from twin.identification.parameters import TERM_PREFIX, Parameter, values_by_path
from twin.kernels.plant import columns as column
from twin.model.machine_model import MachineModel

FRICTION_COLUMNS = [column.FRICTION, column.BREAKAWAY, column.VISCOUS]
"""Constants of a drive that friction which drifts multiplies."""

DRY_COLUMNS = [column.FRICTION, column.BREAKAWAY]
"""Constants of a drive that load raises."""

MOTOR_TERM_PREFIX = f"{TERM_PREFIX}motor."
"""Beginning of the paths of the motors' constants."""

CENTER_PATH = "platform.body.center_of_mass"
"""Path of the centre of mass, in which a pendulum hangs."""

SWING_ITERATIONS = 3
"""Iterations for the forces that the turning of the platform adds to a swing."""

MIN_PRESLIDING = 1e-9
"""[m, rad] Smallest deflection of bristles, which keeps their stiffness finite."""


class TermEffects(NamedTuple):
    """Effects of the free terms of parameter sets along a recording."""

    wrench: FloatArray
    """`(sets, T, 6)` on the platform, base axes"""
    friction_factor: FloatArray
    """`(sets, T)` friction over that of the file"""
    load_friction: FloatArray
    """`(sets,)` dry friction per force of a leg"""
    leg_force: FloatArray
    """`(T, n)` size of the forces of the legs"""
    motor_constants: FloatArray
    """`(sets, n)` force of a motor over its command"""
    leads: FloatArray
    """`(sets, n)` motion of a leg over that of its motor"""
    bristle_force: FloatArray | None
    """`(sets, T - 1, n)` dry friction from each sample to the next; None: that of the drives"""

    @property
    def changes_friction(self) -> bool:
        """Whether the friction of the drives is another one anywhere."""
        drifts = (self.friction_factor != 1.0).any() or self.load_friction.any()
        return bool(drifts) or self.bristle_force is not None

    def change_drives(
        self, constants: FloatArray, original: FloatArray, sets: FloatArray, at: FloatArray
    ) -> None:
        """Overwrite the friction of drives `(N, n, CONSTANTS)` by that at samples `at` `(N,)`."""
        factor = self.friction_factor[sets, at][:, None, None]
        constants[:, :, FRICTION_COLUMNS] = factor * original[:, :, FRICTION_COLUMNS]
        load = self.load_friction[sets, None] * self.leg_force[at]
        constants[:, :, DRY_COLUMNS] += load[:, :, None]
        if self.bristle_force is not None:
            constants[:, :, DRY_COLUMNS] = 0.0


class RecordedMotion(NamedTuple):
    """Motion of the platform along a recording, first axis samples."""

    time: FloatArray
    pose: FloatArray
    twist: FloatArray
    acceleration: FloatArray
    leg_force: FloatArray
    motor: FloatArray
    """`(T, n)` coordinates of the motors"""


class FreeTerms:
    """The free terms among parameters, along the motion of one recording."""

    def __init__(
        self, machine: MachineModel, parameters: Sequence[Parameter], motion: RecordedMotion
    ) -> None:
        """Store the motion along which terms act."""
        self._machine, self._parameters, self._motion = machine, tuple(parameters), motion
        centred = (motion.time - motion.time[0]) / np.ptp(motion.time) - 0.5
        self._drift_shapes = np.array([centred, centred**2 - 1.0 / 12.0])

    @cached_property
    def _rotation(self) -> FloatArray:
        """Rotations `(T, 3, 3)` from platform to base axes."""
        return rotation_matrix(self._motion.pose[:, 3:])

    @cached_property
    def _in_platform_axes(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Acceleration less gravity `(T, 3)`, angular velocity `(T, 3)`, and turning `(T, 3, 3)`.

        The last times a point of the platform is the acceleration that the turning gives it.
        """
        motion, gravity = self._motion, self._machine.parameters.gravity
        against_gravity = motion.acceleration[:, :3] + [0.0, 0.0, gravity]
        in_base = np.array([against_gravity, motion.acceleration[:, 3:], motion.twist[:, 3:]])
        linear, angular, spin = np.einsum("kji,skj->ski", self._rotation, in_base)
        return linear, spin, cross_matrix(angular) + cross_matrix(spin) @ cross_matrix(spin)

    def effects(self, values: FloatArray, drives: FloatArray) -> TermEffects:
        """Return the effects of values `(sets, p)` in SI, on drives `(sets, n, CONSTANTS)`."""
        terms = [values_by_path(self._parameters, row) for row in values]
        drift, load, leads, bristles = (
            np.array([[term.get(f"term.{path}", nominal) for path in paths] for term in terms])
            for paths, nominal in (
                (("friction.drift.0", "friction.drift.1"), 0.0),
                (("friction.load",), 0.0),
                ([f"lead.{k + 1}" for k in range(drives.shape[1])], 1.0),
                (("friction.presliding", "friction.bristle_time"), 0.0),
            )
        )
        effects = TermEffects(
            np.array([self._cable(term) + self._pendulum(term) for term in terms]),
            np.maximum(1.0 + drift @ self._drift_shapes, 0.0),
            load[:, 0],
            np.abs(self._motion.leg_force),
            np.array([motor_constants(term, drives.shape[1]) for term in terms]),
            leads,
            None,
        )
        if not bristles[:, 0].any():
            return effects
        return effects._replace(bristle_force=self._bristle_force(effects, drives, *bristles.T))

    def _bristle_force(
        self, effects: TermEffects, drives: FloatArray, presliding: FloatArray, time: FloatArray
    ) -> FloatArray:
        """Return the dry friction `(sets, T - 1, n)` of bristles along the recorded motion.

        Bristles (the LuGre model) bend before a motor slides, and their force is the friction.

        Args:
            effects: of the other terms.
            drives: `(sets, n, CONSTANTS)`.
            presliding: `(sets,)` [m, rad] deflection at which bristles bear the Coulomb friction.
            time: `(sets,)` [s] time constant of the bristles: their damping over their stiffness.
        """
        motion = self._motion
        coulomb, breakaway, stribeck = np.moveaxis(
            drives[:, None, :, [column.FRICTION, column.BREAKAWAY, column.STRIBECK_SPEED]], -1, 0
        )
        travel = np.diff(motion.motor, axis=0)
        period = float(motion.time[1] - motion.time[0])
        sliding = coulomb + (breakaway - coulomb) * np.exp(-((travel / period / stribeck) ** 2))
        sliding = sliding * effects.friction_factor[:, :-1, None]
        sliding += effects.load_friction[:, None, None] * effects.leg_force[:-1]
        stiffness = coulomb / np.maximum(presliding, MIN_PRESLIDING)[:, None, None]
        # The bristles of a motor at constant speed approach `limit` in the course of `travel`.
        # Without friction there are none.
        limit = np.sign(travel) * np.divide(
            sliding, stiffness, out=np.zeros_like(sliding), where=stiffness > 0.0
        )
        remaining_fraction = np.exp(-np.abs(travel) / np.maximum(np.abs(limit), MIN_PRESLIDING))
        added = (1.0 - remaining_fraction) * limit
        bristle = np.zeros((len(drives), len(motion.time), drives.shape[1]))
        for k in range(len(travel)):
            bristle[:, k + 1] = remaining_fraction[:, k] * bristle[:, k] + added[:, k]
        mean = 0.5 * (bristle[:, 1:] + bristle[:, :-1])
        rate = np.diff(bristle, axis=1) / period
        return np.asarray(stiffness * (mean + time[:, None, None] * rate))

    def _cable(self, term: dict[str, float]) -> FloatArray:
        """Return the wrench `(T, 6)` of a force and a linear spring at a point of the platform."""
        force, point = (
            np.array([term.get(f"term.cable.{name}.{k}", 0.0) for k in range(3)])
            for name in ("force", "point")
        )
        stiffness = term.get("term.cable.stiffness", 0.0)
        if stiffness == 0.0 and not force.any():
            return np.zeros((len(self._motion.time), 6))
        arm = self._rotation @ point
        moved = self._motion.pose[:, :3] + arm - self._machine.home[:3] - point
        pull = force - stiffness * moved
        return np.hstack([pull, np.cross(arm, pull)])

    def _pendulum(self, term: dict[str, float]) -> FloatArray:
        """Return the wrench `(T, 6)` that a swinging part of the payload adds to a rigid one.

        The part hangs in the centre of mass. Along the platform's x and y it moves by u with
        u'' + 2 d w u' + w^2 u = -(a - g), where a is the acceleration of the turning platform at
        the part. Its force is that of its mass times g - a - u'', and acts where the part is.
        """
        mass = term.get("term.pendulum.mass", 0.0)
        if mass == 0.0:
            return np.zeros((len(self._motion.time), 6))
        from scipy.signal import bilinear, lfilter

        nominal = self._machine.parameters.platform.body.center_of_mass
        center = np.array(
            [term.get(f"{CENTER_PATH}.{k}", value) for k, value in enumerate(nominal)]
        )
        linear, spin, turning = self._in_platform_axes
        still = linear + turning @ center
        w = 2.0 * np.pi * term.get("term.pendulum.frequency", 1.0)
        denominator = [1.0, 2.0 * term.get("term.pendulum.damping", 0.0) * w, w * w]
        rate = 1.0 / float(self._motion.time[1] - self._motion.time[0])
        # Displacement, velocity and acceleration of the part on the platform.
        filters = [bilinear(numerator, denominator, rate) for numerator in np.eye(3)[::-1]]
        swing = np.zeros((3, *still.shape))
        turned = np.zeros_like(still)
        for _ in range(SWING_ITERATIONS):
            # The part hangs at rest where the recording begins: only changes make it swing.
            drive = still[0] - still - turned
            for k, coefficients in enumerate(filters):
                swing[k, :, :2] = lfilter(*coefficients, drive[:, :2], axis=0)
            turned = np.einsum("kij,kj->ki", turning, swing[0]) + 2.0 * cross(spin, swing[1])
        added = -mass * (turned + swing[2])
        torque = cross(center, added) + cross(swing[0], added - mass * still)
        wrench = [np.einsum("kij,kj->ki", self._rotation, vectors) for vectors in (added, torque)]
        return np.hstack(wrench)


def motor_constants(terms: Mapping[str, float], count: int) -> FloatArray:
    """Return the forces of `count` motors over those that their drives believe in.

    Their mean is one: the last motor makes up for the others, of which `terms` may have values.
    """
    paths = [f"{MOTOR_TERM_PREFIX}constant.{k}" for k in range(1, count)]
    constants = np.array([terms.get(path, 1.0) for path in paths])
    return np.append(constants, count - constants.sum())


def has_terms(parameters: Sequence[Parameter]) -> bool:
    """Return whether any of the parameters is one of a free term."""
    return any(parameter.path.startswith(TERM_PREFIX) for parameter in parameters)
