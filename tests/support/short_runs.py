"""Short runs for tests of controllers."""

import numpy as np

import twin
from twin.motion import SineMotion
from twin.motion.specification import convention_of

RIGID = ("stewart", "srspm", "rss", "driving_simulator")
"""Machines whose actuators alone move the platform."""

AMPLITUDES = {
    "stewart": {"z": 0.005, "pitch": 0.006, "x": 0.003},
    "srspm": {"z": 0.02, "roll": 0.02},
    "rss": {"z": 0.002},
    "driving_simulator": {"z": 0.005, "roll": 0.01, "pitch": 0.005},
}


def sine(platform, duration=0.6):
    return SineMotion(
        platform.home,
        amplitude=AMPLITUDES[platform.name],
        frequency=2.0,
        duration=duration,
        fade_in=0.4 * duration,
        fade_out=0.4 * duration,
        convention=convention_of(platform),
    )


def driven(platform, controller, duration=0.6):
    return twin.simulate(
        platform,
        duration,
        controller=controller,
        timestep=5e-4,
        fidelity="fast",
        pose=controller.reference.pose[0],
        progress=False,
    )


def actuator_error(run, controller):
    """Root mean square of the actuators' errors at the control instants."""
    rows = np.arange(0, len(run), 2)
    wanted = controller.reference.coordinates
    kept = np.minimum(rows // 2, len(wanted) - 1)
    return float(np.sqrt(((run.lengths[rows] - wanted[kept]) ** 2).mean()))
