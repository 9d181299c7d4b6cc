"""Inertia of motors that move with the actuators: m q'' in each, added to the platform's equations.

With q'' = J a + J' t the forces of the motors are forces on the legs plus m (J a + J' t). So

    (M + J^T m J) a + h + J^T m J' t = wrench + J^T motor forces.
"""

from __future__ import annotations

from twin.basics.arrays import FloatArray
from twin.kernels.dynamics.assembly import assemble
from twin.kernels.dynamics.forward import accelerate
from twin.kernels.dynamics.state import fill_pose_rate
from twin.kernels.dynamics.work import Work
from twin.kernels.jit import device
from twin.kernels.legs.dispatch import actuation_rate, deflections_per_leg
from twin.kernels.legs.interface import Legs
from twin.kernels.platform_state import PlatformState, platform_state
from twin.kernels.vectors import dot


@device
def add_motors(legs: Legs, inertia: FloatArray, state: PlatformState, work: Work) -> None:
    """Add motors of `inertia` (n,) [kg, kg m2] to an assembled state."""
    for i in range(legs.rows.shape[0]):
        if inertia[i] > 0.0:
            linear, angular = actuation_rate(legs, i, state)
            drift = dot(linear, state.velocity) + dot(angular, state.omega)
            for k in range(6):
                scaled = inertia[i] * work.jacobian[i, k]
                work.bias[k] += scaled * drift
                for j in range(k + 1):
                    work.mass_matrix[k, j] += scaled * work.jacobian[i, j]


@device
def driven_derivative(
    body: FloatArray,
    legs: Legs,
    inertia: FloatArray,
    y: FloatArray,
    forces: FloatArray,
    wrench: FloatArray,
    dy: FloatArray,
    work: Work,
) -> bool:
    """Fill `dy` at `y` (13 + 2k,) under forces (n,) of the motors; return False if singular."""
    fill_pose_rate(y, dy)
    state = platform_state(y[:7], y[7:13])
    singular = assemble(body, legs, state, y[13:], work)
    add_motors(legs, inertia, state, work)
    regular = accelerate(body, legs, state, y[13:], forces, wrench, dy[7:], work)
    # Accelerations fill 6 + k entries; those of the deflections then move behind the rates.
    count = deflections_per_leg(legs) * legs.rows.shape[0]
    for i in range(count):
        dy[13 + count + i] = dy[13 + i]
        dy[13 + i] = y[13 + count + i]
    return regular and singular < 0
