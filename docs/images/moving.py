"""Draw docs/images/moving.gif: stewart on a smooth periodic course along six axes."""

from __future__ import annotations

from folder import picture_folder

import twin
from twin.control import make_controller
from twin.motion import MultiSineMotion
from twin.viewer.film import Look, write_film

PERIOD = 4.0
"""[s] of the course."""

AMPLITUDES = {
    "x": [0.028, 0.019, 0.009],
    "y": [0.019, 0.028, 0.009],
    "z": [0.019, 0.019, 0.014],
    "roll": [0.057, 0.047, 0.028],
    "pitch": [0.047, 0.057, 0.038],
    "yaw": [0.076, 0.047, 0.019],
}
"""[m], [rad] of one, two and three sines in a period: as much as the legs' speed allows."""

platform = twin.load("stewart", "hardware")
course = MultiSineMotion(
    platform.home,
    frequencies=[1.0 / PERIOD, 2.0 / PERIOD, 3.0 / PERIOD],
    amplitude=AMPLITUDES,
    duration=2.0 * PERIOD,
    phases="random",
    seed=3,
    fade_in=0.8 * PERIOD,
)
run = platform.simulate(
    2.0 * PERIOD,
    controller=make_controller("computed_torque", platform, course),
    engine="mujoco",
    timestep=5e-4,
    fidelity="fast",
    every=2,
)
assert not run.stopped, run.stopped
look = Look(width=560, height=420, quality="fine")
print(
    write_film(run, platform, picture_folder() / "moving.gif", look=look, rate=12.5, start=PERIOD)
)
