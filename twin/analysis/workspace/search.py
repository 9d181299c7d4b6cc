"""Admissible poses, and searches for the boundary of a workspace and singular poses along rays.

Rays: from a centre, in directions each of which has its share of the full solid angle, a search
finds where the workspace ends, and where it begins again.

Distance to singular poses along rays: where the determinant of the Jacobian changes sign. The
actuators' limits do not count here: the question is how far they keep the machine away. Machines
with more actuators than degrees of freedom have no determinant; their smallest singular value
(`twin.analysis.workspace.dexterity`) shows singularity without a distance.

Rays run in a chart: a few axes about a centre, of the machine's own degrees of freedom.

Poses are admissible within reach, inside the limits, on home's side of singularity and of the base.

A square Jacobian whose determinant has the other sign than at home belongs to another aspect of
the machine: on every way there, a pose is singular.

Where the plates are apart at home, the middle of each one's joints stays on home's side of the
other one's plane: the platform neither passes through the base nor turns its other side to it.
Collisions of legs, and of one plate's edge with the other, are not searched.

Constant-orientation workspace in closed form, for legs with two straight ends: with the attitude R
fixed, leg i is between its limits where the reference point p is between two spheres about
c_i = a_i - R b_i: minimum_i <= |p - c_i| <= maximum_i. The workspace is what the shells have in
common. It takes base and platform joints and the rotation matrix only, not the platform's
kinematics.

Reference: Merlet, Parallel Robots, section on workspace; Gosselin, Determination of the workspace
of 6-dof parallel manipulators, 1990.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import IntEnum
from typing import Any, NamedTuple

import numpy as np

from twin.analysis.feasibility.collisions import ring
from twin.analysis.feasibility.course import check_convention, polygon_distance
from twin.analysis.stiffness import characteristic_scale
from twin.basics.arrays import (
    BoolArray,
    FloatArray,
    IndexArray,
    as_floats,
    one_pose,
    quaternion_product,
    read_only,
    rotated,
)
from twin.errors import InputError
from twin.kernels.kinematics import inverse_kinematics_batch, jacobian_batch
from twin.model.machine_base import (
    evaluate_constraints,
    inside,
    meets_constraints,
    nearest_allowed,
    run,
)
from twin.model.machine_model import MachineModel, as_model
from twin.motion.motion import axis_names, known_axis
from twin.rotations import CONVENTIONS, is_singular_when_level, quaternion_from_angles

MAX_ANGLE = float(np.radians(89.0))
"""[rad] Largest middle one of three angles: at a quarter turn the other two are no longer unique.
Roll and pitch on pillars have the same limit, where the plate would be vertical."""


ROTATION_VECTOR = "rotation_vector"
"""Convention whose three numbers are an axis times an angle of up to half a turn."""

MIN_DETERMINANT_RATIO = 1e-4
"""Engineering choice: smallest determinant of x, y and the turn in the constraints, relative to
that at the centre, at which height, roll and pitch still determine these three."""

ANGLE_TOLERANCE = 1e-9
"""[rad] Excess over the largest angle that counts as rounding."""


class Chart(NamedTuple):
    """Poses by the values of some axes; the other axes stay at the centre.

    Axes are those of `twin.motion`: displacements [m] along the base axes and angles [rad] of a
    convention, applied in base axes on top of the centre's attitude. On pillars, what the machine
    cannot choose follows from height, roll and pitch.
    """

    platform: MachineModel
    center: FloatArray
    """pose `(7,)` at which all axes are zero"""
    axes: tuple[str, ...]
    convention: str
    columns: FloatArray
    """`(k,)` indices of the axes among those of the convention"""
    scale: FloatArray
    """`(k,)` the platform joints' mean radius [m] for displacements, 1 rad for angles"""

    @classmethod
    def about(
        cls,
        platform: MachineModel,
        axes: Sequence[str],
        center: Any = None,
        convention: str | None = None,
    ) -> Chart:
        """Return the chart of these axes about a pose.

        Args:
            platform: the machine.
            axes: names from `twin.motion.axis_names(convention)`.
            center: pose `(7,)`, default home.
            convention: of the angles; default yaw_pitch_roll, of pillars roll_pitch.

        Raises:
            InputError: not a machine, unknown axes or convention, a convention that is singular at
                the centre, angles the machine cannot have, a centre that is not one pose.
        """
        as_model(platform)
        name = machine_convention(platform) if convention is None else convention
        known = axis_names(name)
        check_convention(platform, name)
        if is_singular_when_level(name):
            raise InputError(
                "convention",
                f"{name} is singular at the centre of the chart, where its first and its last "
                "angle turn about the same axis; take yaw_pitch_roll or rotation_vector",
            )
        columns = [known_axis(axis, "axes", name) for axis in axes]
        if not columns or len(set(columns)) != len(columns):
            raise InputError("axes", "must name one axis or more, none of them twice")
        if platform.dof < 6 and set(columns) & {known.index("x"), known.index("y")}:
            raise InputError("axes", f"{platform.name} moves along z only; x and y follow")
        pose = one_pose(platform.home if center is None else center, "center")
        size = characteristic_scale(platform)
        axis_scale = np.where(np.array(columns) < 3, size[0], 1.0)
        return cls(
            platform,
            read_only(platform.constrain(pose).pose),
            tuple(axes),
            name,
            np.array(columns),
            read_only(axis_scale),
        )

    @property
    def bound(self) -> float:
        """Distance in scaled units that no pose of this chart can exceed."""
        angles = largest_angles(self.convention)[self.columns[self.columns >= 3] - 3]
        angle_bound = np.pi if self.convention == ROTATION_VECTOR else np.linalg.norm(angles)
        bounds = [float(angle_bound)] if angles.size else []
        if (self.columns < 3).any():
            bounds.append(farthest_distance(self.platform) / float(self.scale.max()))
        return float(np.linalg.norm(bounds))

    def poses(self, values: Any) -> FloatArray:
        """Return poses `(..., 7)` of axis values `(..., k)` [m], [rad].

        NaN where angles are not those that attitudes have in the convention: beyond
        `largest_angles`, or rotation vectors beyond half a turn. NaN positions at heights and tilts
        that no place along x, y and no turn about the normal makes possible on legs in planes.

        Raises:
            InputError: wrong shape, not finite.
        """
        axis_values = as_floats(values, "values", len(self.axes))
        flat_values = axis_values.reshape(-1, axis_values.shape[-1])
        all_axes = np.zeros((len(flat_values), len(axis_names(self.convention))))
        all_axes[:, self.columns] = flat_values
        poses = np.tile(self.center, (len(flat_values), 1))
        poses[:, :3] += all_axes[:, :3]
        if (self.columns >= 3).any():
            rotation = quaternion_from_angles(all_axes[:, 3:], self.convention)
            poses[:, 3:] = quaternion_product(rotation, poses[:, 3:])
        if self.platform.dof < 6:
            poses = nearest_allowed(self.platform.constants.legs, poses)
            smallest = MIN_DETERMINANT_RATIO * self._constraint_determinants(self.center[None])[0]
            poses[~(self._constraint_determinants(poses) > smallest), :3] = np.nan
        if self.convention == ROTATION_VECTOR:
            is_outside = np.linalg.norm(all_axes[:, 3:], axis=1) > np.pi + ANGLE_TOLERANCE
        else:
            limits = largest_angles(self.convention) + ANGLE_TOLERANCE
            is_outside = (np.abs(all_axes[:, 3:]) > limits).any(axis=1)
        poses[is_outside] = np.nan
        return poses.reshape((*axis_values.shape[:-1], 7))

    def _constraint_determinants(self, poses: FloatArray) -> FloatArray:
        """Return magnitudes `(m,)` of the determinant of x, y and the turn in the constraints.

        Zero where poses `(m, 7)` do not meet the constraints, or where these do not determine x, y
        and the turn about the normal.
        """
        rows = evaluate_constraints(self.platform.constants.legs, poses, np.zeros((len(poses), 6)))
        normals = rotated(poses[:, 3:], np.array([[0.0, 0.0, 1.0]]))
        turns = np.einsum("kij,kj->ki", rows[:, :, 3:6], normals)
        determinants = np.abs(np.linalg.det(np.dstack([rows[:, :, :2], turns])))
        return np.asarray(determinants * meets_constraints(self.platform.constants.legs, poses))

    def along(self, directions: FloatArray, radii: FloatArray) -> FloatArray:
        """Return poses at scaled `radii` `(...)` along scaled directions `(..., k)`."""
        return self.poses(directions * radii[..., None] * self.scale)


def largest_angles(convention: str) -> FloatArray:
    """Return the largest angles `(3,)` [rad] of a convention that are searched, `(2,)` of two."""
    sequence = CONVENTIONS[convention].sequence
    if len(sequence) == 3:
        return np.array([np.pi, MAX_ANGLE, np.pi])
    if convention == ROTATION_VECTOR:
        return np.full(3, np.pi)
    return np.full(len(CONVENTIONS[convention].angles), MAX_ANGLE)


def machine_convention(platform: MachineModel) -> str:
    """Return the convention whose angles a machine can have."""
    return "yaw_pitch_roll" if platform.dof == 6 else "roll_pitch"


def dof_axes(platform: MachineModel) -> tuple[str, ...]:
    """Return the names of a machine's dof: x, y, z, yaw, pitch, roll; or z, roll, pitch."""
    names = axis_names(machine_convention(platform))
    return names if platform.dof == 6 else names[2:]


def farthest_distance(platform: MachineModel) -> float:
    """Return an upper bound [m] on the distance of two positions of one attitude: twice a reach."""
    return 2.0 * min(leg.reach for leg in platform.parameters.legs)


SYMMETRY_TOLERANCE = 1e-9
"""[m], [1] Largest difference of joints that counts as symmetric: joints given in degrees agree to
rounding."""


class Cause(IntEnum):
    """Cause that ends the workspace at a pose."""

    NONE = 0
    """the search ended first"""
    MINIMUM = 1
    """an actuator at its lower limit"""
    MAXIMUM = 2
    """an actuator at its upper limit"""
    UNREACHABLE = 3
    """a leg that cannot reach"""
    SINGULAR = 4
    """the determinant of the Jacobian changes sign"""
    PLATES = 5
    """the middle of a plate is in the other one's plane"""
    PLANES = 6
    """the legs' planes part: no place and no turn about the normal brings all tips into them"""


def actuator_coordinates(platform: MachineModel, poses: FloatArray) -> FloatArray:
    """Return actuator coordinates `(m, n)` of poses `(m, 7)`; NaN where there are none."""
    values = np.empty((len(poses), platform.n_actuators))
    run(inverse_kinematics_batch, (platform.constants.legs,), (poses, values))
    if platform.dof < 6:
        values[~meets_constraints(platform.constants.legs, poses)] = np.nan
    return values


def jacobians(platform: MachineModel, poses: FloatArray) -> FloatArray:
    """Return Jacobians `(m, n, 6)` of checked poses `(m, 7)`; not finite where there is none."""
    matrices = np.empty((len(poses), platform.n_actuators, 6))
    run(jacobian_batch, (platform.constants.legs,), (poses, matrices))
    return matrices


def determinants(platform: MachineModel, poses: FloatArray) -> FloatArray:
    """Return determinants `(m,)` of square Jacobians of poses `(m, 7)`; NaN where there is none."""
    matrices = jacobians(platform, poses)
    finite = np.isfinite(matrices).all(axis=(1, 2))
    values = np.full(len(poses), np.nan)
    values[finite] = np.linalg.det(matrices[finite])
    return values


def plates_apart(platform: MachineModel) -> bool:
    """Return whether the polygons of base and platform joints do not intersect at home.

    False for pillars, whose feet slide on the floor, and where one is inside the other.
    """
    if platform.leg.has_foot:
        return False
    tips = platform.home[:3] + rotated(platform.home[3:], platform.platform_joints)
    base = platform.base_joints
    base_ring, platform_ring = base[ring(base)], tips[ring(platform.platform_joints)]
    return bool(polygon_distance(base_ring[None], platform_ring[None])[0] > 0.0)


def plate_heights(platform: MachineModel, poses: FloatArray) -> FloatArray:
    """Return heights `(m, 2)` [m] of each plate's middle above the other's plane at poses `(m, 7)`.

    First the platform above the base, then the base above the platform. Planes are those of the
    joints by least squares, with normals along +z of base and platform.
    """
    base, platform_joints = platform.base_joints, platform.platform_joints
    platform_center = poses[:, :3] + rotated(poses[:, 3:], platform_joints.mean(axis=0)[None])
    center_vector = platform_center - base.mean(axis=0)
    plate_normal = rotated(poses[:, 3:], _normal(platform_joints)[None])
    return np.stack(
        [center_vector @ _normal(base), -np.einsum("mi,mi->m", center_vector, plate_normal)], axis=1
    )


def _normal(joints: FloatArray) -> FloatArray:
    """Return the unit normal `(3,)` of the plane nearest to joints `(n, 3)`."""
    normal: FloatArray = np.linalg.svd(joints - joints.mean(axis=0))[2][2]
    return normal if normal[2] >= 0.0 else -normal


def square(platform: MachineModel) -> bool:
    """Return whether the determinant of the Jacobian changes sign at singular poses."""
    return platform.dof == platform.n_actuators == 6


class Admissible:
    """The test of poses, with the sign of the determinant that a machine has at `center`."""

    def __init__(self, platform: MachineModel, center: FloatArray) -> None:
        """Store the sign of the determinant at `center` `(7,)`.

        Raises:
            InputError: the centre is singular or outside the limits.
        """
        self.platform = platform
        if not platform.within_limits(center):
            raise InputError("center", "lies outside the actuators' limits or out of reach")
        self._heights = np.zeros(2)
        if plates_apart(platform):
            self._heights = plate_heights(platform, platform.home[None])[0]
        if not self.facing(center[None])[0]:
            raise InputError("center", "lies on the other side of the base than home")
        self.side = 1.0
        if square(platform):
            self.side = float(np.sign(determinants(platform, center[None])[0]))
            if self.side == 0.0 or np.isnan(self.side):
                raise InputError("center", "is a singular pose")

    def within_limits(self, coordinates: FloatArray) -> BoolArray:
        """Return `(m,)` whether coordinates `(m, n)` are inside the limits; NaN is not."""
        platform = self.platform
        return inside(coordinates, platform.minimum_coordinates, platform.maximum_coordinates)

    def facing(self, poses: FloatArray) -> BoolArray:
        """Return `(m,)` whether at poses `(m, 7)` the plates face each other as at home."""
        if not self._heights.any():
            return np.ones(len(poses), dtype=bool)
        heights = plate_heights(self.platform, poses) * np.sign(self._heights)
        return np.asarray((heights > 0.0).all(axis=1))

    def inside(self, poses: FloatArray) -> BoolArray:
        """Return `(m,)` whether poses `(m, 7)` are admissible."""
        is_inside = self.within_limits(actuator_coordinates(self.platform, poses))
        is_inside[is_inside] = self.facing(poses[is_inside])
        if square(self.platform):
            is_inside[is_inside] = self.side * determinants(self.platform, poses[is_inside]) > 0.0
        return is_inside

    def causes(self, poses: FloatArray) -> tuple[IndexArray, IndexArray]:
        """Return why poses `(m, 7)` are excluded: causes `(m,)` and legs `(m,)` from 1, or 0."""
        values = actuator_coordinates(self.platform, poses)
        low, high = self.platform.minimum_coordinates, self.platform.maximum_coordinates
        stroke = high - low
        excess_above, excess_below = (values - high) / stroke, (low - values) / stroke
        is_unreached = np.isnan(values)
        excess = np.where(is_unreached, np.inf, np.maximum(excess_above, excess_below))
        leg = excess.argmax(axis=1)
        rows = np.arange(len(poses))
        cause = np.where(
            excess_above[rows, leg] > excess_below[rows, leg], Cause.MAXIMUM, Cause.MINIMUM
        )
        cause[is_unreached[rows, leg]] = Cause.UNREACHABLE
        is_within = self.within_limits(values)
        cause[is_within] = np.where(self.facing(poses[is_within]), Cause.SINGULAR, Cause.PLATES)
        has_no_pose = np.isnan(poses).any(axis=1)
        cause[has_no_pose], is_within[has_no_pose] = Cause.NONE, True
        cause[has_no_pose & np.isfinite(poses[:, 3])] = Cause.PLANES
        return cause, np.where(is_within, 0, leg + 1)


def cause_text(cause: Any, leg: Any, coordinate_name: str) -> str:
    """Return a cause with the number of its leg as text; the coordinate is "length" or "angle"."""
    texts = {
        Cause.NONE: "end of the search",
        Cause.MINIMUM: f"leg {leg} at its lower limit",
        Cause.MAXIMUM: f"leg {leg} at its upper limit",
        Cause.UNREACHABLE: f"leg {leg} out of reach ({coordinate_name})",
        Cause.SINGULAR: "singular pose",
        Cause.PLATES: "platform and base in one plane",
        Cause.PLANES: "no pose on the planes of all legs",
    }
    return texts[Cause(int(cause))]


def shell_centers(platform: MachineModel, pose: FloatArray) -> FloatArray:
    """Return the shells' centres `(n, 3)` [m] at the attitude of a pose `(7,)`.

    Raises:
        InputError: legs that are not straight.
    """
    from scipy.spatial.transform import Rotation

    if not as_model(platform).leg.is_straight or platform.dof < 6:
        raise InputError("platform", f"{platform.name} has no straight legs with two free ends")
    matrix = Rotation.from_quat(pose[[4, 5, 6, 3]]).as_matrix()
    return np.asarray(platform.base_joints - platform.platform_joints @ matrix.T)


def within_shells(platform: MachineModel, pose: FloatArray, positions: FloatArray) -> BoolArray:
    """Return whether positions `(..., 3)` [m] are between all shells at the attitude of `pose`.

    Raises:
        InputError: legs that are not straight.
    """
    centers = shell_centers(platform, pose)
    distance = np.linalg.norm(positions[..., None, :] - centers, axis=-1)
    low, high = platform.minimum_coordinates, platform.maximum_coordinates
    return np.asarray(((distance >= low) & (distance <= high)).all(axis=-1))


def shell_exits(platform: MachineModel, pose: FloatArray, directions: FloatArray) -> FloatArray:
    """Return the distances `(...)` [m] from a pose inside to the first shell along unit vectors.

    The smallest positive root of |v + t d|^2 = r^2, v = p - c_i, over all legs and both radii.

    Raises:
        InputError: legs that are not straight.
    """
    offsets = pose[:3] - shell_centers(platform, pose)
    half_linear_term = directions @ offsets.T
    squared_offsets = np.einsum("ij,ij->i", offsets, offsets)
    distances = np.full(directions.shape[:-1], np.inf)
    for radii, side in ((platform.maximum_coordinates, 1.0), (platform.minimum_coordinates, -1.0)):
        discriminant = half_linear_term**2 - (squared_offsets - radii**2)
        root = np.sqrt(np.maximum(discriminant, 0.0))
        # From inside the outer sphere the far root is ahead; the inner one is met at the near root.
        distance = -half_linear_term + side * root
        distance = np.where((discriminant < 0.0) | (distance < 0.0), np.inf, distance)
        distances = np.minimum(distances, distance.min(axis=-1))
    return distances


def plane_exits(platform: MachineModel, pose: FloatArray, directions: FloatArray) -> FloatArray:
    """Return the distances `(m,)` along unit vectors `(m, 3)` to where plates are level.

    There the middle of a plate's joints is in the plane of the other's. Infinite where it never is,
    and for plates that are not apart at home. At the attitude of the pose both planes are fixed,
    so that the height of one middle above the other plane is linear in the distance.
    """
    if not plates_apart(platform):
        return np.full(len(directions), np.inf)
    heights = plate_heights(platform, pose[None])[0]
    moved_poses = np.tile(pose, (len(directions), 1))
    moved_poses[:, :3] += directions
    rates = plate_heights(platform, moved_poses) - heights
    with np.errstate(divide="ignore"):
        crossings = np.where(rates * heights < 0.0, -heights / rates, np.inf)
    return np.asarray(crossings.min(axis=-1))


def bounding_box(platform: MachineModel, pose: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the corners `(3,)` [m] of the box that all outer spheres have in common.

    Raises:
        InputError: legs that are not straight.
    """
    centers = shell_centers(platform, pose)
    radii = platform.maximum_coordinates[:, None]
    return (centers - radii).max(axis=0), (centers + radii).min(axis=0)


def third_turn(platform: MachineModel) -> bool:
    """Return whether the machine is symmetric under a rotation by 120 degrees about z.

    Base and platform joints, first axes and limits are compared, and home must be level on the
    axis.

    Raises:
        InputError: not a machine.
    """
    as_model(platform)
    if np.abs(platform.home[[0, 1, 4, 5, 6]]).max() > SYMMETRY_TOLERANCE:
        return False
    cosine, sine = -0.5, np.sqrt(0.75)
    rotation = np.array([[cosine, -sine, 0.0], [sine, cosine, 0.0], [0.0, 0.0, 1.0]])
    limits = np.column_stack([platform.minimum_coordinates, platform.maximum_coordinates])
    points = [platform.base_joints, platform.platform_joints]
    if platform.leg.has_crank:
        points.append(platform.first_axes)
    geometry = np.hstack([*points, limits])
    rotated_geometry = np.hstack([*(vectors @ rotation.T for vectors in points), limits])
    distance = np.abs(rotated_geometry[:, None] - geometry[None]).max(axis=2).min(axis=1)
    return bool(distance.max() <= SYMMETRY_TOLERANCE)


RAY_SAMPLES = 128
"""Poses tried along a ray; gaps and lobes thinner than 1/128 of the workspace may be missed."""

BISECTION_STEPS = 44
"""Halvings of a step between two samples, after which rounding of the radius remains."""

COARSE_SAMPLES = 200
"""Samples along the rays that find how far the workspace extends at all."""

RAY_GROWTH = 1.25
"""Factor by which rays are lengthened while one of them ends inside the workspace."""

RAY_MARGIN = 1.05
"""Length of the rays per distance of the farthest point found on the coarse ones."""

SINGULAR_SAMPLES = 240
"""Poses tried along a ray; two sign changes closer to each other than 1/240 of it are missed."""


class Rays(NamedTuple):
    """Segments of rays from a chart's centre inside the workspace; radii in scaled units."""

    directions: FloatArray
    """`(m, k)` unit vectors in scaled units"""
    exits: FloatArray
    """`(m,)` radius up to which everything is inside"""
    causes: IndexArray
    """`(m,)` `Cause` of the first exit"""
    legs: IndexArray
    """`(m,)` leg from 1 that ends it; 0 where none does"""
    ray: IndexArray
    """`(q,)` ray of each segment inside the workspace"""
    start: FloatArray
    """`(q,)` radius where it begins"""
    stop: FloatArray
    """`(q,)` radius where it ends"""


def search(chart: Chart, directions: FloatArray, radius_limit: float | None = None) -> Rays:
    """Return where rays along scaled `directions` `(m, k)` are inside the workspace.

    Samples up to the radius `radius_limit` (default: found by `extent`; longer if a ray needs it)
    bracket every change, bisection finds it.

    Raises:
        InputError: the centre is outside the workspace or singular.
    """
    admissible = Admissible(chart.platform, chart.center)
    max_radius = extent(chart, directions) if radius_limit is None else radius_limit
    while True:
        sample_radii = max_radius * np.arange(RAY_SAMPLES + 1) / RAY_SAMPLES
        poses = chart.along(directions[:, None], sample_radii)
        is_inside = admissible.inside(poses.reshape(-1, 7)).reshape(len(directions), -1)
        if max_radius >= chart.bound or not is_inside[:, -1].any():
            break
        max_radius = min(RAY_GROWTH * max_radius, chart.bound)
    ray, sample_index = np.nonzero(is_inside[:, 1:] != is_inside[:, :-1])
    is_leaving = is_inside[ray, sample_index]
    lower_radius, upper_radius = sample_radii[sample_index], sample_radii[sample_index + 1]
    lower_radius, upper_radius = bisected(
        lambda radii: admissible.inside(chart.along(directions[ray], radii)) == is_leaving,
        lower_radius,
        upper_radius,
    )
    rays_inside_at_end = np.flatnonzero(is_inside[:, -1])
    rays_inside_at_start = np.flatnonzero(is_inside[:, 0])
    _, starts = _sorted(
        np.r_[rays_inside_at_start, ray[~is_leaving]],
        np.r_[np.zeros(len(rays_inside_at_start)), upper_radius[~is_leaving]],
    )
    segment_rays, stops = _sorted(
        np.r_[ray[is_leaving], rays_inside_at_end],
        np.r_[lower_radius[is_leaving], np.full(len(rays_inside_at_end), max_radius)],
    )
    exits = np.zeros(len(directions))
    # Written from the last segment to the first, so that the first one stays.
    exits[segment_rays[::-1]] = stops[::-1]
    exits[~is_inside[:, 0]] = 0.0
    causes = np.full(len(directions), int(Cause.NONE))
    legs = np.zeros(len(directions), dtype=np.int64)
    first_exits = np.flatnonzero(is_leaving)[::-1]
    rays_out = ray[first_exits]
    causes[rays_out], legs[rays_out] = admissible.causes(
        chart.along(directions[rays_out], upper_radius[first_exits])
    )
    return Rays(directions, exits, causes, legs, segment_rays, starts, stops)


def bisected(
    is_before: Callable[[FloatArray], BoolArray], low: FloatArray, high: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return the last values `(m,)` between `low` and `high` before a change, the first after."""
    for _ in range(BISECTION_STEPS):
        middle = 0.5 * (low + high)
        before = is_before(middle)
        low, high = np.where(before, middle, low), np.where(before, high, middle)
    return low, high


def extent(chart: Chart, directions: FloatArray) -> float:
    """Return a scaled radius beyond the workspace along all of `directions` `(m, k)`.

    Raises:
        InputError: the centre is outside the workspace or singular.
    """
    admissible = Admissible(chart.platform, chart.center)
    some_directions = directions[:: max(1, len(directions) // 300)]
    bound = chart.bound
    while True:
        sample_radii = bound * np.arange(1, COARSE_SAMPLES + 1) / COARSE_SAMPLES
        poses = chart.along(some_directions[:, None], sample_radii)
        is_inside = admissible.inside(poses.reshape(-1, 7)).reshape(poses.shape[:2]).any(axis=0)
        last_inside = int(np.flatnonzero(is_inside)[-1]) + 1 if is_inside.any() else 0
        # An eighth of the samples inside resolves the extent; below a millionth the search ends.
        if last_inside >= COARSE_SAMPLES // 8 or bound < 1e-6 * chart.bound:
            farthest = RAY_MARGIN * sample_radii[max(last_inside, 1) - 1] + sample_radii[0]
            return float(min(chart.bound, farthest))
        bound = float(sample_radii[min(4 * last_inside + 3, COARSE_SAMPLES - 1)])


def _sorted(ray: IndexArray, radius: FloatArray) -> tuple[IndexArray, FloatArray]:
    order = np.lexsort((radius, ray))
    return ray[order], radius[order]


def sphere(count: int) -> tuple[FloatArray, FloatArray]:
    """Return `(2 count^2, 3)` unit vectors and their weights, which add up to 4 pi.

    Gauss-Legendre nodes along the axis, even steps about it: exact for polynomials of degree
    2 count - 1. The first index is the height, from below to above.
    """
    heights, node_weights = np.polynomial.legendre.leggauss(count)
    angles = np.pi * np.arange(2 * count) / count
    radius = np.sqrt(1.0 - heights**2)
    vectors = np.stack(
        [
            radius[:, None] * np.cos(angles),
            radius[:, None] * np.sin(angles),
            np.broadcast_to(heights[:, None], (count, 2 * count)),
        ],
        axis=-1,
    )
    weights = np.repeat(node_weights * np.pi / count, 2 * count)
    return vectors.reshape(-1, 3), weights


def circle(count: int) -> FloatArray:
    """Return `(count, 2)` unit vectors at even steps."""
    angles = 2.0 * np.pi * np.arange(count) / count
    return np.stack([np.cos(angles), np.sin(angles)], axis=1)


def singular_distance(
    chart: Chart, directions: FloatArray, radius_limit: float | None = None
) -> FloatArray:
    """Return the scaled radii `(m,)` of the first singular pose along `directions` `(m, k)`.

    A ray ends at the radius `radius_limit` (default the chart's bound), or where a leg no longer
    reaches. Infinite where it meets no singular pose before.

    Raises:
        InputError: a machine without a square Jacobian, or a singular centre.
    """
    if not square(chart.platform):
        raise InputError("platform", f"{chart.platform.name} has no square Jacobian")
    size = chart.bound if radius_limit is None else radius_limit
    sample_radii = size * np.arange(SINGULAR_SAMPLES + 1) / SINGULAR_SAMPLES
    poses = chart.along(directions[:, None], sample_radii)
    values = determinants(chart.platform, poses.reshape(-1, 7)).reshape(poses.shape[:2])
    home_sign = np.sign(values[0, 0])
    if not home_sign:
        raise InputError("center", "is a singular pose")
    has_other_sign = home_sign * values <= 0.0
    is_unreached = np.isnan(values)
    first_missing = np.where(
        is_unreached.any(axis=1), is_unreached.argmax(axis=1), SINGULAR_SAMPLES + 1
    )
    sample_index = has_other_sign.argmax(axis=1)
    ray = np.flatnonzero(has_other_sign.any(axis=1) & (sample_index < first_missing))
    low, high = sample_radii[sample_index[ray] - 1], sample_radii[sample_index[ray]]
    distances = np.full(len(directions), np.inf)
    distances[ray], _ = bisected(
        lambda radii: (
            home_sign * determinants(chart.platform, chart.along(directions[ray], radii)) > 0.0
        ),
        low,
        high,
    )
    return distances
