"""Random states of any machine inside its actuators' limits, and states shortly after them.

They lie on home's side of singularity: behind it, forward kinematics from home finds another pose.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from twin.analysis.platform import Platform
from twin.analysis.workspace.search import Admissible
from twin.basics.arrays import FloatArray, quaternion_product
from twin.errors import InputError, SingularPoseError, UnreachablePoseError
from twin.model.machine_model import MachineModel
from twin.motion import SineMotion
from twin.rotations import angle_between, quaternion_from_angles

if TYPE_CHECKING:
    from scipy.spatial.transform import Rotation

FLOOR_RATIO = 0.75
"""Ratio of successive errors above which a smaller step has reached the floor of rounding."""

DRAW_COUNT = 4096
"""Number of poses that are drawn at once."""

MAX_ROUNDS = 40
"""Maximum number of rounds of drawing, each over a smaller range."""

STROKE_FRACTION = 0.6
"""Fraction of the stroke that a single degree of freedom may use."""

MAX_CONDITION_RATIO = 10.0
"""Largest condition number relative to that at home: in worse poses every solution loses digits."""

MAX_RATE_RATIO = 2.0
"""Largest actuator rates relative to those at home: they grow without bound where cranks are in
line with their rods."""

MAX_RATE_GROWTH = 4.0
"""Largest actuator rates in a motion relative to those at its start, at the same velocity of the
platform."""

MOTION_SAMPLES = 401
"""Number of times at which a motion is tried."""

MAX_HALVINGS = 20
"""Maximum number of halvings of an amplitude. A machine that cannot follow the remaining motion is
at a singular pose."""

MAX_TWIST = np.array([0.5, 0.5, 0.5, 1.0, 1.0, 1.0])
"""[m/s], [rad/s] Largest twist of random states: a few times that of a motion platform."""

FULL_LENGTH = 0.88
"""[m] Leg length below which the velocities of random states are smaller in proportion."""

MAX_ACCELERATION = np.array([10.0, 10.0, 10.0, 20.0, 20.0, 20.0])
"""[m/s2], [rad/s2] Largest acceleration of random states."""

QUARTER_TURN = 0.5 * np.pi
"""[rad] Quarter turn of a crank."""

MAX_DEFLECTION = 0.05
"""Largest deflection of a leg's spring, relative to the stroke of its actuator."""

MAX_DEFLECTION_RATE = 0.2
"""[m/s] Largest deflection rate of a leg's spring."""


def largest(values: Any) -> float:
    """Return the largest entry of an array by magnitude; NaN if any entry is NaN."""
    return float(np.abs(values).max())


def rotation_of(pose: FloatArray) -> Rotation:
    """Return the rotations of poses `(..., 7)`, platform to base."""
    from scipy.spatial.transform import Rotation

    return Rotation.from_quat(pose[..., 3:], scalar_first=True)


def position_error(pose: FloatArray, reference: FloatArray) -> FloatArray:
    """Return distances `(...)` [m] between the reference points of poses `(..., 7)`."""
    return np.asarray(np.linalg.norm(pose[..., :3] - reference[..., :3], axis=-1))


def rotation_error(pose: FloatArray, reference: FloatArray) -> FloatArray:
    """Return angles `(...)` [rad] of the rotations between poses `(..., 7)`."""
    return angle_between(pose[..., 3:], reference[..., 3:])


def rms(values: FloatArray) -> float:
    """Return the root mean square of all entries."""
    return float(np.sqrt(np.mean(values**2)))


def relative_error(value: FloatArray, reference: FloatArray) -> FloatArray:
    """Return largest differences `(...)` of vectors `(..., k)` per largest reference entry.

    Where the whole reference is zero, as at rest without gravity, they are absolute.
    """
    largest_reference = np.abs(reference).max(axis=-1)
    scale = np.where(largest_reference > 0.0, largest_reference, 1.0)
    return np.asarray(np.abs(value - reference).max(axis=-1) / scale)


class OrderFit(NamedTuple):
    """Convergence order: the slope of the logarithm of the error over that of the step."""

    order: float
    """fitted order; NaN with fewer than two usable points"""
    used: int
    """number of points used, from the largest step on"""


def fitted_order(steps: FloatArray, errors: FloatArray) -> OrderFit:
    """Return the order of convergence from `steps` `(k,)` in decreasing order and `errors` `(k,)`.

    Only the steps above the floor of rounding count: from the largest one on, as long as each
    further step reduces the error by more than a quarter.
    """
    step_count = 1
    while step_count < len(errors) and errors[step_count] < FLOOR_RATIO * errors[step_count - 1]:
        step_count += 1
    if step_count < 2 or not (errors[:step_count] > 0.0).all():
        return OrderFit(float("nan"), step_count)
    slope = np.polyfit(np.log(steps[:step_count]), np.log(errors[:step_count]), 1)[0]
    return OrderFit(float(slope), step_count)


class RandomStates(NamedTuple):
    """States of a machine with accelerations, all actuators inside their limits."""

    pose: FloatArray
    """`(count, 7)`"""
    twist: FloatArray
    """`(count, 6)`"""
    acceleration: FloatArray
    """`(count, 6)`"""
    deflection: FloatArray
    """`(count, 2k)` deflections of springs, then their rates"""


def moved_poses(pose: FloatArray, twist: FloatArray, time: float) -> FloatArray:
    """Return poses `(m, 7)` after `time` [s] at constant velocities `(m, 6)`."""
    rotation = quaternion_from_angles(twist[:, 3:] * time, "rotation_vector")
    return np.hstack([pose[:, :3] + twist[:, :3] * time, quaternion_product(rotation, pose[:, 3:])])


def later(
    platform: Platform, states: RandomStates, acceleration: FloatArray, time: float
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return poses, twists and internal coordinates after `time` [s], right to first order in it.

    Args:
        platform: the machine.
        states: where the motion begins.
        acceleration: `(m, 6 + k)`.
        time: [s].
    """
    k = platform.n_deflections
    pose, twist, _, deflection = states
    motion = platform.constrain(moved_poses(pose, twist, time), twist + acceleration[:, :6] * time)
    deflections, rates = deflection[:, :k], deflection[:, k:]
    later_deflection = np.hstack([deflections + rates * time, rates + acceleration[:, 6:] * time])
    return motion.pose, motion.twist, later_deflection


def random_states(platform: Platform, count: int, seed: int = 0) -> RandomStates:
    """Return random states about home, the same ones for the same seed.

    Raises:
        InputError: hardly any pose about home is inside the limits.
    """
    rng = np.random.default_rng(seed)
    pose = _poses(platform, count, rng)
    max_twist = MAX_TWIST * np.repeat([length_scale(platform), 1.0], 3)
    motion = platform.constrain(
        pose,
        rng.uniform(-1.0, 1.0, (count, 6)) * max_twist,
        rng.uniform(-1.0, 1.0, (count, 6)) * MAX_ACCELERATION,
    )
    k = platform.n_deflections
    deflection = rng.uniform(-1.0, 1.0, (count, 2 * k))
    deflection[:, :k] *= MAX_DEFLECTION * stroke(platform)
    deflection[:, k:] *= MAX_DEFLECTION_RATE
    return RandomStates(*motion, deflection)


def _poses(platform: Platform, count: int, generator: np.random.Generator) -> FloatArray:
    translation = STROKE_FRACTION * stroke(platform) / rate_per_speed(platform)
    ranges = np.repeat([translation, translation / platform.joint_radius], 3)
    max_condition = MAX_CONDITION_RATIO * float(platform.condition_number(platform.home))
    max_rate = MAX_RATE_RATIO * largest(platform.jacobian(platform.home))
    home = np.tile(platform.home, (DRAW_COUNT, 1))
    admissible = Admissible(platform, platform.home)
    inside_limits: list[FloatArray] = []
    for attempt in range(MAX_ROUNDS):
        # Homes at the edge of the limits are reached by smaller and smaller excursions.
        displacements = generator.uniform(-1.0, 1.0, (DRAW_COUNT, 6)) * ranges * 0.9**attempt
        poses = platform.constrain(moved_poses(home, displacements, 1.0)).pose
        poses = poses[admissible.inside(poses)]
        regular = platform.condition_number(poses) < max_condition
        regular &= np.abs(platform.jacobian(poses)).max(axis=(1, 2)) < max_rate
        inside_limits.append(poses[regular])
        if sum(map(len, inside_limits)) >= count:
            return np.concatenate(inside_limits)[:count]
    raise InputError(
        "home", f"{platform.name}: hardly any pose about home is inside the actuators' limits"
    )


def followed(platform: Platform, pose: FloatArray) -> bool:
    """Return whether all actuators' rates stay bounded along poses `(k, 7)`.

    Those of a crank that comes into line with its rod do not.
    """
    try:
        max_rates = np.abs(platform.jacobian(pose)).max(axis=(1, 2))
    except (SingularPoseError, UnreachablePoseError):
        return False
    return bool(max_rates.max() < MAX_RATE_GROWTH * max_rates[0])


def followed_motion(
    platform: Platform, motion_of: Callable[[float], SineMotion], amplitude: float
) -> SineMotion:
    """Return the motion of an amplitude [m], halved until all actuators can follow it.

    Args:
        platform: the machine.
        motion_of: motion of an amplitude.
        amplitude: [m] of the first attempt.
    """
    motion = motion_of(amplitude)
    time = np.linspace(0.0, motion.duration, MOTION_SAMPLES)
    for _ in range(MAX_HALVINGS):
        if followed(platform, platform.constrain(*motion(time)).pose):
            break
        amplitude *= 0.5
        motion = motion_of(amplitude)
    return motion


def length_scale(platform: MachineModel) -> float:
    """Return the mean leg length per `FULL_LENGTH`, at most 1."""
    return min(1.0, float(platform.home_reaches.mean()) / FULL_LENGTH)


def stroke(platform: Platform) -> float:
    """Return the smallest stroke of the actuators [m, rad]; of cranks at most a quarter turn.

    Cranks that may turn further, even all the way round, come into line with their rods.
    """
    longest = QUARTER_TURN if platform.coordinate_unit == "rad" else np.inf
    return min(float(platform.stroke.min()), longest)


def rate_per_speed(platform: Platform) -> float:
    """Return the mean rate of an actuator per speed of the platform at home, in any direction."""
    return float(np.linalg.norm(platform.jacobian(platform.home)[:, :3], axis=1).mean())
