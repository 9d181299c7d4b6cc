"""Errors of predicted signals of the platform: poses, and readings of an inertial sensor."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.spatial.transform import Rotation

from twin.basics.arrays import FloatArray
from twin.basics.quaternions import cross, quaternion_product, rotated, turned
from twin.identification.parameters import Parameter, SignalErrors, signal_errors
from twin.identification.parameters.values import values_by_path
from twin.identification.prediction.platform_signals import PlatformSignal, Slots
from twin.machine.hardware.sensors import InertialSensor
from twin.model.machine_model import MachineModel

UPPER = np.triu_indices(3)


class Motion(NamedTuple):
    """Predicted motion of the platform; first axes rollouts and samples."""

    pose: FloatArray
    """`(N, T, 7)`"""
    twist: FloatArray
    """`(N, T, 6)`"""
    acceleration: FloatArray
    """`(N, T, 6)` mean of the model from each sample to the next one"""


class Readers:
    """Errors of signals and mounting of the inertial sensor, of several parameter sets."""

    def __init__(
        self, machine: MachineModel, parameters: Sequence[Parameter], values: FloatArray
    ) -> None:
        """Take the parameters `(sets, p)` in SI of a machine."""
        self.imu, self._count = machine.parameters.imu, len(values)
        self._errors = [signal_errors(machine, parameters, each) for each in values]
        if self.imu is not None:
            mounting = [*self.imu.position, *self.imu.attitude]
            paths = [f"imu.{name}.{k}" for name in ("position", "attitude") for k in range(3)]
            given = [values_by_path(parameters, each) for each in values]
            pairs = list(zip(paths, mounting, strict=True))
            found = np.array([[own.get(*pair) for pair in pairs] for own in given])
            self._place = found[:, :3]
            self._rotation = Rotation.from_euler("ZYX", found[:, 3:]).as_matrix()

    def errors(self, signal: str, width: int) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return scales `(sets, 1)`, biases `(sets, width)` and delays `(sets,)` of a signal."""
        exact = SignalErrors(1.0, np.zeros(width), 0.0)
        scale, bias, delay = zip(*(each.get(signal, exact) for each in self._errors), strict=True)
        return np.array(scale)[:, None], np.array(bias), np.array(delay)

    def missed(
        self,
        signal: PlatformSignal,
        slots: Slots,
        motion: Motion | FloatArray,
        rows: Any,
        sets: Any,
        begin: FloatArray,
        period: float,
    ) -> FloatArray:
        """Return errors of predictions `(N, q, w)` in standard deviations; 0 in empty slots.

        Args:
            signal: that is predicted.
            slots: `(N, q)` its samples.
            motion: of all rollouts, or what readings are linear in (`felt`).
            rows: `(N,)` rollout of each row.
            sets: `(N,)` parameter set of each row.
            begin: `(N,)` times [s] of the first samples of the rollouts.
            period: [s] between two of them.
        """
        scale, bias, delay = (each[sets] for each in self.errors(signal.name, len(signal.noise)))
        at = (signal.time[slots.index] - (begin + delay)[:, None]) / period
        measured, rows = signal.values[slots.index], rows[:, None]
        if isinstance(motion, Motion):
            found = pose_errors(measured, motion, rows, at, period, bias)
        else:
            both = inertial_readings(motion, rows, at, self._place[sets], self._rotation[sets])
            own = both[..., 3:] if signal.name == "gyroscope" else both[..., :3]
            found = measured - (scale[:, None] * own + bias[:, None])
        return np.where(slots.filled[..., None], found / signal.noise, 0.0)


def pose_errors(
    measured: FloatArray, motion: Motion, rows: Any, at: FloatArray, period: float, bias: FloatArray
) -> FloatArray:
    """Return displacements `(N, Q, 6)` that lead from predicted poses to measured ones.

    Args:
        measured: `(N, Q, 7)`.
        motion: of all rollouts.
        rows: `(N, 1)` the rollout of each row.
        at: `(N, Q)` times in sampling periods from the first sample of the rollout.
        period: [s].
        bias: `(N, 6)` displacement of all measured poses.
    """
    index = np.clip(np.floor(at).astype(int), 0, motion.pose.shape[1] - 2)
    rest = period * (at - index)[..., None]
    pose, twist, acceleration = (each[rows, index] for each in motion)
    expected = turned(pose, rest * twist + 0.5 * rest**2 * acceleration + bias[:, None])
    back = expected[..., 3:] * [1.0, -1.0, -1.0, -1.0]
    turn = quaternion_product(measured[..., 3:], back)
    angle = 2.0 * np.sign(turn[..., :1]) * turn[..., 1:]
    return np.concatenate([measured[..., :3] - expected[..., :3], angle], axis=-1)


def felt(motion: Motion, gravity: FloatArray, imu: InertialSensor, period: float) -> FloatArray:
    """Return what readings are linear in `(N, T, 15)`, after the filter of a sensor.

    In platform axes: specific force of the reference point, angular rate, angular acceleration, and
    products of two rates.

    Args:
        motion: of all rollouts.
        gravity: `(N, 3)` field [m/s2] in base axes.
        imu: the sensor, for its filter.
        period: [s] between two samples.
    """
    middle = motion.twist + 0.5 * period * motion.acceleration
    pose = turned(motion.pose, 0.5 * period * motion.twist)
    back = pose[..., 3:] * [1.0, -1.0, -1.0, -1.0]
    linear, angular = motion.acceleration[..., :3], motion.acceleration[..., 3:]
    parts = (linear - gravity[:, None], middle[..., 3:], angular)
    force, rate, change = (rotated(back, part) for part in parts)
    products = (rate[..., :, None] * rate[..., None, :])[..., UPPER[0], UPPER[1]]
    whole = np.concatenate([force, rate, change, products], axis=-1)
    return whole if imu.bandwidth is None else _filtered(whole, imu, period)


def _filtered(values: FloatArray, imu: InertialSensor, period: float) -> FloatArray:
    """Return means over steps behind the filter of a sensor, at the beginnings of these steps."""
    from scipy.signal import cont2discrete, lfilter, lfilter_zi

    w = 2.0 * np.pi * float(imu.bandwidth or 0.0)
    model = [w * w], [1.0, 2.0 * imu.damping_ratio * w, w * w]
    numerator, denominator, _ = cont2discrete(model, period, "zoh")
    start = lfilter_zi(numerator[0], denominator)[:, None] * values[:, :1]
    return np.asarray(lfilter(numerator[0], denominator, values, axis=1, zi=start)[0])


def inertial_readings(
    features: FloatArray, rows: Any, at: FloatArray, place: FloatArray, rotation: FloatArray
) -> FloatArray:
    """Return specific force and angular rate `(N, Q, 6)` of exact sensors, in their axes.

    Args:
        features: see `felt`.
        rows: `(N, 1)` the rollout of each row.
        at: `(N, Q)` indices of the features, between two of them as well.
        place: `(N, 3)` of the sensor, in platform axes.
        rotation: `(N, 3, 3)` its axes to platform axes.
    """
    index = np.clip(np.floor(at).astype(int), 0, features.shape[1] - 2)
    share = (at - index)[..., None]
    found = (1.0 - share) * features[rows, index] + share * features[rows, index + 1]
    products = np.empty((*at.shape, 3, 3))
    products[..., UPPER[0], UPPER[1]] = products[..., UPPER[1], UPPER[0]] = found[..., 9:]
    r = np.broadcast_to(place[:, None], (*at.shape, 3))
    force = found[..., :3] + cross(found[..., 6:9], r)
    force += np.einsum("nqij,nqj->nqi", products, r)
    force -= np.einsum("nqii->nq", products)[..., None] * r
    both = np.stack([force, found[..., 3:6]], axis=2)
    return np.asarray(np.einsum("nqki,nij->nqkj", both, rotation).reshape(*at.shape, 6))
