"""Position loop of one actuator around one mass as an exact sampled linear system.

The drive works at steps h, the position loop at periods T = N h. In every step, with the setpoint
of speed w as it was `delay` ago, the effort e, its mean f over the step, and the commanded effort c
as it was `inner_delay` ago,

    c = Kp (w - v) + I,   I += Kp / Ti (w - v) h,
    f = c + (1 - exp(-h / lag)) lag / h (e - c),   e = c + exp(-h / lag) (e - c),
    v += h (f - b v) / m,   x += h v + h^2 (f - b v) / (2 m).

This is z+ = A z + B w; over a period A_T = A^N, B_T = (1 + A + ... + A^(N-1)) B. With P = C (z -
A_T)^-1 B_T from the setpoint of speed to position, the position loop R = K + K_I T / (z - 1) and
velocity feedforward D, the position per reference is

    G = P (R + D) / (1 + P R),   z = exp(i omega T).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from twin.analysis.frequency.response import FrequencyResponse, exact_response
from twin.basics.arrays import FloatArray


@dataclass(frozen=True)
class LoopModel:
    """One actuator with its share of the machine, SI units. Cannot be changed.

    The period is a multiple of the step.
    """

    mass: float
    """[kg] that the motor moves, its own reflected inertia included"""
    velocity_gain: float = 20e3
    """[N s/m]"""
    velocity_time: float = 3e-3
    """[s]"""
    position_gain: float = 5.0
    """[1/s]"""
    position_integral: float = 10.0
    """[1/s2]"""
    current_lag: float = 0.0
    """[s] from commanded to actual effort, inside the velocity loop"""
    inner_delay: float = 0.0
    """[s] the same as a pure delay"""
    delay: float = 0.0
    """[s] of the setpoint of speed, outside the velocity loop"""
    friction: float = 0.0
    """[N s/m] viscous"""
    feedforward: Literal["exact", "difference", "none"] = "exact"
    """of velocity: the reference's own rate, its difference over a period, or nothing"""
    period: float = 1e-3
    """[s] of the position loop"""
    step: float = 1e-4
    """[s] of the drive"""

    def changed(self, **values: Any) -> LoopModel:
        """Return the loop with other values."""
        return replace(self, **values)

    def sampled(self) -> tuple[FloatArray, FloatArray]:
        """Return A_T `(s, s)` and B_T `(s,)`; the first state is the position."""
        one, by_setpoint = self._step_matrices()
        many = np.eye(len(one))
        total = np.zeros_like(by_setpoint)
        for _ in range(round(self.period / self.step)):
            total += many @ by_setpoint
            many = one @ many
        return many, total

    def response(self, hertz: FloatArray) -> FrequencyResponse:
        """Return the position per reference at frequencies `(k,)` [Hz] that the period resolves."""
        many, total = self.sampled()
        s = 2j * np.pi * hertz
        z = np.exp(s * self.period)
        matrices = z[:, None, None] * np.eye(len(many)) - many
        plant = np.linalg.solve(matrices, np.broadcast_to(total[:, None], (len(z), len(total), 1)))
        to_position = plant[:, 0, 0]
        loop = self.position_gain + self.position_integral * self.period / (z - 1.0)
        forward = {
            "exact": s,
            "difference": (1.0 - 1.0 / z) / self.period,
            "none": np.zeros_like(z),
        }[self.feedforward]
        return exact_response(hertz, to_position * (loop + forward) / (1.0 + to_position * loop))

    @property
    def stable(self) -> bool:
        """Whether the closed loop comes to rest."""
        many, total = self.sampled()
        size = len(many)
        closed = np.zeros((size + 1, size + 1))
        closed[:size, :size] = many
        closed[:size, 0] -= self.position_gain * total
        closed[:size, size] = total
        closed[size, 0] = -self.position_integral * self.period
        closed[size, size] = 1.0
        # Without an integral gain its state stays at 1.
        kept = closed if self.position_integral > 0.0 else closed[:size, :size]
        return bool(np.abs(np.linalg.eigvals(kept)).max() < 1.0)

    def _step_matrices(self) -> tuple[FloatArray, FloatArray]:
        """Return A `(s, s)`, B `(s,)` of a step: position, speed, integral, effort, two queues."""
        late, later = self.delay / self.step, self.inner_delay / self.step
        setpoints, efforts = int(np.ceil(late - 1e-9)), int(np.ceil(later - 1e-9))
        x, v, integral, effort = range(4)
        first_setpoint, first_effort = 4, 4 + setpoints
        size = 4 + setpoints + efforts
        eye = np.eye(size)
        # Rows of what is formed within the step: by the states, then by the setpoint.
        setpoint = _late(eye, setpoints, first_setpoint, late, fresh=np.zeros(size), by_fresh=1.0)
        error = setpoint - np.append(eye[v], 0.0)
        commanded = self.velocity_gain * error + np.append(eye[integral], 0.0)
        acting = _late(
            eye, efforts, first_effort, later, fresh=commanded[:-1], by_fresh=commanded[-1]
        )
        left, mean_left = 0.0, 0.0
        if self.current_lag > 0.0:
            steps = self.step / self.current_lag
            left, mean_left = float(np.exp(-steps)), float(-np.expm1(-steps) / steps)
        behind = np.append(eye[effort], 0.0) - acting
        new_effort, mean = acting + left * behind, acting + mean_left * behind
        acceleration = (mean - self.friction * np.append(eye[v], 0.0)) / self.mass
        rows = np.hstack([eye, np.zeros((size, 1))])
        rows[x] += self.step * np.append(eye[v], 0.0) + 0.5 * self.step**2 * acceleration
        rows[v] += self.step * acceleration
        rows[integral] += self.velocity_gain / self.velocity_time * self.step * error
        rows[effort] = new_effort
        for first, count, newest in (
            (first_setpoint, setpoints, np.append(np.zeros(size), 1.0)),
            (first_effort, efforts, commanded),
        ):
            for k in range(count):
                rows[first + k] = newest if k == 0 else np.append(eye[first + k - 1], 0.0)
        return rows[:, :-1], rows[:, -1]


def _late(
    eye: FloatArray,
    count: int,
    first: int,
    steps: float,
    *,
    fresh: FloatArray,
    by_fresh: float,
) -> FloatArray:
    """Return the row `(size + 1,)` of a signal `steps` ago, between entries of its queue."""
    now = np.append(fresh, by_fresh)
    if count == 0:
        return now
    older = np.append(eye[first + count - 1], 0.0)
    newer = np.append(eye[first + count - 2], 0.0) if count > 1 else now
    share = count - steps
    return np.asarray((1.0 - share) * older + share * newer)
