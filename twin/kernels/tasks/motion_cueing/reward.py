"""Terms of the reward of motion cueing: pure functions of numbers, the best value is zero."""

from __future__ import annotations

from twin.basics.arrays import FloatArray, IndexArray
from twin.kernels.jit import compiled

SCALE = 10.0
"""Thresholds of perception that count as one."""


@compiled
def perception_term(error: FloatArray, threshold: FloatArray, start: int, stop: int) -> float:
    """Return minus the mean square of perceived errors, over ten thresholds.

    Args:
        error: `(6,)` perceived on the platform less perceived in the vehicle [m/s2, rad/s].
        threshold: `(6,)` of perception.
        start: first sense that counts: 0 for specific force, 3 for rotation.
        stop: the one after the last.
    """
    total = 0.0
    for j in range(start, stop):
        share = error[j] / (SCALE * threshold[j])
        total += share * share
    return -total / (stop - start)


@compiled
def conscious(value: float, threshold: float) -> float:
    """Return what a driver is conscious of: a dead zone that takes its width away."""
    if value > threshold:
        return value - threshold
    if value < -threshold:
        return value + threshold
    return 0.0


@compiled
def false_part(platform: float, vehicle: float, threshold: float) -> float:
    """Return what is felt on the platform while in the vehicle nothing is, or the opposite."""
    shown, known = conscious(platform, threshold), conscious(vehicle, threshold)
    return 0.0 if known * shown > 0.0 else shown


@compiled
def false_term(platform: FloatArray, vehicle: FloatArray, threshold: FloatArray) -> float:
    """Return minus the mean square of the false parts of what is felt, over ten thresholds.

    Args:
        platform: `(6,)` perceived on the platform [m/s2, rad/s].
        vehicle: `(6,)` perceived in the vehicle.
        threshold: `(6,)` of perception.
    """
    total = 0.0
    for j in range(6):
        share = false_part(platform[j], vehicle[j], threshold[j]) / (SCALE * threshold[j])
        total += share * share
    return -total / 6.0


@compiled
def neutral_term(axes: FloatArray, travel: FloatArray, free: IndexArray) -> float:
    """Return minus the mean square of displacements from home, over the travel of each axis.

    Args:
        axes: `(6,)` x, y, z [m], yaw, pitch, roll [rad] about home.
        travel: `(6,)` of the machine along each axis alone.
        free: `(k,)` indices of the axes that the machine has.
    """
    total = 0.0
    for j in free:
        share = axes[j] / travel[j]
        total += share * share
    return -total / free.shape[0]
