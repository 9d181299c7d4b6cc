"""Constants of a machine for the formulations, and the paper's mass and Coriolis matrices.

The formulations here never form a Coriolis matrix; these are for tables 1 to 4 and figure 6.

Reference: extended-configuration-space paper, equations (5), (15) and (21).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from twin.basics.arrays import FloatArray, IndexArray
from twin.errors import InputError
from twin.kernels.jit import interpreted
from twin.kernels.kinematics import make_work as tracking_work
from twin.model.machine_model import MachineModel
from twin.papers.formulations.kernels import measures as columns
from twin.papers.formulations.kernels import rigidity, spaces
from twin.papers.formulations.kernels.arrays import (
    CONSTRAINT_COUNT,
    JOINT_COUNT,
    LEG_BIAS,
    LEG_COUNT,
    LEG_JOINT,
    LEG_RATE,
    LEG_SIZE,
    PLATFORM_ACCELERATION,
    PLATFORM_SIZE,
    PLATFORM_TWIST,
    Model,
    Work,
)

LEG_EQUATIONS = ("ups", "rss")
"""Equations of legs that have a module in `kernels.legs`."""

SMALLEST_AREA = 1e-6
"""Area of a triangle, relative to the square of its size, below which it has no direction."""

DIFFERENCE_STEP = 1e-5
"""Step of the central differences of eq. (15)."""


def make_work() -> Work:
    """Return empty work arrays."""
    shapes: tuple[tuple[int, ...], ...] = (
        (PLATFORM_SIZE,),
        (LEG_COUNT, LEG_SIZE),
        (LEG_COUNT, 3, 3),
        (LEG_COUNT, 3, 3),
        (LEG_COUNT, 3, 3),
        (6, 6),
        (JOINT_COUNT, 7),
        (6, 9),
        (JOINT_COUNT, JOINT_COUNT + 1),
        (CONSTRAINT_COUNT, JOINT_COUNT + 2),
        (JOINT_COUNT + 6, 7),
        (6, 6),
        (CONSTRAINT_COUNT, CONSTRAINT_COUNT),
        (CONSTRAINT_COUNT, JOINT_COUNT),
        (2, JOINT_COUNT),
    )
    pivots = np.zeros(CONSTRAINT_COUNT, dtype=np.int64)
    tracking = tracking_work(LEG_COUNT, 0)
    return Work._make([*(np.zeros(shape) for shape in shapes), pivots, tracking])


def extended_joints(platform: MachineModel, joints: FloatArray) -> FloatArray:
    """Return the extended model's joint coordinates, or their derivatives, `(..., 6, 3)`.

    `joints` are those of the platform. The actuator's comes last here, and a rod's first angle is
    measured from the base instead of the crank.
    """
    if platform.leg.equations == "ups":
        return joints.copy()
    crank, first_angle, second_angle = np.moveaxis(joints, -1, 0)
    return np.stack([first_angle + crank, second_angle, crank], axis=-1)


def pack_model(platform: MachineModel) -> Model:
    """Return the constants of a machine with six UPS or RSS legs.

    Raises:
        InputError: another kind or number of legs, or platform joints on one line.
    """
    if platform.leg.equations not in LEG_EQUATIONS or platform.n_actuators != LEG_COUNT:
        raise InputError(
            "platform",
            f"formulations need {LEG_COUNT} legs of kind 'ups' or 'rss', not "
            f"{platform.n_actuators} of kind {platform.kind!r}",
        )
    body, legs, home = platform.constants
    rotations = home[:, :9].reshape(LEG_COUNT, 3, 3)
    along_y, along_z = (
        np.einsum("ij,ij->i", platform.first_axes, rotations[:, :, k]) for k in (1, 2)
    )
    points = platform.platform_joints
    triangle, attached = _largest_triangle(points)
    corners = points[triangle]
    first_edge, second_edge = corners[1] - corners[0], corners[2] - corners[0]
    basis = np.stack([first_edge, second_edge, np.cross(first_edge, second_edge)], axis=1)
    coefficients = np.linalg.solve(basis, (points[attached] - corners[0]).T).T
    coefficients[np.abs(coefficients) < np.finfo(float).eps] = 0.0
    motion = np.zeros((9, 6))
    for k, point in enumerate(corners):
        motion[3 * k : 3 * k + 3, :3] = np.eye(3)
        motion[3 * k : 3 * k + 3, 3:] = -np.cross(np.eye(3), point)
    return Model(
        body,
        legs,
        np.ascontiguousarray(rotations[:, :, 0]),
        np.arctan2(along_z, along_y),
        triangle,
        attached,
        np.asarray(np.linalg.norm(np.roll(corners, -1, axis=0) - corners, axis=1), dtype=float),
        coefficients,
        np.asarray(np.linalg.pinv(motion), dtype=float),
    )


def _largest_triangle(points: FloatArray) -> tuple[IndexArray, IndexArray]:
    """Return the legs at the largest triangle of platform joints, and the others."""

    def area(corners: tuple[int, ...]) -> float:
        a, b, c = points[list(corners)]
        return float(np.linalg.norm(np.cross(b - a, c - a)))

    best = max(combinations(range(LEG_COUNT), 3), key=lambda corners: round(area(corners), 12))
    if area(best) < SMALLEST_AREA * float(np.ptp(points, axis=0).max()) ** 2:
        raise InputError("platform", "the platform joints lie on one line")
    return np.array(best), np.array([i for i in range(LEG_COUNT) if i not in best])


MassMatrix = Callable[[FloatArray], FloatArray]


class CoefficientMatrices:
    """Matrices of one machine as functions of its coordinates.

    Extended coordinates `(24,)`: position [m], Rodrigues parameters, joint coordinates leg by leg.
    """

    def __init__(self, platform: MachineModel) -> None:
        self.platform = platform
        self.model, self.work = pack_model(platform), make_work()

    def coordinates(self, pose: FloatArray) -> FloatArray:
        """Return the extended coordinates `(24,)` of a pose `(7,)` with closed loops."""
        joints = extended_joints(self.platform, self.platform.leg_coordinates(pose).values)
        joints[:, 2] += self.platform.home_coordinates
        return np.concatenate([pose[:3], pose[4:] / pose[3], joints.reshape(JOINT_COUNT)])

    def extended_mass(self, coordinates: FloatArray) -> FloatArray:
        """Return M `(24, 24)` of eq. (21)."""
        parameters, work = coordinates[3:6], self.work
        rotation_factor = 1.0 / (1.0 + parameters @ parameters)
        work.platform[:3], work.platform[3] = coordinates[:3], np.sqrt(rotation_factor)
        work.platform[4:7] = np.sqrt(rotation_factor) * parameters
        work.platform[PLATFORM_TWIST : PLATFORM_TWIST + 6] = 0.0
        self._place(coordinates[6:])
        interpreted(spaces.move_legs)(self.model, work)
        interpreted(spaces.move_platform)(self.model, work)
        rates = np.eye(6)
        # Angular velocity of the rates of the Rodrigues parameters.
        rates[3:, 3:] = 2.0 * rotation_factor * (np.eye(3) + np.cross(np.eye(3), parameters))
        mass = np.zeros((6 + JOINT_COUNT, 6 + JOINT_COUNT))
        mass[:6, :6] = rates.T @ work.body_mass @ rates
        for leg in range(LEG_COUNT):
            leg_block = slice(6 + 3 * leg, 9 + 3 * leg)
            mass[leg_block, leg_block] = work.leg_mass[leg]
        return mass

    def configuration_mass(self, joints: FloatArray) -> FloatArray:
        """Return M `(18, 18)` of eq. (5) at joint coordinates `(18,)`."""
        self._place(joints)
        interpreted(rigidity.pose_from_tips)(self.model, self.work)
        interpreted(spaces.move_joints)(self.model, self.work)
        return np.array(self.work.mass[:, :JOINT_COUNT])

    def closure(self, joints: FloatArray) -> FloatArray:
        """Return the Jacobian of the rigidity constraints `(12, 18)` at joint coordinates."""
        self._place(joints)
        interpreted(rigidity.fill_closure)(self.model, self.work)
        return np.array(self.work.closure[:CONSTRAINT_COUNT, :JOINT_COUNT])

    def leg_forces(self, joints: FloatArray, rates: FloatArray) -> FloatArray:
        """Return Coriolis and centrifugal forces of the legs `(18,)` by the formulations."""

        def bias(rates: FloatArray) -> FloatArray:
            self._place(joints, rates)
            interpreted(spaces.move_legs)(self.model, self.work)
            return np.array(self.work.legs[:, LEG_BIAS : LEG_BIAS + 3].ravel())

        return bias(rates) - bias(0.0 * rates)

    def configuration_forces(self, joints: FloatArray, rates: FloatArray) -> FloatArray:
        """Return those of the configuration space `(18,)`, up to forces of its constraints."""

        def bias(rates: FloatArray) -> FloatArray:
            self._place(joints, rates)
            interpreted(rigidity.pose_from_tips)(self.model, self.work)
            interpreted(spaces.move_joints)(self.model, self.work)
            return np.array(self.work.mass[:, JOINT_COUNT])

        return bias(rates) - bias(0.0 * rates)

    def _place(self, joints: FloatArray, rates: FloatArray | None = None) -> None:
        self.work.legs[:, LEG_JOINT : LEG_JOINT + 3] = joints.reshape(LEG_COUNT, 3)
        self.work.legs[:, LEG_RATE : LEG_RATE + 3] = (
            0.0 if rates is None else rates.reshape(LEG_COUNT, 3)
        )
        interpreted(spaces.place_legs)(self.model, self.work)


def coriolis(mass: MassMatrix, coordinates: FloatArray, rates: FloatArray) -> FloatArray:
    """Return the Coriolis matrix `(k, k)` of eq. (15) by central differences of the mass matrix."""
    size = len(coordinates)
    slopes = np.empty((size, size, size))
    for k in range(size):
        increment = np.zeros(size)
        increment[k] = DIFFERENCE_STEP
        slopes[k] = (mass(coordinates + increment) - mass(coordinates - increment)) / (
            2.0 * DIFFERENCE_STEP
        )
    velocity_part = np.einsum("kij,k->ij", slopes, rates)
    gradient_part = np.einsum("jik,k->ij", slopes, rates)
    return np.asarray(0.5 * (velocity_part + gradient_part - gradient_part.T))


@dataclass(frozen=True)
class FormulationRun:
    """Motion of a machine by one formulation at `k` times.

    `configuration` and its derivatives hold, leg by leg, two angles [rad] and the actuator's length
    [m] or angle [rad], as `Formulation` has them.
    """

    formulation: str
    time: FloatArray
    """`(k,)` [s]"""
    pose: FloatArray
    """`(k, 7)` of the platform in the base: position [m], unit quaternion (scalar first)"""
    twist: FloatArray
    """`(k, 6)` of the platform, base axes [m/s, rad/s]"""
    acceleration: FloatArray
    """`(k, 6)` of the platform, base axes [m/s2, rad/s2]"""
    configuration: FloatArray
    """`(k, 18)` joint coordinates [m, rad]"""
    rates: FloatArray
    """`(k, 18)` of the joint coordinates [m/s, rad/s]"""
    accelerations: FloatArray
    """`(k, 18)` of the joint coordinates [m/s2, rad/s2]"""
    e1: FloatArray
    """`(k,)` [m] largest error of the loop closure"""
    e2: FloatArray
    """`(k,)` [m/s] of its rate"""
    e3: FloatArray
    """`(k,)` [m/s2] of its second rate"""
    resolution: FloatArray
    """`(k, 3)` machine epsilon times the size of the terms that cancel in e1, e2, e3"""
    kinetic: FloatArray
    """`(k,)` [J]"""
    potential: FloatArray
    """`(k,)` [J], zero at z = 0 of the base"""

    def __len__(self) -> int:
        """Return the number of times."""
        return len(self.time)

    @property
    def energy_error(self) -> FloatArray:
        """Change of the total energy `(k,)` in percent of that at the start."""
        total_energy = self.kinetic + self.potential
        return np.asarray(100.0 * (total_energy - total_energy[0]) / total_energy[0])

    @property
    def largest_errors(self) -> tuple[float, float, float, float]:
        """Largest e1 [m], e2 [m/s], e3 [m/s2] and energy error [percent]."""
        errors = (self.e1, self.e2, self.e3, np.abs(self.energy_error))
        e1, e2, e3, energy = (float(error.max()) for error in errors)
        return e1, e2, e3, energy


def run_of(name: str, time: FloatArray, records: FloatArray) -> FormulationRun:
    """Return the motion that records `(k, RECORD_SIZE)` hold at `time` `(k,)` [s].

    Quaternions change sign where they have to, so that they are continuous.
    """
    pose = records[:, :7].copy()
    quaternion_products = np.einsum("ij,ij->i", pose[1:, 3:], pose[:-1, 3:])
    pose[1:, 3:] *= np.cumprod(np.where(quaternion_products < 0.0, -1.0, 1.0))[:, None]
    e1, e2, e3 = records[:, columns.ERROR_ENTRY : columns.ERROR_ENTRY + 3].T.copy()
    return FormulationRun(
        name,
        time.copy(),
        pose,
        records[:, PLATFORM_TWIST : PLATFORM_TWIST + 6].copy(),
        records[:, PLATFORM_ACCELERATION : PLATFORM_ACCELERATION + 6].copy(),
        records[:, columns.JOINT_ENTRY : columns.JOINT_ENTRY + JOINT_COUNT].copy(),
        records[:, columns.JOINT_RATE_ENTRY : columns.JOINT_RATE_ENTRY + JOINT_COUNT].copy(),
        records[:, columns.JOINT_ACCELERATION_ENTRY : columns.ERROR_ENTRY].copy(),
        e1,
        e2,
        e3,
        np.finfo(float).eps * records[:, columns.SIZE_ENTRY : columns.SIZE_ENTRY + 3],
        records[:, columns.ENERGY_ENTRY].copy(),
        records[:, columns.ENERGY_ENTRY + 1].copy(),
    )
