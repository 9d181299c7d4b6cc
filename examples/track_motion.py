"""Four controllers follow the same course, on ideal actuators and on real ones.

The configuration `hardware` brings the drives: friction, backlash, delay, encoders. What a
controller knows of them decides what is left of its lead. Errors are root mean squares of the
platform.
"""

from __future__ import annotations

import twin
from twin.analysis.tracking import TrackingErrors
from twin.control import make_controller
from twin.motion import TankTrackMotion

DURATION = 4.0
CONTROLLERS = {
    "cascade": "position and velocity loop",
    "observer": "Kalman filter of the disturbance",
    "feedforward": "cascade and forces of the model",
    "computed_torque": "model inside the loop",
}

rows = []
for name, idea in CONTROLLERS.items():
    row = [name, idea]
    for configuration in (None, "hardware"):
        platform = twin.load("stewart", configuration)
        course = TankTrackMotion(platform.home, duration=DURATION, peak_pitch=0.03)
        controller = make_controller(name, platform, course)
        run = platform.simulate(DURATION, controller=controller, timestep=5e-4, fidelity="fast")
        assert not run.stopped, run.stopped
        position, rotation, _ = TrackingErrors(run).root_mean_square()
        row += [f"{1e3 * position:.4f}", f"{1e3 * rotation:.4f}"]
    rows.append(row)

titles = ("ideal [mm]", "ideal [mrad]", "hardware [mm]", "hardware [mrad]")
columns = ("controller", "idea", *titles)
print(f"stewart on a tank's course of {DURATION:g} s, root mean square errors")
for label, *values in (columns, *rows):
    print(f"  {label!s:<30}", *(f"{value!s:>18}" for value in values))
