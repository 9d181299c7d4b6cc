"""A function of your own as the controller, beside two controllers of the package.

The function gets time and measurement once a control period and returns the forces of the legs:
the weight of the machine at home, and a spring and a damper towards the setpoint. Without a model
of the moving masses it lags behind one that has it.
"""

from __future__ import annotations

import numpy as np

import twin
from twin.analysis.tracking import TrackingErrors
from twin.basics.arrays import FloatArray
from twin.control import make_controller
from twin.control.controller import FunctionController, sample_reference
from twin.motion import SineMotion
from twin.plant.signals import Measurement

DURATION, PERIOD = 2.0, 1e-3
STIFFNESS, DAMPING = 2e5, 4e3  # of every leg [N/m], [N s/m]

platform = twin.load("stewart")
motion = SineMotion(
    platform.home, amplitude={"z": 0.02}, frequency=1.0, duration=DURATION, fade_in=0.5
)
reference = sample_reference(platform, motion, PERIOD)
rest = np.zeros(6)
weight = platform.inverse_dynamics(platform.home, rest, rest)


def spring_and_damper(time: float, measurement: Measurement) -> FloatArray:
    """Return the forces `(n,)` [N] of the legs."""
    row = reference.row(round(time / PERIOD))
    error = reference.coordinates[row] - measurement.coordinates
    slip = reference.rates[row] - measurement.rates
    return np.asarray(weight + STIFFNESS * error + DAMPING * slip)


controllers = {
    "spring and damper": FunctionController(platform, spring_and_damper, motion, period=PERIOD),
    "cascade": make_controller("cascade", platform, motion),
    "computed_torque": make_controller("computed_torque", platform, motion),
}
rows = []
for name, controller in controllers.items():
    run = platform.simulate(DURATION, controller=controller, timestep=5e-4, fidelity="fast")
    assert not run.stopped, run.stopped
    position, _, actuators = TrackingErrors(run).root_mean_square()
    rows.append([name, f"{1e6 * position:.3g}", f"{1e6 * actuators:.3g}"])

columns = (
    "controller",
    "position [um]",
    "legs [um]",
)
print(f"stewart, 20 mm at 1 Hz for {DURATION:g} s, root mean square errors")
for label, *values in (columns, *rows):
    print(f"  {label!s:<30}", *(f"{value!s:>18}" for value in values))
