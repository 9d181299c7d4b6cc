"""Motion of the exact and of the paper's models under the same actuator forces.

The forces are those that the exact model needs to drive three lengths along given inputs. The exact
model then returns to the inputs; another model leaves them by what its energies lack.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray
from twin.papers.driving_simulator.dae.forced import ForcedRun, integrate_forced
from twin.papers.driving_simulator.dae.lagrange import PUSHING, home_inertia
from twin.papers.driving_simulator.exact.model import ExactModel
from twin.papers.driving_simulator.exact.terms import Pillars
from twin.papers.driving_simulator.inputs import DrivenLengths
from twin.papers.driving_simulator.plate import PlateModel
from twin.papers.driving_simulator.studies.foot_friction import driven_motion

KNOT = 5e-3
"""[s] between which forces are interpolated by cubic polynomials: 1e-9 of them"""


class Released(NamedTuple):
    """Motions under the same forces from the same state: heave [m], roll and pitch [rad]."""

    time: FloatArray
    """`(k,)` [s]"""
    exact: FloatArray
    """`(k, 3)` that the forces belong to"""
    printed: ForcedRun
    complete: ForcedRun
    derived: FloatArray
    """`(k, 2)` [rad] roll and pitch by which the printed model must be off, to first order"""

    @property
    def printed_error(self) -> FloatArray:
        """Printed less exact motion `(k, 3)`."""
        return np.asarray(self.printed.plate - self.exact)

    @property
    def complete_error(self) -> FloatArray:
        """The same for the completed energies."""
        return np.asarray(self.complete.plate - self.exact)


def exact_forces(plate: PlateModel, inputs: DrivenLengths, time: FloatArray) -> FloatArray:
    """Return the exact forces `(k, 4)` [N] that drive three lengths; the fourth follows freely."""
    states = [part.coordinates for part in driven_motion(plate, inputs, time)]
    return ExactModel(Pillars.from_plate(plate)).forces(*states, pushing=PUSHING)


def released(plate: PlateModel, inputs: DrivenLengths, duration: float) -> Released:
    """Return the paper's two models under the forces that the exact one needs for the inputs."""
    from scipy.interpolate import CubicSpline

    knots: FloatArray = np.linspace(0.0, duration, round(duration / KNOT) + 1)
    motion = driven_motion(plate, inputs, knots)
    forces: Any = CubicSpline(knots, exact_forces(plate, inputs, knots))
    start = [part.coordinates[0] for part in (motion.value, motion.rate)]
    printed, complete = (
        integrate_forced(plate, forces, duration, *start, complete=complete, samples=len(knots))
        for complete in (False, True)
    )
    return Released(
        knots,
        motion.value.coordinates,
        printed,
        complete,
        missing_terms(plate, knots, motion.value.coordinates, motion.acceleration.coordinates),
    )


def missing_terms(
    plate: PlateModel, time: FloatArray, coordinates: FloatArray, accelerations: FloatArray
) -> FloatArray:
    """Return roll and pitch `(k, 2)` [rad] by which the printed model is off, to first order.

    The forces bring the generalised force I q'' - K q about each axis, with I = I_printed + m h^2
    and K = m g h. The printed model takes all of it for I_printed q'': it is off by
    (m h^2 q'' - m g h q) / I_printed, integrated twice.
    """
    from scipy.interpolate import CubicSpline

    height, mass = coordinates[0, 0], plate.lifted_mass
    lacking = mass * height**2 * accelerations[:, 1:]
    lacking -= mass * plate.gravity * height * coordinates[:, 1:]
    twice: Any = CubicSpline(time, lacking / home_inertia(plate).printed[1:])
    return np.asarray(twice.antiderivative(2)(time))
