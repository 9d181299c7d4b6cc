"""Between the steps of MuJoCo: drives and friction of all rows, and their readings."""

from __future__ import annotations

from math import isfinite, sqrt
from typing import Any

from twin.basics.arrays import FloatArray
from twin.kernels.batched.analytic import STEPS_COLUMN, DriveArrays, Machines, drive_one, read_one
from twin.kernels.jit import compiled, device
from twin.kernels.linear_algebra import Vector, add, cross, norm, rotate, rotation_at, row, subtract

BAD_STATE_LIMIT = 1e10
"""Magnitude of coordinates and speeds beyond which MuJoCo rejects a state."""


@device
def is_usable(qpos: FloatArray, qvel: FloatArray, warning: Any, i: int) -> bool:
    """Return whether MuJoCo accepts the state of row i for further steps."""
    for j in range(qpos.shape[1]):
        if not abs(qpos[i, j]) < BAD_STATE_LIMIT:
            return False
    for j in range(qvel.shape[1]):
        if not abs(qvel[i, j]) < BAD_STATE_LIMIT:
            return False
    warnings = 0
    for j in range(warning.shape[1]):
        warnings += warning[i, j, 1]
    return warnings == 0


@device
def sense(
    qpos: FloatArray,
    qvel: FloatArray,
    joints: Any,
    gains: FloatArray,
    springs: Any,
    home: FloatArray,
    i: int,
    coordinates: FloatArray,
    rates: FloatArray,
) -> None:
    """Fill coordinates and rates `(n,)` at the actuators of row i, without springs in series."""
    for j in range(coordinates.shape[0]):
        value, rate = 0.0, 0.0
        for part in range(joints.shape[1]):
            value += gains[part, j] * qpos[i, joints[0, part, j]]
            rate += gains[part, j] * qvel[i, joints[1, part, j]]
        coordinates[j], rates[j] = home[i, j] + value, rate
    for j in range(springs.shape[1]):
        coordinates[j] -= qpos[i, springs[0, j]]
        rates[j] -= qvel[i, springs[1, j]]


@device
def apply_friction(cycle: Any, i: int) -> None:
    """Apply the dry friction of row i's sliding feet, held constant over the next step."""
    for k in range(cycle.sliding_joints.shape[0]):
        x_joint, y_joint = cycle.sliding_joints[k, 0], cycle.sliding_joints[k, 1]
        speed_x, speed_y = cycle.qvel[i, x_joint], cycle.qvel[i, y_joint]
        transition_speed = cycle.foot_friction[i, k, 1]
        resistance = cycle.foot_friction[i, k, 0] / sqrt(
            speed_x * speed_x + speed_y * speed_y + transition_speed * transition_speed
        )
        cycle.generalised_forces[i, x_joint], cycle.generalised_forces[i, y_joint] = (
            -resistance * speed_x,
            -resistance * speed_y,
        )


@device
def turn_of(
    fields: Any, layout: Any, sign: FloatArray, i: int
) -> tuple[float, float, float, float]:
    """Return the platform's quaternion in row i, with the sign of the pose at the reset."""
    if layout.free_qpos >= 0:
        quaternion, first_entry, factor = fields.qpos, layout.free_qpos + 3, 1.0
    else:
        quaternion, first_entry, factor = fields.quaternions, 0, sign[i]
    return (
        factor * quaternion[i, first_entry],
        factor * quaternion[i, first_entry + 1],
        factor * quaternion[i, first_entry + 2],
        factor * quaternion[i, first_entry + 3],
    )


@device
def twist_of(fields: Any, layout: Any, i: int) -> tuple[Vector, Vector]:
    """Return velocity and angular velocity of the platform in row i, in base axes.

    A free joint has its angular velocity in platform axes; a platform on joints moves about the
    centre of mass of its tree in MuJoCo's record.
    """
    if layout.free_qpos >= 0:
        turn = rotation_at(fields.qpos[i], layout.free_qpos + 3)
        angular_velocity = rotate(turn, row(fields.qvel, i, layout.free_qvel + 3))
        return row(fields.qvel, i, layout.free_qvel), angular_velocity
    angular_velocity = row(fields.motions, i, 0)
    center_offset = subtract(row(fields.positions, i, 0), row(fields.centers, i, 0))
    return add(row(fields.motions, i, 3), cross(angular_velocity, center_offset)), angular_velocity


@device
def loop_gap(fields: Any, layout: Any, i: int) -> float:
    """Return the largest distance [m] between the two points of a loop in row i."""
    largest_gap = 0.0
    for k in range(layout.tips.shape[0]):
        distance = norm(
            subtract(
                row(fields.sites[i], layout.tips[k], 0), row(fields.sites[i], layout.sockets[k], 0)
            )
        )
        # Written so that a gap that is not a number is the largest.
        if not distance <= largest_gap:
            largest_gap = distance
    return largest_gap


@compiled
def before_step(cycle: Any, ratio: int, mode: int, step: float, skipped_steps: int) -> int:
    """Mark rows in a bad state as failed, and apply the drives of the others for one engine step.

    Args:
        cycle: `Cycle`; failed, coordinates, rates, forces, controls and applied forces are
            overwritten, states of the drives advanced.
        ratio: steps of the engine in the period.
        mode: of the commands, `VELOCITY_MODE` or `FORCE_MODE`.
        step: [s] of the engine.
        skipped_steps: further steps that the forces will be held over.

    Returns:
        Number of rows that failed in this call.
    """
    failed_count = 0
    for i in range(cycle.failed.shape[0]):
        if cycle.failed[i]:
            continue
        if not is_usable(cycle.qpos, cycle.qvel, cycle.warning, i):
            cycle.failed[i] = True
            failed_count += 1
            continue
        coordinates, rates, forces = cycle.coordinates[i], cycle.rates[i], cycle.forces[i]
        sense(
            cycle.qpos, cycle.qvel, cycle.joints, cycle.joint_gains, cycle.springs, cycle.home, i,
            coordinates, rates,
        )  # fmt: skip
        drive_one(cycle, i, ratio, mode, step, coordinates, rates, forces)
        cycle.counters[i, STEPS_COLUMN] += skipped_steps
        for j in range(forces.shape[0]):
            cycle.ctrl[i, j] = forces[j]
        apply_friction(cycle, i)
    return failed_count


@compiled
def store_twists(failed: Any, fields: Any, layout: Any, previous_twists: FloatArray) -> None:
    """Fill `previous_twists` (N, 6) with the twists of all rows that have not failed."""
    for i in range(failed.shape[0]):
        if not failed[i]:
            velocity, angular_velocity = twist_of(fields, layout, i)
            for k in range(3):
                previous_twists[i, k], previous_twists[i, 3 + k] = velocity[k], angular_velocity[k]


@compiled
def after_period(
    arrays: DriveArrays,
    machines: Machines,
    fields: Any,
    layout: Any,
    plant_arrays: Any,
    largest_gap: float,
    span: float,
    step: float,
) -> None:
    """Copy the states of all rows at the end of a control period, and read their sensors.

    A row whose state is not finite fails and keeps its last readings; one whose loops have opened
    fails as well.

    Args:
        arrays: `DriveArrays`.
        machines: `Machines`, overwritten.
        fields: `Fields` of MuJoCo, positions and velocities of bodies current.
        layout: `Layout`.
        plant_arrays: `PlantArrays`.
        largest_gap: [m] that a row may have.
        span: [s] of the period.
        step: [s] of the engine.
    """
    for i in range(machines.failed.shape[0]):
        if machines.failed[i]:
            continue
        open_gap = loop_gap(fields, layout, i)
        if not (is_usable(fields.qpos, fields.qvel, fields.warning, i) and isfinite(open_gap)):
            machines.failed[i] = True
            continue
        machines.gap[i] = open_gap
        machines.failed[i] = open_gap > largest_gap
        position = fields.qpos if layout.free_qpos >= 0 else fields.positions
        first_entry = max(layout.free_qpos, 0)
        quaternion, twist = (
            turn_of(fields, layout, plant_arrays.quaternion_sign, i),
            twist_of(fields, layout, i),
        )
        for k in range(4):
            machines.pose[i, 3 + k] = quaternion[k]
        for k in range(3):
            machines.pose[i, k] = position[i, first_entry + k]
            for part in range(2):
                column = 3 * part + k
                value = twist[part][k]
                machines.acceleration[i, column] = (
                    value - plant_arrays.previous_twists[i, column]
                ) / step
                machines.twist[i, column] = value
        n_springs = layout.springs.shape[1]
        for k in range(n_springs):
            machines.deflection[i, k] = fields.qpos[i, layout.springs[0, k]]
            machines.deflection[i, n_springs + k] = fields.qvel[i, layout.springs[1, k]]
        coordinates, rates = machines.coordinates[i], machines.rates[i]
        sense(
            fields.qpos, fields.qvel, layout.joints, layout.joint_gains, layout.springs,
            plant_arrays.home, i, coordinates, rates,
        )  # fmt: skip
        read_one(arrays, machines, i, span)


@compiled
def read_balls(failed: Any, fields: Any, balls: Any) -> None:
    """Fill `balls` (N, 13) of all rows that have not failed; a free joint keeps each at the end."""
    first_coordinate, first_velocity = fields.qpos.shape[1] - 7, fields.qvel.shape[1] - 6
    for i in range(failed.shape[0]):
        if failed[i]:
            continue
        for j in range(7):
            balls[i, j] = fields.qpos[i, first_coordinate + j]
        angular_velocity = rotate(rotation_at(balls[i], 3), row(fields.qvel, i, first_velocity + 3))
        for k in range(3):
            balls[i, 7 + k], balls[i, 10 + k] = (
                fields.qvel[i, first_velocity + k],
                angular_velocity[k],
            )
